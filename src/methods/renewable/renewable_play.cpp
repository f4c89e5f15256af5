// The rounds and results of `starling renewable`.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/numerics/distributions.hpp"
#include "files/tell_user.hpp"
#include "methods/methods.hpp"
#include "output/directory/owners_file.hpp"
#include "output/intervals/interval.hpp"
#include "output/model_file/saved_model.hpp"
#include "privacy/mechanism/masking.hpp"
#include "privacy/statement/statement.hpp"
#include "privacy/statement/trust.hpp"
#include "protocol/person_model.hpp"
#include "protocol/renewable/offline_renewable.hpp"
#include "protocol/renewable/online_renewable.hpp"
#include "protocol/renewable/paper_renewable.hpp"
#include "protocol/renewable/private_renewable.hpp"
#include "renewable_method.hpp"
#include "report/summary.hpp"
#include "run/identity/introductions.hpp"
#include "run/life_cycle.hpp"
#include "run/play_at_root.hpp"
#include "run/privacy/run_privacy.hpp"

namespace starling {

namespace {

class RenewablePlay final : public PlayAtRoot {
 public:
  RenewablePlay(const BegunRun& begun, const Method& method, RenewableParts& parts);

  void run(const std::vector<Observer*>& observers) override;
  [[nodiscard]] RoundsEnd end() override;
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  void complete_summary(Summary& summary) override;
  [[nodiscard]] std::optional<SavedModel> saved_model() const override;
  [[nodiscard]] ExitCode exit_code(const Summary& summary, const RoundsEnd& end) override;

 private:
  /// A curvature that is stated grows with the batches, so that batch b has a step of the length 1/b.
  static std::optional<StepSchedule> steps_of(const RenewableConfig& config) {
    if (config.variant != RenewableVariant::private_sums) return std::nullopt;
    return StepSchedule{.step = 1, .step_power = 1};
  }
  [[nodiscard]] double average_curvature() const;
  void build_private_sums();
  void make_noisy_sum();
  [[nodiscard]] std::vector<Masker> agree_on_masks();
  void show_mask_keys();
  [[nodiscard]] const OfflineRenewable* search() const;
  [[nodiscard]] const OnlineRenewable* online() const;
  struct Variances {
    Vector values;
    double critical;
    std::string method;
  };
  [[nodiscard]] std::optional<Variances> variances() const;
  [[nodiscard]] std::vector<Interval> intervals() const;
  [[nodiscard]] OnlineRenewable::Dispersion dispersion() const;
  [[nodiscard]] std::optional<BatchScores> batch_scores() const;
  [[nodiscard]] std::vector<std::string> coefficient_names() const;
  [[nodiscard]] std::optional<ParameterSpread> spread() const;
  void add_notes();

