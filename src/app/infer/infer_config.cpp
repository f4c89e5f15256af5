#include "infer_config.hpp"

#include "app/settings/source_options.hpp"
#include <algorithm>
#include <cmath>
#include <limits>

#include "starling/core/limits.hpp"
#include "starling/core/spec.hpp"
#include "starling/data/generators/synthetic.hpp"
#include "starling/data/serving/partition.hpp"
#include "starling/loss/loss.hpp"

namespace starling {

namespace {

void add_graph_options(Options& options, InferConfig& config) {
  const char* group = "Clients and graph";
  options.add({group, "topology", "FILE", "",
               "no aggregator: clients mix with their neighbours over this graph (see starling topology --help), and "
               "each draws its intervals from its own path; default: rank 0 aggregates",
               setter::text(config.topology), false, named::file});
  add_client_options(options, group, config, "the topology's, else one per rank");
  options.add(
      {group, "mixing", "HOW", "push-sum", "with --topology: push-sum (unbiased on any digraph) or plain",
       setter::choice<Mixing>(config.mixing.mixing, {{"push-sum", Mixing::push_sum}, {"plain", Mixing::plain}})});
  options.add({group, "gossip-steps", "G", "1", "with --topology: exchanges with neighbours per step",
               setter::integer(config.mixing.gossip_steps, 1, 1'000'000)});
  options.add({group, "lazy", "SHARE", "0",
               "with --topology: share of its mass, 0 to below 1, that a client keeps before it splits the rest",
               setter::number(config.mixing.lazy, 0, 0.999999)});
  add_exchange_option(options, group, config.mixing.exchange);
}

void add_method_options(Options& options, InferConfig& config) {
  const char* group = "Method";
  options.add({group, "loss", "LOSS", "huber:1.345",
               "what the model minimises (below); under privacy its slope needs a bound, which squared has not",
               setter::text(config.loss)});
  options.add({group, "intercept", "", "",
               "add a constant feature, the last; generators whose model has an intercept get it anyway",
               setter::flag(config.intercept)});
  options.add({group, "start", "WHERE", "zero", "zero, or a CSV file with one row (public)", setter::text(config.start),
               false, named::start});
  options.add({group, "step", "GAMMA", "1", "steps are GAMMA / (i + i0)^ALPHA, i from 1",
               setter::number(config.sgd.step, tiny, 1e12)});
  options.add({group, "step-power", "ALPHA", "0.51", "between 1/2 and 1, both excluded",
               setter::number(config.sgd.step_power, 0.5, 1)});
  options.add({group, "step-offset", "I0", "",
               "i0; default: 1000 under privacy (the first noisy steps would throw the model far off), else 0",
               setter::number(config.step_offset, 0, 1e15)});
  options.add(
      {group, "step-cap", "KAPPA", "auto",
       "with --topology: no step exceeds KAPPA times the first; what is cut off is owed and taken later. auto: the "
       "least number, 1 or more, by which the client with the least mass repays all it owes before the end",
       setter::number_or_auto(config.asked_step_cap, tiny, std::numeric_limits<double>::infinity())});
}

void add_interval_options(Options& options, InferConfig& config) {
  const char* group = "Intervals";
  options.add({group, "intervals", "WHICH", "random-scaling",
               "one or more of random-scaling (from the path alone; costs no privacy), batch-means:M (from the path; "
               "narrower, covers less), plug-in (from curvatures and squares, which cost privacy), none",
               setter::text(config.intervals_text)});
  options.add(
      {group, "trust", "WHOM", "local",
       "with plug-in: local (every client adds noise to every batch's part) or central (rank 0 sees sums of "
       "curvatures over all records after the last step, and adds noise once)",
       setter::choice<PlugInTrust>(config.trust, {{"local", PlugInTrust::local}, {"central", PlugInTrust::central}})});
  options.add({group, "bias", "WHAT", "keep",
               "of the curvature bias that noise gives an average under an asymmetric loss: keep, or remove (it is "
               "estimated from each step's noisy curvature, which plug-in with --trust local releases anyway)",
               setter::choice<BiasChoice>(config.bias, {{"keep", BiasChoice::keep}, {"remove", BiasChoice::remove}})});
  options.add({group, "bias-share", "S", "0.19",
               "with --bias remove and no plug-in: share of the square of mu that goes to curvatures",
               setter::number(config.bias_share, 0.001, 0.999)});
  options.add({group, "levels", "P,...", "0.95", "of confidence", setter::list(config.levels)});
  options.add({group, "joint", "", "",
               "test by random scaling that all coefficients but the intercept are 0 (client 0's path; first level)",
               setter::flag(config.joint)});
  options.add({group, "burn-in", "B", "0", "steps that do not enter the average and its intervals",
               setter::integer(config.burn_in, 0, most_whole)});
  options.add(
      {group, "replications", "R", "0",
       "on a generator with known coefficients: R independent runs, and how often their intervals cover; over a "
       "--topology vectors go as messages unless --exchange says otherwise",
       setter::integer(config.replications, 0, 100'000'000)});
}

/// Losses with an estimand, which intervals can be given for.
Table<Loss> inference_losses() {
  return losses_that([](const Loss& loss) { return loss.curved() != nullptr && loss.curved()->has_estimand(); });
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
  add_interval_options(options, config);
  add_privacy_options(options, config.privacy);
  add_output_options(options, config, "infer");
  add_checkpoint_options(options, config);
  add_model_output_options(options, config);
  return options;
}

void read_intervals(InferConfig& config) {
  std::vector<std::string> words;
  setter::list(words)(config.intervals_text);
  for (const std::string& word : words) {
    Spec spec = Spec::parse(word);
    if (word == "random-scaling") {
      config.random_scaling = true;
    } else if (word == "plug-in") {
      config.plug_in = true;
    } else if (spec.name() == "batch-means") {
      spec.bind({{"batches", "M"}});
      const long long batches = spec.integer("batches", 20);
      check(batches >= 2 && batches <= 1'000'000, "--intervals '{}' (2 batches or more are needed)", word);
      config.batch_means = static_cast<int>(batches);
    } else {
      check(word == "none" && words.size() == 1,
            "--intervals '{}' (random-scaling, plug-in and batch-means:M are known, or none alone)", word);
    }
  }
}

void check_method(const InferConfig& config) {
  const std::string name = Spec::parse(config.loss).name();
  const std::unique_ptr<Loss> loss = loss_table().make(config.loss);
  check(loss->curved() != nullptr && loss->curved()->has_estimand(), "--loss {} (inference knows {}) choose one", name,
        inference_losses().names());
  check(config.sgd.step_power > 0.5 && config.sgd.step_power < 1,
        "--step-power {} (averages have a normal limit for powers between 1/2 and 1, both excluded) take 0.51",
        config.sgd.step_power);
  for (std::size_t i = 0; i < config.levels.size(); ++i) {
    const double level = config.levels[i];
    check(level > 0 && level < 1, "--levels {} (each lies between 0 and 1)", level);
    check(std::find(config.levels.begin(), config.levels.begin() + static_cast<std::ptrdiff_t>(i), level) ==
              config.levels.begin() + static_cast<std::ptrdiff_t>(i),
          "--levels {} stands there twice; give it once", level);
  }
  if (!config.privacy.mechanism) return;  // the run says what is missing
  const MechanismRow& mechanism = config.privacy.mechanism_row();
  check(!mechanism.protects() || mechanism.gaussian(),
        "--mechanism {} (inference is worked out for gaussian noise) choose gaussian, or none", mechanism.name);
  check(std::isfinite(loss->curved()->most_slope()) || !mechanism.protects(),
        "--loss {} with --mechanism {} (its slope has no bound, so no record's influence has one) choose huber:c", name,
        mechanism.name);
  check(!config.privacy.audit, "--audit (canaries are made for omd) use starling privacy audit");
  check(config.privacy.unit == PrivacyUnit::record, "--unit component (a row as a whole is bounded) leave it out");
}

void check_shape(InferConfig& config, const Options& options) {
  for (const char* option : {"mixing", "gossip-steps", "lazy", "exchange", "step-cap"}) {
    check(!options.given(option) || config.decentralized(),
          "--{} without --topology (rank 0 aggregates: nothing mixes) leave it out", option);
  }
  check(!config.plug_in || !config.decentralized(),
        "--intervals plug-in with --topology (a client does not know the others' curvatures) use random-scaling, or "
        "leave --topology out");
  check(config.bias == BiasChoice::keep || !config.decentralized(),
        "--bias remove with --topology (nobody sees the curvatures of all clients) take more records a step: --batch");
  check(config.bias == BiasChoice::keep || !config.plug_in || config.trust == PlugInTrust::local,
        "--bias remove with --trust central (there is no curvature by step) leave one of them out");
  check(!options.given("bias-share") || (config.bias == BiasChoice::remove && !config.plug_in),
        "--bias-share without --bias remove, or with plug-in (which has its own share) leave it out");
  check(!options.given("trust") || config.plug_in,
        "--trust without --intervals plug-in (all else has noise before it leaves a client) leave it out");
  config.one_price = !config.privacy.mu.value_or("").starts_with("clients:") &&
                     !config.privacy.epsilon.value_or("").starts_with("clients:") &&
                     !config.privacy.mu.value_or("").starts_with("schedule:") &&
                     !config.privacy.epsilon.value_or("").starts_with("schedule:");
  check(config.trust == PlugInTrust::local || config.one_price,
        "--trust central with prices that differ (one noise serves all records) give one price");
  check(config.bias == BiasChoice::keep || config.one_price,
        "--bias remove with prices that differ (its own noise would not be known) give one price");
  check(config.bias == BiasChoice::keep || !config.joint,
        "--joint with --bias remove (the test is on the average with its bias) leave one of them out");
  check(config.replications == 0 || is_synthetic(config.data.source),
        "--replications with '{}' (each run needs records of its own, and true coefficients to compare with) use a "
        "generator: synthetic:linear, logistic, expectile or insurance",
        config.data.source);
  for (const char* option : {"test", "joint", "json-models", "record-clients", "save-partition"}) {
    check(config.replications == 0 || !options.given(option),
          "--{} with --replications (there is not one model but many) leave one of them out", option);
  }
  check(config.replications == 0 || config.random_scaling || config.plug_in || config.batch_means,
        "--replications with --intervals none (there is nothing to cover) leave one of them out");
  // Every replication sets its exchange up anew, and windows take longer for that than many steps do.
  if (config.replications > 0 && !options.given("exchange")) config.mixing.exchange = ExchangeWay::messages;
  check(!config.intercept || config.data.features != ReadSettings::Features::hog,
        "--intercept with --features hog (its last feature is a constant already) leave it out");
  check(config.data.epochs == 1 || config.intervals_text == "none",
        "--epochs {} with --intervals (a record that is read again tells nothing new) leave one of them out",
        config.data.epochs);
}

}  // namespace

InferConfig parse_infer_config(const std::vector<std::string>& words) {
  InferConfig config;
  Options options = infer_options(config);
  options.parse(words);
  check_learning_options(config);
  read_intervals(config);
  check_method(config);
  check_shape(config, options);
  config.step_cap = config.asked_step_cap.value_or(1);
  config.sgd.step_offset = config.step_offset.value_or(config.privacy.protects() ? 1000 : 0);
  config.json = config.json || config.json_models;
  config.text = options.configuration();
  config.as_given = options.configuration(Options::Names::as_given);
  return config;
}

std::string infer_help() {
  InferConfig config;
  const Options options = infer_options(config);
  std::string text =
      "starling infer: regression by stochastic gradient descent under local differential privacy, with confidence "
      "intervals.\n\n"
      "  mpirun -n 10 starling infer --source p/{client:1}.csv --intercept --mechanism gaussian --mu 1\n"
      "  mpirun -n 8  starling infer --source p/{client:1}.csv --intercept --mechanism gaussian --mu 1 --topology "
      "ring.topo\n\n"
      "Each rank is a client with its own stream, rank 0 too. In a step every client sends a noisy, bounded "
      "estimating function of\n"
      "its next records; rank 0 takes the step and sends the model back (with --topology nobody does: clients mix with "
      "their\n"
      "neighbours). The estimate is the average of the path, and the path tells how sure it is. Exit codes: 0 done, 2 "
      "usage, 3 data,\n"
      "4 nothing done since no client's budget allows it, 5 peer or file failure, 75 stopped by a signal with results "
      "safe.\n";
  text += options.help();
  text += sources_help();
  text += "\nPartitions:\n" + partition_table().help();
  text += "\nLosses:\n" + inference_losses().help();
  text += prices_help();
  return text;
}

}  // namespace starling
