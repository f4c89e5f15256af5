// The view of observers: one client's model is its column of all models, and looking changes nothing.
#include <numeric>

#include "graph/overlays/overlays.hpp"
#include "protocol/network.hpp"
#include "support/testing.hpp"

namespace starling::round_view_test {

using namespace testing_support;

class ModelsOneByOne final : public Observer {
 public:
  void after(const RoundView& view) override {
    const Released<Columns> models = view.models();
    for (std::size_t k = 0; k < models.value().size(); ++k) {
      const View expected = models.value()[k];
      const View one = view.model(k);
      EXPECT_EQ(Vector(one.begin(), one.end()), Vector(expected.begin(), expected.end())) << view.done();
      moved = moved || (!first.empty() && first != Vector(one.begin(), one.end()));
      if (first.empty()) first.assign(one.begin(), one.end());
    }
    ++calls;
  }
  Round calls = 0;
  Vector first;
  bool moved = false;
};

/// Wants to be called after every seventh round alone.
class Seldom final : public Observer {
 public:
  void after(const RoundView& view) override { rounds.push_back(view.done()); }
  [[nodiscard]] Round due() const override { return rounds.back() + 7; }
  std::vector<Round> rounds;
};

class RoundViews : public testing::TestWithParam<Geometry> {};

TEST_P(RoundViews, ShowOneModelAsTheyShowAll) {
  const auto graph = read_graph(source_folder() + "/topologies/unbalanced-5.topo");
  const std::vector<Vector> minimisers{{.8, .1, .1}, {.1, .2, .7}, {.7, .2, .1}, {.2, .1, .7}, {.1, .4, .5}};
  const std::vector<Vector> start(5, Vector(3, 1.0 / 3));
  RunSettings settings;
  settings.rounds = 30;
  settings.step = 0.5;
  const auto& g = GetParam();
  const auto unseen = run_network(*graph, settings, g.mirror, g.domain, start, minimisers);
  ModelsOneByOne observer;
  settings.observers = {&observer};
  const auto seen = run_network(*graph, settings, g.mirror, g.domain, start, minimisers);
  EXPECT_EQ(seen.models, unseen.models);
  EXPECT_EQ(observer.calls, 31);
  EXPECT_TRUE(observer.moved);
}

std::vector<Round> rounds_seen(const Schedule& schedule) {
  RunSettings settings;
  settings.rounds = 30;
  settings.step = 0.5;
  Seldom observer;
  ModelsOneByOne other;
  settings.observers = {&observer, &other};
  const auto clients = static_cast<std::size_t>(schedule.clients());
  run_network(schedule, settings, "euclidean", "free", std::vector<Vector>(clients, Vector(3)),
              std::vector<Vector>(clients, Vector{.8, .1, .1}));
  EXPECT_EQ(other.calls, 31);  // each has rounds of its own
  return observer.rounds;
}

TEST(ObserverList, CallsObserversThatAreDue) {
  const auto graph = read_graph(source_folder() + "/topologies/unbalanced-5.topo");
  EXPECT_EQ(rounds_seen(*graph), (std::vector<Round>{0, 7, 14, 21, 28}));
}

// An observer that is called seldom would assume that all clients participated in the rounds between.
TEST(ObserverList, CallsAfterEachRoundWhereClientsStayAway) {
  Departures departures(5);
  departures[4] = 20;
  const AttendedSchedule schedule(read_graph(source_folder() + "/topologies/unbalanced-5.topo"), nullptr, departures,
                                  MissingWeight::sender_keeps);
  std::vector<Round> all(31);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(rounds_seen(schedule), all);
}

INSTANTIATE_TEST_SUITE_P(Geometries, RoundViews,
                         testing::Values(Geometry{"euclidean", "free"}, Geometry{"euclidean", "ball:0.9"},
                                         Geometry{"entropic", "simplex"}, Geometry{"entropic-signed", "l1ball:2"}),
                         [](const auto& row) { return test_name(row.param.mirror + "_" + row.param.domain); });

}  // namespace starling::round_view_test
