#include "starling/record/static_regret.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "starling/core/kernels.hpp"

namespace starling {

namespace {

// Of the comparators of earlier marks, which make a curve.
constexpr double curve_gap = 1e-7;
constexpr double curve_gradient_norm = 1e-5;
constexpr std::int64_t curve_evaluations = 2000;
constexpr double most_error = 0.01;  ///< of a curve's point, relative

/// The mean of the f_u,t before a mark as a function, evaluated by all ranks together.
class HindsightLoss {
 public:
  HindsightLoss(const EvaluationPass& pass, std::size_t mark)
      : pass_(pass), mark_(mark), loss_(pass.model(), pass.data()) {}

  [[nodiscard]] double client_rounds() const { return pass_.client_rounds()[mark_]; }
  /// Whether a rank has been interrupted; the same on all ranks.
  [[nodiscard]] bool interrupted() const { return any_interrupted_; }

  /// **Collective.**
  [[nodiscard]] double evaluate(View x, MutableView gradient) {
    const std::size_t d = x.size();
    const double stop = pass_.interrupted() ? 1 : 0;
    Secret<Columns> parts(Columns(d + 2, pass_.records().clients()));  // ∇F_u, F_u, whether its rank is interrupted
    for (std::size_t k = 0; k < pass_.records().clients(); ++k) {
      add_client(x, k, k, parts);
      parts.update([&](Columns& all) { all[k][d + 1] = stop; });
    }
    Vector total = pass_.total(parts);
    any_interrupted_ = total[d + 1] > 0;
    scale(1 / client_rounds(), total);
    std::copy_n(total.begin(), d, gradient.begin());
    return total[d];
  }

  /// Σ_t f_u,t(x) of each local client.
  [[nodiscard]] std::vector<Secret<double>> by_client(View x) {
    std::vector<Secret<double>> values;
    for (std::size_t k = 0; k < pass_.records().clients(); ++k) {
      Secret<Columns> part(Columns(x.size() + 1, 1));
      add_client(x, k, 0, part);
      values.push_back(part.map([&](const Columns& one) { return one[0][x.size()]; }));
    }
    return values;
  }

 private:
  /// Adds F_u of local client k and its gradient to a column.
  void add_client(View x, std::size_t k, std::size_t column, Secret<Columns>& parts) {
    const ReplayedRecords& records = pass_.records();
    for (std::size_t s = 0; s <= mark_; ++s) {
      const std::size_t rounds = records.first_of(k, s + 1) - records.first_of(k, s);
      if (rounds == 0) continue;
      parts.update(
          [&](Columns& all, const RecordSpan& span) {
            loss_.add(x, span.records, static_cast<double>(rounds), all[column]);
          },
          records.span(k, s));
    }
  }

  const EvaluationPass& pass_;
  std::size_t mark_;
  RoundLoss loss_;
  bool any_interrupted_ = false;
};

Minimum best_before(const EvaluationPass& pass, HindsightLoss& loss, MinimiseSettings settings) {
  settings.strong_convexity = pass.data().l2;
  settings.go_on = [&] { return !loss.interrupted(); };
  return minimise([&](View x, MutableView gradient) { return loss.evaluate(x, gradient); }, pass.domain(),
                  pass.model().dimension(), settings);
}

/// NaN where the comparator is too uncertain for this regret.
double regret_if_certain(double played, double client_rounds, const Minimum& comparator) {
  const double regret = played - client_rounds * comparator.value;
  const bool bounded = comparator.kind == Minimum::Certificate::gap &&
                       client_rounds * comparator.certificate <= most_error * std::abs(regret);
  return comparator.ending == Minimum::Ending::reached || bounded ? regret : std::numeric_limits<double>::quiet_NaN();
}

Vector curve_of(const EvaluationPass& pass, const StaticRegret& whole) {
  const std::size_t last = pass.marks().size() - 1;
  Vector curve(last + 1, std::numeric_limits<double>::quiet_NaN());
  curve[last] = whole.exists() ? whole.total() : curve[last];
  MinimiseSettings settings;
  settings.gap = curve_gap;
  settings.gradient_norm = curve_gradient_norm;
  settings.evaluations = curve_evaluations;
  for (std::size_t j = 0; j < last; ++j) {
    if (pass.client_rounds()[j] == 0) continue;
    HindsightLoss loss(pass, j);
    const Minimum best = best_before(pass, loss, settings);
    if (best.ending == Minimum::Ending::interrupted) break;
    curve[j] = regret_if_certain(pass.played()[j], loss.client_rounds(), best);
    settings.start = best.x;
  }
  return curve;
}

}  // namespace

StaticRegret static_regret(const EvaluationPass& pass) {
  const std::size_t last = pass.marks().size() - 1;
  HindsightLoss loss(pass, last);
  StaticRegret regret;
  regret.client_rounds = static_cast<std::int64_t>(loss.client_rounds());
  regret.played = pass.played()[last];
  regret.comparator = best_before(pass, loss, {});
  regret.best = loss.by_client(regret.comparator.x);
  if (regret.exists() && regret.comparator.ending != Minimum::Ending::interrupted) regret.curve = curve_of(pass, regret);
  return regret;
}

std::string remark_on(const StaticRegret& regret) {
  const Minimum& x = regret.comparator;
  switch (x.ending) {
    case Minimum::Ending::reached:
      return "";
    case Minimum::Ending::gave_up:
      return fmt::format(
          "static regret: after {} evaluations the comparator's {} is {:.2g}, not {:.2g} as it should be; the regret "
          "may be larger than shown{}",
          x.evaluations, name_of(x.kind), x.certificate, x.tolerance,
          x.kind == Minimum::Certificate::gap
              ? fmt::format(", by up to {:.2g}", static_cast<double>(regret.client_rounds) * x.certificate)
              : "");
    case Minimum::Ending::not_attained:
      return "static regret: no model is best (the losses go on falling along the comparator: separable data?); the "
             "regret is against the last model tried. A bounded --domain, or --l2, has a best one";
    case Minimum::Ending::unbounded:
      return "static regret: there is none (the losses fall without end on this domain). A bounded --domain, or --l2, "
             "has a best model";
    case Minimum::Ending::interrupted:
      return "static regret: its evaluation was ended by a signal; the comparator is the best model found until then";
  }
  return "";
}

}  // namespace starling
