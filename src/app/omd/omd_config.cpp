#include "omd_config.hpp"

#include "app/settings/source_options.hpp"

#include "starling/core/limits.hpp"
#include "starling/data/serving/partition.hpp"
#include "starling/graph/topology.hpp"
#include "starling/loss/loss.hpp"

namespace starling {

namespace {

void add_absence_option(Options& options, OmdConfig& config) {
  using Absent = OmdSettings::Absent;
  options.add({"Clients and graph", "absent", "WHAT", "step",
               "what a client does in a round that it sits out: step on its own records, or freeze (then clients count "
               "by how often they take part)",
               setter::choice<Absent>(config.omd.absent, {{"step", Absent::steps}, {"freeze", Absent::freezes}})});
}

void add_graph_options(Options& options, OmdConfig& config) {
  const char* group = "Clients and graph";
  options.add({group, "topology", "FILE", "",
               "topology file (see starling topology --help); default: a directed ring of all clients",
               setter::text(config.topology), false, named::file});
  add_client_options(options, group, config, "the topology's, else one per rank");
  options.add(
      {group, "mixing", "HOW", "push-sum",
       "push-sum (unbiased on any digraph; sender weights must sum to one) or plain (meant for receiver "
       "weights that sum to one)",
       setter::choice<Mixing>(config.mixing.mixing, {{"push-sum", Mixing::push_sum}, {"plain", Mixing::plain}})});
  options.add({group, "gossip-steps", "G", "1",
               "exchanges with neighbours per round; more cost messages and bring models closer together",
               setter::integer(config.mixing.gossip_steps, 1, 1'000'000)});
  options.add({group, "lazy", "SHARE", "0",
               "share of its mass, 0 to below 1, that a client keeps before it splits the rest",
               setter::number(config.mixing.lazy, 0, 0.999999)});
  add_exchange_option(options, group, config.mixing.exchange);
  add_schedule_options(options, group, config.schedule);
  add_absence_option(options, config);
}

void add_pace_options(Options& options, OmdConfig& config) {
  const char* group = "Waiting";
  options.add({group, "deadline", "SECONDS", "",
               "wait for in-neighbours no longer than this in each round; what is late is added when it comes, and a "
               "client that is slower than others makes up for the steps it has missed. Not reproducible",
               setter::number(config.mixing.deadline, 0, 1e9)});
  options.add({group, "async", "", "", "the same without waiting at all", setter::flag(config.async)});
}

void add_learning_options(Options& options, OmdConfig& config) {
  const char* group = "Learning";
  options.add({group, "loss", "LOSS", "logistic",
               "loss of the model (below), or none: average the starts, learn nothing", setter::text(config.loss)});
  add_model_options(options, group, config.model);
  options.add({group, "l2", "LAMBDA", "0", "adds (lambda/2)|x|^2 to the loss", setter::number(config.omd.l2, 0, 1e12)});
  options.add({group, "mirror", "MAP", "euclidean", "mirror map (below)", setter::text(config.mirror)});
  options.add({group, "domain", "SET", "", "where models live (below); default: free, simplex for entropic",
               setter::text(config.domain)});
  options.add({group, "start", "WHERE", "uniform",
               "uniform (the domain's centre; of a network values between +-1/sqrt(fan-in), the same at all clients, "
               "made from --seed), zero, or a CSV file with a row per client (public)",
               setter::text(config.start), false, named::start});
  options.add({group, "average", "WHAT", "none",
               "models that the run ends with: none (of the last round), tail (each client's mean over the second half "
               "of the rounds, weighted by its push-sum masses) or all (likewise over all rounds)",
               setter::choice<Averaging>(
                   config.average, {{"none", Averaging::none}, {"tail", Averaging::tail}, {"all", Averaging::all}})});
  options.add({group, "step", "C", "1", "step sizes are C / (t + i0)^p, t from 1",
               setter::number(config.omd.step, tiny, 1e12)});
  options.add(
      {group, "step-power", "P", "0.5", "p; 0 is a constant step", setter::number(config.omd.step_power, 0, 10)});
  options.add({group, "step-offset", "I0", "0", "i0", setter::number(config.omd.step_offset, 0, 1e15)});
  options.add(
      {group, "step-cap", "KAPPA", "auto",
       "no step exceeds KAPPA times the first round's; what is cut off is owed and taken later. auto: the least "
       "number, "
       "1 or more, by which the client with the least mass repays all it owes before the end; 100 or more with --dual "
       "queue, whose steps are short and do not fall",
       setter::number_or_auto(config.step_cap, tiny, infinity)});
}

void add_regret_options(Options& options, OmdConfig& config) {
  const char* group = "Output";
  options.add(
      {group, "regret", "WHICH", "none",
       "none; static: against the best single model in hindsight; dynamic: against the best model of each round; "
       "or both. Found after the last round on a source that can be read again. Needs shared metrics",
       setter::choice<RegretChoice>(config.regret, {{"none", RegretChoice::none},
                                                    {"static", RegretChoice::static_regret},
                                                    {"dynamic", RegretChoice::dynamic},
                                                    {"both", RegretChoice::both}})});
  options.add({group, "benchmark-window", "K", "",
               "with --constraint and static regret: also against the best model that keeps the constraints in every "
               "window of K rounds (the K-benchmark)",
               setter::integer(config.benchmark_window, 1, most_whole)});
}

Options omd_options(OmdConfig& config) {
  Options options("omd");
  add_graph_options(options, config);
  add_pace_options(options, config);
  add_data_options(options, config);
  add_reading_options(options, config.data);
  add_learning_options(options, config);
  add_constraint_options(options, config.constraints);
  add_privacy_options(options, config.privacy);
  add_regret_options(options, config);
  add_output_options(options, config, "omd");
  add_checkpoint_options(options, config);
  add_model_output_options(options, config);
  return options;
}

}  // namespace

OmdConfig parse_omd_config(const std::vector<std::string>& words) {
  OmdConfig config;
  Options options = omd_options(config);
  options.parse(words);
  check_learning_options(config);
  check(config.learns() || config.rounds,
        "--loss none needs --rounds (there is no stream whose end could say when to stop)");
  check_model_choice(config.model, config.privacy);
  check(config.model.kind == ModelChoice::Kind::linear || config.learns(),
        "--model with --loss none (there is no loss to score) leave it out");
  check(!config.async || !config.mixing.deadline,
        "--async and --deadline exclude each other (0 seconds are --async); give one");
  if (config.async) config.mixing.deadline = 0;
  check(
      !config.mixing.deadline || config.mixing.mixing == Mixing::push_sum,
      "--{} needs --mixing push-sum (plain mixing has no mass that says what is still under way) leave out one of them",
      config.async ? "async" : "deadline");
  config.mixing.running_sums = config.mixing.mixing == Mixing::push_sum && config.schedule.link_loss > 0 &&
                               config.schedule.link_loss_model == LossModel::unacknowledged;
  check(config.mixing.exchange != ExchangeWay::windows || !config.mixing.deadline,
        "--exchange windows with --{} (parcels that are late wait in a message, not in a window) leave out one of them",
        config.async ? "async" : "deadline");
  check(
      config.mixing.exchange != ExchangeWay::windows || !config.mixing.running_sums,
      "--exchange windows with --link-loss-model unacknowledged (each edge has sums of its own, which go as messages) "
      "leave out one of them");
  check_constraint_options(config.constraints, config.omd);
  check(!config.constraints.any() || !config.mixing.deadline,
        "--constraint with --{} (duals and budgets follow rounds that are in step) leave out one of them",
        config.async ? "async" : "deadline");
  check(config.schedule.link_loss > 0 || config.schedule.link_loss_model == LossModel::acknowledged,
        "--link-loss-model without --link-loss (nothing is lost) say how much: --link-loss 0.05");
  check(config.omd.absent == OmdSettings::Absent::steps || config.schedule.dropout ||
            config.schedule.dropout_model != "uniform",
        "--absent freeze without --dropout (nobody is ever absent) say how often: --dropout 0.2");
  check(!config.model.is_network() || config.regret == RegretChoice::none,
        "--regret with a network (its loss is not convex, so nobody can find the best model in hindsight that regret "
        "compares with) leave it out");
  check(!config.benchmark_window ||
            (config.constraints.any() && config.regret != RegretChoice::none && config.regret != RegretChoice::dynamic),
        "--benchmark-window without --constraint and --regret static or both (there is nothing to compare) add them");
  config.json = config.json || config.json_models;
  config.text = options.configuration();
  config.as_given = options.configuration(Options::Names::as_given);
  return config;
}

std::string omd_help() {
  OmdConfig config;
  const Options options = omd_options(config);
  std::string text =
      "starling omd: decentralized, differentially private online mirror descent.\n\n"
      "  mpirun -n 5 starling omd --source data.csv --mechanism laplace --epsilon 1\n\n"
      "Each rank is a client with its own stream. In a round it plays its model on its next records, releases a "
      "clipped and\n"
      "noised gradient to itself, takes a mirror step and mixes with its neighbours. Results go to a run directory; "
      "progress to\n"
      "stderr. Exit codes: 0 done, 1 an audit refutes the claim, 2 usage, 3 data, 4 nothing done since no client's "
      "budget allows it, 5 peer or file\n"
      "failure, 75 stopped by a signal with results safe.\n";
  text += options.help();
  text += dropout_models_help();
  text += sources_help();
  text += "\nPartitions:\n" + partition_table().help();
  text += "\nLosses:\n" + loss_table().help();
  text += "\nMirror maps:\n" + mirror_table().help();
  text += "\nDomains:\n" + domain_table().help();
  text += constraints_help();
  text += "\nMechanisms:\n" + mechanism_table().help();
  text += prices_help();
  return text;
}

}  // namespace starling
