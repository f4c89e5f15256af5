// The options of vertical learning, and its page of help.
#include <utility>

#include "codec/quantiser.hpp"
#include "console/command.hpp"
#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "core/text/names.hpp"
#include "core/text/spec.hpp"
#include "loss/target_loss.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/source_options.hpp"
#include "vertical_config.hpp"

namespace starling {

namespace {

OptionValues vertical_sources() {
  OptionValues values = source_values();
  values.text = spectrum_help() + values.text;
  values.names.insert(values.names.begin(), "synthetic:spectrum");
  return values;
}

OptionValues losses_of_outputs() {
  OptionValues values = values_of("Losses", losses_of_one_label());
  values.names.insert(values.names.begin(), {"mse", "softmax"});
  return values;
}

/// `none`, `central` or `lazy:ROUND`.
void parse_baseline(const std::string& text, VerticalPlan& plan) {
  Spec spec = Spec::parse(text);
  plan.central = spec.name() == "central";
  plan.lazy_after.reset();
  if (spec.name() == "lazy") {
    spec.bind({{"round", "after which nobody learns"}});
    const long long round = parse_integer(spec.require("round"), text);
    check(round >= 0 && round <= most_whole, "'{}': the round after which nobody learns is a whole number, 0 or more.",
          text);
    plan.lazy_after = round;
    return;
  }
  check(spec.name() == "none" || plan.central, "{}",
        unknown_name("baseline", spec.name(), {"none", "central", "lazy"}));
  spec.bind({});
}

void add_party_options(Options& options, VerticalConfig& config) {
  options.group("Parties and data");
  options.add(
      option(
          "protocol", "WHICH",
          "embeddings of records go to rank 0, or shares: a linear model on additive shares, of which only noisy sums "
          "are opened; auto: shares under a mechanism, unless another option asks for what they cannot do, which the "
          "run says, else embeddings",
          {.initial = "auto", .example = "embeddings", .common = true, .relations = relations_of_shares()}),
      config.protocol,
      {{"auto", VerticalProtocol::automatic},
       {"embeddings", VerticalProtocol::embeddings},
       {"shares", VerticalProtocol::shares}});
  options.add(
      declared("source",
               "records whose columns are split: synthetic:spectrum (the default), one table with --columns, or a name "
               "with {client}, "
               "which stands for a file of each party; parties are clients 1, 2, ..., and client 0 is rank 0",
               {.values = vertical_sources, .example = "synthetic:spectrum"}),
      config.source);
  options.add(
      option("parties", "FILES", "instead of --source: a file of each party, in their order, separated by commas",
             {.example = "guest.csv,host.csv",
              .common = true,
              .files = named::source,
              .relations = {excludes("source", "both say where columns are", "Give one of them.")}}),
      config.parties);
  options.add(
      option("columns", "GROUPS",
             "of one table: who has which features, as in 0-12/13-22 or age,bmi/3,5-7 (numbers from 0 among the "
             "features, or names); a group for each party",
             {.example = "0-12/13-22",
              .common = true,
              .relations = {excludes("parties", "each party's file has its columns")}}),
      config.columns);
  options.add(
      option("label-source", "FILE",
             "where parties have files: the one with the labels, whose order of records counts; default: the first "
             "party's. Ranks that know the labels read it, for labels and ids alone",
             {.example = "guest.csv", .files = named::source}),
      config.label_source);
  options.add(
      option("match", "HOW",
             "how records are matched by --id, in files of parties: private (ids are compared blinded; parties learn "
             "which of their own records all have, nobody another's ids, and records may differ), open (all ranks get "
             "digests of the ids, and files must have the same records), or auto: private with --identity",
             {.initial = "auto",
              .example = "private --id id --parties guest.csv,host.csv",
              .relations = {needs("id", "records are matched by it").only_for("private")}}),
      config.match,
      {{"auto", MatchChoice::automatic}, {"private", MatchChoice::in_private}, {"open", MatchChoice::open}});
  options.add(
      option("test", "FILES",
             "held-out records, which the parties predict together after the rounds. They are public by declaration: "
             "embeddings of them go to rank 0 without noise, and their labels are rank 0's. One table where --source "
             "is one, else a file of each party, separated by commas, or a name with {client}",
             {.example = "held-out.csv --parties guest.csv,host.csv", .files = named::source}),
      config.held_out);
  options.add(option("test-label-source", "FILE", "the file with the labels of --test; default: the first party's",
                     {.example = "held-out.csv --parties guest.csv,host.csv",
                      .files = named::source,
                      .relations = {needs("test", "there are no records to label")}}),
              config.held_out_labels);
  options.add(option("labels", "WHO",
                     "with embeddings, who knows the labels: all (every rank reads them), or head (rank 0 alone, which "
                     "sends each party the "
                     "derivatives of the loss by its embeddings; one local step a round)"),
              config.plan.labels, {{"all", LabelHolders::all}, {"head", LabelHolders::head}});
  options.add(
      declared("clients",
               "number of parties; default: what the data say, else one for each rank but rank 0. More than those must "
               "be asked for; a rank then hosts several",
               {.argument = "K", .range = {.most = most_clients - 1}}),
      config.clients);
  options.add(
      declared("batch",
               "records of a round; public, and what sums are divided by; default: 20, and of a spectrum its train=",
               {.example = "20 --parties guest.csv,host.csv"}),
      config.batch);
  options.add(declared("epochs", {.help = "passes over a table; each adds to what a record pays"}), config.data.epochs);
  options.add(declared("rounds", {.help = "rounds; default: what a table gives; 300 of a spectrum, 64 on shares"}),
              config.rounds);
  add_dropout_options(options, config.absences);
  options.add(declared("seed", {.help = "seed of synthetic data and of start values; never of secret noise"}),
              config.data.seed);
}

void add_network_options(Options& options, VerticalConfig& config) {
  options.group("Networks and learning");
  options.add(
      option("feature-net", "SIZES",
             "of a party's network from its columns to its embedding, dense layers with ReLU between them; d stands "
             "for as many as it has columns",
             {.initial = "d-128-256-64-16"}),
      [&config](const std::string& text) { config.features = LayerSizes::parse(text); });
  options.add(option("head", "SIZES",
                     "of rank 0's network from all embeddings to the outputs; d stands for as many as there are",
                     {.initial = "d-8-d", .common = true}),
              [&config](const std::string& text) { config.head = LayerSizes::parse(text); });
  options.add(declared("precision", "arithmetic of the networks: float or double", {.initial = "float"}),
              config.precision, {{"float", Precision::single}, {"double", Precision::full}});
  options.add(
      option("loss", "LOSS",
             "mse (mean squared error of all targets), softmax (an output for each class, labels from 0), or another "
             "loss of one output; default: mse, with --positive logistic",
             {.values = losses_of_outputs, .example = "softmax"}),
      [&config](const std::string& text) { config.loss = text; });
  options.add(declared("local-steps", "steps of every network in a round, all else frozen at what rank 0 has sent",
                       {.range = {.most = 65'000}}),
              config.plan.local_steps);
  options.add(option("optimizer", "WHICH", "sgd (plain gradient descent) or adam"), config.optimiser,
              {{"sgd", OptimiserKind::sgd}, {"adam", OptimiserKind::adam}});
  options.add(declared("step", "steps of round t are C / (t + i0)^p, t from 1", {.initial = "0.03"}), config.plan.step);
  options.add(declared("step-power", "p; 0 is a constant step, 0.5 that of the paper's regret bound", {.initial = "0"}),
              config.plan.step_power);
  options.add(declared("step-offset", {.initial = "0",
                                       .example = "10 --step-power 0.5",
                                       .relations = {needs("step-power", "steps keep their length without it")}}),
              config.plan.step_offset);
  options.add(declared("start",
                       "uniform (values between +-1/sqrt(fan-in), made from --seed), or a vertical model: the model.h5 "
                       "of an earlier run, its directory, or a name with {client} for the part of each (0: the head)",
                       {.initial = "uniform"}),
              config.start);
  options.add(
      option(
          "baseline", "WHICH",
          "for comparison: central (columns go to rank 0, which learns all networks at once) or lazy:ROUND (nobody "
          "learns after that round)",
          {.initial = "none",
           .relations =
               {excludes("quantiser", "columns are sent as they are, and no head", "Leave --quantiser out.")
                    .only_for("central"),
                excludes("quantise-head", "columns are sent as they are, and no head", "Leave --quantise-head out.")
                    .only_for("central"),
                excludes("bits", "columns are sent as they are, and no head", "Leave --bits out.").only_for("central"),
                excludes("labels=head", "nothing is sent back, so labels stay at rank 0 anyhow", "Leave --labels out.")
                    .only_for("central")}}),
      [&config](const std::string& text) { parse_baseline(text, config.plan); });
  options.add(
      declared(
          "regret",
          {.help =
               "none, or static: against the best fixed networks in hindsight that --regret-passes of Adam over all "
               "records find (the true best may be better, and the regret larger)"}),
      config.static_regret, {{"none", false}, {"static", true}});
  options.add(option("regret-passes", "N", "passes of that search; default: 20",
                     {.range = {1, 1'000'000},
                      .unit = "passes",
                      .example = "20",
                      .relations = {needs("regret=static", "nothing is searched for")}}),
              config.regret_passes);
}

void add_wire_options(Options& options, VerticalConfig& config) {
  options.group("Messages");
  options.add(
      option("quantiser", "HOW", "of embeddings on their way up; default: the networks' own numbers, float32 or double",
             {.values = [] { return values_of("Quantisers", quantiser_table()); }, .example = "scalar:4"}),
      config.quantiser);
  options.add(
      option("quantise-head", "HOW", "of the head on its way down: a quantiser, or a number of bits, which is scalar's",
             {.example = "8",
              .relations = {excludes("labels=head", "the head stays at rank 0", "Leave --quantise-head out.")}}),
      config.head_quantiser);
  options.add(
      option("bits", "WHEN",
             "bits per component over the rounds, for scalar and hexagonal: schedule:from=,to=,shape=linear|sqrt or "
             "schedule:FILE, rounded up, or sublinear:B (B + half the binary logarithm of the round, so that errors "
             "fall as the paper's condition for sublinear regret asks; up to 16, or 12 of hexagonal, which a note says "
             "where they are too few)",
             {.example = "sublinear:4 --quantiser scalar:8"}),
      config.bits.text);
}

}  // namespace

std::vector<Relation> relations_of_shares() {
  const std::string whole = "each round is over all records";
  const std::string linear = "the model is linear in all columns";
  const std::string rule = "the rule sets the steps";
  const std::string words = "messages are words of 64 bits";
  std::vector<Relation> relations;
  const auto refuse = [&relations](const std::string& other, const std::string& why) {
    relations.push_back(excludes(other, why, fmt::format("Leave --{} out.", other)).only_for("shares"));
  };
  for (const char* other : {"batch", "epochs"}) refuse(other, whole);
  for (const char* other : {"feature-net", "head", "precision", "start", "embedding-clip"}) refuse(other, linear);
  for (const char* other : {"local-steps", "optimizer", "step", "step-power", "step-offset", "clip"})
    refuse(other, rule);
  for (const char* other : {"quantiser", "quantise-head", "bits"}) refuse(other, words);
  relations.push_back(excludes("labels=head", "the labels stay at a party, and are shared too", "Leave --labels out.")
                          .only_for("shares"));
  for (const char* other : {"dropout", "dropout-model"})
    refuse(other, "shares of all parties are needed in each round");
  relations.push_back(excludes("regret=static", "no score of a round is known to anybody").only_for("shares"));
  relations.push_back(
      excludes("baseline=central|lazy", "baselines are of embeddings", "Leave --baseline out.").only_for("shares"));
  return relations;
}

Options vertical_options(VerticalConfig& config) {
  Options options("vertical");
  add_party_options(options, config);
  add_reading_options(options, config.data);
  add_network_options(options, config);
  add_wire_options(options, config);
  add_privacy_options(options, config.privacy, config.data, PersonChoices::mean);
  options.group("Privacy");
  options.add(option("person-rows", "R",
                     "rows that each person has in a round, public: further records of a person are left out, and "
                     "rows without a record are sent as well, so that nobody sees how many a person has",
                     {.range = {1, 1'000'000},
                      .unit = "rows",
                      .example = "2 --parties guest.csv,host.csv",
                      .relations = {needs("unit=person", "records stand for themselves without it")}}),
              config.person_rows);
  options.add(
      option("embedding-clip", "C",
             "bound on the norm of a record's embedding, where there is noise (--clip is that of gradients); default: "
             "1",
             {.range = {tiny, 1e12}, .example = "1 --mechanism gaussian --mu 1"}),
      config.embedding_clip);
  options.add(
      option("networks", "WHERE",
             "where the final networks go: shared (model.h5, which has all of them), or local (each party's into its "
             "own private folder); auto: shared where noise protects what they were made of, and for synthetic "
             "sources, unless the run starts from parts that are not shared",
             {.relations =
                  {excludes("baseline=central", "rank 0 has all columns, and no model is kept").only_for("local")}}),
      config.networks,
      {{"auto", NetworksChoice::automatic}, {"local", NetworksChoice::local}, {"shared", NetworksChoice::shared}});
  add_output_options(options, config, "vertical");
  add_checkpoint_options(options, config);
  add_identity_options(options, config);
  return options;
}

Manual vertical_manual() {
  return {
      .usage = "[OPTIONS]",
      .text =
          "Ranks 1, 2, ... are parties: each has some columns of every record and a network that makes embeddings of "
          "them. Rank 0 has no columns; its network, the head, predicts from all embeddings. In a round parties send "
          "the quantised embeddings of M new records, rank 0 predicts, then sends head and embeddings to all, and "
          "every network goes E = --local-steps steps down the loss with all else frozen. Predictions are made before "
          "their labels are used, so the losses that are reported are those of an honest online learner. Bits are "
          "counted exactly (traffic.uplink_bits_per_round in summary.json; rounds.csv has every round). The method has "
          "no privacy of its own: with --mechanism gaussian embeddings and gradients are clipped and noised, 1 + E "
          "releases of a record a round at the price of --epsilon or --mu each. With --protocol shares, the default "
          "under a mechanism, parties learn a linear model on additive shares of their columns: rank 0 deals random "
          "words and sees nothing, only noisy sums over all records are opened, and the AUC is about that of a trusted "
          "server. Exit codes: 0 done, 2 usage, 3 data, 4 nothing done since no party's budget allows it, 5 peer or "
          "file failure, 75 stopped by a signal with results safe.",
      .examples = {"mpirun -n 3 starling vertical --parties guest.csv,host.csv --id id --mechanism gaussian "
                   "--total-epsilon 1 --loss logistic",
                   "mpirun -n 3 starling vertical --parties guest.csv,host.csv --id id --loss softmax --head d-8-2 "
                   "--mechanism none",
                   "mpirun -n 5 starling vertical --source synthetic:spectrum --quantiser scalar:4 --mechanism none"}};
}

}  // namespace starling
