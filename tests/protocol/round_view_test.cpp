// What observers see of a network: one client's model is what stands in all models, and looking changes nothing.
#include "network.hpp"
#include "support/testing.hpp"

namespace starling {
namespace {

using testing_support::run_network;
using testing_support::RunSettings;
using testing_support::world;

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

struct Geometry {
  std::string mirror;
  std::string domain;
};

class RoundViews : public testing::TestWithParam<Geometry> {};

TEST_P(RoundViews, ShowOneModelAsTheyShowAll) {
  const auto graph = read_graph(std::string(STARLING_SOURCE_DIR) + "/topologies/unbalanced-5.topo");
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

INSTANTIATE_TEST_SUITE_P(Geometries, RoundViews,
                         testing::Values(Geometry{"euclidean", "free"}, Geometry{"euclidean", "ball:0.9"},
                                         Geometry{"entropic", "simplex"}, Geometry{"entropic-signed", "l1ball:2"}),
                         [](const auto& row) {
                           return testing_support::test_name(row.param.mirror + "_" + row.param.domain);
                         });

}  // namespace
}  // namespace starling