  const BegunRun begun_;
  RenewableParts& parts_;
  const RenewableConfig& config_ = parts_.config;
  std::unique_ptr<Codec> codec_;
  std::optional<RenewableClients> clients_;
  std::vector<MaskKey::Bytes> mask_keys_;  ///< of all clients, as this rank received them; empty without masks
  std::unique_ptr<NoisySum> sum_;
};

/// The search of the variant `offline`, else null.
const OfflineRenewable* RenewablePlay::search() const {
  if (config_.variant != RenewableVariant::offline) return nullptr;
  return dynamic_cast<const OfflineRenewable*>(protocol_.get());
}

/// The estimate of the variant `online`, else null.
const OnlineRenewable* RenewablePlay::online() const {
  return dynamic_cast<const OnlineRenewable*>(protocol_.get());
}

RoundsEnd RenewablePlay::end() {
  RoundsEnd end = PlayAtRoot::end();
  const OfflineRenewable* const offline = search();
  if (offline != nullptr && (offline->converged() || offline->without_minimum())) end.stopped = false;
  return end;
}

ExitCode RenewablePlay::exit_code(const Summary& summary, const RoundsEnd& end) {
  const OfflineRenewable* const offline = search();
  check<DataError>(
      offline == nullptr || !offline->without_minimum(),
      "there is no minimum: a class has no records, and under --penalty slopes its intercept grows without end. Take "
      "records of all classes, or --penalty full; what was reached is in {}",
      begun_.directory.path());
  check<DataError>(offline == nullptr || offline->converged() || end.stopped || config_.rounds,
                   "no minimum was found in {} passes: the objective still falls: --l2 hardly bounds the model. Add a "
                   "penalty; what was reached is in {}.",
                   config_.settings.rounds, begun_.directory.path());
  return PlayAtRoot::exit_code(summary, end);
}

void RenewablePlay::run(const std::vector<Observer*>& observers) {
  try {
    PlayAtRoot::run(observers);
  } catch (const UndeterminedFeature& error) {
    throw error.named(run_.inputs.dataset.shape.names);
  }
}

/// "x1", "intercept"; with several classes "2:x1".
std::vector<std::string> RenewablePlay::coefficient_names() const {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < parts_.model->classes(); ++k) {
    const std::string prefix = parts_.model->classes() > 1 ? fmt::format("{}:", k) : "";
    for (std::size_t j = 0; j + 1 < parts_.model->order(); ++j) {
      names.push_back(prefix + (run_.inputs.dataset.shape.names.empty() ? fmt::format("x{}", j)
                                                                        : run_.inputs.dataset.shape.names[j]));
    }
    names.push_back(prefix + "intercept");
  }
  return names;
}

/// Rank 0's: variances of the estimate, the quantile of its intervals, and their method. None under noise while batches
/// are to come, and of an estimate that is lost.
std::optional<RenewablePlay::Variances> RenewablePlay::variances() const {
  const double level = config_.level;
  if (const OnlineRenewable* const online = this->online()) {
    if (online->is_lost() || online->is_of_separated_classes()) return std::nullopt;
    return Variances{online->variances(dispersion()), two_sided_normal_quantile(level),
                     config_.settings.with_slopes ? "wald-sandwich" : "wald"};
  }
  if (protocol_->done() < config_.settings.rounds) return std::nullopt;
  const auto by_batches = [&](Vector variances, std::int64_t batches) {
    return Variances{std::move(variances), two_sided_t_quantile(static_cast<double>(batches - 1), level),
                     "batch-sandwich"};
  };
  if (const auto* const sums = dynamic_cast<const PrivateRenewable*>(protocol_.get())) {
    return by_batches(sums->sandwich().estimate("standard errors").variances, sums->sandwich().batches());
  }
  auto* const paper = dynamic_cast<PaperRenewable*>(protocol_.get());
  return by_batches(paper->variances(), paper->batches_of_variances());
}

/// Rank 0's, of the estimate if standard errors are asked for.
std::vector<Interval> RenewablePlay::intervals() const {
  if (config_.standard_errors == StandardErrors::none || !run_.first_rank()) return {};
  const auto found = variances();
  if (!found) return {};
  const std::vector<std::string> names = coefficient_names();
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::binary_search(parts_.left_out, i % parts_.model->order())) {
      constexpr double none = std::numeric_limits<double>::quiet_NaN();
      intervals.push_back({names[i], none, none, none, none, config_.level, "dropped"});
      continue;
    }
    const double estimate = protocol_->theta().value()[i];
    const double error = std::sqrt(found->values[i]);
    const double reach = found->critical * error;
    intervals.push_back({names[i], estimate, error, estimate - reach, estimate + reach, config_.level, found->method});
  }
  return intervals;
}

/// The dispersion φ behind the standard errors of a likelihood.
OnlineRenewable::Dispersion RenewablePlay::dispersion() const {
  return parts_.loss->likelihood() == Likelihood::up_to_scale ? OnlineRenewable::Dispersion::squared
                                                              : OnlineRenewable::Dispersion::one;
}

/// Rank 0's, of the online estimate, where the variance of scores is known; none where old batches are to be forgotten.
std::optional<BatchScores> RenewablePlay::batch_scores() const {
  const OnlineRenewable* const online = this->online();
  const bool known = parts_.loss->likelihood() != Likelihood::none || config_.settings.with_slopes;
  return online != nullptr && known && config_.settings.forget == 1 ? online->batch_scores(dispersion()) : std::nullopt;
}

void RenewablePlay::add_notes() {
  const OnlineRenewable* const online = this->online();
  if (online != nullptr && online->start_was_shrunk()) {
    run_.notes.emplace_back(
        "the first batch alone has no minimum with --penalty slopes (it may hold one class only): the start, and it "
        "alone, shrinks the intercept too");
  }
  if (online != nullptr && online->is_of_separated_classes()) {
    run_.notes.emplace_back(
        "the classes can be separated, or nearly: little but the start bounds the size of the model, and its "
        "coefficients have no intervals. A penalty (--l2) says how large they may be");
  }
  if (online != nullptr && online->is_lost()) {
    run_.notes.push_back(
        fmt::format("the batches after the start were predicted worse than by a model of zeros: the curvature was too "
                    "flat, and the steps too long. The run gives no intervals. Take {}larger batches or --l2.",
                    config_.settings.safe_start ? "" : "--start safe, "));
  }
  if (online != nullptr && online->searches() > 0) {
    run_.notes.push_back(fmt::format(
        "in {} {} the step promised a loss below 0: the batches before had hardly any curvature there, as if their "
        "classes could nearly be separated. The model was searched over the batch instead. Larger batches need no "
        "search.",
        online->searches(), online->searches() == 1 ? "batch" : "batches"));
  }
  if (config_.standard_errors != StandardErrors::none && config_.variant == RenewableVariant::private_paper) {
    run_.notes.emplace_back("standard errors with private-paper are published without noise of their own");
  }
  const OfflineRenewable* const offline = search();
  if (offline != nullptr && offline->converged()) {
    run_.notes.push_back(fmt::format("converged after {} passes", offline->done()));
  } else if (offline != nullptr && (offline->without_minimum() || offline->done() == config_.settings.rounds)) {
    run_.notes.push_back(fmt::format("NOT converged after {} passes", offline->done()));
  }
}

