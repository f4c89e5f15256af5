// The data, model, privacy and protocol of `starling renewable`.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/digest.hpp"
#include "core/text/limits.hpp"
#include "core/text/spec.hpp"
#include "files/number_rows.hpp"
#include "files/tell_user.hpp"
#include "privacy/correlation.hpp"
#include "privacy/mechanism/masking.hpp"
#include "renewable_run.hpp"
#include "run/settings/model_choice.hpp"
#include "run/settings/source_options.hpp"
#include "run/tuning/settings_by_rule.hpp"
#include "run/tuning/tuned_settings.hpp"

namespace starling {

namespace {

constexpr Round passes_of_offline = 1000;

/// Records of a first batch for each coefficient (docs/methods/renewable.md, "Size of batches").
constexpr std::size_t records_of_regression = 10;
constexpr std::size_t records_of_classes = 50;

/// Labels 0, …, K − 1.
double class_label(double raw, std::size_t classes) {
  if (!is_class(raw, classes)) {
    throw_label_fault(raw, fmt::format("is outside the set of one-vs-rest:{} (0 to {})", classes, classes - 1));
  }
  return raw;
}

}  // namespace

void RenewableRun::open_data() {
  inputs_.place_clients();
  curved_ = make_curved_loss(config_.loss);
  loss_ = make_curved_loss(config_.loss);
  check(config_.data.class_labels.empty() || config_.classes == 1,
        "--class-labels with --classes {}: labels are 0 to K - 1. Leave --class-labels out.", config_.classes_text);
  check_class_labels(config_.data, curved_->classifies(), config_.loss);
  config_.data.label_map = [this](double raw) {
    return config_.classes > 1 ? class_label(raw, config_.classes) : curved_->label(raw);
  };
  if (config_.variant == RenewableVariant::offline) config_.data.epochs = config_.rounds.value_or(passes_of_offline);
  inputs_.open_streams(config_.data);
}

/// Without a penalty the first batch of all clients must determine every coefficient, and its classes must not be
/// separable (docs/methods/renewable.md, "Size of batches"). No client can give more records than it has.
TunedValue RenewableRun::batch_of_default() const {
  const std::size_t coefficients = inputs_.dataset.shape.features + 1;
  const std::size_t clients = static_cast<std::size_t>(inputs_.layout->clients());
  std::size_t records = coefficients * (curved_->classifies() ? records_of_classes : records_of_regression);
  if (config_.classes > 2) records = records * config_.classes / 2;
  return {"batch", fmt::format("{}", (records + clients - 1) / clients),
          fmt::format("the first batch of {} client{} determines {} coefficients without --l2", clients,
                      clients == 1 ? "" : "s", coefficients * config_.classes)};
}

void RenewableRun::choose_settings() {
  if (!config_.opens_batch || config_.resume) return;
  const std::optional<std::int64_t> records = most_records_of_clients(agreement_, inputs_.dataset);
  agreement_.together([&] {
    TunedValue chosen = batch_of_default();
    keep_in_range(chosen);
    if (first_rank()) print_tuning({chosen}, "");
    configuration_.choose({chosen});
    inputs_.dataset.plan(config_.data.batching(), records);
  });
}

void RenewableRun::open_model() {
  const bool bounded = config_.variant == RenewableVariant::private_sums;
  model_ = std::make_unique<CurvedModel>(*curved_, inputs_.dataset.shape.features, config_.classes,
                                         bounded ? config_.privacy.clip.value_or(1) : infinity);
  dimension_ = model_->dimension();
  if (!config_.curvature_file.empty()) given_curvature_ = curvature_of_file();
  choose_rounds();
  if (config_.privacy.unit == PrivacyUnit::person) {
    notes_.emplace_back("persons count alike: each is in the objective by the mean over the person's records");
  }
  start_ = config_.start == "safe" ? declare_public(Vector(dimension_)) : start_model();
}

void RenewableRun::choose_rounds() {
  if (!config_.offline()) {
    config_.settings.rounds = inputs_.rounds_of(inputs_.dataset.shape.rounds);
    return;
  }
  check(inputs_.dataset.shape.rounds.has_value() && inputs_.dataset.replayable,
        "--variant offline on '{}' (it reads all records in every pass, and these have no end or come once) give a "
        "generator n=, or a file",
        config_.data.source);
  config_.settings.rounds =
      config_.variant == RenewableVariant::offline ? config_.rounds.value_or(passes_of_offline) : 1;
}

/// Whether noise is correlated where nobody chose. Models are θ_0 less sums of J_b⁻¹ times noisy sums, and J_b grows
/// with b, so that the last terms weigh alike. With forgetting only the last few terms count.
bool RenewableRun::correlates_by_default(Round rounds) const {
  const auto clients = static_cast<std::size_t>(config_.trust == TrustChoice::central ? inputs_.layout->clients() : 1);
  return config_.correlation == CorrelationChoice::automatic && config_.why_no_correlation().empty() && rounds > 1 &&
         rounds <= CorrelationLimits::rounds && config_.data.batch <= CorrelationLimits::batch / clients &&
         config_.settings.forget == 1 && !(config_.privacy.budget && config_.privacy.budget_of_client);
}

/// **Collective.**
void RenewableRun::choose_correlation() {
  const Round rounds = config_.settings.rounds;
  const bool asked = config_.correlation == CorrelationChoice::two_buffers;
  agreement_.together([&] {
    check(!asked || rounds > 1,
          "--noise-correlation blt:2 with one batch: there is no later noise to take any back. Use smaller batches "
          "(--batch), or --noise-correlation none.");
  });
  correlate_noise(asked || correlates_by_default(rounds), rounds);
  if (!correlation_) return;
  notes_.push_back(fmt::format(
      "noise is correlated over {} batches: sums of releases have {:.3g} times the noise of one independent "
      "release, in place of {:.3g} times; --noise-correlation none makes it independent",
      rounds, prefix_noise(correlation_, rounds), prefix_noise(std::nullopt, rounds)));
}

SecondPart RenewableRun::curvature_part() const {
  const double bound = config_.privacy.clip.value_or(1);
  SecondPart part;
  part.what = "curvature";
  // A little more than what a scaled row can weigh, so that roundings need no clipping.
  part.clip =
      curved_->most_curvature() * bound * bound * std::sqrt(static_cast<double>(config_.classes)) * (1 + 1.0 / 256);
  part.dimension = model_->triangles();
  part.share = *config_.curvature_share;
  part.replacement = std::numbers::sqrt2;
  return part;
}

/// c of H̄ = n (c + λ) I (docs/methods/renewable.md). A scaled row spreads at most C₂² over its p + 1 coordinates. Its
/// weight, the loss's curvature, lies between 0 and the largest curvature; c takes half of that. A larger c makes the
/// steps 1/(b (c + λ)) so short that the first, noisiest models are not forgotten; with a smaller c they overshoot.
double RenewableRun::average_curvature() const {
  const double bound = config_.privacy.clip.value_or(1);
  return curved_->most_curvature() / 2 * bound * bound / static_cast<double>(model_->order());
}

/// H of the file: symmetric, and positive definite with the penalty.
Vector RenewableRun::curvature_of_file() const {
  const std::string& file = config_.curvature_file;
  const auto rows = read_number_rows(file, fmt::format("--curvature-model '{}'", file));
  const std::size_t order = model_->order();
  check(rows.size() == order && rows.front().size() == order,
        "--curvature-model {}: {} rows of {} numbers, where a model of {} features takes {} rows of {}, the last for "
        "the intercept",
        file, rows.size(), rows.empty() ? 0 : rows.front().size(), order - 1, order, order);
  Vector triangle;
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = i; j < order; ++j) {
      check(std::abs(rows[i][j] - rows[j][i]) <= 1e-9 * std::abs(rows[i][j]),
            "--curvature-model {}: row {} and row {} differ where they meet ({} and {}), and a curvature is symmetric",
            file, i + 1, j + 1, rows[i][j], rows[j][i]);
      triangle.push_back(rows[i][j]);
    }
  }
  BlockCurvature whole(1, order);
  whole.add(triangle);
  whole.add_identity(config_.settings.l2);
  check<DataError>(whole.try_solve(Vector(order)).has_value(),
                   "--curvature-model {}: the matrix is not positive definite, not even with --l2 {} added to its "
                   "diagonal. Give a curvature, or raise --l2.",
                   file, config_.settings.l2);
  Vector of_classes;
  for (std::size_t k = 0; k < config_.classes; ++k)
    of_classes.insert(of_classes.end(), triangle.begin(), triangle.end());
  return of_classes;
}

