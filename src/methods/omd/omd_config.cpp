#include "omd_config.hpp"

#include <array>

#include "codec/quantiser.hpp"
#include "console/command.hpp"
#include "data/serving/partition.hpp"
#include "graph/overlays/overlays.hpp"
#include "graph/topology.hpp"
#include "loss/loss.hpp"
#include "run/inputs/start_models.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/source_options.hpp"

namespace starling {

namespace {

void add_absence_option(Options& options, OmdConfig& config) {
  using Absent = OmdSettings::Absent;
  options.group("Clients and graph");
  options.add(
      option("absent", "WHAT",
             "what a client does in a round that it sits out: step on its own records, or freeze (then clients count "
             "by how often they take part)",
             {.initial = "step", .example = "freeze --dropout 0.2"}),
      config.omd.absent, {{"step", Absent::steps}, {"freeze", Absent::freezes}});
}

void add_graph_options(Options& options, OmdConfig& config) {
  options.group("Clients and graph");
  options.add(declared("topology"), config.topology);
  add_client_options(options, config, "the topology's, else one per rank");
  options.add(declared("mixing"), config.mixing.mixing, {{"push-sum", Mixing::push_sum}, {"plain", Mixing::plain}});
  options.add(declared("gossip-steps"), config.mixing.gossip_steps);
  options.add(declared("lazy"), config.mixing.lazy);
  add_exchange_option(options, config.mixing.exchange);
  const char* late = "late messages are added up, and a sum of rounded numbers needs more bits";
  add_precision_option(
      options, config.mixing.precision,
      {excludes("deadline", late), excludes("async", late), excludes("mixing=plain", no_sum_in_plain_mixing),
       excludes("link-loss-model=unacknowledged",
                "messages carry sums of all that was sent, and a sum that grows needs more bits",
                "Give --link-loss-model acknowledged, or --message-precision double.")});
  add_schedule_options(options, config.schedule);
  add_absence_option(options, config);
}

void add_pace_options(Options& options, OmdConfig& config) {
  options.group("Waiting");
  options.add(
      option("deadline", "SECONDS",
             "wait for in-neighbours no longer than this in each round; what is late is added when it comes, and a "
             "client that is slower than others makes up for the steps it has missed. Not reproducible",
             {.range = {0, 1e9},
              .unit = "seconds",
              .example = "0.5",
              .relations = {needs("mixing=push-sum", "plain mixing has no mass that says what is still under way")}}),
      config.mixing.deadline);
  options.add(
      flag("async", "the same without waiting at all",
           {.relations = {excludes("deadline", "--async is a deadline of 0 seconds", "Give one of them."),
                          needs("mixing=push-sum", "plain mixing has no mass that says what is still under way")}}),
      config.async);
}

void add_learning_options(Options& options, OmdConfig& config) {
  options.group("Learning");
  options.add(
      declared(
          "loss",
          {.values = [] { return values_of("Losses", loss_table()); },
           .relations = {needs("rounds", "there is no stream whose end could say when to stop").only_for("none")}}),
      config.loss);
  add_weights_option(
      options, config, "",
      {excludes("regret", "regret counts every record alike", "Leave one of them out.").only_for("equal")});
  add_model_options(options, config.model);
  options.add(declared("l2", {.initial = "0"}), config.omd.l2.lambda);
  options.add(
      option("mirror", "MAP", "mirror map", {.values = [] { return values_of("Mirror maps", mirror_table()); }}),
      config.mirror);
  options.add(option("domain", "SET", "where models live; default: free, simplex for entropic, orthant for kl",
                     {.values = [] { return values_of("Domains", domain_table()); }, .example = "ball:10"}),
              config.domain);
  options.add(declared("start", {.initial = "uniform"}), config.start);
  options.add(option("start-records", "N",
                     "records that --start FILE has learned from: the run ends with the mean of the start and of what "
                     "it has learned itself, weighted by records, so that the earlier records of a stream count as "
                     "its later ones",
                     {.range = {1, 1e15},
                      .unit = "records",
                      .example = "6000 --start model.h5",
                      .relations = {needs("start", "nothing has learned from them"),
                                    excludes("loss=none", "nothing is learned")}}),
              config.start_records);
  options.add(declared("average"), config.average,
              {{"none", Averaging::none}, {"tail", Averaging::tail}, {"all", Averaging::all}});
  const Relation without_queue =
      excludes("dual=queue", "the steps of virtual queues are 1/(2 alpha)", "Give --queue-smoothing ALPHA instead.");
  options.add(declared("step", {.relations = {without_queue}}), config.omd.step);
  options.add(declared("step-power", {.relations = {without_queue}}), config.omd.step_power);
  options.add(declared("step-offset", {.initial = "0", .relations = {without_queue}}), config.omd.step_offset);
  add_decay_option(options, config, {.relations = {without_queue}});
  options.add(declared("step-cap"), config.step_cap);
}

/// Noise between pairs cancels where the ends of a pair take equal steps in every round, and mixing keeps sums.
std::vector<Relation> beside_pairs() {
  const std::string steps = "a pair cancels where both ends step alike in the same round";
  return {excludes("async", steps), excludes("deadline", steps),
          excludes("client-weights=equal", "a pair cancels where both ends count alike"),
          excludes("mixing=plain", "it does not keep the sum in which pairs cancel"),
          excludes("constraint", "duals learn from noise that does not cancel in them")};
}

/// Options that the rule chooses where they are left open.
constexpr std::array tuned_options{"intercept",  "epochs", "batch",    "clip",         "step",
                                   "step-decay", "l2",     "step-cap", "gossip-steps", "noise-correlation",
                                   "start"};

void add_regret_options(Options& options, OmdConfig& config) {
  options.group("Output");
  options.add(
      declared("regret",
               {.relations = {excludes("unit=person", "the regret of records is counted, and persons are learned from")
                                  .only_for("static|dynamic|both"),
                              excludes("model=mlp|cnn",
                                       "a network's loss is not convex, so the best model in hindsight cannot be found",
                                       "Leave --regret out.")
                                  .only_for("static|dynamic|both"),
                              excludes("model=plugin|own",
                                       "nobody knows whether its loss is convex, so that the best model in hindsight "
                                       "could be found",
                                       "Leave --regret out.")
                                  .only_for("static|dynamic|both")}}),
      config.regret,
      {{"none", RegretChoice::none},
       {"static", RegretChoice::static_regret},
       {"dynamic", RegretChoice::dynamic},
       {"both", RegretChoice::both}});
  options.add(
      option("benchmark-window", "K",
             "with --constraint and static regret: also against the best model that keeps the constraints in every "
             "window of K rounds (the K-benchmark)",
             {.range = {1, most_whole},
              .unit = "rounds",
              .example = "50",
              .relations = {needs("constraint", "there is nothing to compare"),
                            needs("regret=static|both", "there is nothing to compare")}}),
      config.benchmark_window);
}

/// Whether models have no bounds.
bool has_free_domain(const OmdConfig& config) {
  return domain_table().make(config.domain.value_or(default_domain(config.mirror)))->is_everything();
}

/// Whether models are sums of steps, so that noise that cancels in releases cancels in them.
bool steps_are_linear(const OmdConfig& config) {
  const std::unique_ptr<Domain> domain = domain_table().make(config.domain.value_or(default_domain(config.mirror)));
  const std::unique_ptr<MirrorMap> mirror = mirror_table().make(config.mirror, *domain);
  return has_free_domain(config) && mirror->is_linear();
}

WhyNot why_not(const OmdConfig& config) {
  WhyNot why_not;
  why_not.other_clients.clear();
  if (config.mixing.deadline) {
    why_not.goes_on = "without waiting (--async, --deadline) rounds are not in step, and cannot be played again";
  } else if (config.privacy.audit) {
    why_not.goes_on = "it audits itself by coins that nobody may keep";
  }
  if (config.privacy.trusts_pairs) {
    why_not.more_rounds = "pairs have cancelled in the rounds of mixing at the end";
  } else if (config.linear_decay) {
    why_not.more_rounds = "steps fall to zero at the end";
  } else if (config.privacy.score_share.value_or(0) > 0) {
    why_not.more_rounds = "scores are measured once, after the last round";
  } else if (config.average == Averaging::tail) {
    why_not.more_rounds = "the mean over the last half of the rounds has begun";
  } else if (config.regret != RegretChoice::none) {
    why_not.more_rounds = "regret is counted";
  } else if (config.constraints.any()) {
    why_not.more_rounds = "steps and budgets of constraints are made";
  }
  if (!config.learns()) {
    why_not.other_clients = "--loss none averages the starts of all clients";
  } else if (config.constraints.any()) {
    why_not.other_clients = "budgets and duals of constraints are those of all clients";
  } else if (config.regret != RegretChoice::none) {
    why_not.other_clients = "--regret reads the records of all clients again";
  } else if (config.privacy.ledger) {
    why_not.other_clients = "--ledger names ledgers of all clients";
  }
  return why_not;
}

}  // namespace

bool may_trust_pairs(const OmdConfig& config) {
  const bool in_step = !config.mixing.deadline && config.omd.absent == OmdSettings::Absent::steps &&
                       !config.schedule.leave && config.mixing.mixing == Mixing::push_sum;
  return may_share_noise(config.privacy) && in_step && !config.constraints.any() &&
         config.weights != ClientWeights::equal && steps_are_linear(config);
}

Options omd_options(OmdConfig& config) {
  Options options("omd");
  add_graph_options(options, config);
  add_pace_options(options, config);
  add_data_options(options, config);
  add_reading_options(options, config.data);
  add_learning_options(options, config);
  add_tuning_options(options, config, tuned_options,
                     {.relations = {excludes("constraint", "its duals need noise of their own").only_for("blt")}});
  add_constraint_options(options, config.constraints);
  add_privacy_options(options, config.privacy, config.data, PersonChoices::all);
  add_pair_options(options, config.privacy, beside_pairs());
  add_regret_options(options, config);
  add_output_options(options, config, "omd");
  add_checkpoint_options(options, config);
  add_identity_options(options, config);
  add_rewire_option(options, config);
  add_model_output_options(options, config);
  add_personal_option(
      options, config,
      {excludes("loss=none", "nothing is learned"), excludes("domain", "personal models know no bounds"),
       excludes("constraint", "personal models keep no constraints"),
       excludes("mirror=entropic|kl", "models of this map have a bounded domain", "Leave --personal out.")});
  return options;
}

void complete_omd_config(OmdConfig& config, const Options& options) {
  config.source_of_joining = options.aside("source");
  check_learning_options(config);
  check_model_choice(config.model, config.privacy, config.data);
  config.privacy.passes = config.data.uses_of_unit();
  if (config.async) config.mixing.deadline = 0;
  config.mixing.running_sums = config.mixing.mixing == Mixing::push_sum && config.schedule.link_loss > 0 &&
                               config.schedule.link_loss_model == LossModel::unacknowledged;
  check(config.mixing.exchange != ExchangeWay::windows || !config.mixing.running_sums,
        "--exchange windows with --link-loss-model unacknowledged: each edge has sums of its own, which go as "
        "messages. Leave out one of them.");
  check(config.omd.absent == OmdSettings::Absent::steps || config.schedule.dropout ||
            config.schedule.dropout_model != "uniform",
        "--absent freeze without --dropout: nobody is ever absent. Say how often: --dropout 0.2.");
  check(
      !config.start_records || !is_start_word(config.start),
      "--start-records with --start {}: nobody has learned that from records. Give the model file of a run, or a file "
      "of starts.",
      config.start);
  if (config.privacy.trusts_pairs && config.omd.absent == OmdSettings::Absent::freezes) {
    check(config.correlation != CorrelationChoice::two_buffers,
          "--noise-correlation blt:2 with --trust pairs and --absent freeze: a client that sits a round out does not "
          "take back noise that its partners do. Use --noise-correlation none, or --absent step.");
    config.correlation = CorrelationChoice::none;
  }
  static_cast<void>(quantiser_table().make(config.mixing.precision));
  check(!config.mixing.rounds_messages() || has_free_domain(config),
        "--message-precision {} with --mirror {}{}: what rounding takes stays with the sender, whose model would leave "
        "its domain. Use a map and a domain that are free, or --message-precision double.",
        config.mixing.precision, config.mirror, config.domain ? " and --domain " + *config.domain : "");
  check(!config.privacy.trusts_pairs || steps_are_linear(config),
        "--trust pairs with --mirror {}{}: noise between pairs cancels in sums of steps that are neither cut off nor "
        "bent. Use the map euclidean without a penalty on the domain free, or --trust local.",
        config.mirror, config.domain ? " and --domain " + *config.domain : "");
  config.why_not = why_not(config);
  config.remedies_of_divergence =
      "Lower --step, scale the features (--scale, --standardise), bound the models (--domain ball:R), or, under noise, "
      "take larger batches";
  note_open_options(options, config, tuned_options);
  check_norm(config);
  keep_configuration(options, config, config.tunes() ? config.open_options : std::vector<std::string>());
}

Manual omd_manual() {
  return {.usage = "[OPTIONS]",
          .text =
              "Each rank is a client with its own stream. In a round it plays its model on its next records, releases "
              "a clipped and noised gradient to itself, takes a mirror step and mixes with its neighbours. Results go "
              "to a run directory, progress to stderr. Exit codes: 0 done, 1 an audit refutes the claim, 2 usage, 3 "
              "data, 4 nothing done since no client's budget allows it, 5 peer or file failure, 75 stopped by a signal "
              "with results safe.",
          .examples = {"mpirun -n 5 starling omd --source site-{client}.csv --mechanism laplace --epsilon 1",
                       "mpirun -n 5 starling omd --source site-{client}.csv --test held-out.csv --topology ring.topo "
                       "--mechanism gaussian --total-epsilon 2 --output trial"}};
}

}  // namespace starling
