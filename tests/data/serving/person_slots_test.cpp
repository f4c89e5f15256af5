// The slots of a pipe's rounds, gathered by person.
#include "data/serving/person_uses.hpp"
#include "support/testing.hpp"

namespace starling::person_slots_test {

using namespace testing_support;

using Labels = std::vector<std::vector<double>>;  ///< by person of a batch

Labels labels_of(const Batch& batch) {
  Labels labels;
  for (std::size_t k = 0; k < (batch.by_person() ? batch.units() : 0); ++k) {
    const Batch::Range records = batch.person(k);
    labels.emplace_back();
    for (std::size_t i = records.first; i < records.first + records.count; ++i) labels.back().push_back(batch.label(i));
  }
  return labels;
}

/// Serves a round whose records have the labels 0, 1, …
Labels serve(PersonUses& uses, const std::vector<std::string>& values, std::int64_t most) {
  PersonSlots slots;
  slots.clear();
  double label = 0;
  for (const std::string& value : values) slots.add(value, {Vector{label}, {}}, label), ++label;
  Batch batch;
  batch.clear();
  slots.serve(uses, most, batch);
  for (std::size_t i = 0; i < batch.size(); ++i) EXPECT_EQ(batch.row(i).values[0], batch.label(i));
  return labels_of(batch);
}

TEST(PersonSlots, BringTheRecordsOfAPersonTogether) {
  PersonUses uses;
  EXPECT_EQ(serve(uses, {"a", "b", "a", "", "c", "b", "a"}, 1), (Labels{{0, 2, 6}, {1, 5}, {3}, {4}}));
}

TEST(PersonSlots, UseAPersonInSoManyRounds) {
  for (const std::int64_t most : {1, 2, 5}) {
    PersonUses uses;
    for (std::int64_t t = 0; t < 8; ++t) {
      const Labels labels = serve(uses, {"a", "a"}, most);
      EXPECT_EQ(labels, t < most ? (Labels{{0, 1}}) : Labels()) << t;
    }
    EXPECT_EQ(serve(uses, {"a", "b"}, most), (Labels{{1}}));
  }
}

TEST(PersonSlots, WithoutARecordAreNoUse) {
  PersonUses uses;
  EXPECT_EQ(serve(uses, {}, 1), Labels());
  EXPECT_EQ(serve(uses, {"a"}, 1), (Labels{{0}}));
}

TEST(PersonUses, GoOnWhereTheyWereKept) {
  PersonUses uses;
  EXPECT_EQ(serve(uses, {"a", "b"}, 2).size(), 2U);
  EXPECT_EQ(serve(uses, {"a"}, 2).size(), 1U);
  Snapshot kept;
  uses.persist(kept);
  PersonUses again;
  Snapshot restored(kept.content());
  again.persist(restored);
  restored.require_end();
  EXPECT_EQ(serve(again, {"a", "b", "c"}, 2), (Labels{{1}, {2}}));
}

// Whoever knows a hash cannot test names: each pipe has a key of its own. What is kept does not hold the name.
TEST(PersonUses, KeepHashesUnderAKeyOfTheirOwn) {
  PersonUses one;
  PersonUses other;
  EXPECT_EQ(one.identify("anna"), one.identify("anna"));
  EXPECT_NE(one.identify("anna"), one.identify("Anna"));
  EXPECT_NE(one.identify("anna"), other.identify("anna"));
  EXPECT_EQ(one.identify("anna").size(), 32U);
  EXPECT_TRUE(one.use(one.identify("anna"), 1));
  Snapshot kept;
  one.persist(kept);
  static_cast<void>(kept.content().map([](const std::string& bytes) {
    EXPECT_THAT(bytes, Not(HasSubstr("anna")));
    return 0;
  }));
}

}  // namespace starling::person_slots_test
