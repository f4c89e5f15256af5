#include <algorithm>
#include <limits>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "hindsight_loss.hpp"
#include "regret.hpp"

namespace starling {

namespace {

constexpr double most_numbers = 2e8;
constexpr std::size_t numbers_at_a_time = std::size_t{1} << 20;

/// Σ_u c_u,t(x) = a·x − b of every round and constraint: d entries of a, then b.
class NetworkRows {
 public:
  /// **Collective.**
  NetworkRows(const EvaluationPass& pass, const ConstraintSet& set)
      : constraints_(set.on_models()), dimension_(pass.model().dimension()) {
    rounds_ = static_cast<std::size_t>(pass.marks().back());
    const std::size_t of_round = constraints_ * (dimension_ + 1);
    check_constrained_regret(set, pass.marks().back(), dimension_);
    const std::size_t block = std::max<std::size_t>(numbers_at_a_time / of_round, 1);
    std::vector<std::size_t> next(pass.records().clients(), 0);
    for (std::size_t from = 0; from < rounds_; from += block) {
      add_rounds(pass, set, from, std::min(from + block, rounds_), next);
    }
  }

  [[nodiscard]] std::size_t rounds() const { return rounds_; }
  [[nodiscard]] std::size_t constraints() const { return constraints_; }
  [[nodiscard]] View row(std::size_t t, std::size_t j) const {
    return View(numbers_).subspan((t * constraints_ + j) * (dimension_ + 1), dimension_ + 1);
  }
  [[nodiscard]] double value(std::size_t t, std::size_t j, View x) const {
    const View numbers = row(t, j);
    return dot(numbers.first(dimension_), x) - numbers[dimension_];
  }
  /// Over the rounds from … until − 1, divided by `scale`.
  [[nodiscard]] LinearRow sum(std::size_t from, std::size_t until, std::size_t j, double scale) const {
    LinearRow total{Vector(dimension_, 0.0), 0};
    for (std::size_t t = from; t < until; ++t) {
      const View numbers = row(t, j);
      axpy(1 / scale, numbers.first(dimension_), total.slope);
      total.bound += numbers[dimension_] / scale;
    }
    return total;
  }

 private:
  void add_rounds(const EvaluationPass& pass, const ConstraintSet& set, std::size_t from, std::size_t until,
                  std::vector<std::size_t>& next) {
    const std::size_t length = (until - from) * constraints_ * (dimension_ + 1);
    Secret<Columns> parts(Columns(length, next.size()));
    std::vector<ConstraintRow> rows(constraints_);
    Secret<Batch> batch;
    for (std::size_t k = 0; k < next.size(); ++k) {
      const std::vector<Round>& played = pass.records().rounds(k);
      for (; next[k] < played.size() && played[next[k]] < static_cast<Round>(until); ++next[k]) {
        pass.records().read(k, next[k], batch);
        const std::size_t place = static_cast<std::size_t>(played[next[k]]) - from;
        parts.update(
            [&](Columns& all, const Batch& records) {
              for (ConstraintRow& row : rows) row = {Vector(dimension_, 0.0), 0};
              add_constraint_rows(set, records, pass.data().batch, rows);
              double* target = all[k].data() + place * constraints_ * (dimension_ + 1);
              for (const ConstraintRow& row : rows) {
                target = std::copy(row.a.begin(), row.a.end(), target);
                *target++ = row.bound;
              }
            },
            batch);
      }
    }
    const Vector total = pass.total(parts, SharedFigure::rows_of_constraints);
    numbers_.insert(numbers_.end(), total.begin(), total.end());
  }

