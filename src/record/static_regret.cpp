#include "starling/record/static_regret.hpp"

#include <fmt/format.h>

#include "starling/core/check.hpp"
#include "starling/core/kernels.hpp"

namespace starling {

namespace {

/// The mean of all f_u,t as a function, evaluated by all ranks together.
class HindsightLoss {
 public:
  HindsightLoss(Agreement& agreement, const MetricsPolicy& policy, Model& model, const EvaluationData& data,
                const std::function<bool()>& interrupted)
      : agreement_(agreement),
        policy_(policy),
        model_(model),
        batch_(static_cast<double>(data.batch)),
        l2_(data.l2),
        interrupted_(interrupted),
        records_(data.streams.size()),
        rounds_(data.steps.begin(), data.steps.end()) {
    agreement_.together([&] { read(data); });
    Columns counts(1, rounds_.size());
    for (std::size_t k = 0; k < rounds_.size(); ++k) counts[k][0] = rounds_[k];
    client_rounds_ = agreement_.ordered_sum(Released<Columns>(declare_public(std::move(counts))))[0];
  }

  [[nodiscard]] double client_rounds() const { return client_rounds_; }
  /// Whether a rank has been interrupted; the same on all ranks.
  [[nodiscard]] bool interrupted() const { return any_interrupted_; }

  /// **Collective.**
  [[nodiscard]] double evaluate(View x, MutableView gradient) {
    const std::size_t d = x.size();
    const double stop = interrupted_() ? 1 : 0;
    Secret<Columns> parts(Columns(d + 2, records_.size()));  // ∇F_u, F_u, whether its rank is interrupted
    for (std::size_t k = 0; k < records_.size(); ++k) {
      parts.update(
          [&](Columns& all, const Batch& records) {
            evaluate_client(x, records, rounds_[k], all[k]);
            all[k][d + 1] = stop;
          },
          records_[k]);
    }
    Vector total = agreement_.ordered_sum(*policy_.share(parts));
    any_interrupted_ = total[d + 1] > 0;
    scale(1 / client_rounds_, total);
    std::copy_n(total.begin(), d, gradient.begin());
    return total[d];
  }

 private:
  void read(const EvaluationData& data) {
    for (std::size_t k = 0; k < records_.size(); ++k) {
      Stream& stream = *data.streams[k];
      for (Round t = 0; t < data.steps[k]; ++t) {
        check<DataError>(!stream.ended(t), "a source has {} rounds where {} were played (has it changed since?)", t,
                         data.steps[k]);
        apply(
            [](Batch& all, const Batch& batch) {
              for (std::size_t i = 0; i < batch.size(); ++i) all.add(batch.row(i), batch.label(i));
            },
            records_[k], stream.next(t));
      }
    }
  }

  /// F_u(x) = (1/m) Σ_i ℓ_i(x) + (rounds of u) (λ/2)‖x‖².
  void evaluate_client(View x, const Batch& records, double rounds, MutableView part) {
    const Score score = model_.evaluate(x, records, Clip{}, gradient_);
    const MutableView slope = part.first(x.size());
    axpy(1 / batch_, gradient_, slope);
    axpy(rounds * l2_, x, slope);
    part[x.size()] = score.loss / batch_ + rounds * 0.5 * l2_ * dot(x, x);
  }

  Agreement& agreement_;
  const MetricsPolicy& policy_;
  Model& model_;
  double batch_;
  double l2_;
  const std::function<bool()>& interrupted_;
  std::vector<Secret<Batch>> records_;  ///< of all rounds played, per local client
  Vector rounds_;                       ///< in which each took a step
  double client_rounds_ = 0;
  bool any_interrupted_ = false;
  Vector gradient_;
};

double add_up(Agreement& agreement, const MetricsPolicy& policy, const std::vector<Secret<double>>& played) {
  Secret<Columns> row(Columns(1, played.size()));
  for (std::size_t k = 0; k < played.size(); ++k) {
    row.update([k](Columns& all, const double& one) { all[k][0] = one; }, played[k]);
  }
  return agreement.ordered_sum(*policy.share(row))[0];
}

}  // namespace

StaticRegret static_regret(Agreement& agreement, const MetricsPolicy& policy, Model& model, Domain& domain,
                           const EvaluationData& data, const std::function<bool()>& interrupted) {
  check(policy.shared(), "regret needs shared metrics (its comparator is fitted to all records without noise)");
  HindsightLoss loss(agreement, policy, model, data, interrupted);
  StaticRegret regret;
  regret.client_rounds = static_cast<std::int64_t>(loss.client_rounds());
  check(regret.client_rounds > 0, "there is no regret to report (no client took a step)");
  regret.played = add_up(agreement, policy, data.played);
  MinimiseSettings settings;
  settings.strong_convexity = data.l2;
  settings.go_on = [&] { return !loss.interrupted(); };
  regret.comparator = minimise([&](View x, MutableView gradient) { return loss.evaluate(x, gradient); }, domain,
                               model.dimension(), settings);
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
          "may "
          "be larger than shown{}",
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
