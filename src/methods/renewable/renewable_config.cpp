#include "renewable_config.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "batch_file.hpp"
#include "codec/quantiser.hpp"
#include "console/command.hpp"
#include "core/text/limits.hpp"
#include "core/text/spec.hpp"
#include "data/serving/partition.hpp"
#include "loss/loss.hpp"
#include "privacy/charge.hpp"
#include "privacy/mechanism.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/source_options.hpp"

namespace starling {

namespace {

constexpr double l2_under_noise = 0.1;  ///< of the square of rows' norms (docs/methods/renewable.md)

/// Options in units of the columns, which keep these where they are given. This command has no --step.
constexpr std::array options_of_units{"clip", "step"};

OptionValues loss_values() {
  return values_of("Losses", losses_that([](const Loss& loss) { return loss.curved() != nullptr; }));
}

using Variant = RenewableVariant;

void add_method_options(Options& options, RenewableConfig& config) {
  options.group("Method");
  options.add(
      option("variant", "WHICH",
             "online (one Newton-like step per batch), offline (all data to convergence), offline-one-step (one step "
             "from the start), private-paper (the paper's Algorithm 2 as printed), private (noisy sums)",
             {.common = true}),
      config.variant,
      {{"online", Variant::online},
       {"offline", Variant::offline},
       {"offline-one-step", Variant::offline_one_step},
       {"private-paper", Variant::private_paper},
       {"private", Variant::private_sums}});
  options.add(declared("loss", "dwd:q, logistic, squared, huber:c or expectile:tau,c",
                       {.initial = "dwd:1", .values = loss_values}),
              config.loss);
  options.add(
      option("smoothing", "HOW",
             "of dwd's derivative at its bend: auto (over +-min(0.01, bend/2); 0 for offline), 0 (none), paper (as "
             "printed, with its jump), or a half-width"),
      config.smoothing);
  options.add(declared("l2",
                       "adds (n lambda/2)|theta|^2 to the sum of n losses; default: 0, but 0.1 C^2 with --variant "
                       "private, whose rows are scaled to --clip C: noise moves a model without penalty too far. "
                       "Intervals are of the penalised coefficients. With --variant online and private also "
                       "schedule:from=,to= or schedule:FILE: lambda by batch",
                       {.common = true, .files = named::spec}),
              config.asked_l2);
  options.add(option("penalty", "WHOSE",
                     "what --l2 weighs: full (theta: batches of one class then determine it, and noise cannot make its "
                     "curvature negative), or slopes (all but intercepts)",
                     {.example = "slopes --l2 0.01"}),
              config.settings.penalty, {{"full", Penalty::full}, {"slopes", Penalty::slopes}});
  options.add(
      declared("start",
               "safe (the minimum over the first batch), zero, or a CSV file with one row (public); default: safe for "
               "online, else zero",
               {.example = "zero"}),
      config.start);
  options.add(option("forget", "RHO", "what the curvature gathered so far is multiplied by with each batch",
                     {.range = {1e-6, 1},
                      .relations = {excludes("variant=offline|offline-one-step",
                                             "these variants have all records at once", "Leave --forget out.")}}),
              config.settings.forget);
  options.add(option("classes", "HOW", "binary, or one-vs-rest:K for labels 0 to K - 1"), config.classes_text);
  options.add(
      option("curvature", "HOW",
             "how the upper triangles of curvatures travel; in few bits the entries beside the diagonal do, relative "
             "to it",
             {.values = [] { return values_of("Quantisers", quantiser_table()); }, .example = "bits:8"}),
      config.curvature);
  options.add(
      option("standard-errors", "KIND",
             "of the online estimate: model (from the curvature: right for a likelihood), sandwich (right for other "
             "losses too; twice the traffic), none; auto: model for a likelihood, sandwich for poisson, else none. "
             "With private and "
             "released curvature, and private-paper: sandwich, by how batches differ, noise included",
             {.example = "sandwich",
              .relations = {needs("variant=online|private|private-paper", "the others have none")}}),
      config.standard_errors,
      {{"auto", StandardErrors::automatic},
       {"none", StandardErrors::none},
       {"model", StandardErrors::model},
       {"sandwich", StandardErrors::sandwich}});
  options.add(option("level", "P", "of the intervals",
                     {.range = {0.01, 0.999999},
                      .unit = "probability",
                      .example = "0.9 --standard-errors sandwich",
                      .relations = {needs("variant=online|private|private-paper", "the others have no intervals")}}),
              config.level);
}

void add_trust_options(Options& options, RenewableConfig& config) {
  options.group("Trust");
  std::vector<Relation> relations = relations_of_pairs({});
  relations.push_back(needs("variant=private", "no other variant adds noise to sums"));
  options.add(declared("trust",
                       "with --variant private: local (every client adds noise before it sends), pairs (each pair of "
                       "clients shares noise besides, which cancels in the sum), central (rank 0 sees the sums and "
                       "adds noise once), masked (clients share the noise, and rank 0 sees the noisy sum alone)",
                       {.relations = relations}),
              config.trust,
              {{"local", TrustChoice::local},
               {"pairs", TrustChoice::pairs},
               {"central", TrustChoice::central},
               {"masked", TrustChoice::masked}});
  add_pair_choices(options, config.privacy, " --variant private");
  add_correlation_option(
      options, config.correlation,
      {.help = "with --variant private: blt:2 (the noise of later batches takes back most of that of earlier ones; not "
               "under masked trust or with released curvature), none (it is independent), or auto: blt:2 where that "
               "helps, so not with --forget below 1, one batch, or a budget for a client's whole data",
       .relations = {needs("variant=private", "no other variant adds noise to sums").only_for("blt")}});
  options.add(option("curvature-model", "HOW",
                     "with --variant private: average (public: n (c + lambda) I; costs nothing), file:FILE (public: "
                     "n (H + lambda I), H a CSV matrix of a row for each feature and a last one for the intercept), or "
                     "released:SHARE (noisy curvature for that share of the price)",
                     {.files = named::spec,
                      .relations = {needs("variant=private", "no other variant releases curvatures with noise")}}),
              config.curvature_model);
  const Relation of_the_paper = needs("variant=private-paper", "no other variant has this constant");
  options.add(option("c1", "C1", "with private-paper: bound that it assumes on a row's L1 norm; default: 1",
                     {.range = {tiny, 1e12}, .example = "1 --variant private-paper", .relations = {of_the_paper}}),
              config.c1);
  options.add(declared("c2", {.example = "1 --variant private-paper", .relations = {of_the_paper}}), config.c2);
  options.add(option("cp", "CP", "with private-paper: C_(p-1), assumed of a step; default: 0",
                     {.range = {0, 1e12}, .example = "0 --variant private-paper", .relations = {of_the_paper}}),
              config.cp);
  options.add(declared("rho", {.relations = {of_the_paper}}), config.rho);
}

void add_tuning_options(Options& options, RenewableConfig& config) {
  options.group("Tuning");
  options.add(option("tuning", "WHETHER",
                     "auto: the batch of online without --l2 and of private, and how columns are scaled under private, "
                     "are chosen from "
                     "public numbers and released ones, and told before the run; off: the defaults here",
                     {.initial = "auto"}),
              config.tune, {{"auto", true}, {"off", false}});
  add_constants_options(
      options, config,
      "of --variant private with --tuning auto, where nothing says how columns are scaled (--standardise, --ranges, "
      "--scale, --clip): every client first releases noisy histograms of its columns, which have the share S of mu^2 "
      "and give the batches the rest. Columns are standardised by means and deviations from them, and clipped to 5 "
      "deviations; labels that are numbers are standardised as well. Columns that the histograms do not show count as "
      "0; 0: all stay as they are. Default: 0.1 to 0.5, by records and price. With --tuning off: what an earlier "
      "release has had",
      "share of mu^2 for a histogram of the norms of records, which tells whether columns have one scale already, or "
      "for histograms of columns within the ranges that the first have shown; 0: none. Default: 0.01 of norms, and "
      "0.05 to 0.39 of columns, as they need",
      {needs("variant=private", "no other variant releases constants of columns")});
}

void read_classes(RenewableConfig& config) {
  if (config.classes_text == "binary") return;
  Spec spec = Spec::parse(config.classes_text);
  check(spec.name() == "one-vs-rest", "--classes '{}': binary and one-vs-rest:K are known.", config.classes_text);
  spec.bind({{"classes", "K, at least 2"}});
  const long long classes = spec.integer("classes");
  check(classes >= 2 && classes <= 10'000, "--classes '{}': 2 to 10000 classes are possible.", config.classes_text);
  config.classes = static_cast<std::size_t>(classes);
}

void read_penalty(RenewableConfig& config, const Options& options) {
  const bool sums = config.variant == RenewableVariant::private_sums;
  config.settings.l2 = sums ? l2_under_noise * std::pow(config.privacy.clip.value_or(1), 2) : 0;
  check(!options.given("penalty") || config.asked_l2 || sums,
        "--penalty without --l2: there is no penalty to weigh. Add --l2, or leave --penalty out.");
  if (!config.asked_l2) return;
  const RoundValues values = penalty_by_batch(*config.asked_l2, config.rounds.value_or(1));
  config.settings.l2 = values.most();
  check(values.least() > 0 || values.most() == 0,
        "--l2 {}: a penalty that is 0 in some batches alone leaves the model without bound there. Keep it above 0.",
        *config.asked_l2);
  check(!config.penalty_changes() || sums || config.variant == RenewableVariant::online,
        "--l2 {} with this --variant: {}. Give one number.", *config.asked_l2,
        config.offline() ? "all batches have one objective" : "its price is derived for one penalty");
}

void read_curvature_model(RenewableConfig& config) {
  if (config.curvature_model == "average") return;
  Spec spec = Spec::parse(config.curvature_model);
  if (spec.name() == "file") {
    spec.bind({{"file", "CSV matrix of one record's curvature"}});
    config.curvature_file = spec.require("file");
    return;
  }
  check(spec.name() == "released", "--curvature-model '{}': average, file:FILE and released:SHARE are known.",
        config.curvature_model);
  spec.bind({{"share", "of the price, between 0 and 1"}});
  const double share = spec.number("share", 0.5);
  check(share > 0 && share < 1, "--curvature-model '{}': the share must lie between 0 and 1.", config.curvature_model);
  config.curvature_share = share;
}

void check_loss(RenewableConfig& config) {
  const std::string name = Spec::parse(config.loss).name();
  const bool has_bend = has_parameter(config.loss, "smoothing");
  check(has_bend || config.smoothing == "auto", "--smoothing with --loss {}: it has no bend to smooth. Leave it out.",
        name);
  if (has_bend) {
    const std::string how = config.smoothing == "auto" && config.offline()                           ? "0"
                            : config.smoothing == "auto" && config.variant == Variant::private_paper ? "paper"
                                                                                                     : config.smoothing;
    const bool in_loss = config.loss.find("smoothing=") != std::string::npos;
    check(!in_loss || config.smoothing == "auto", "--smoothing {} and --loss {} both say how: give one.",
          config.smoothing, config.loss);
    check(config.variant != Variant::offline ||
              (how != "paper" && config.loss.find("smoothing=paper") == std::string::npos),
          "--smoothing paper with --variant offline: its derivative jumps, so that it is none of an objective. Leave "
          "it out.");
    if (!in_loss) config.loss += (config.loss.find(':') == std::string::npos ? ":" : ",") + ("smoothing=" + how);
  }
  const std::unique_ptr<CurvedLoss> loss = make_curved_loss(config.loss);
  check(config.classes == 1 || loss->classifies(), "--classes one-vs-rest with --loss {}: it knows no classes.", name);
  check(config.variant != Variant::private_paper || loss->most_slope() <= 1,
        "--variant private-paper with --loss {}: its theorem takes slopes of at most 1. Choose dwd or logistic.", name);
  check(config.variant != Variant::private_sums || loss->most_slope() < std::numeric_limits<double>::infinity(),
        "--variant private with --loss {}: its slope has no bound, so no record's influence has one. Choose huber:c.",
        name);
  check(config.variant != Variant::private_sums || loss->link() != Link::log,
        "--variant private with --loss {}: steps by a public curvature suit losses whose curvatures differ little, and "
        "those of means differ as the means. Choose starling omd.",
        name);
}

void check_variant(const RenewableConfig& config, const Options& options) {
  const auto only = [&](const char* option, bool sensible, const char* with) {
    check(!options.given(option) || sensible, "--{} has no meaning without {}. Leave it out.", option, with);
  };
  const bool online = config.variant == Variant::online;
  only("epochs", !config.offline(), "a variant that reads the data in turn: offline reads all in each pass");
  only("rounds", config.variant != Variant::offline_one_step, "a variant that takes more than one step");
  for (const char* option : {"epsilon", "mu", "total-epsilon", "delta", "clip", "budget-unit"}) {
    only(option, !config.open() || config.privacy.protects(),  // with another mechanism, that is what is wrong
         "--variant private or private-paper, as nothing is protected");
  }
  check(config.start != "safe" || online, "--start safe with this variant: {}. Use zero or a file.",
        config.offline() ? "it minimises over all data anyway" : "that minimisation would have to be paid for");
}

void check_protection(const RenewableConfig& config) {
  if (!config.privacy.mechanism) return;  // the run says what is missing
  const MechanismRow& mechanism = config.privacy.mechanism_row();
  refuse_audit(config);
  check(is_whole(config.privacy.unit), "--unit component: a row as a whole is bounded. Leave it out.");
  check(config.privacy.unit != PrivacyUnit::person || config.variant == Variant::private_sums,
        "--unit person with this variant: its sums are over records, and nothing bounds a person's part in them. Use "
        "--variant private.");
  if (config.open()) {
    check(!mechanism.protects(),
          "--mechanism {} with a variant that sends sums as they are: it adds no noise. Choose --variant private "
          "with gaussian, or --mechanism none.",
          mechanism.name);
  } else if (config.variant == Variant::private_sums) {
    check(mechanism.gaussian(), "--variant private with --mechanism {}: its noise is gaussian. Choose that.",
          mechanism.name);
  } else {
    check(mechanism.gaussian() || mechanism.charge == ChargeKind::laplace,
          "--variant private-paper with --mechanism {}: the paper's noise is gaussian or laplace. Choose one.",
          mechanism.name);
    check(!config.privacy.mu && !config.privacy.total_epsilon && !config.privacy.clip && !config.privacy.budget &&
              config.privacy.budget_of_client,
          "--mu, --total-epsilon, --clip, --budget and --budget-unit have no meaning with private-paper: it charges "
          "nothing that could be certified. Leave them out.");
    check(config.classes == 1, "--classes one-vs-rest with private-paper: its bounds are those of two classes.");
  }
  check(!config.privacy.trusts_pairs || !config.curvature_share,
        "--curvature-model released with --trust pairs: noise of pairs is for gradients. Use average, or another "
        "trust.");
  check(config.trust == TrustChoice::local || !config.privacy.prices_differ(),
        "a price by clients with --trust central or masked: one noise serves all clients. Give one price.");
  check(!config.curvature_share || config.settings.l2 > 0,
        "--curvature-model released with --l2 0: noise makes the curvature indefinite, and only a penalty keeps it off "
        "zero. Add --l2.");
  check(config.trust != TrustChoice::central || config.curvature == "double",
        "--curvature {} with --trust central: numbers must not be rounded before noise is added. Leave it out.",
        config.curvature);
  check(config.trust != TrustChoice::masked || !config.curvature_share,
        "--curvature-model released with --trust masked: masks are for gradients. Use average, or another trust.");
  check(config.correlation != CorrelationChoice::two_buffers || config.why_no_correlation().empty(),
        "--noise-correlation blt:2 with {}. Use --noise-correlation none.", config.why_no_correlation());
  check(config.trust != TrustChoice::masked || !config.privacy.budget,
        "--budget with --trust masked: a client that stops would take its masks along. Leave one of them out.");
}

}  // namespace

RoundValues penalty_by_batch(const std::string& text, Round batches) {
  return RoundValues::parse(text, "--l2", batches, 0, 1e12);
}

Options renewable_options(RenewableConfig& config) {
  config.loss = "dwd:1";
  config.start = "";
  Options options("renewable");
  options.group("Clients");
  add_client_options(options, config, "one per rank");
  add_data_options(
      options, config,
      "records of a batch: a client takes one per round; public. With --variant online and no --l2, and with --variant "
      "private under --tuning auto, the default is 50 records for each coefficient, or 10 where the loss has no "
      "classes, of all clients together; privately a tenth of a client's records at most. "
      "file:FILE: by client and round, rows of client,round,records, which hold until the client's next row",
      &config.batch_file);
  add_reading_options(options, config.data);
  add_method_options(options, config);
  add_trust_options(options, config);
  add_tuning_options(options, config);
  add_privacy_options(options, config.privacy, config.data, PersonChoices::mean);
  add_output_options(options, config, "renewable");
  add_checkpoint_options(options, config);
  add_identity_options(options, config);
  add_model_output_options(options, config);
  add_personal_option(options, config);
  return options;
}

std::string RenewableConfig::why_no_correlation() const {
  if (variant != RenewableVariant::private_sums) return "this variant: it adds no noise to sums";
  if (trust == TrustChoice::masked) return "--trust masked: shares of noise are discrete, and only their sum is known";
  if (curvature_share) return "released curvature: its noise makes steps that do not add up noise alike";
  if (privacy.prices_change()) return "prices that change over the rounds: later noise would be of another size";
  return "";
}

void complete_renewable_config(RenewableConfig& config, const Options& options) {
  config.privacy.trusts_pairs = config.trust == TrustChoice::pairs;
  const auto online_default = [&] { return config.variant == Variant::online ? "safe" : "zero"; };
  check_learning_options(config);
  if (!config.batch_file.empty()) config.data.batch = BatchFile(config.batch_file).most();
  read_penalty(config, options);
  config.opens_batch =
      config.tunes() && !options.stated("batch") &&
      ((config.variant == Variant::online && config.settings.l2 == 0) ||
       (config.variant == Variant::private_sums && config.privacy.protects() && !config.privacy.prices_change()));
  config.model.asked_intercept = true;
  note_open_options(options, config, options_of_units);
  read_classes(config);
  read_curvature_model(config);
  if (config.start.empty()) config.start = online_default();
  config.settings.safe_start = config.start == "safe";
  check_variant(config, options);
  check_loss(config);
  check_protection(config);
  const bool chooses_bits = quantiser_table().make(config.curvature)->chooses_bits();
  check(config.variant != Variant::private_sums || config.curvature_share || config.curvature == "double",
        "--curvature {} with --curvature-model {}: no curvature travels. Leave it out.", config.curvature,
        config.curvature_model);
  check(config.variant != Variant::private_sums || !chooses_bits,
        "--curvature {} with released curvature: noise may have made it indefinite, and what is quantised is relative "
        "to its diagonal. Use float32 or double.",
        config.curvature);
  if (config.standard_errors == StandardErrors::automatic) {
    const auto loss = make_curved_loss(config.loss);
    const Likelihood likelihood = loss->likelihood();
    const bool are_counts = likelihood == Likelihood::exact && loss->link() == Link::log;  // of any variance
    const bool once = config.variant == Variant::online && config.settings.forget == 1 && config.data.epochs == 1;
    config.standard_errors = likelihood == Likelihood::none || !once ? StandardErrors::none
                             : are_counts                            ? StandardErrors::sandwich
                                                                     : StandardErrors::model;
  }
  check(config.standard_errors != StandardErrors::model || config.variant == Variant::online,
        "--standard-errors model under noise: the curvature tells nothing of the noise. Use sandwich.");
  check(config.standard_errors == StandardErrors::none || config.variant != Variant::private_sums ||
            config.curvature_share.has_value(),
        "--standard-errors with --curvature-model {}: a public curvature tells nothing of the records', by which "
        "gradients become errors of coefficients. Add --curvature-model released:0.3.",
        config.curvature_model);
  check(config.standard_errors == StandardErrors::none || config.settings.forget == 1,
        "--standard-errors with --forget {}: they are those of all records alike. Leave one of them out.",
        config.settings.forget);
  check(config.standard_errors == StandardErrors::none || config.data.epochs == 1,
        "--standard-errors with --epochs {}: a record that is read again tells nothing new. Leave one of them out.",
        config.data.epochs);
  check(config.standard_errors != StandardErrors::none || !options.given("level"),
        "--level without --standard-errors: there are no intervals. Add --standard-errors sandwich.");
  if (config.variant == Variant::offline || config.variant == Variant::offline_one_step) {
    config.why_not.goes_on = "its passes are one search over all data, which begins anew";
  }
  config.why_not.leaves_out = "its records come through a pipe, and are gone";
  config.why_not.more_rounds = config.variant == Variant::private_paper ? "its noise was made"
                               : config.penalty_changes()    ? "penalties go by the planned number of batches"
                               : config.privacy.trusts_pairs ? "keys of pairs are made for the rounds of a run"
                                                             : "";
  config.remedies_of_divergence =
      "Scale the features (--scale, --standardise), raise --l2, or take larger batches (--batch)";
  config.settings.with_slopes = config.standard_errors == StandardErrors::sandwich;
  keep_configuration(options, config,
                     config.opens_batch ? std::vector<std::string>{"batch"} : std::vector<std::string>());
}

Manual renewable_manual() {
  return {.usage = "[OPTIONS]",
          .text =
              "Each rank is a client with its own stream, rank 0 too. For each batch every client sends sums over its "
              "records (a gradient and a curvature) to rank 0, which renews the model from them and sends it back; no "
              "record is read twice. Exit codes: 0 done, 2 usage, 3 data, 4 nothing done since no client's budget "
              "allows it, 5 peer or file failure, 75 stopped by a signal with results safe.",
          .examples = {"mpirun -n 3 starling renewable --source site-{client}.csv --batch 20 --l2 0.1 --mechanism none",
                       "mpirun -n 3 starling renewable --source site-{client}.csv --batch 20 --l2 0.1 --variant "
                       "private --trust masked --mechanism gaussian --epsilon 0.8 --delta 1e-5"}};
}

}  // namespace starling
