#include "survival_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/numerics/distributions.hpp"
#include "core/numerics/hazard.hpp"
#include "core/numerics/kernels.hpp"
#include "core/numerics/logistic.hpp"
#include "core/text/names.hpp"
#include "core/text/spec.hpp"
#include "tables.hpp"

namespace starling {

namespace {

constexpr double level = 0.95;
constexpr double unknown_bound = std::numeric_limits<double>::quiet_NaN();

/// An interval of time, and the place of its indicator among the features; the first interval has none.
struct TimeInterval {
  double from = 0;
  double to = 0;
  std::optional<std::size_t> feature = {};
};

/// Reads NAME:FROM..TO (interval_name); none for another name.
std::optional<TimeInterval> interval_of(const std::string& name) {
  const std::size_t dots = name.rfind("..");
  const std::size_t colon = dots == std::string::npos ? dots : name.rfind(':', dots);
  if (colon == std::string::npos) return std::nullopt;
  try {
    return TimeInterval{parse_number(name.substr(colon + 1, dots - colon - 1), name),
                        parse_number(name.substr(dots + 2), name)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

class SurvivalCurve {
 public:
  SurvivalCurve(const SavedModel& model, const std::string& profile) : model_(model), link_(link_of(model)) {
    const auto* const linear = model.as<LinearForm>();
    check(linear != nullptr && model.scores == 1 && !model.parameters.empty() &&
              (link_ == Link::logit || link_ == Link::hazard),
          "--survival: the model of this run is none of hazards. Learn one by --loss hazard, of records that starling "
          "data convert --survival makes.");
    linear_ = linear;
    find_intervals();
    prepare(profile);
  }

  [[nodiscard]] SurvivalReport report() const {
    SurvivalReport result{person_, "", {}};
    TextTable table{{"interval ends at", "hazard", "survival"}, {}};
    const bool has_bands = linear_->spread && linear_->spread->method == "plug-in";
    if (has_bands) table.head.insert(table.head.end(), {"low", "high"});
    double cumulative = 0;
    Vector slope(model_.features + 1);
    for (const TimeInterval& each : intervals_) {
      Vector row = row_;
      if (each.feature) row[*each.feature] = prepared(*each.feature, 1);
      const double score = dot(View(model_.parameters).first(model_.features), row) + intercept();
      const double grows = growth(score);
      const double hazard = -std::expm1(-increment(score));
      cumulative += increment(score);
      axpy(grows, row, MutableView(slope).first(model_.features));
      slope.back() += grows;
      Cells cells{fmt::format("{}", each.to), fmt::format("{:.4f}", hazard),
                  fmt::format("{:.4f}", std::exp(-cumulative))};
      const auto [low, high] = has_bands ? band(cumulative, slope) : std::pair(unknown_bound, unknown_bound);
      result.points.push_back({each.to, std::exp(-cumulative), low, high});
      if (has_bands) cells.insert(cells.end(), {fmt::format("{:.4f}", low), fmt::format("{:.4f}", high)});
      table.rows.push_back(std::move(cells));
    }
    result.text = fmt::format("Survival of {}\n\n{}\n{}", person_, formatted(table, TableFormat::text),
                              has_bands ? "low, high: 95 % at each end, by the covariance of the coefficients.\n"
                                        : "Bands: none, since the run does not know the covariance of its coefficients "
                                          "(renewable does but for its variant offline, and "
                                          "infer --intervals plug-in, without noise).\n");
    return result;
  }

 private:
  static Link link_of(const SavedModel& model) {
    return model.loss.empty() ? Link::none : loss_table().make(model.loss)->link();
  }
  [[nodiscard]] double intercept() const { return linear_->intercept ? model_.parameters.back() : 0; }
  /// −ln of the probability of no event in an interval, and its derivative by the score.
  [[nodiscard]] double increment(double score) const {
    return link_ == Link::hazard ? cumulative_hazard(score) : std::log1p(std::exp(score));
  }
  [[nodiscard]] double growth(double score) const {
    return link_ == Link::hazard ? cumulative_hazard(score) : logistic(score);
  }

  void find_intervals() {
    names_ = model_.feature_names();
    for (std::size_t j = 0; j < names_.size(); ++j) {
      if (std::optional<TimeInterval> each = interval_of(names_[j])) {
        each->feature = j;
        intervals_.push_back(*each);
      }
    }
    check(!intervals_.empty(),
          "--survival: the model has no indicators of intervals. Learn one of records that starling data convert "
          "--survival makes.");
    std::sort(intervals_.begin(), intervals_.end(), [](const auto& a, const auto& b) { return a.to < b.to; });
    intervals_.insert(intervals_.begin(), TimeInterval{0, intervals_.front().from});
  }

  /// The feature's value for the model.
  [[nodiscard]] double prepared(std::size_t j, double value) const {
    const std::vector<Standardisation>& scales = model_.constants.standardisation;
    const std::vector<ColumnFeature> made = model_.constants.made_features();
    const bool is_number = !scales.empty() && j < made.size() && made[j].kind == ColumnFeature::Kind::value;
    return model_.constants.scale * (is_number ? scales[made[j].column].of(value) : value);
  }
  [[nodiscard]] double baseline_value(std::size_t j) const {
    const std::vector<Standardisation>& scales = model_.constants.standardisation;
    const std::vector<ColumnFeature> made = model_.constants.made_features();
    const bool is_number = !scales.empty() && j < made.size() && made[j].kind == ColumnFeature::Kind::value;
    return is_number ? scales[made[j].column].mean : 0;
  }

  void prepare(const std::string& profile) {
    std::map<std::string, double> given;
    for (std::size_t begin = 0; begin < profile.size();) {
      const std::size_t end = std::min(profile.find(',', begin), profile.size());
      const std::string part = profile.substr(begin, end - begin);
      const std::size_t equals = part.rfind('=');
      check(equals != std::string::npos, "--survival '{}': it is not NAME=VALUE. Name features and their values.",
            part);
      const std::string name = part.substr(0, equals);
      check(std::find(names_.begin(), names_.end(), name) != names_.end() && !interval_of(name), "--survival: {}",
            unknown_name("feature", name, names_));
      given[name] = parse_number(part.substr(equals + 1), "--survival " + name);
      begin = end + 1;
    }
    std::vector<std::string> shown;
    for (std::size_t j = 0; j < model_.features; ++j) {
      const bool is_time = interval_of(names_[j]).has_value();
      const auto found = given.find(names_[j]);
      const double value = is_time ? 0 : found == given.end() ? baseline_value(j) : found->second;
      row_.push_back(prepared(j, value));
      if (!is_time) shown.push_back(fmt::format("{}={:.6g}", names_[j], value));
    }
    person_ = shown.empty() ? "all" : fmt::format("{}", fmt::join(shown, ", "));
  }

  /// Bounds of ln H by the delta method, brought to S = e^−H.
  [[nodiscard]] std::pair<double, double> band(double cumulative, View slope) const {
    const double grows = slope.back();
    Vector row(slope.begin(), slope.end() - 1);
    double deviation = 0;
    if (linear_->intercept) {
      scale(1 / grows, row);
      deviation = grows * linear_->spread->of({row, {}}, true);
    } else {
      deviation = linear_->spread->of({row, {}}, false);
    }
    const double factor = std::exp(two_sided_normal_quantile(level) * deviation / cumulative);
    return {std::exp(-cumulative * factor), std::exp(-cumulative / factor)};
  }

  const SavedModel& model_;
  Link link_;
  const LinearForm* linear_ = nullptr;
  std::vector<std::string> names_;
  std::vector<TimeInterval> intervals_;
  Vector row_;  ///< of the profile, for the model, in the first interval
  std::string person_;
};

}  // namespace

SurvivalReport survival_report(const SavedModel& model, const std::string& profile) {
  return SurvivalCurve(model, profile).report();
}

}  // namespace starling