std::string RenewableRun::digest_of_inputs() const {
  const std::string inputs = LearningRun::digest_of_inputs();
  return config_.curvature_file.empty() ? inputs : sha256(inputs + sha256_of_file(config_.curvature_file));
}

PaperTerms RenewableRun::paper_terms() const {
  PaperTerms terms;
  terms.noise = config_.privacy.mechanism_row().gaussian() ? PaperTerms::Noise::gaussian : PaperTerms::Noise::laplace;
  terms.epsilon = parse_number(*config_.privacy.epsilon, "--epsilon with private-paper");
  terms.delta = config_.privacy.delta.value_or(1e-5);
  terms.c1 = config_.c1.value_or(1);
  terms.c2 = config_.c2.value_or(1);
  terms.cp = config_.cp.value_or(0);
  terms.rho = config_.rho.value_or(0);
  terms.lambda = config_.settings.l2;
  terms.curvature = curved_->most_curvature();
  return terms;
}

std::unique_ptr<Protection> RenewableRun::make_protection(ReleaseSettings settings) const {
  const std::string& mechanism = config_.privacy.mechanism_row().name;
  if (config_.open()) {  // whole messages, published as they are
    settings.dimension = MessageLayout{model_->dimension(), model_->triangles(), config_.settings.with_slopes}.size();
    settings.batch = 1;
    return mechanism_table().make(mechanism, settings);
  }
  if (config_.variant == RenewableVariant::private_paper) {
    return std::make_unique<PaperPerturbation>(settings, paper_terms());
  }
  settings.clip *= curved_->most_slope() * std::sqrt(static_cast<double>(config_.classes));
  if (config_.trust == TrustChoice::masked)
    return std::make_unique<MaskedGaussian>(settings, inputs_.layout->clients());
  if (config_.trust == TrustChoice::central) {
    settings.clients = static_cast<std::size_t>(inputs_.layout->clients());
    settings.batch *= static_cast<std::size_t>(inputs_.layout->clients());
  }
  if (config_.curvature_share) return std::make_unique<PairedMechanism>(mechanism, settings, curvature_part());
  return mechanism_table().make(mechanism, settings);
}

