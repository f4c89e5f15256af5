/// Confidence intervals of Newton's rounds.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "interval_results.hpp"

namespace starling {

class NewtonRounds;
struct NewtonEstimate;

/// The estimate of Newton's rounds with its intervals by curvature, squares and known noise. Rank 0 has them; there are
/// none along the way.
class NewtonResults final : public IntervalResults {
 public:
  /// Keeps references.
  NewtonResults(const IntervalFacts& facts, const NewtonRounds& rounds)
      : facts_(facts), rounds_(rounds), to_own_units_(map_to_own_units(facts)) {}

  [[nodiscard]] std::vector<Observer*> observers() override { return {}; }
  void add_parts(KeptParts& /*parts*/) override {}
  [[nodiscard]] Released<Columns> estimates() override;
  [[nodiscard]] RunIntervals summarise(std::vector<std::string>& notes) override;
  [[nodiscard]] std::optional<ParameterSpread> spread_of_parameters() const override;
  [[nodiscard]] std::vector<IntervalsAt> path_to(const std::vector<Interval>& /*last*/) const override { return {}; }
  [[nodiscard]] std::vector<IntervalsAt> all_along() override;

 private:
  [[nodiscard]] NewtonSettling settling_of(const NewtonEstimate& estimate) const;
  /// Wald's test that all slopes are 0; none where one is not determined.
  [[nodiscard]] std::optional<JointTest> joint_test(const NewtonEstimate& estimate) const;
  [[nodiscard]] bool is_left_out(std::size_t j) const {
    return std::binary_search(facts_.left_out.begin(), facts_.left_out.end(), j);
  }
  /// Intervals of an estimate with these deviations. Features that are left out have neither.
  [[nodiscard]] std::vector<Interval> intervals_of_spread(Vector estimate, Vector deviations) const;

  const IntervalFacts& facts_;
  const NewtonRounds& rounds_;
  std::optional<AffineMap> to_own_units_;
};

}  // namespace starling
