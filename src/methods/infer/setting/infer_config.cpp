#include "infer_config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "codec/quantiser.hpp"
#include "console/command.hpp"
#include "core/text/limits.hpp"
#include "core/text/spec.hpp"
#include "data/generators/synthetic.hpp"
#include "data/serving/partition.hpp"
#include "infer_rule.hpp"
#include "loss/loss.hpp"
#include "privacy/mechanism.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/source_options.hpp"

namespace starling {

namespace {

/// Losses with an estimand, which intervals can be given for.
Table<Loss> inference_losses() {
  return losses_that([](const Loss& loss) { return loss.curved() != nullptr && loss.curved()->has_estimand(); });
}

/// Why nothing about one model stands beside --replications.
constexpr const char* of_a_study = "there is not one model but many";

Relation needs_topology() {
  return needs("topology", "rank 0 aggregates, so nothing mixes");
}

void add_graph_options(Options& options, InferConfig& config) {
  options.group("Clients and graph");
  options.add(
      declared(
          "topology",
          {.help =
               "no aggregator: clients mix with their neighbours over this graph (see starling topology --help), and "
               "each draws its intervals from its own path; default: rank 0 aggregates"}),
      config.topology);
  add_client_options(options, config, "the topology's, else one per rank");
  options.add(declared("mixing", "with --topology: push-sum (unbiased on any digraph) or plain",
                       {.relations = {needs_topology()}}),
              config.mixing.mixing, {{"push-sum", Mixing::push_sum}, {"plain", Mixing::plain}});
  options.add(declared("gossip-steps", "with --topology: exchanges with neighbours per step",
                       {.relations = {needs_topology()}}),
              config.mixing.gossip_steps);
  options.add(
      declared("lazy",
               "with --topology: share of its mass, 0 to below 1, that a client keeps before it splits the rest",
               {.relations = {needs_topology()}}),
      config.mixing.lazy);
  add_exchange_option(options, config.mixing.exchange);
  add_precision_option(options, config.mixing.precision,
                       {needs_topology(), excludes("mixing=plain", no_sum_in_plain_mixing)});
}

void add_method_options(Options& options, InferConfig& config) {
  options.group("Method");
  options.add(declared("loss", "what the model minimises; under privacy its slope needs a bound, which squared has not",
                       {.initial = "huber:1.345", .values = [] { return values_of("Losses", inference_losses()); }}),
              config.loss);
  options.add(option("estimator", "HOW",
                     "newton: some Newton steps, each from noisy sums over all records, of which every release has its "
                     "share of the price; intervals by the curvature and squares in these sums. path: the average of "
                     "stochastic gradient descent, of which every record makes one step. Default: newton with an "
                     "aggregator and --tuning auto, where records can be read again and nothing else asks for a path",
                     {.relations = {excludes("topology", "a client does not know the others' curvatures", "Use path.")
                                        .only_for("newton")}}),
              config.estimator, {{"newton", Estimator::newton}, {"path", Estimator::path}});
  add_weights_option(
      options, config, "",
      {excludes("intervals=plug-in", "sums of curvatures and squares count every record alike", "Use random-scaling.")
           .only_for("equal"),
       excludes("bias=remove", "the curvature by which the bias is known counts every record alike",
                "Take more records a step: --batch.")
           .only_for("equal")});
  options.add(option("intercept", "WHETHER",
                     "yes or no: a constant feature, the last; default: yes, but no with --features hog, whose last "
                     "feature is one",
                     {.implied = "yes"}),
              config.asked_intercept, {{"yes", true}, {"no", false}, {"true", true}, {"false", false}});
  options.add(declared("start", "zero, or a CSV file with one row (public)", {.initial = "zero"}), config.start);
  options.add(declared("step", "steps are GAMMA / (i + i0)^ALPHA, i from 1", {.argument = "GAMMA"}), config.sgd.step);
  options.add(declared("step-power", "between 1/2 and 1, both excluded",
                       {.argument = "ALPHA", .initial = "0.51", .range = {0.5, 1}}),
              config.sgd.step_power);
  options.add(
      declared(
          "step-offset",
          {.help = "i0; default: 1000 under privacy (the first noisy steps would throw the model far off), else 0"}),
      config.step_offset);
  options.add(
      declared(
          "step-cap",
          "with --topology: no step exceeds KAPPA times the first; what is cut off is owed and taken later. auto: the "
          "least number, 1 or more, by which the client with the least mass repays all it owes before the end",
          {.range = {.most = std::numeric_limits<double>::infinity()}, .relations = {needs_topology()}}),
      config.asked_step_cap);
}

constexpr std::array options_of_infer_rule{"estimator",   "epochs",           "batch", "warmup-share", "step",
                                           "step-offset", "noise-correlation"};

/// What has a meaning for a path alone.
constexpr std::array options_of_path{"batch",    "rounds", "step",  "step-power", "step-offset",       "warmup-share",
                                     "burn-in",  "bias",   "start", "bias-share", "noise-correlation", "plug-in-path",
                                     "intervals"};

void add_tuning_options(Options& options, InferConfig& config) {
  options.group("Tuning");
  options.add(option("tuning", "WHETHER",
                     fmt::format("auto: what is not given of {} is chosen from public numbers and told before the run; "
                                 "off: the defaults here. Default: auto, but off with --topology",
                                 fmt::join(options_of_infer_rule, ", "))),
              config.tune, {{"auto", true}, {"off", false}});
  options.add(option("warmup-share", "S",
                     "share of the steps whose records give one noisy sum of second moments in place of directions. "
                     "From it follow coordinates in which features are uncorrelated and of one scale, and a start",
                     {.range = {0, 0.5},
                      .unit = "share, 0 to 0.5",
                      .relations = {excludes("intervals=plug-in", "its curvatures belong to the records as they are",
                                             "Use random-scaling."),
                                    excludes("bias=remove", "its curvatures belong to the records as they are",
                                             "Take more records a step: --batch."),
                                    excludes("unit=person", "a person may have records in both shares"),
                                    excludes("start", "the share gives the start")}}),
              config.warmup_share);
  add_constants_options(
      options, config,
      "of Newton's rounds with --tuning auto, where nothing says how columns are scaled (--standardise, --ranges, "
      "--scale): every client first releases noisy histograms of its columns, which have the share S of mu^2 and "
      "give the rounds the rest. Columns are standardised by means and deviations from them; intervals are "
      "in the columns' own units besides. Columns that the histograms do not show have no coefficient; 0: all "
      "stay as they are. Default: 0.1 to 0.5, by records and price. With --tuning off: what an earlier release "
      "has had",
      "share of what these leave of mu^2 for second histograms, within the ranges that the first have "
      "shown; 0: none. Default: 0.05 to 0.25, by records and price, and up to 0.14 more for closer looks",
      {needs("mechanism=gaussian", "columns stay as they are without noise, and no round costs anything")});
  add_correlation_option(options, config.correlation);
}

std::vector<Relation> relations_of_trust() {
  const std::string alone = "what it makes of noise is known where each client has its own";
  std::vector<Relation> relations =
      relations_of_pairs({excludes("intervals=plug-in", alone, "Use random-scaling."), excludes("bias=remove", alone),
                          excludes("client-weights=equal", "a pair cancels where both ends count alike"),
                          excludes("mixing=plain", "it does not keep the sum in which pairs cancel")});
  relations.push_back(needs("intervals=plug-in", "all else has noise before it leaves a client").only_for("central"));
  return relations;
}

void add_interval_options(Options& options, InferConfig& config) {
  options.group("Intervals");
  options.add(
      option("intervals", "WHICH",
             "one or more of random-scaling (from the path alone; costs no privacy), batch-means:M (from the path; "
             "narrower, covers less), overlapping-batches (likewise, along the way too), plug-in (from curvatures and "
             "squares, which cost privacy), none. Newton's rounds (--estimator) always have plug-in of their own",
             {.common = true,
              .relations = {excludes("topology", "a client does not know the others' curvatures",
                                     "Use random-scaling, or leave --topology out.")
                                .only_for("plug-in")}}),
      config.intervals_text);
  options.add(
      declared("trust",
               "local (every client adds noise to all that it sends), central (with plug-in: rank 0 sees sums of "
               "curvatures over all records after the last step, and adds noise once) or pairs (each pair of clients "
               "shares noise besides, which cancels in the mean: shorter intervals at the same price)",
               {.relations = relations_of_trust()}),
      config.trust, {{"local", PlugInTrust::local}, {"central", PlugInTrust::central}, {"pairs", PlugInTrust::pairs}});
  add_pair_choices(options, config.privacy);
  options.add(flag("plug-in-path",
                   "plug-in intervals along the way too, in intervals.csv and the picture: the sums are made of what "
                   "was released step by step, and cost nothing more",
                   {.relations = {needs("intervals=plug-in", "there is nothing to follow"),
                                  excludes("trust=central",
                                           "its sums are released once, and each further time would be paid for",
                                           "Use --trust local."),
                                  excludes("replications", "a study has the intervals of the end")}}),
              config.plug_in_path);
  options.add(
      option("bias", "WHAT",
             "of the curvature bias that noise gives an average under an asymmetric loss: keep, or remove (it is "
             "estimated from each step's noisy curvature, which plug-in with --trust local releases anyway)",
             {.relations = {excludes("topology", "nobody sees the curvatures of all clients",
                                     "Take more records a step: --batch.")
                                .only_for("remove")}}),
      config.bias, {{"keep", BiasChoice::keep}, {"remove", BiasChoice::remove}});
  options.add(
      option("bias-share", "S", "with --bias remove and no plug-in: share of the square of mu that goes to curvatures",
             {.range = {0.001, 0.999},
              .relations = {needs("bias=remove", "no curvature has a share of its own"),
                            excludes("intervals=plug-in", "plug-in has its own share", "Leave --bias-share out.")}}),
      config.bias_share);
  options.add(option("levels", "P,...", "of confidence", {.initial = "0.95", .common = true}), config.levels);
  options.add(
      flag("joint",
           "test that all coefficients but the intercept are 0, at the first level: Wald's of Newton's estimate, or by "
           "random scaling (client 0's path)",
           {.relations = {excludes("bias=remove", "the test is on the average with its bias"),
                          excludes("replications", of_a_study)}}),
      config.joint);
  options.add(
      option("burn-in", "B", "steps that do not enter the average and its intervals", {.range = {0, most_whole}}),
      config.burn_in);
  options.add(
      option("replications", "R",
             "on a generator with known coefficients: R independent runs, and how often their intervals cover; over a "
             "--topology vectors go as messages unless --exchange says otherwise",
             {.range = {0, 100'000'000},
              .relations = {excludes("test", of_a_study), excludes("json-models", of_a_study),
                            excludes("record-clients", of_a_study), excludes("save-partition", of_a_study),
                            excludes("tensorboard", of_a_study), excludes("openmetrics", of_a_study)}}),
      config.replications);
}

void read_intervals(InferConfig& config) {
  const std::vector<std::string> words = split_list(config.intervals_text);
  for (const std::string& word : words) {
    Spec spec = Spec::parse(word);
    if (word == "random-scaling") {
      config.random_scaling = true;
    } else if (word == "plug-in") {
      config.plug_in = true;
    } else if (word == "overlapping-batches") {
      config.overlapping_batches = true;
    } else if (spec.name() == "batch-means") {
      spec.bind({{"batches", "M"}});
      const long long batches = spec.integer("batches", 20);
      check(batches >= 2 && batches <= 1'000'000, "--intervals '{}': 2 batches or more are needed.", word);
      config.batch_means = static_cast<int>(batches);
    } else {
      check(
          word == "none" && words.size() == 1,
          "--intervals '{}': random-scaling, plug-in, batch-means:M and overlapping-batches are known, or none alone.",
          word);
    }
  }
}

void check_method(const InferConfig& config) {
  const std::string name = Spec::parse(config.loss).name();
  const std::unique_ptr<Loss> loss = loss_table().make(config.loss);
  check(loss->curved() != nullptr && loss->curved()->has_estimand(), "--loss {}: inference knows {}. Choose one.{}",
        name, inference_losses().names(),
        loss->curved() == nullptr
            ? " It has no curvature: what a step tells of its minimum depends on the density of labels there, "
              "which nothing estimates."
            : "");
  check(config.sgd.step_power > 0.5 && config.sgd.step_power < 1,
        "--step-power {}: averages have a normal limit for powers between 1/2 and 1, both excluded. Take 0.51.",
        config.sgd.step_power);
  for (std::size_t i = 0; i < config.levels.size(); ++i) {
    const double level = config.levels[i];
    check(level > 0 && level < 1, "--levels {}: each lies between 0 and 1.", level);
    check(std::find(config.levels.begin(), config.levels.begin() + static_cast<std::ptrdiff_t>(i), level) ==
              config.levels.begin() + static_cast<std::ptrdiff_t>(i),
          "--levels {} stands there twice. Give it once.", level);
  }
  if (!config.privacy.mechanism) return;  // the run says what is missing
  const MechanismRow& mechanism = config.privacy.mechanism_row();
  check(!mechanism.protects() || mechanism.gaussian(),
        "--mechanism {}: inference is worked out for gaussian noise. Choose gaussian, or none.", mechanism.name);
  check(std::isfinite(loss->curved()->most_slope()) || !mechanism.protects(),
        "--loss {} with --mechanism {}: its slope has no bound, so no record's influence has one. Choose huber:c.",
        name, mechanism.name);
  check((loss->link() != Link::log && loss->link() != Link::hazard) || !mechanism.protects(),
        "--loss {} with --mechanism {}: steps with noise throw a logarithm about, and its mean far more, so that "
        "intervals would hold the truth too seldom. Choose huber or logistic, or starling omd, which gives estimates "
        "alone.",
        name, mechanism.name);
  refuse_audit(config);
  check(loss->link() != Link::hazard || config.privacy.unit != PrivacyUnit::person,
        "--loss {} with --unit person: a person counts by the mean over its records, and those who live longer have "
        "more, so that hazards would be wrong. Choose starling omd with --person-gradient sum.",
        name);
  check(is_whole(config.privacy.unit), "--unit component: a row as a whole is bounded. Leave it out.");
}

void check_shape(InferConfig& config, const Options& options) {
  static_cast<void>(quantiser_table().make(config.mixing.precision));
  check(!options.given("exchange") || config.decentralized(),
        "--exchange without --topology: rank 0 aggregates, so nothing mixes. Leave it out.");
  check(config.bias == BiasChoice::keep || !config.plug_in || config.trust != PlugInTrust::central,
        "--bias remove with --trust central: there is no curvature by step. Leave one of them out.");
  config.one_price = !config.privacy.prices_differ() && !config.privacy.prices_change();
  check(config.trust != PlugInTrust::central || config.one_price,
        "--trust central with prices that differ: one noise serves all records. Give one price.");
  check(config.bias == BiasChoice::keep || config.one_price,
        "--bias remove with prices that differ: its own noise would not be known. Give one price.");
  check(config.replications == 0 || is_synthetic(config.data.source),
        "--replications with '{}': each run needs records of its own, and true coefficients to compare with. Use a "
        "generator: synthetic:linear, logistic, counts, expectile, insurance or rides.",
        config.data.source);
  check(config.replications == 0 || config.newton() || config.random_scaling || config.plug_in || config.batch_means ||
            config.overlapping_batches,
        "--replications with --intervals none: there is nothing to cover. Leave one of them out.");
  // Every replication sets its exchange up anew, and windows take longer for that than many steps do.
  if (config.replications > 0 && !options.given("exchange")) config.mixing.exchange = ExchangeWay::messages;
  const bool is_complete = config.data.makes_features() && config.data.encoding == ReadSettings::Encoding::one_hot;
  check(!is_complete,
        "--encode onehot: with infer: categories of a column sum to 1, so that coefficients would not be determined. "
        "Give --encode reference:FILE, in which the first category of a column has no feature.");
  check(config.data.missing != ReadSettings::Missing::indicator,
        "--missing indicator with infer: an indicator may never vary, so that coefficients would not be determined. "
        "Give --missing zero or constant:FILE.");
  const bool has_constant = config.data.features == ReadSettings::Features::hog;
  check(!config.asked_intercept.value_or(false) || !has_constant,
        "--intercept with --features hog: its last feature is a constant already. Leave it out.");
  config.intercept = config.asked_intercept.value_or(!has_constant);
  config.model.asked_intercept = config.intercept;
  check(config.warmup_share == 0 || config.data.epochs == 1,
        "--epochs {} with --warmup-share: records of the share would be used again. Leave one of them out.",
        config.data.epochs);
  check(config.warmup_share == 0 || !config.privacy.prices_change(),
        "--warmup-share with prices by a schedule: its records are released at once. Give one price.");
  check(config.correlation != CorrelationChoice::two_buffers || config.may_correlate(),
        "--noise-correlation blt:2 with --intervals plug-in, --bias remove, --epochs or --person-rounds: what these "
        "make of noise is known where it is independent. Use --noise-correlation none.");
  check(config.data.epochs == 1 || config.intervals_text == "none" || config.estimator != Estimator::path,
        "--epochs {} with --intervals of a path: a record that is read again tells nothing new. Leave one of them out.",
        config.data.epochs);
}

/// Newton's rounds have their own settings.
void check_newton(InferConfig& config, const Options& options) {
  config.option_of_path.clear();
  for (const char* option : options_of_path) {
    const bool of_newton = option == std::string_view("intervals") && config.intervals_text == "plug-in";
    if (options.given(option) && !of_newton) config.option_of_path = option;
  }
  if (config.trust == PlugInTrust::central) config.option_of_path = "trust central";
  if (config.estimator == Estimator::automatic && !config.tunes()) config.estimator = Estimator::path;
  if (!config.newton()) return;
  check(config.option_of_path.empty(), "--{} with --estimator newton: it says how a path is made. Leave it out.",
        config.option_of_path);
  check(config.privacy.unit != PrivacyUnit::person,
        "--estimator newton with --unit person: its coordinates are known of records. Use path.");
  check(!config.privacy.prices_change(),
        "--estimator newton with prices by a schedule: its rounds are one estimate. Give one price.");
  config.random_scaling = config.plug_in = false;  // what a path would give
  if (!options.stated("epochs")) config.data.epochs = newton_rounds(config.privacy.protects());
  check(
      !config.privacy.protects() || config.data.epochs >= 3,
      "--epochs {} with --estimator newton: the first round finds scales, and two or more take steps. Give 3 or more.",
      config.data.epochs);
}

}  // namespace

bool InferConfig::may_correlate() const {
  return privacy.mechanism_row().gaussian() && !plug_in && bias == BiasChoice::keep && data.epochs == 1 &&
         data.person_rounds.value_or(1) == 1;
}

Options infer_options(InferConfig& config) {
  config.loss = "huber:1.345";
  config.start = "zero";
  config.data.source = "synthetic:linear";
  Options options("infer");
  add_graph_options(options, config);
  add_data_options(options, config);
  add_reading_options(options, config.data);
  add_method_options(options, config);
  add_tuning_options(options, config);
  add_interval_options(options, config);
  add_privacy_options(options, config.privacy, config.data, PersonChoices::mean);
  add_output_options(options, config, "infer");
  add_checkpoint_options(options, config);
  add_identity_options(options, config);
  add_model_output_options(options, config);
  return options;
}

void complete_infer_config(InferConfig& config, const Options& options) {
  config.privacy.trusts_pairs = config.trust == PlugInTrust::pairs;
  check_learning_options(config);
  read_intervals(config);
  check_method(config);
  check_newton(config, options);
  check_shape(config, options);
  config.why_not.goes_on = config.replications > 0 ? "its replications are quickly begun anew" : "";
  config.why_not.leaves_out =
      config.plug_in && config.trust == PlugInTrust::central
          ? "sums over all its records are released once, after the last step, and those of a pipe are gone"
          : "";
  config.why_not.more_rounds = config.privacy.trusts_pairs            ? "keys of pairs are made for the rounds of a run"
                               : config.newton()                      ? "its rounds are one estimate"
                               : config.warmup_share > 0              ? "the share of its warm-up is over"
                               : config.batch_means || config.plug_in ? "batches and plug-in matrices are made"
                                                                      : "";
  note_open_options(options, config, options_of_infer_rule);
  config.step_cap = config.asked_step_cap.value_or(1);
  config.sgd.step_offset = config.step_offset.value_or(config.privacy.protects() ? 1000 : 0);
  keep_configuration(options, config, config.tunes() ? config.open_options : std::vector<std::string>());
}

Manual infer_manual() {
  return {
      .usage = "[OPTIONS]",
      .text =
          "Regression by stochastic gradient descent. Each rank is a client with its own stream, rank 0 too. In a step "
          "every client sends a noisy, bounded estimating function of its next records; rank 0 takes the step and "
          "sends the model back (with --topology nobody does: clients mix with their neighbours). The estimate is the "
          "average of the path, and the path tells how sure it is. Records that can be read again give more to "
          "Newton's method, which is the default for them: each of a few rounds has a sum over all records, with "
          "noise. Exit codes: 0 done, 2 usage, 3 data, 4 nothing done since no client's budget allows it, 5 peer or "
          "file failure, 75 stopped by a signal with results safe.",
      .examples = {
          "mpirun -n 3 starling infer --source site-{client}.csv --mechanism gaussian --mu 1",
          "mpirun -n 5 starling infer --source site-{client}.csv --mechanism gaussian --mu 1 --topology ring.topo"}};
}

}  // namespace starling