TrustModel RenewableRun::trust_model() const {
  if (config_.open()) return TrustModel::none;
  if (config_.variant == RenewableVariant::private_paper) return TrustModel::paper;
  switch (config_.trust) {
    case TrustChoice::local:
      return TrustModel::local;
    case TrustChoice::central:
      return TrustModel::central;
    case TrustChoice::masked:
      break;
  }
  return TrustModel::masked;
}

RunFacts RenewableRun::privacy_facts() {
  RunFacts facts = common_facts(config_.offline() ? *inputs_.dataset.shape.rounds : config_.settings.rounds);
  if (config_.curvature_share) facts.second = curvature_part();
  facts.trust = trust_model();
  facts.protection = [this](const ReleaseSettings& settings) { return make_protection(settings); };
  return facts;
}

/// **Collective.**
std::vector<Masker> RenewableRun::agree_on_masks() {
  std::vector<MaskKey> own;
  agreement_.together([&] {
    // Keys are new ones whenever a run starts, so that a resumed run does not mask other numbers alike.
    for (Client k = 0; k < inputs_.client_count(); ++k) own.push_back(MaskKey::random());
  });
  mask_keys_ =
      received_keys(own, [this](const std::string& text) { return agreement_.all_gather(declare_public(text)); });
  show_mask_keys();
  std::vector<Masker> maskers;
  agreement_.together([&] {
    for (std::size_t k = 0; k < own.size(); ++k) {
      maskers.emplace_back(own[k], inputs_.first_client() + static_cast<Client>(k), mask_keys_, run_id_);
    }
  });
  return maskers;
}

