#include "variant.hpp"

#include <utility>

#include "core/numerics/distributions.hpp"
#include "methods/renewable/renewable_method.hpp"
#include "output/directory/run_directory.hpp"
#include "protocol/renewable/offline_renewable.hpp"
#include "protocol/renewable/online_renewable.hpp"
#include "protocol/renewable/paper_renewable.hpp"
#include "protocol/renewable/private_renewable.hpp"
#include "report/summary.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/stages/play.hpp"
#include "run/stages/run_context.hpp"
#include "sums_of_run.hpp"

namespace starling {

namespace {

/// Results of the variant `online`.
class OnlineResults final : public VariantResults {
 public:
  OnlineResults(const OnlineRenewable& online, const RenewableParts& parts)
      : online_(online), config_(parts.config), loss_(*parts.loss) {}

  [[nodiscard]] std::optional<EstimatedVariances> variances() const override {
    if (online_.is_lost() || online_.is_of_separated_classes()) return std::nullopt;
    return EstimatedVariances{online_.variances(dispersion()), two_sided_normal_quantile(config_.level),
                              config_.settings.with_slopes ? "wald-sandwich" : "wald"};
  }
  [[nodiscard]] std::optional<Vector> covariance() const override {
    if (config_.settings.with_slopes || config_.settings.l2 > 0) return std::nullopt;
    return online_.covariance();
  }
  [[nodiscard]] std::vector<std::string> notes() const override;
  void add_to(Summary& summary) const override;

 private:
  /// The dispersion φ behind the standard errors of a likelihood.
  [[nodiscard]] OnlineRenewable::Dispersion dispersion() const {
    return loss_.likelihood() == Likelihood::up_to_scale ? OnlineRenewable::Dispersion::squared
                                                         : OnlineRenewable::Dispersion::one;
  }

  const OnlineRenewable& online_;
  const RenewableConfig& config_;
  const CurvedLoss& loss_;
};

std::vector<std::string> OnlineResults::notes() const {
  std::vector<std::string> notes;
  if (online_.start_was_shrunk()) {
    notes.emplace_back(
        "the first batch alone has no minimum with --penalty slopes as where it holds one class only: the start, and "
        "it alone, shrinks the intercept too");
  }
  if (online_.is_of_separated_classes()) {
    notes.emplace_back(
        "the classes can be separated, or nearly: little but the start bounds the size of the model, and its "
        "coefficients have no intervals. A penalty (--l2) says how large they may be");
  }
  if (online_.is_lost()) {
    notes.push_back(
        fmt::format("the batches after the start were predicted worse than by a model of zeros: the curvature was too "
                    "flat, and the steps too long. The run gives no intervals. Take {}larger batches or --l2.",
                    config_.settings.safe_start ? "" : "--start safe, "));
  }
  if (online_.searches() > 0) {
    notes.push_back(fmt::format(
        "in {} {} the step promised a loss below 0: the batches before had hardly any curvature there, as if their "
        "classes could nearly be separated. The model was searched over the batch instead. Larger batches need no "
        "search.",
        online_.searches(), online_.searches() == 1 ? "batch" : "batches"));
  }
  return notes;
}

/// Scores of batches where their variance is known, unless old batches are to be forgotten; the dispersion of a gamma
/// loss.
void OnlineResults::add_to(Summary& summary) const {
  const bool known = loss_.likelihood() != Likelihood::none || config_.settings.with_slopes;
  if (known && config_.settings.forget == 1) {
    if (const auto batches = online_.batch_scores(dispersion())) summary.add(*batches);
  }
  if (config_.loss.starts_with("gamma")) {
    if (const auto dispersion = online_.estimated_dispersion()) summary.add(GammaDispersion{*dispersion});
  }
}

/// Results of the variants `offline` and `offline-one-step`.
class OfflineResults final : public VariantResults {
 public:
  OfflineResults(const OfflineRenewable& offline, const RenewableConfig& config, std::string directory)
      : offline_(offline), config_(config), directory_(std::move(directory)) {}

  [[nodiscard]] std::optional<EstimatedVariances> variances() const override { return std::nullopt; }
  [[nodiscard]] std::vector<std::string> notes() const override;
  void add_to(Summary& summary) const override { summary.part<RunScores>().objective = offline_.objective(); }
  [[nodiscard]] bool is_done_early() const override {
    return searches() && (offline_.converged() || offline_.without_minimum());
  }
  void require_success(const RoundsEnd& end) const override;

 private:
  [[nodiscard]] bool searches() const { return config_.variant == RenewableVariant::offline; }