void RenewablePlay::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  add_notes();
  PlayAtRoot::summarise(summary, std::move(models), end);
  if (auto batches = batch_scores()) summary.add(*batches);
  const OnlineRenewable* const online = this->online();
  if (online != nullptr && config_.open() && config_.loss.starts_with("gamma")) {
    if (const auto dispersion = online->estimated_dispersion()) summary.add(GammaDispersion{*dispersion});
  }
  try {
    const RunIntervals& all = summary.add(RunIntervals{intervals()});
    if (!all.intervals.empty() && config_.settings.l2 > 0) {
      run_.notes.push_back(
          fmt::format("the intervals are of the coefficients under the penalty, which --l2 {} shrinks towards 0: they "
                      "hold those of a model without penalty less often than in {:.6g} % of runs",
                      config_.settings.l2, 100 * config_.level));
    }
  } catch (const DataError& error) {  // rank 0's: the model stands without them
    run_.notes.emplace_back(error.what());
  }
  if (const auto* const offline = dynamic_cast<const OfflineRenewable*>(protocol_.get())) {
    summary.part<RunScores>().objective = offline->objective();
  }
}

std::optional<SavedModel> RenewablePlay::saved_model() const {
  SavedModel model;
  model.loss = config_.loss;
  model.scores = parts_.model->classes();
  model.features = run_.inputs.dataset.shape.features;
  model.form = LinearForm{true, parts_.model->row_bound(), spread()};
  return model;
}

/// The covariance of the estimate, for bands of survival curves: rank 0's, where standard errors are those of the
/// information.
std::optional<ParameterSpread> RenewablePlay::spread() const {
  const OnlineRenewable* const online = this->online();
  if (parts_.loss->link() != Link::hazard || online == nullptr || parts_.model->classes() > 1) return std::nullopt;
  if (config_.settings.with_slopes || config_.settings.l2 > 0) return std::nullopt;
  try {
    if (intervals().empty()) return std::nullopt;
    return ParameterSpread{"plug-in", online->covariance()};
  } catch (const DataError&) {  // rank 0's: the model stands without them
    return std::nullopt;
  }
}

void RenewablePlay::complete_summary(Summary& summary) {
  if (mask_keys_.empty()) return;
  Trust& trust = summary.part<PrivacyReport>().trust;
  trust.key_list = fingerprint(mask_keys_);
  for (const MaskKey::Bytes& key : mask_keys_) trust.keys.push_back(fingerprint(key));
}

/// c of H̄ = n (c + λ) I (docs/methods/renewable.md). A scaled row spreads at most C₂² over the coordinates of features
/// that are not left out, and of the constant. Its
/// weight, the loss's curvature, lies between 0 and the largest curvature; c takes half of that. A larger c makes the
/// steps 1/(b (c + λ)) so short that the first, noisiest models are not forgotten; with a smaller c they overshoot.
double RenewablePlay::average_curvature() const {
  const double bound = config_.privacy.clip.value_or(1);
  return parts_.loss->most_curvature() / 2 * bound * bound /
         static_cast<double>(parts_.model->order() - parts_.left_out.size());
}

/// **Collective.**
std::vector<Masker> RenewablePlay::agree_on_masks() {
  std::vector<MaskKey> own;
  run_.agreement.together([&] {
    // Keys are new ones whenever a run starts, so that a resumed run does not mask other numbers alike.
    for (Client k = 0; k < run_.inputs.client_count(); ++k) own.push_back(MaskKey::random());
  });
  mask_keys_ = received_keys(own, relay_of(run_.agreement, run_.inputs.introductions.get(), "public keys of masks"));
  show_mask_keys();
  std::vector<Masker> maskers;
  run_.agreement.together([&] {
    for (std::size_t k = 0; k < own.size(); ++k) {
      maskers.emplace_back(own[k], run_.inputs.first_client() + static_cast<Client>(k), mask_keys_, begun_.run_id);
    }
  });
  return maskers;
}

