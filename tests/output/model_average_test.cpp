/// Means of models over rounds, weighted by the clients' masses.
#include "output/model_average.hpp"

#include "core/snapshot.hpp"
#include "fake_view.hpp"
#include "support/testing.hpp"

namespace starling::model_average_test {

/// Two clients of one coordinate; a test says their models and masses.
class Told final : public testing_support::FakeView {
 public:
  Told() : FakeView(1, 2) {}
  void tell(Round done, Vector models, Vector masses) {
    go(done);
    now_ = std::move(models);
    masses_ = std::move(masses);
  }

 private:
  [[nodiscard]] Vector place(std::size_t k) const override { return {now_[k]}; }
  Vector now_{0, 0};
};

/// Four rounds; the second client is nearly without mass, and far off, in the third.
void play(ModelAverage& average, Told& view, double least) {
  view.tell(0, {100, 100}, {1, 1});
  average.after(view);
  view.tell(1, {1, 10}, {1, 1});
  average.after(view);
  view.tell(2, {2, 20}, {0.5, 1.5});
  average.after(view);
  view.tell(3, {3, 1000}, {1, least});
  average.after(view);
  view.tell(4, {4, 40}, {1, 0.5});
  average.after(view);
}

TEST(ModelAverage, IsWeightedByMass) {
  Told view;
  ModelAverage all(Averaging::all, 4);
  play(all, view, 0.001);
  const Released<Columns> means = all.models(view);
  EXPECT_DOUBLE_EQ(means.value()[0][0], (1 + 0.5 * 2 + 3 + 4) / 3.5);
  EXPECT_DOUBLE_EQ(means.value()[1][0], (10 + 1.5 * 20 + 0.001 * 1000 + 0.5 * 40) / 3.001);

  Told again;
  ModelAverage tail(Averaging::tail, 4);
  play(tail, again, 0);
  const Released<Columns> later = tail.models(again);
  EXPECT_DOUBLE_EQ(later.value()[0][0], 3.5);
  EXPECT_DOUBLE_EQ(later.value()[1][0], 40) << "a round without mass does not count";
}

// With masses of one it is the ordinary mean, to the last bit.
TEST(ModelAverage, IsTheMeanWhereMassesAreOne) {
  Told view;
  ModelAverage all(Averaging::all, 3);
  double sum = 0;
  for (Round t = 1; t <= 3; ++t) {
    const double x = 0.1 * static_cast<double>(t);
    view.tell(t, {x, -x}, {1, 1});
    all.after(view);
    sum += x;
  }
  EXPECT_EQ(all.models(view).value()[0][0], sum * (1.0 / 3));
  EXPECT_EQ(all.models(view).value()[1][0], -sum * (1.0 / 3));
}

TEST(ModelAverage, OfAClientWithoutMassIsItsLastModel) {
  Told view;
  ModelAverage all(Averaging::all, 2);
  view.tell(1, {1, 5}, {2, 0});
  all.after(view);
  view.tell(2, {3, 7}, {2, 0});
  all.after(view);
  EXPECT_EQ(all.models(view).value()[0][0], 2);
  EXPECT_EQ(all.models(view).value()[1][0], 7);
}

/// What a checkpoint keeps of an average.
Secret<std::string> kept(ModelAverage& average, const ClientGroup& clients) {
  Snapshot snapshot(clients);
  average.persist(snapshot);
  return snapshot.content();
}

// A rank whose clients all join reads no sums. Its own checkpoint must fit those of the others all the same: the run
// may go on from there on other ranks.
TEST(ModelAverage, OfClientsThatJoinFitsThoseOfTheOthers) {
  Told view;
  ModelAverage old(Averaging::all, 4, Columns(1, 2));
  play(old, view, 1);
  const std::vector<Client> joining{2, 3};
  Snapshot of_joining(rows_of({kept(old, {0, 2})}, {2, 2}, joining));
  ModelAverage joined(Averaging::all, 4, Columns(1, 2));
  joined.persist(of_joining);
  Snapshot together(rows_of({kept(old, {0, 2}), kept(joined, {2, 2})}, {1, 2}));
  ModelAverage moved(Averaging::all, 4, Columns(1, 2));
  moved.persist(together);
  EXPECT_EQ(moved.models(view).value()[0][0], old.models(view).value()[1][0]);
  EXPECT_EQ(moved.models(view).value()[1][0], 40) << "without mass so far, a client has its last model";
}

}  // namespace starling::model_average_test
