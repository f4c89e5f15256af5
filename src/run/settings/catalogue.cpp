#include "catalogue.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/check.hpp"
#include "core/text/limits.hpp"

namespace starling {

namespace {

const std::vector<Option>& catalogue() {
  static const std::vector<Option> options{
      option("average", "WHAT",
             "models that the run ends with: none (of the last round), tail (each client's mean over the second half "
             "of the rounds, weighted by its push-sum masses) or all (likewise over all rounds)",
             {.initial = "none"}),
      option("batch", "M",
             "records of a batch: a client takes one per round (fedavg: one per local step); public, and what sums "
             "are divided by",
             {.range = {1, 1'000'000'000}, .unit = "records", .example = "20"}),
      option("c2", "C2", "likewise on its L2 norm; default: 1", {.range = {tiny, 1e12}, .example = "1"}),
      option("clients", "N", "number of clients",
             {.range = {1, most_clients}, .unit = "clients", .example = "5", .common = true}),
      option("clients-per-rank", "K", "shorthand for --clients K x ranks",
             {.range = {1, most_clients},
              .unit = "clients of a rank",
              .example = "2",
              .relations = {excludes("clients", "both say how many clients there are", "Give one of them.")}}),
      option("clip", "C",
             "norm to which each record's gradient is clipped (L1 under laplace, L2 under gaussian); default: 1, none "
             "under --mechanism none",
             {.range = {tiny, 1e12}, .example = "1 --mechanism gaussian --epsilon 1"}),
      option("config", "FILE", "read options from an INI file (key = value); the command line wins",
             {.example = "run.ini", .common = true, .about_configuration = true}),
      option("delta", "D", "probability that losses are stated with; default: 0 for laplace, 1e-5 for gaussian",
             {.range = {0, 0.999999}, .unit = "probability", .example = "1e-5", .common = true}),
      option("dimension", "D", "features of a sparse file; default: the largest index in it (--features hog needs it)",
             {.range = {1, std::numeric_limits<std::int32_t>::max()}, .unit = "features", .example = "123"}),
      option("epochs", "E", "passes over the data; each adds to what a record pays",
             {.initial = "1", .range = {1, 1'000'000'000}, .unit = "passes over the data", .common = true}),
      option("epsilon", "E", "privacy loss per release. Under gaussian, epsilon at --delta",
             {.unit = "natural logarithm of a ratio of probabilities",
              .example = "1",
              .common = true,
              .files = named::spec,
              .relations = {excludes("mu", "either says what a release costs", "Give one of them.")}}),
      option("gossip-steps", "G",
             "exchanges with neighbours per round; more cost messages and bring models closer together",
             {.initial = "1", .range = {1, 1'000'000}, .unit = "exchanges of a round"}),
      option("help", "[all|OPTION]",
             "the options that most people need; all: every option; OPTION: one, with its values",
             {.common = true, .implied = "common", .about_configuration = true}),
      option("intercept", "[yes|no]",
             "a constant feature of a linear model. Default: yes on records of a table, but no with --tuning off, "
             "--features hog, --start FILE, a bounded --domain or --constraint; else no",
             {.implied = "yes",
              .relations = {excludes("model=location", "a point has a coordinate for each feature and no more",
                                     "Leave --intercept out.")
                                .only_for("yes|true"),
                            excludes("model=mlp|cnn", "each layer of a network has its own", "Leave --intercept out.")
                                .only_for("yes|true")}}),
      flag("json", "print the summary as one JSON object on stdout", {.effect = Option::Effect::none}),
      option("l2", "LAMBDA", "adds (lambda/2)|x|^2 to the loss, where x leaves out the constants of --intercept",
             {.range = {0, 1e12}, .example = "0.01"}),
      option("lazy", "SHARE", "share of its mass, 0 to below 1, that a client keeps before it splits the rest",
             {.initial = "0", .range = {0, 0.999999}, .unit = "share, 0 to 1"}),
      option("local-steps", "E",
             "steps that a client makes in each round, on a batch each, before its model is averaged with the others'",
             {.initial = "1", .range = {1, most_local_steps}, .unit = "steps of a round"}),
      option("loss", "LOSS", "loss of the model, or none: average the starts, learn nothing",
             {.initial = "logistic", .common = true}),
      option("mechanism", "NAME", "how gradients are protected; a run that learns does not start without one",
             {.example = "gaussian --epsilon 1", .common = true}),
      option("mixing", "HOW",
             "push-sum (unbiased on any digraph; sender weights must sum to one) or plain (meant for receiver "
             "weights that sum to one)",
             {.initial = "push-sum"}),
      option("mu", "M", "under gaussian, in place of --epsilon: mu per release",
             {.example = "1 --mechanism gaussian", .files = named::spec}),
      option("noise-correlation", "HOW",
             "blt:2: the noise of a client's later rounds takes back most of that of earlier ones (gaussian, "
             "for unit record); none: it is independent; auto: what --tuning chooses, none without it",
             {.initial = "auto",
              .relations = {needs("mechanism=gaussian", "no other noise can be correlated").only_for("blt"),
                            excludes("unit=component", "the loss of a record is counted").only_for("blt")}}),
      option("noise-key", "KEY",
             "random (from the operating system), seed (derived from --seed: reproducible, not private), or a FILE "
             "per client, named with {client}",
             {.initial = "random", .files = named::noise_key}),
      option("output", "DIR", "run directory; it must not exist, or be empty",
             {.example = "run", .common = true, .files = named::file, .effect = Option::Effect::books}),
      option("precision", "TYPE", "arithmetic of networks: float or double; default: float",
             {.relations = {needs("model=mlp|cnn", "all other models compute in double", "Leave --precision out.")}}),
      flag("print-config",
           "print the effective configuration as such a file, without what --tuning is to choose, and exit",
           {.about_configuration = true}),
      option(
          "progress", "WHEN",
          "on stderr: auto (a bar on a terminal, else lines), on (lines, in growing gaps of time), off, or json (one "
          "object a line, for tools)",
          {.initial = "auto", .effect = Option::Effect::none}),
      option("regret", "WHICH",
             "none; static: against the best single model in hindsight; dynamic: against the best model of each round; "
             "or both. Found after the last round on a source that can be read again. Needs shared metrics",
             {.initial = "none"}),
      option("releases", "K", "releases that one record enters",
             {.initial = "1", .range = {1, most_whole}, .unit = "releases"}),
      option("rho", "RHO", "with private-paper: rho of equation 41; default: 0", {.range = {0, 1e15}, .example = "0"}),
      option("rounds", "T", "rounds; default: what the longest stream gives, 1000 for a source without end",
             {.range = {1, most_whole},
              .unit = "rounds",
              .example = "1000",
              .common = true,
              .effect = Option::Effect::length}),
      option("scale", "FACTOR",
             "public factor of every feature (1/255 is a number too), as steps and clipping want features of about "
             "size 1",
             {.range = {-1e12, 1e12}}),
      option("seed", "S", "seed of synthetic data, partitions and random graphs; never of secret noise",
             {.initial = "1", .range = {0, most_whole}, .common = true}),
      option("sensitivity", "D",
             "how far replacing one record moves the released value: in L1 for laplace, in L2 for gaussian. Clipping "
             "records to C makes it 2C, not C",
             {.range = {tiny, 1e300}, .example = "2"}),
      option("source", "SOURCE", "the clients' records", {.common = true, .files = named::source}),
      option("start", "WHERE",
             "uniform (the domain's centre, of a box the point nearest to 0; of a network values between "
             "+-1/sqrt(fan-in), the same at all clients, "
             "made from --seed), zero, classes:P0,P1,... (the constant that answers classes with these shares), mean:M "
             "(of "
             "counts and amounts likewise), the "
             "model.h5 of an earlier run, or a CSV file with a row per client (public)",
             {.files = named::start}),
      option("step", "C", "step sizes are C / (t + i0)^p, t from 1", {.initial = "1", .range = {tiny, 1e12}}),
      option(
          "step-cap", "KAPPA",
          "no step exceeds KAPPA times the first round's; what is cut off is owed and taken later. auto: the least "
          "number, 1 or more, by which the client with the least mass repays all it owes before the end; 100 or more "
          "with --dual queue, whose steps are short and do not fall",
          {.initial = "auto",
           .range = {tiny, infinity},
           .unit = "times the step of the first round",
           .no_value = "auto"}),
      option("step-decay", "HOW",
             "how steps fall: power (as --step, --step-power and --step-offset say) or linear (C (1 - (t-1)/T), to "
             "zero at the end of the T rounds)",
             {.initial = "power"}),
      option("step-offset", "I0", "i0",
             {.range = {0, 1e15},
              .unit = "rounds",
              .example = "1000",
              .relations = {excludes("step-decay=linear", "steps that fall along a line have no i0")}}),
      option("step-power", "P", "p; 0 is a constant step",
             {.initial = "0.5",
              .range = {0, 10},
              .relations = {excludes("step-decay=linear", "steps that fall along a line have no p")}}),
      option("topology", "FILE",
             "topology file (see starling topology --help); default: an exponential graph of all clients",
             {.example = "ring.topo", .common = true, .files = named::file}),
      option("trust", "WHOM",
             "with plug-in: local (every client adds noise to every batch's part) or central (rank 0 sees sums of "
             "curvatures over all records after the last step, and adds noise once)",
             {.initial = "local"}),
      option("unit", "UNIT", "whose loss is counted: record, or component (one entry of one record's gradient)",
             {.initial = "record"}),
      option("watchdog", "SECONDS", "silence of a peer after which the run ends with exit code 5",
             {.initial = "60", .range = {0.1, 1e9}, .unit = "seconds", .effect = Option::Effect::none}),
  };
  return options;
}

}  // namespace

Option declared(std::string_view name, Option different) {
  const auto& options = catalogue();
  const auto found = std::ranges::find_if(options, [&](const Option& o) { return o.name == name; });
  check<FailureError>(found != options.end(), "option '{}' is not in the catalogue", name);
  return found->with(std::move(different));
}

Option declared(std::string_view name, std::string help, Option different) {
  different.help = std::move(help);
  return declared(name, std::move(different));
}

void add_last_options(Options& options, ProgressChoice& progress) {
  options.group("General");
  options.add(declared("progress", {.help = "on stderr: auto (where it takes long: a line that changes on a terminal, "
                                            "else lines), on (lines) or off"}),
              progress,
              {{"auto", ProgressChoice::automatic}, {"on", ProgressChoice::on}, {"off", ProgressChoice::off}});
  options.add(declared("config"));
  options.add(declared("print-config", {.help = "print the effective options as such a file and exit"}));
  options.add(declared("help"));
}

}  // namespace starling