  std::size_t constraints_;
  std::size_t dimension_;
  std::size_t rounds_ = 0;
  Vector numbers_;
};

/// The window that x violates most, of all that are `window` rounds long, begun in any round.
ConstraintOracle worst_window(const NetworkRows& rows, std::size_t window, double scale) {
  return [&rows, window, scale](View x) -> std::optional<Cut> {
    double worst = -std::numeric_limits<double>::infinity();
    std::size_t worst_begin = 0;
    std::size_t worst_constraint = 0;
    Vector values(rows.rounds());
    for (std::size_t j = 0; j < rows.constraints(); ++j) {
      double sum = 0;
      for (std::size_t t = 0; t < rows.rounds(); ++t) {
        values[t] = rows.value(t, j, x);
        sum += values[t] - (t >= window ? values[t - window] : 0);
        if (t + 1 < window || sum <= worst) continue;
        worst = sum;
        worst_begin = t + 1 - window;
        worst_constraint = j;
      }
    }
    LinearRow row = rows.sum(worst_begin, worst_begin + window, worst_constraint, scale);
    const double value = dot(row.slope, x) - row.bound;
    return Cut{value, std::move(row.slope)};
  };
}

Vector curve_of(const EvaluationPass& pass, View x) {
  Vector curve;
  Vector gradient(x.size());
  for (std::size_t j = 0; j < pass.marks().size(); ++j) {
    if (pass.client_rounds()[j] == 0) {
      curve.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    HindsightLoss loss(pass, j);
    curve.push_back(pass.played()[j] - loss.client_rounds() * loss.evaluate(x, gradient));
  }
  return curve;
}

ConstrainedRegret against(const EvaluationPass& pass, const NetworkRows& rows, std::optional<Round> window) {
  const std::size_t last = pass.marks().size() - 1;
  HindsightLoss loss(pass, last);
  ConstrainedRegret regret;
  regret.window = window;
  regret.played = pass.played()[last];
  regret.client_rounds = static_cast<std::int64_t>(loss.client_rounds());
  ConstrainedSettings settings;
  settings.inner.strong_convexity = pass.data().l2.strong_convexity();
  settings.inner.go_on = [&] { return !loss.interrupted(); };
  const auto rounds = static_cast<Round>(rows.rounds());
  const auto length = static_cast<std::size_t>(std::min(window.value_or(rounds), rounds));
  const double per_round = loss.client_rounds() / static_cast<double>(rounds);
  for (std::size_t j = 0; j < rows.constraints() && !window; ++j) {
    settings.rows.push_back(rows.sum(0, rows.rounds(), j, loss.client_rounds()));
  }
  regret.comparator = minimise_constrained(
      [&](View x, MutableView gradient) { return loss.evaluate(x, gradient); }, pass.domain(), pass.model().dimension(),
      worst_window(rows, length, per_round * static_cast<double>(length)), settings);
  regret.curve = curve_of(pass, regret.comparator.minimum.x);
  regret.growth = fit_growth(pass.marks(), regret.curve);
  return regret;
}

}  // namespace

void check_constrained_regret(const ConstraintSet& set, Round rounds, std::size_t dimension) {
  const auto numbers = static_cast<double>(rounds) * static_cast<double>(set.on_models() * (dimension + 1));
  check(numbers <= most_numbers,
        "regret under constraints over {} rounds of {} parameters: {:.3g} numbers on every rank. Leave out --regret, "
        "or play fewer rounds.",
        rounds, dimension, numbers);
}

std::vector<ConstrainedRegret> constrained_regrets(const EvaluationPass& pass, const ConstraintSet& set,
                                                   std::optional<Round> window) {
  if (set.on_models() == 0) return {};
  const NetworkRows rows(pass, set);
  std::vector<ConstrainedRegret> regrets{against(pass, rows, std::nullopt)};
  if (window) regrets.push_back(against(pass, rows, window));
  return regrets;
}

std::string remark_on(const ConstrainedRegret& regret) {
  if (regret.comparator.reached()) return "";
  const std::string which = regret.window ? fmt::format("the benchmark of windows of {} rounds", *regret.window)
                                          : std::string("the long-term comparator");
  if (regret.comparator.violation > regret.comparator.largest_violation) {
    return fmt::format(
        "regret: {} violates a constraint by {:.2g} per client-round: perhaps no model of the domain keeps it in every "
        "window. The regret against it is not what it should be.",
        which, regret.comparator.violation);
  }
  return fmt::format("regret: {} is known to {:.2g} only, not to {:.2g} as it should be", which,
                     regret.comparator.minimum.certificate, regret.comparator.minimum.tolerance);
}

}  // namespace starling