  const OfflineRenewable& offline_;
  const RenewableConfig& config_;
  std::string directory_;
};

std::vector<std::string> OfflineResults::notes() const {
  if (!searches()) return {};
  if (offline_.converged()) return {fmt::format("converged after {} passes", offline_.done())};
  if (!offline_.without_minimum() && offline_.done() != config_.settings.rounds) return {};
  return {fmt::format("NOT converged after {} passes", offline_.done())};
}

void OfflineResults::require_success(const RoundsEnd& end) const {
  if (!searches()) return;
  check<DataError>(
      !offline_.without_minimum(),
      "there is no minimum: a class has no records, and under --penalty slopes its intercept grows without end. Take "
      "records of all classes, or --penalty full. What was reached is in {}.",
      directory_);
  check<DataError>(offline_.converged() || end.stopped || config_.rounds,
                   "no minimum was found in {} passes: the objective still falls: --l2 hardly bounds the model. Add a "
                   "penalty. What was reached is in {}.",
                   config_.settings.rounds, directory_);
}

/// Variances of an estimate by its batches.
EstimatedVariances by_batches(Vector variances, std::int64_t batches, double level) {
  return {std::move(variances), two_sided_t_quantile(static_cast<double>(batches - 1), level), "batch-sandwich"};
}

/// Results of the variant `private`.
class PrivateResults final : public VariantResults {
 public:
  PrivateResults(const PrivateRenewable& sums, const RenewableConfig& config) : sums_(sums), config_(config) {}

  [[nodiscard]] std::optional<EstimatedVariances> variances() const override {
    if (sums_.done() < config_.settings.rounds) return std::nullopt;
    const BatchSandwich& sandwich = sums_.sandwich();
    return by_batches(sandwich.estimate("standard errors").variances, sandwich.batches(), config_.level);
  }

 private:
  const PrivateRenewable& sums_;
  const RenewableConfig& config_;
};

/// Results of the variant `private-paper`.
class PaperResults final : public VariantResults {
 public:
  PaperResults(PaperRenewable& paper, const RenewableConfig& config) : paper_(paper), config_(config) {}

  [[nodiscard]] std::optional<EstimatedVariances> variances() const override {
    if (paper_.done() < config_.settings.rounds) return std::nullopt;
    return by_batches(paper_.variances(), paper_.batches_of_variances(), config_.level);
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    if (config_.standard_errors == StandardErrors::none) return {};
    return {"standard errors with private-paper are published without noise of their own"};
  }

 private:
  PaperRenewable& paper_;
  const RenewableConfig& config_;
};

/// c of H̄ = n (c + λ) I (docs/methods/renewable.md). A scaled row spreads at most C₂² over the coordinates of features
/// that are not left out, and of the constant. Its weight, the loss's curvature, lies between 0 and the largest
/// curvature; c takes half of that. A larger c makes the steps 1/(b (c + λ)) so short that the first, noisiest models
/// are not forgotten; with a smaller c they overshoot.
double average_curvature(const RenewableParts& parts) {
  const double bound = parts.config.privacy.clip.value_or(1);
  return parts.loss->most_curvature() / 2 * bound * bound /
         static_cast<double>(parts.model->order() - parts.left_out.size());
}

/// Public curvature of a record, with a note; none where curvature is released.
std::optional<PublicCurvature> public_curvature(const RenewableParts& parts, std::vector<std::string>& notes) {
  if (!parts.given_curvature.empty()) {
    notes.push_back(fmt::format("public curvature of a record: {}", parts.config.curvature_file));
    return PublicCurvature{.triangle = parts.given_curvature};
  }
  if (parts.config.curvature_share) return std::nullopt;
  const double multiple = average_curvature(parts);
  notes.push_back(fmt::format("public curvature: {:.6g} I per record", multiple));
  return PublicCurvature{.multiple = multiple};
}

}  // namespace

MadeVariant make_variant(const BegunRun& begun, const RenewableParts& parts, Root& root, SumsOfRun& sums) {
  const RenewableConfig& config = parts.config;
  const RenewableSettings& settings = config.settings;
  const auto made = [](auto protocol, auto results) { return MadeVariant{std::move(protocol), std::move(results)}; };
  if (config.variant == RenewableVariant::private_sums) {
    auto protocol = std::make_unique<PrivateRenewable>(root, sums.clients(), *parts.model, settings, parts.start,
                                                       sums.noisy_sum(), public_curvature(parts, begun.context.notes));
    auto results = std::make_unique<PrivateResults>(*protocol, config);
    return made(std::move(protocol), std::move(results));
  }
  if (config.variant == RenewableVariant::private_paper) {
    auto protocol = std::make_unique<PaperRenewable>(root, sums.clients(), *parts.model, settings, parts.start,
                                                     dynamic_cast<PaperPerturbation&>(begun.privacy->protection()),
                                                     config.rho.value_or(0), sums.codec());
    auto results = std::make_unique<PaperResults>(*protocol, config);
    return made(std::move(protocol), std::move(results));
  }
  const OpenChannel channel{begun.privacy->mechanism(), sums.codec()};
  if (config.variant == RenewableVariant::online) {
    auto protocol =
        std::make_unique<OnlineRenewable>(root, sums.clients(), *parts.model, settings, parts.start, channel);
    auto results = std::make_unique<OnlineResults>(*protocol, parts);
    return made(std::move(protocol), std::move(results));
  }
  const auto steps =
      config.variant == RenewableVariant::offline ? OfflineRenewable::Steps::all : OfflineRenewable::Steps::one;
  auto protocol =
      std::make_unique<OfflineRenewable>(root, sums.clients(), *parts.model, settings, parts.start, channel, steps);
  auto results = std::make_unique<OfflineResults>(*protocol, config, begun.directory.path());
  return made(std::move(protocol), std::move(results));
}

}  // namespace starling
