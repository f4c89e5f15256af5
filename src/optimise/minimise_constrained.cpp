#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numerics/kernels.hpp"
#include "minimise.hpp"

namespace starling {

namespace {

constexpr double first_strictness = 10;
constexpr double stricter = 4;
constexpr double most_strict = 1e8;
constexpr double needed_progress = 0.25;  ///< of the violation from one minimisation to the next
constexpr double first_gap = 1e-3;
constexpr double sharper = 0.1;  ///< of the gap from one minimisation to the next
/// Share of the wanted gap that a minimisation may take.
constexpr double share_of_gap = 0.25;
constexpr double equal_rows = 1e-12;

double value_of(const LinearRow& row, View x) {
  return dot(row.slope, x) - row.bound;
}

class AugmentedLagrangian {
 public:
  AugmentedLagrangian(const ConvexFunction& f, Domain& domain, std::size_t dimension, const ConstraintOracle& oracle,
                      const ConstrainedSettings& settings)
      : f_(f), domain_(domain), dimension_(dimension), oracle_(oracle), settings_(settings) {
    result_.rows = settings.rows;
    result_.multipliers.assign(result_.rows.size(), 0.0);
    gap_ = std::max(first_gap, settings.inner.gap);
    norm_ = std::max(first_gap, settings.inner.gradient_norm);
  }

  ConstrainedMinimum run() {
    for (int round = 0; round < settings_.most_rounds; ++round) {
      const Minimum inner = minimise_once();
      judge(inner);
      if (is_over(inner)) break;
      const bool added = add_cut();
      raise_multipliers(inner.x, added);
      gap_ = std::max(gap_ * sharper, share_of_gap * settings_.inner.gap);
      norm_ = std::max(norm_ * sharper, share_of_gap * settings_.inner.gradient_norm);
    }
    Minimum& minimum = result_.minimum;
    minimum.evaluations = evaluations_;
    if (minimum.ending == Minimum::Ending::reached && !is_reached()) minimum.ending = Minimum::Ending::gave_up;
    return std::move(result_);
  }

 private:
  /// f + Σ (max(0, λ + ρ c)² − λ²) / 2ρ.
  [[nodiscard]] double lagrangian(View x, MutableView gradient) {
    double value = f_(x, gradient);
    ++evaluations_;
    for (std::size_t i = 0; i < result_.rows.size(); ++i) {
      const double old = result_.multipliers[i];
      const double pull = std::max(0.0, old + strictness_ * value_of(result_.rows[i], x));
      axpy(pull, result_.rows[i].slope, gradient);
      value += (pull * pull - old * old) / (2 * strictness_);
    }
    return value;
  }

  [[nodiscard]] Minimum minimise_once() {
    MinimiseSettings inner = settings_.inner;
    inner.gap = gap_;
    inner.gradient_norm = norm_;
    inner.evaluations = std::max<std::int64_t>(settings_.inner.evaluations - evaluations_, 1);
    if (!result_.minimum.x.empty()) inner.start = result_.minimum.x;
    return minimise([this](View x, MutableView gradient) { return lagrangian(x, gradient); }, domain_, dimension_,
                    inner);
  }

  /// Evaluates the minimiser of the Lagrangian as a result.
  void judge(const Minimum& inner) {
    Minimum& minimum = result_.minimum;
    minimum = inner;
    Vector gradient(dimension_);
    minimum.value = f_(inner.x, gradient);
    ++evaluations_;
    if (inner.kind == Minimum::Certificate::gap) {
      lower_ = std::max(lower_, inner.value - inner.certificate);
      minimum.certificate = std::abs(minimum.value - lower_);
      minimum.tolerance = settings_.inner.gap * std::max(1.0, std::abs(minimum.value));
    } else {
      // The scale is the gradient of f, without the penalty.
      minimum.tolerance = settings_.inner.gradient_norm * std::max(1.0, norm2(gradient));
    }
    worst_ = oracle_ ? oracle_(inner.x) : std::nullopt;
    result_.violation = worst_ ? std::max(worst_->value, 0.0) : 0;
    double steepest = worst_ ? norm2(worst_->gradient) : 0;
    slack_ = 0;
    for (std::size_t i = 0; i < result_.rows.size(); ++i) {
      const double value = value_of(result_.rows[i], inner.x);
      slack_ += std::abs(value) * std::max(0.0, result_.multipliers[i] + strictness_ * value);
      result_.violation = std::max(result_.violation, value);
      steepest = std::max(steepest, norm2(result_.rows[i].slope));
    }
    result_.largest_violation = settings_.violation * std::max(1.0, steepest);
  }

  [[nodiscard]] bool is_reached() const {
    const Minimum& minimum = result_.minimum;
    return result_.violation <= result_.largest_violation && minimum.certificate <= minimum.tolerance &&
           slack_ <= settings_.inner.gap * std::max(1.0, std::abs(minimum.value));
  }

  /// Whether there is no use in going on; the ending is then that of the whole.
  [[nodiscard]] bool is_over(const Minimum& inner) {
    if (inner.ending == Minimum::Ending::interrupted || inner.ending == Minimum::Ending::unbounded) return true;
    result_.minimum.ending = is_reached() ? Minimum::Ending::reached : Minimum::Ending::gave_up;
    return is_reached() || evaluations_ >= settings_.inner.evaluations;
  }

  /// Whether the oracle has named a row that is new and violated.
  bool add_cut() {
    if (!worst_ || worst_->value <= 0.5 * result_.largest_violation) return false;
    LinearRow row{worst_->gradient, dot(worst_->gradient, result_.minimum.x) - worst_->value};
    for (const LinearRow& other : result_.rows) {
      const double size = norm2(row.slope) + std::abs(row.bound);
      if (std::sqrt(squared_distance(row.slope, other.slope)) <= equal_rows * size &&
          std::abs(row.bound - other.bound) <= equal_rows * size) {
        return false;
      }
    }
    result_.rows.push_back(std::move(row));
    result_.multipliers.push_back(0);
    return true;
  }

  /// λ ← max(0, λ + ρ c); ρ rises while violations do not fall.
  void raise_multipliers(View x, bool added) {
    double moved = 0;
    for (std::size_t i = 0; i < result_.rows.size(); ++i) {
      double& multiplier = result_.multipliers[i];
      const double value = value_of(result_.rows[i], x);
      // Distance of the row from the conditions c ≤ 0, λ ≥ 0, λ c = 0.
      moved = std::max(moved, std::abs(std::max(value, -multiplier / strictness_)));
      multiplier = std::max(0.0, multiplier + strictness_ * value);
    }
    if (!added && moved > needed_progress * moved_before_) strictness_ = std::min(strictness_ * stricter, most_strict);
    moved_before_ = moved;
  }

  const ConvexFunction& f_;
  Domain& domain_;
  std::size_t dimension_;
  const ConstraintOracle& oracle_;
  const ConstrainedSettings& settings_;
  ConstrainedMinimum result_;
  std::optional<Cut> worst_;
  double strictness_ = first_strictness;  ///< ρ
  double slack_ = 0;                      ///< Σ λ |c|, which is 0 at a minimum
  double gap_;
  double norm_;
  double lower_ = -std::numeric_limits<double>::infinity();
  double moved_before_ = std::numeric_limits<double>::infinity();
  std::int64_t evaluations_ = 0;
};

}  // namespace

ConstrainedMinimum minimise_constrained(const ConvexFunction& f, Domain& domain, std::size_t dimension,
                                        const ConstraintOracle& oracle, const ConstrainedSettings& settings) {
  return AugmentedLagrangian(f, domain, dimension, oracle, settings).run();
}

}  // namespace starling
