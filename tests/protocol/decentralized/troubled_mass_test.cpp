// A million rounds in which clients opt out and leave and messages get lost, in step, with deadlines and without
// waiting.
#include <cmath>
#include <optional>
#include <tuple>

#include "graph/overlays/overlays.hpp"
#include "protocol/network.hpp"
#include "support/testing.hpp"

namespace starling::troubled_mass_test {

using namespace testing_support;

std::unique_ptr<Schedule> troubled(LossModel loss) {
  auto attended = std::make_unique<AttendedSchedule>(
      read_graph(source_folder() + "/topologies/unbalanced-5.topo"),
      absence_table().make("gilbert-elliott", Dropout{{.1, .6, .3, .5, .1}, 3}),
      Departures{std::nullopt, std::nullopt, std::nullopt, 900'000, std::nullopt}, MissingWeight::split_anew);
  return std::make_unique<LossySchedule>(std::move(attended), LinkLossSettings{0.05, loss, 4},
                                         MissingWeight::sender_keeps);
}

class TroubledMass : public testing::TestWithParam<std::tuple<LossModel, std::optional<double>>> {};

TEST_P(TroubledMass, IsKeptOverAMillionRounds) {
  const auto [loss, deadline] = GetParam();
  RunSettings settings;
  // With a deadline and a second rank most of the time is spent waiting for messages that were lost.
  settings.rounds = deadline.value_or(0) > 0 && world().size() > 1 ? 200'000 : 1'000'000;
  settings.running_sums = loss == LossModel::unacknowledged;
  settings.deadline = deadline;
  const auto result = run_network(*troubled(loss), settings, "euclidean", "free", {{0}, {1}, {2}, {3}, {4}}, {});
  if (world().rank() != 0) return;
  EXPECT_LE(std::abs(result.mass + result.in_flight - 5), 1e-9);
  for (const Vector& model : result.models) {  // averages of 0 to 4
    EXPECT_GE(model[0], -1e-9);
    EXPECT_LE(model[0], 4 + 1e-9);
  }
  if (deadline) {
    EXPECT_EQ(result.in_flight, 0) << "what is under way at the end arrives";
  }
}

std::string name_of_run(const testing::TestParamInfo<std::tuple<LossModel, std::optional<double>>>& row) {
  const auto [loss, deadline] = row.param;
  return std::string(loss == LossModel::acknowledged ? "acknowledged" : "unacknowledged") + (!deadline ? "_in_step"
                                                                                             : *deadline > 0
                                                                                                 ? "_deadline"
                                                                                                 : "_async");
}

INSTANTIATE_TEST_SUITE_P(Runs, TroubledMass,
                         testing::Combine(testing::Values(LossModel::acknowledged, LossModel::unacknowledged),
                                          testing::Values(std::nullopt, std::optional(0.0), std::optional(2e-5))),
                         name_of_run);

}  // namespace starling::troubled_mass_test
