// Entropic clients whose coordinates fall as far as doubles go keep all of them positive through steps and mixing, so
// that every coordinate can come back.
#include <limits>
#include <ostream>

#include "core/numerics/kernels.hpp"
#include "protocol/network.hpp"
#include "support/testing.hpp"

namespace starling::positive_states_test {

using namespace testing_support;

struct Way {
  std::string name;
  bool running_sums = false;
  double lazy = 0;
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

class PositiveStates : public testing::TestWithParam<Way> {
 protected:
  /// Three clients on a one-way ring with unequal shares.
  static Topology graph() {
    return Topology(3, WeightRule::explicit_weights,
                    {{0, 0, 0.2}, {0, 1, 0.8}, {1, 1, 0.4}, {1, 2, 0.6}, {2, 0, 0.3}, {2, 2, 0.7}}, {});
  }
  [[nodiscard]] static RunSettings settings() {
    RunSettings settings;
    settings.rounds = 60;
    settings.step = 8;
    settings.step_power = 0;
    settings.running_sums = GetParam().running_sums;
    settings.lazy = GetParam().lazy;
    return settings;
  }
};

// The gradient of coordinate i is x_i − c_i: minimisers outside push the other coordinates down in every round.
TEST_P(PositiveStates, StayPositive) {
  const std::vector<Vector> start(3, Vector(3, 1.0 / 3));
  for (const double size : {0.3, 3.0, 30.0, 400.0}) {
    const std::vector<Vector> far(3, Vector{size, 0, -size});
    for (const Round rounds : {1, 8, 22, 64, 120}) {
      RunSettings some = settings();
      some.rounds = rounds;
      const auto result = run_network(graph(), some, "entropic", "simplex", start, far);
      for (const Vector& model : result.models) {
        EXPECT_NEAR(sum(model), 1, 1e-12);
        for (const double value : model) EXPECT_GE(value, std::numeric_limits<double>::min()) << size << ' ' << rounds;
      }
    }
  }
}

// Zeros of a start stay zeros of clients that no neighbour feeds, and only of those.
TEST_P(PositiveStates, ZerosOfAStartWaitForNeighbours) {
  const std::vector<Vector> start{{0.5, 0.5, 0}, {0.5, 0.5, 0}, {0.5, 0.5, 0}};
  const std::vector<Vector> wanted(3, Vector{0, 0, 1});
  const auto zeros = run_network(graph(), settings(), "entropic", "simplex", start, wanted);
  for (const Vector& model : zeros.models) EXPECT_EQ(model[2], 0);
  const std::vector<Vector> fed{{0.5, 0.5, 0}, {0.5, 0.25, 0.25}, {0.5, 0.5, 0}};
  const auto result = run_network(graph(), settings(), "entropic", "simplex", fed, wanted);
  for (const Vector& model : result.models) EXPECT_GT(model[2], 0.1);
}

INSTANTIATE_TEST_SUITE_P(Ways, PositiveStates,
                         testing::Values(Way{"messages"}, Way{"running_sums", true}, Way{"lazy", false, 0.3}),
                         [](const auto& row) { return row.param.name; });

}  // namespace starling::positive_states_test