/// Every rank prints and stores the mask keys that its clients received, so that their owners can compare them without
/// the relay. **Collective.**
void RenewableRun::show_mask_keys() {
  const std::string all = fingerprint(mask_keys_);
  agreement_.together([&] {
    if (inputs_.client_count() == 0) return;
    const std::string file = directory_->private_folder(world_.rank()) + "/mask-keys";
    OwnersFile::replace(file, Secret<std::string>(list_of_keys(mask_keys_)));
    tell_user("note: {} received mask keys with the fingerprint {} ({} has each; all clients' must be the same)\n",
              name_of(ClientRange(inputs_.first_client(), inputs_.first_client() + inputs_.client_count() - 1)), all,
              file);
  });
  const auto of_ranks = agreement_.all_gather(declare_public(all));
  agreement_.together([&] {
    for (std::size_t r = 1; r < of_ranks.size(); ++r) {
      check<DataError>(of_ranks[r] == of_ranks[0],
                       "rank {} received other public keys for the masks than rank 0 (whoever relays them exchanged "
                       "some) do not go on; compare private/<rank>/mask-keys",
                       r);
    }
  });
}

/// **Collective.**
void RenewableRun::make_noisy_sum() {
  const auto price = [this](Round t) { return privacy_->price_at(0, t); };
  switch (config_.trust) {
    case TrustChoice::local:
      sum_ = std::make_unique<LocalNoise>(*root_, *clients_, *model_, privacy_->mechanism(), *codec_);
      return;
    case TrustChoice::central:
      sum_ = std::make_unique<CentralNoise>(*root_, *clients_, *model_, privacy_->mechanism(), price, *codec_);
      return;
    case TrustChoice::masked:
      sum_ = std::make_unique<MaskedNoise>(
          *root_, *clients_, *model_, dynamic_cast<MaskedGaussian&>(privacy_->protection()), agree_on_masks(), price);
      return;
  }
}

/// **Collective.**
void RenewableRun::build_private_sums() {
  make_noisy_sum();
  std::optional<PublicCurvature> curvature;
  if (!given_curvature_.empty()) {
    curvature = PublicCurvature{.triangle = given_curvature_};
    notes_.push_back(fmt::format("public curvature of a record: {}", config_.curvature_file));
  } else if (!config_.curvature_share) {
    curvature = PublicCurvature{.multiple = average_curvature()};
    notes_.push_back(fmt::format("public curvature: {:.6g} I per record", curvature->multiple));
  }
  protocol_ =
      std::make_unique<PrivateRenewable>(*root_, *clients_, *model_, config_.settings, *start_, *sum_, curvature);
}

void RenewableRun::build_protocol() {
  const RenewableSettings& settings = config_.settings;
  root_.emplace(world_, *inputs_.layout);
  const bool sums = config_.variant == RenewableVariant::private_sums;
  codec_ = make_curvature_codec(config_.curvature, model_->dimension() + (sums ? 0 : 2), model_->order());
  Model& learned = learned_model(*model_, config_.privacy, persons_);
  clients_.emplace(*model_, learned, privacy_->accounts(), privacy_->keys(), std::move(inputs_.dataset.streams),
                   config_.data.batch);
  if (sums) return build_private_sums();
  if (config_.variant == RenewableVariant::private_paper) {
    protocol_ = std::make_unique<PaperRenewable>(*root_, *clients_, *model_, settings, *start_,
                                                 dynamic_cast<PaperPerturbation&>(privacy_->protection()),
                                                 config_.rho.value_or(0), *codec_);
    return;
  }
  const OpenChannel channel{privacy_->mechanism(), *codec_};
  if (config_.variant == RenewableVariant::online) {
    protocol_ = std::make_unique<OnlineRenewable>(*root_, *clients_, *model_, settings, *start_, channel);
  } else {
    const auto steps =
        config_.variant == RenewableVariant::offline ? OfflineRenewable::Steps::all : OfflineRenewable::Steps::one;
    protocol_ = std::make_unique<OfflineRenewable>(*root_, *clients_, *model_, settings, *start_, channel, steps);
  }
}

}  // namespace starling
