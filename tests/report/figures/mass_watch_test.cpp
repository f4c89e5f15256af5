// Clients with small masses are named, the same for any layout and after a checkpoint.
#include "report/figures/mass_watch.hpp"

#include "output/fake_view.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::mass_watch_test {

using namespace testing_support;

/// Clients of a rank whose masses a test sets; those of mass 0 have left.
class Masses final : public testing_support::FakeView {
 public:
  explicit Masses(std::size_t clients) : FakeView(1, clients) {}
  void set(std::size_t k, double mass) { masses_[k] = mass; }
  [[nodiscard]] Standing standing(std::size_t k) const override {
    return masses_[k] > 0 ? Standing::present : Standing::absent;
  }
  [[nodiscard]] bool stepped(std::size_t k) const override { return masses_[k] > 0; }

 private:
  [[nodiscard]] Vector place(std::size_t) const override { return {0}; }
};

/// 28 clients over all ranks. Client 5 has 1e-9 in the second half of 1,000 rounds, client 20 has 1e-5 in the last 50,
/// client 27 has left, all others have 0.5.
SmallMasses watched(bool with_checkpoint) {
  const Layout layout(28, world().size());
  const Client first = layout.first(world().rank());
  const auto count = static_cast<std::size_t>(layout.count(world().rank()));
  Masses view(count);
  std::optional<MassWatch> watch(first);
  watch->after(view);
  for (Round t = 1; t <= 1000; ++t) {
    for (std::size_t k = 0; k < count; ++k) {
      const Client u = first + static_cast<Client>(k);
      const bool small = (u == 5 && t > 500) || (u == 20 && t > 950);
      view.set(k, u == 27 ? 0 : !small ? 0.5 : u == 5 ? 1e-9 : 1e-5);
    }
    view.go(t);
    watch->after(view);
    if (!with_checkpoint || t != 700) continue;
    Snapshot written;
    watch->persist(written);
    watch.emplace(first);
    Snapshot read(written.content());
    watch->persist(read);
    read.require_end();
  }
  Agreement agreement(world());
  return watch->small_masses(agreement);
}

TEST(MassWatch, NamesWhoseMassWasSmallForATenthOfTheRounds) {
  for (const bool with_checkpoint : {false, true}) {
    const SmallMasses found = watched(with_checkpoint);
    if (world().rank() != 0) continue;
    EXPECT_EQ(found.count, 1);
    ASSERT_EQ(found.named.size(), 1U);
    EXPECT_EQ(found.named[0].client, 5);
    EXPECT_EQ(found.named[0].share, 0.5);
    EXPECT_EQ(found.named[0].least, 1e-9);
    ASSERT_TRUE(found.least);
    EXPECT_EQ(found.least->client, 5);
    EXPECT_EQ(found.least->least, 1e-9);
    EXPECT_EQ(describe_small(found), "client 5 in 50 % of the rounds (1e-09 at least)");
  }
}

TEST(MassWatch, OfEqualMassesNamesThatOfTheFirstClientOnAnyLayout) {
  const Layout layout(28, world().size());
  const Client first = layout.first(world().rank());
  const auto count = static_cast<std::size_t>(layout.count(world().rank()));
  Masses view(count);
  MassWatch watch(first);
  for (const Client least : {25, 4, 24, 3}) {
    for (std::size_t k = 0; k < count; ++k) view.set(k, first + static_cast<Client>(k) == least ? 0.25 : 0.5);
    view.go(view.done() + 1);
    watch.after(view);
  }
  Agreement agreement(world());
  const SmallMasses found = watch.small_masses(agreement);
  if (world().rank() != 0) return;
  ASSERT_TRUE(found.least);
  EXPECT_EQ(found.least->client, 3);
}

TEST(MassWatch, LooksLessOftenAtLongRuns) {
  Masses view(1);
  MassWatch watch(0);
  for (const Round done : {1, 2, 1023, 1024}) {
    view.go(done);
    watch.after(view);
    EXPECT_EQ(watch.due(), done + (done < 1024 ? 1 : 16));
  }
  view.go(1030);
  view.set(0, 1e-6);
  watch.after(view);
  EXPECT_EQ(watch.due(), 1040);
  view.go(1040);
  watch.after(view);
  Agreement agreement(world());
  const SmallMasses found = watch.small_masses(agreement);
  if (world().rank() != 0) return;
  EXPECT_EQ(found.count, 0);
  ASSERT_TRUE(found.least);
  EXPECT_EQ(found.least->least, 1e-6);
}

TEST(MassWatch, NamesTenOfManyAndCountsTheOthers) {
  SmallMasses masses;
  masses.count = 12;
  masses.named = {{3, 1e-14, 0.83}, {7, 2e-4, 0.2}};
  EXPECT_EQ(describe_small(masses),
            "client 3 in 83 % of the rounds (1e-14 at least), client 7 in 20 % of the rounds (0.0002 at least), and 10 "
            "more");
  EXPECT_THAT(note_on_small_masses(masses), HasSubstr("client 3 in 83 %"));
}

}  // namespace starling::mass_watch_test
