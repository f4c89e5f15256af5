// Results of `--estimator newton`.
#include "newton_results.hpp"

#include <limits>
#include <utility>

#include "core/numerics/dense.hpp"
#include "core/numerics/distributions.hpp"
#include "net/agreement.hpp"
#include "output/intervals/interval_recorder.hpp"
#include "output/model_file/saved_model.hpp"
#include "protocol/aggregated/newton.hpp"
#include "setting/infer_config.hpp"

namespace starling {

Released<Columns> NewtonResults::estimates() {
  Released<Vector> common = rounds_.theta();
  if (const std::optional<NewtonEstimate> found = rounds_.estimate()) common = declare_public(found->estimate);
  const auto local = static_cast<std::size_t>(facts_.layout.count(facts_.agreement.rank()));
  return declare_public(Columns(facts_.agreement.all_gather(common).front(), local));
}

NewtonSettling NewtonResults::settling_of(const NewtonEstimate& estimate) const {
  NewtonSettling settling{estimate.step, facts_.names[estimate.stepping], {}, !facts_.config.privacy.protects()};
  if (!estimate.has_enough && settling.exact) settling.too_few_records = estimate.effective_records;
  for (const std::size_t j : estimate.undetermined) settling.undetermined.push_back(facts_.names[j]);
  return settling;
}

std::vector<Interval> NewtonResults::intervals_of_spread(Vector estimate, Vector deviations) const {
  std::vector<Interval> all = intervals_of({{"plug-in", Spread{std::move(estimate), std::move(deviations)}}},
                                           facts_.names, facts_.config.levels, std::nullopt);
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < all.size(); ++i) {
    Interval& each = all[i];
    if (is_left_out(i % facts_.names.size())) each = {each.name, none, none, none, none, each.level, "dropped"};
  }
  return all;
}

std::optional<JointTest> NewtonResults::joint_test(const NewtonEstimate& estimate) const {
  if (!estimate.undetermined.empty()) return std::nullopt;
  JointTest test;
  std::vector<Eigen::Index> tested;
  for (std::size_t j = 0; j < facts_.dimension - (facts_.config.intercept ? 1 : 0); ++j) {
    if (is_left_out(j)) continue;
    tested.push_back(static_cast<Eigen::Index>(j));
    test.names.push_back(facts_.names[j]);
  }
  const auto slopes = static_cast<Eigen::Index>(tested.size());
  const dense::MatrixXd all = dense::symmetric(estimate.covariance, facts_.dimension);
  dense::MatrixXd covariance(slopes, slopes);
  dense::VectorXd own(slopes);
  for (Eigen::Index j = 0; j < slopes; ++j) {
    const Eigen::Index at = tested[static_cast<std::size_t>(j)];
    own[j] = estimate.estimate[static_cast<std::size_t>(at)];
    for (Eigen::Index k = 0; k < slopes; ++k) covariance(j, k) = all(at, tested[static_cast<std::size_t>(k)]);
  }
  const std::optional<double> statistic = dense::inverse_form(covariance, own);
  if (!statistic || slopes == 0) return std::nullopt;
  test.statistic = *statistic;
  test.level = facts_.config.levels.front();
  test.critical = chi_squared_quantile(static_cast<double>(slopes), test.level);
  return test;
}

RunIntervals NewtonResults::summarise(std::vector<std::string>& notes) {
  RunIntervals all;
  if (facts_.agreement.rank() != 0) return all;
  const std::optional<NewtonEstimate> found = rounds_.estimate();
  if (!found) {
    notes.emplace_back("stopped before the rounds that count: no intervals");
    return all;
  }
  all.records = rounds_.records();
  if (facts_.config.intervals_text == "none") return all;
  all.intervals = intervals_of_spread(found->estimate, found->deviations);
  all.settling.newton = settling_of(*found);
  if (found->fits_all) {
    notes.emplace_back(
        "columns give every label within roundings, so that standard errors are of roundings: a column may be a copy "
        "of "
        "the label, or labels may never vary. --drop leaves the copy out");
  }
  if (facts_.config.joint) all.joint = joint_test(*found);
  if (facts_.config.joint && !all.joint) notes.emplace_back("no joint test: a coefficient has no interval");
  if (!to_own_units_) return all;
  Vector own(found->estimate.size());
  to_own_units_->apply(found->estimate, own);
  all.own_units = intervals_of_spread(std::move(own), to_own_units_->deviations(found->covariance, found->deviations));
  return all;
}

std::optional<ParameterSpread> NewtonResults::spread_of_parameters() const {
  const std::optional<NewtonEstimate> found = rounds_.estimate();
  if (!found || !settling_of(*found).settled()) return std::nullopt;
  return ParameterSpread{"plug-in", found->covariance};
}

std::vector<IntervalsAt> NewtonResults::all_along() {
  std::vector<std::string> left_out;
  RunIntervals all = summarise(left_out);
  return {{facts_.config.sgd.steps, all.records.value_or(0), std::move(all.intervals), all.settling.settled()}};
}

}  // namespace starling