/// Every rank prints and stores the mask keys that its clients received, so that their owners can compare them without
/// the relay. **Collective.**
void RenewablePlay::show_mask_keys() {
  const std::string all = fingerprint(mask_keys_);
  run_.agreement.together([&] {
    if (run_.inputs.client_count() == 0) return;
    const std::string file = begun_.directory.private_folder(run_.world.rank()) + "/mask-keys";
    OwnersFile::replace(file, Secret<std::string>(list_of_keys(mask_keys_)));
    tell_user(
        "note: {} received mask keys with the fingerprint {} ({} has each; all clients' must be the same)\n",
        name_of(ClientRange(run_.inputs.first_client(), run_.inputs.first_client() + run_.inputs.client_count() - 1)),
        all, file);
  });
  const auto of_ranks = run_.agreement.all_gather(declare_public(all));
  run_.agreement.together([&] {
    for (std::size_t r = 1; r < of_ranks.size(); ++r) {
      check<DataError>(of_ranks[r] == of_ranks[0],
                       "rank {} received other public keys for the masks than rank 0: whoever relays them exchanged "
                       "some. Do not go on; compare private/<rank>/mask-keys.",
                       r);
    }
  });
}

/// **Collective.**
void RenewablePlay::make_noisy_sum() {
  const auto price = [this](Round t) { return begun_.privacy->price_at(0, t); };
  switch (config_.trust) {
    case TrustChoice::local:
    case TrustChoice::pairs:
      sum_ = std::make_unique<LocalNoise>(root_, *clients_, *parts_.model, begun_.privacy->mechanism(), *codec_);
      return;
    case TrustChoice::central:
      sum_ =
          std::make_unique<CentralNoise>(root_, *clients_, *parts_.model, begun_.privacy->mechanism(), price, *codec_);
      return;
    case TrustChoice::masked:
      sum_ = std::make_unique<MaskedNoise>(root_, *clients_, *parts_.model,
                                           dynamic_cast<MaskedGaussian&>(begun_.privacy->protection()),
                                           agree_on_masks(), price);
      return;
  }
}

/// **Collective.**
void RenewablePlay::build_private_sums() {
  make_noisy_sum();
  std::optional<PublicCurvature> curvature;
  if (!parts_.given_curvature.empty()) {
    curvature = PublicCurvature{.triangle = parts_.given_curvature};
    run_.notes.push_back(fmt::format("public curvature of a record: {}", config_.curvature_file));
  } else if (!config_.curvature_share) {
    curvature = PublicCurvature{.multiple = average_curvature()};
    run_.notes.push_back(fmt::format("public curvature: {:.6g} I per record", curvature->multiple));
  }
  protocol_ = std::make_unique<PrivateRenewable>(root_, *clients_, *parts_.model, config_.settings, parts_.start, *sum_,
                                                 curvature);
}

RenewablePlay::RenewablePlay(const BegunRun& begun, const Method& method, RenewableParts& parts)
    : PlayAtRoot(begun, method, *parts.model, parts.config.settings.rounds, steps_of(parts.config)),
      begun_(begun),
      parts_(parts) {
  const RenewableSettings& settings = config_.settings;
  const bool sums = config_.variant == RenewableVariant::private_sums;
  codec_ = make_curvature_codec(config_.curvature, parts_.model->dimension() + (sums ? 0 : 2), parts_.model->order());
  clients_.emplace(*parts_.model, learned(), begun_.privacy->accounts(), begun_.privacy->keys(),
                   std::move(run_.inputs.dataset.streams), config_.data.batch);
  if (sums) {
    build_private_sums();
    return;
  }
  if (config_.variant == RenewableVariant::private_paper) {
    protocol_ = std::make_unique<PaperRenewable>(root_, *clients_, *parts_.model, settings, parts_.start,
                                                 dynamic_cast<PaperPerturbation&>(begun_.privacy->protection()),
                                                 config_.rho.value_or(0), *codec_);
    return;
  }
  const OpenChannel channel{begun_.privacy->mechanism(), *codec_};
  if (config_.variant == RenewableVariant::online) {
    protocol_ = std::make_unique<OnlineRenewable>(root_, *clients_, *parts_.model, settings, parts_.start, channel);
  } else {
    const auto steps =
        config_.variant == RenewableVariant::offline ? OfflineRenewable::Steps::all : OfflineRenewable::Steps::one;
    protocol_ =
        std::make_unique<OfflineRenewable>(root_, *clients_, *parts_.model, settings, parts_.start, channel, steps);
  }
}

}  // namespace

std::unique_ptr<Play> RenewableMethod::make(const BegunRun& begun) {
  return std::make_unique<RenewablePlay>(begun, *this, parts_);
}

Command renewable_command() {
  return learning_command<RenewableMethod, RenewableConfig, renewable_options, complete_renewable_config>(
      "renewable", "streaming second-order classification with rank 0 as aggregator", renewable_manual);
}

}  // namespace starling
