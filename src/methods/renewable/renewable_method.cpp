#include "renewable_method.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "batch_file.hpp"
#include "core/digest.hpp"
#include "core/text/limits.hpp"
#include "core/text/spec.hpp"
#include "data/generators/synthetic.hpp"
#include "files/number_rows.hpp"
#include "files/tell_user.hpp"
#include "model/curved_model.hpp"
#include "privacy/correlation.hpp"
#include "privacy/mechanism/masked_gaussian.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "privacy/mechanism/paper_perturbation.hpp"
#include "protocol/curvature/block_curvature.hpp"
#include "protocol/renewable/renewable_clients.hpp"
#include "run/inputs/start_models.hpp"
#include "run/privacy/noise_keys.hpp"
#include "run/privacy/pairs/run_pairs.hpp"
#include "run/settings/model_choice.hpp"
#include "run/settings/source_options.hpp"
#include "run/stages/run_context.hpp"
#include "run/tuning/column_constants.hpp"
#include "run/tuning/settings_by_rule.hpp"
#include "run/tuning/tuned_settings.hpp"

namespace starling {

namespace {

constexpr Round passes_of_offline = 1000;

/// Records of a first batch for each coefficient (docs/methods/renewable.md, "Size of batches").
constexpr std::size_t records_of_regression = 10;
constexpr std::size_t records_of_classes = 50;
constexpr std::int64_t least_private_batches = 10;  ///< of the client with most records, where these are few

/// Labels 0, …, K − 1.
double class_label(double raw, std::size_t classes) {
  if (!is_class(raw, classes)) {
    throw_label_fault(
        raw, fmt::format(
                 "is outside the set of one-vs-rest:{}: 0 to {}. Name other labels of its classes by --class-labels.",
                 classes, classes - 1));
  }
  return raw;
}

}  // namespace

RenewableParts::RenewableParts(RenewableConfig& of_run) : config(of_run) {}
RenewableParts::~RenewableParts() = default;

RenewableMethod::RenewableMethod(RunContext& run, RunHome& home, Configured<RenewableConfig>& configuration)
    : Method(run, home), configuration_(configuration) {
  all_ranks_play_ = true;
  run_.agreement.together([&] { open_data(); });
  run_.inputs.introduce();
  run_.inputs.open_streams(config_.data);
  run_.agree_on_records();
  choose_pairs();
  choose_settings();
  deal_batches();
  run_.settle();
  run_.open_model([this] { open_model(); });
  parts_.left_out = features_left_out(run_.agreement, run_.inputs.dataset);
  choose_correlation();
}

void RenewableMethod::open_data() {
  run_.inputs.place_clients();
  parts_.loss = make_curved_loss(config_.loss);
  if (config_.classes > 1) {
    check_class_labels(config_.data, config_.classes, "--classes " + config_.classes_text);
  } else {
    check_class_labels(config_.data, *parts_.loss, config_.loss);
  }
  read_labels_of(*parts_.loss, config_.data);
  if (config_.classes > 1) {
    config_.data.label_map = [this](double raw) { return class_label(raw, config_.classes); };
  }
  if (config_.variant == RenewableVariant::offline) config_.data.epochs = config_.rounds.value_or(passes_of_offline);
}

/// Without a penalty the first batch of all clients must determine every coefficient, and its classes must not be
/// separable (docs/methods/renewable.md, "Size of batches"). No client can give more records than it has.
TunedValue RenewableMethod::batch_of_default(std::int64_t most_records) const {
  const std::size_t coefficients = run_.inputs.dataset.shape.features + 1;
  const std::size_t clients = static_cast<std::size_t>(run_.inputs.layout->clients());
  std::size_t records = coefficients * (parts_.loss->classifies() ? records_of_classes : records_of_regression);
  if (config_.classes > 2) records = records * config_.classes / 2;
  const std::size_t of_client = (records + clients - 1) / clients;
  if (config_.variant == RenewableVariant::private_sums) {
    const std::int64_t most = std::max<std::int64_t>(most_records / least_private_batches, 1);
    return {
        "batch", fmt::format("{}", std::min(static_cast<std::int64_t>(of_client), most)),
        "a record pays the same in a large batch, and early models have less noise, which later ones hardly forget"};
  }
  return {"batch", fmt::format("{}", of_client),
          fmt::format("the first batch of {} client{} determines {} coefficients without --l2", clients,
                      clients == 1 ? "" : "s", coefficients * config_.classes)};
}

/// Why columns keep their own units under --variant private; empty if they need not.
std::string RenewableMethod::why_own_units() const {
  if (config_.privacy.prices_change()) return "prices change over the batches";
  if (!config_.curvature_file.empty()) return "the file of --curvature-model speaks of their own units";
  return config_.batch_file.empty() ? "" : "the number of batches follows from a file of their sizes";
}

TunedMethod RenewableMethod::method_of_constants() {
  return {.config = config_,
          .configuration = configuration_,
          .first_step = 1,
          .why_not = "",
          .why_own_units = why_own_units(),
          .steps = "batches",
          .plays_once = true,
          .may_penalise = false,
          .own_means = false,
          .looks_within = true,
          .norms = ReleasePath::renewable_norm,
          .features = ReleasePath::renewable_feature,
          .facts =
              [this](std::optional<std::int64_t> most_records, std::size_t parameters) {
                RuleFacts facts;
                facts.clients = run_.inputs.layout->clients();
                facts.most_records = most_records;
                facts.batch = config_.data.batch;
                facts.dimension = parameters;
                return facts;
              },
          .own_choices = {},
          .check_before_release =
              [this](Round releases) {
                static_cast<void>(make_noise_keys(config_.privacy.noise_key, config_.data.seed,
                                                  run_.inputs.first_client(), run_.inputs.client_count()));
                static_cast<void>(run_.inputs.rounds_of(releases));
              }};
}

/// Norms are looked at before columns, if at all, and labels and columns within ranges after them.
HistogramShares RenewableMethod::shares_of_constants() const {
  HistogramShares shares = histograms_of(config_, parts_.loss.get());
  if (shares.counted == Counted::labels) shares.counted = Counted::columns;
  return shares;
}

void RenewableMethod::choose_settings() {
  choose_batch();
  if (config_.variant == RenewableVariant::private_sums && config_.tunes() && config_.privacy.protects()) {
    run_.tuning = SettingsByRule(method_of_constants(), tuning_terms(parts_.loss.get(), pairs_)).standardise();
  }
}

void RenewableMethod::choose_batch() {
  if (!config_.opens_batch || config_.resume) return;
  const std::optional<std::int64_t> records = most_records_of_clients(run_.agreement, run_.inputs.dataset);
  run_.agreement.together([&] {
    TunedValue chosen = batch_of_default(records.value_or(0));
    keep_in_range(chosen);
    if (run_.first_rank()) print_tuning({chosen}, "");
    configuration_.choose({chosen});
    run_.inputs.dataset.plan(config_.data.batching(), records);
  });
}

/// Batches by client and round. The longest pass of a client that was there at first says how many rounds there are.
/// **Collective.**
void RenewableMethod::deal_batches() {
  if (config_.batch_file.empty()) return;
  RunInputs& inputs = run_.inputs;
  constexpr Round endless = std::numeric_limits<Round>::max();
  Round longest = 0;
  std::string digest;
  run_.agreement.together([&] {
    digest = sha256_of_file(config_.batch_file);
    const BatchFile file(config_.batch_file);
    file.require_clients(inputs.layout->clients());
    Client u = inputs.first_client();
    for (const auto& stream : inputs.dataset.streams) {
      Batching batching = config_.data.batching();
      batching.sizes = file.of(u);
      stream->plan(batching);
      if (u++ < inputs.clients_at_first()) longest = std::max(longest, stream->rounds().value_or(endless));
    }
  });
  run_.agreement.same("batch sizes", declare_public(digest));
  longest = run_.agreement.max(declare_public(longest));
  inputs.dataset.shape.rounds = longest == endless ? std::nullopt : std::optional(longest);
}

void RenewableMethod::open_model() {
  const bool bounded = config_.variant == RenewableVariant::private_sums;
  parts_.model = std::make_unique<CurvedModel>(*parts_.loss, run_.inputs.dataset.shape.features, config_.classes,
                                               bounded ? config_.privacy.clip.value_or(1) : infinity);
  dimension_ = parts_.model->dimension();
  config_.settings.looks_again = looks_again();
  if (!config_.curvature_file.empty()) parts_.given_curvature = curvature_of_file();
  choose_rounds();
  if (config_.privacy.unit == PrivacyUnit::person) {
    run_.notes.emplace_back("persons count alike: each is in the objective by the mean over the person's records");
  }
  const bool has_looked = config_.privacy.feature_share.value_or(0) > 0 || config_.scale_share.value_or(0) > 0;
  const bool may_have_units = !has_looked && config_.data.keeps_units() && !run_.inputs.dataset.shape.sparse &&
                              !is_synthetic(config_.data.source);
  if (bounded && may_have_units) {
    run_.notes.push_back(fmt::format(
        "columns are taken to be standardised, and nothing shows that they are: records are scaled to a norm of {:g} "
        "at most, in which a column of large numbers hides all others. {}",
        config_.privacy.clip.value_or(1),
        is_start_word(config_.start)
            ? "Say how large columns are by --standardise or --ranges"
            : "--start speaks of the units of its run. Say how large columns are by --standardise, as config.ini of "
              "that run has it"));
  }
  parts_.start = config_.start == "safe" ? declare_public(Vector(dimension_)) : start_of_all(config_, dimension_);
}

/// Whether the last estimate is that of a second look at all batches: of a likelihood of classes, from records that
/// count alike, once. `--start zero` re-runs the publication.
bool RenewableMethod::looks_again() const {
  const bool alike = config_.settings.forget == 1 && config_.data.epochs == 1 && config_.settings.safe_start;
  return config_.variant == RenewableVariant::online && alike && parts_.loss->link() == Link::logit &&
         parts_.loss->likelihood() == Likelihood::exact;
}

/// Sums are added up at rank 0: clients have no neighbours.
void RenewableMethod::choose_pairs() {
  if (!config_.privacy.trusts_pairs) return;
  pairs_ = std::make_shared<RunPairs>(run_.agreement, config_.privacy,
                                      PairClients::all_of(run_.inputs.layout->clients()), nullptr, config_.data.seed);
  require_known_ends(run_.agreement, run_.reads_pipes);
}

void RenewableMethod::choose_rounds() {
  if (!config_.offline()) {
    config_.settings.rounds = run_.inputs.rounds_of(run_.inputs.dataset.shape.rounds);
    if (config_.penalty_changes()) {
      config_.settings.l2_of_batch = penalty_by_batch(*config_.asked_l2, config_.settings.rounds);
    }
    return;
  }
  check(run_.inputs.dataset.shape.rounds.has_value() && run_.inputs.dataset.replayable,
        "--variant offline on '{}': it reads all records in every pass, and these have no end or come once. Give a "
        "generator n=, or a file.",
        config_.data.source);
  config_.settings.rounds =
      config_.variant == RenewableVariant::offline ? config_.rounds.value_or(passes_of_offline) : 1;
}

/// Whether noise is correlated where nobody chose. Models are θ_0 less sums of J_b⁻¹ times noisy sums, and J_b grows
/// with b, so that the last terms weigh alike. With forgetting only the last few terms count.
bool RenewableMethod::correlates_by_default(Round rounds) const {
  const auto clients =
      static_cast<std::size_t>(config_.trust == TrustChoice::central ? run_.inputs.layout->clients() : 1);
  return config_.correlation == CorrelationChoice::automatic && config_.why_no_correlation().empty() && rounds > 1 &&
         rounds <= CorrelationLimits::rounds && config_.data.batch <= CorrelationLimits::batch / clients &&
         config_.settings.forget == 1 && !(config_.privacy.budget && config_.privacy.budget_of_client);
}

/// **Collective.**
void RenewableMethod::choose_correlation() {
  const Round rounds = config_.settings.rounds;
  const bool asked = config_.correlation == CorrelationChoice::two_buffers;
  run_.agreement.together([&] {
    check(!asked || rounds > 1,
          "--noise-correlation blt:2 with one batch: there is no later noise to take any back. Use smaller batches "
          "(--batch), or --noise-correlation none.");
  });
  correlate_noise(asked || correlates_by_default(rounds), rounds);
  if (!correlation_) return;
  run_.notes.push_back(fmt::format(
      "noise is correlated over {} batches: sums of releases have {:.3g} times the noise of one independent "
      "release, in place of {:.3g} times; --noise-correlation none makes it independent",
      rounds, prefix_noise(correlation_, rounds), prefix_noise(std::nullopt, rounds)));
}

SecondPart RenewableMethod::curvature_part() const {
  const double bound = config_.privacy.clip.value_or(1);
  SecondPart part;
  part.what = "curvature";
  // A little more than what a scaled row can weigh, so that roundings need no clipping.
  part.clip =
      parts_.loss->most_curvature() * bound * bound * std::sqrt(static_cast<double>(config_.classes)) * (1 + 1.0 / 256);
  part.dimension = parts_.model->triangles();
  part.share = *config_.curvature_share;
  part.replacement = std::numbers::sqrt2;
  return part;
}

/// H of the file: symmetric, and positive definite with the penalty.
Vector RenewableMethod::curvature_of_file() const {
  const std::string& file = config_.curvature_file;
  const auto rows = read_number_rows(file, fmt::format("--curvature-model '{}'", file));
  const std::size_t order = parts_.model->order();
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

std::string RenewableMethod::digest_of_inputs(const std::string& of_all_methods) const {
  std::string digest = of_all_methods;
  for (const std::string& file : {config_.curvature_file, config_.batch_file}) {
    if (!file.empty()) digest = sha256(digest + sha256_of_file(file));
  }
  return digest;
}

PaperTerms RenewableMethod::paper_terms() const {
  PaperTerms terms;
  terms.noise = config_.privacy.mechanism_row().gaussian() ? PaperTerms::Noise::gaussian : PaperTerms::Noise::laplace;
  terms.epsilon = parse_number(*config_.privacy.epsilon, "--epsilon with private-paper");
  terms.delta = config_.privacy.delta.value_or(1e-5);
  terms.c1 = config_.c1.value_or(1);
  terms.c2 = config_.c2.value_or(1);
  terms.cp = config_.cp.value_or(0);
  terms.rho = config_.rho.value_or(0);
  terms.lambda = config_.settings.l2;
  terms.curvature = parts_.loss->most_curvature();
  return terms;
}

std::unique_ptr<Protection> RenewableMethod::make_protection(ReleaseSettings settings) const {
  const std::string& mechanism = config_.privacy.mechanism_row().name;
  if (config_.open()) {  // whole messages, published as they are
    settings.dimension =
        MessageLayout{parts_.model->dimension(), parts_.model->triangles(), config_.settings.with_slopes}.size();
    settings.batch = 1;
    return mechanism_table().make(mechanism, settings);
  }
  if (config_.variant == RenewableVariant::private_paper) {
    return std::make_unique<PaperPerturbation>(settings, paper_terms());
  }
  settings.clip *= parts_.loss->most_slope() * std::sqrt(static_cast<double>(config_.classes));
  if (config_.trust == TrustChoice::masked)
    return std::make_unique<MaskedGaussian>(settings, run_.inputs.layout->clients());
  if (config_.trust == TrustChoice::central) {
    settings.clients = static_cast<std::size_t>(run_.inputs.layout->clients());
    settings.batch *= static_cast<std::size_t>(run_.inputs.layout->clients());
  }
  if (config_.curvature_share) return std::make_unique<PairedMechanism>(mechanism, settings, curvature_part());
  return mechanism_table().make(mechanism, settings);
}

TrustModel RenewableMethod::trust_model() const {
  if (config_.open()) return TrustModel::none;
  if (config_.variant == RenewableVariant::private_paper) return TrustModel::paper;
  switch (config_.trust) {
    case TrustChoice::local:
      return TrustModel::local;
    case TrustChoice::pairs:
      return TrustModel::pairs;
    case TrustChoice::central:
      return TrustModel::central;
    case TrustChoice::masked:
      break;
  }
  return TrustModel::masked;
}

RunFacts RenewableMethod::privacy_facts() {
  RunFacts facts = common_facts(config_.offline() ? *run_.inputs.dataset.shape.rounds : config_.settings.rounds);
  if (config_.curvature_share) facts.second = curvature_part();
  facts.trust = trust_model();
  facts.histograms = shares_of_constants();
  facts.pairs = pairs_;
  facts.protection = [this](const ReleaseSettings& settings) { return make_protection(settings); };
  return facts;
}

}  // namespace starling
