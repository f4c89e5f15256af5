#include "catalogue.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "starling/core/check.hpp"
#include "starling/core/limits.hpp"

namespace starling {

namespace {

const std::vector<Option>& catalogue() {
  static const std::vector<Option> options{
      {.name = "average",
       .argument = "WHAT",
       .initial = "none",
       .help = "models that the run ends with: none (of the last round), tail (each client's mean over the second half "
               "of the rounds, weighted by its push-sum masses) or all (likewise over all rounds)"},
      {.name = "batch",
       .argument = "M",
       .help = "records of a batch: a client takes one per round (fedavg: one per local step); public, and what sums "
               "are divided by",
       .least = 1,
       .most = 1'000'000'000},
      {.name = "c2", .argument = "C2", .help = "likewise on its L2 norm; default: 1", .least = tiny, .most = 1e12},
      {.name = "clients", .argument = "N", .help = "number of clients", .least = 1, .most = most_clients},
      {.name = "clients-per-rank",
       .argument = "K",
       .help = "shorthand for --clients K x ranks",
       .least = 1,
       .most = most_clients,
       .relations = {excludes("clients", "both say how many clients there are", "Give one of them.")}},
      {.name = "clip",
       .argument = "C",
       .help =
           "norm to which each record's gradient is clipped (L1 under laplace, L2 under gaussian); default: 1, none "
           "under --mechanism none",
       .least = tiny,
       .most = 1e12},
      {.name = "config",
       .argument = "FILE",
       .help = "read options from an INI file (key = value); the command line wins",
       .about_configuration = true},
      {.name = "delta",
       .argument = "D",
       .help = "probability that losses are stated with; default: 0 for laplace, 1e-5 for gaussian",
       .least = 0,
       .most = 0.999999},
      {.name = "dimension",
       .argument = "D",
       .help = "features of a sparse file; default: the largest index in it (--features hog needs it)",
       .least = 1,
       .most = std::numeric_limits<std::int32_t>::max()},
      {.name = "epochs",
       .argument = "E",
       .initial = "1",
       .help = "passes over the data; each adds to what a record pays",
       .least = 1,
       .most = 1'000'000'000},
      {.name = "epsilon",
       .argument = "E",
       .help = "privacy loss per release (Prices, below). Under gaussian, epsilon at --delta",
       .files = named::spec,
       .relations = {excludes("mu", "either says what a release costs", "Give one of them.")}},
      {.name = "gossip-steps",
       .argument = "G",
       .initial = "1",
       .help = "exchanges with neighbours per round; more cost messages and bring models closer together",
       .least = 1,
       .most = 1'000'000},
      {.name = "help", .help = "this text", .about_configuration = true},
      {.name = "intercept",
       .help = "add a constant feature (networks have their own)",
       .relations = {excludes("model=location", "a point has a coordinate for each feature and no more",
                              "Leave --intercept out."),
                     excludes("model=mlp|cnn", "each layer of a network has its own", "Leave --intercept out.")}},
      {.name = "json", .help = "print the summary as one JSON object on stdout", .fixed = false},
      {.name = "l2", .argument = "LAMBDA", .help = "adds (lambda/2)|x|^2 to the loss", .least = 0, .most = 1e12},
      {.name = "lazy",
       .argument = "SHARE",
       .initial = "0",
       .help = "share of its mass, 0 to below 1, that a client keeps before it splits the rest",
       .least = 0,
       .most = 0.999999},
      {.name = "local-steps",
       .argument = "E",
       .initial = "1",
       .help =
           "steps that a client makes in each round, on a batch each, before its model is averaged with the others'",
       .least = 1,
       .most = most_local_steps},
      {.name = "loss",
       .argument = "LOSS",
       .initial = "logistic",
       .help = "loss of the model (below), or none: average the starts, learn nothing"},
      {.name = "mechanism",
       .argument = "NAME",
       .help = "how gradients are protected (below); a run that learns does not start without one"},
      {.name = "mixing",
       .argument = "HOW",
       .initial = "push-sum",
       .help = "push-sum (unbiased on any digraph; sender weights must sum to one) or plain (meant for receiver "
               "weights that sum to one)"},
      {.name = "mu",
       .argument = "M",
       .help = "under gaussian, in place of --epsilon: mu per release (Prices, below)",
       .files = named::spec},
      {.name = "noise-key",
       .argument = "KEY",
       .initial = "random",
       .help = "random (from the operating system), seed (derived from --seed: reproducible, not private), or a FILE "
               "per client, named with {client}",
       .files = named::noise_key},
      {.name = "output",
       .argument = "DIR",
       .help = "run directory; it must not exist, or be empty",
       .files = named::file},
      {.name = "precision",
       .argument = "TYPE",
       .help = "arithmetic of networks: float or double; default: float",
       .relations = {needs("model=mlp|cnn", "all other models compute in double", "Leave --precision out.")}},
      {.name = "print-config",
       .help = "print the effective configuration as such a file and exit",
       .fixed = false,
       .about_configuration = true},
      {.name = "progress",
       .argument = "WHEN",
       .initial = "auto",
       .help =
           "on stderr: auto (a bar on a terminal, else lines), on (lines, in growing gaps of time), off, or json (one "
           "object a line, for tools)",
       .fixed = false},
      {.name = "regret",
       .argument = "WHICH",
       .initial = "none",
       .help =
           "none; static: against the best single model in hindsight; dynamic: against the best model of each round; "
           "or both. Found after the last round on a source that can be read again. Needs shared metrics"},
      {.name = "releases",
       .argument = "K",
       .initial = "1",
       .help = "releases that one record enters",
       .least = 1,
       .most = most_whole},
      {.name = "rho",
       .argument = "RHO",
       .help = "with private-paper: rho of equation 41; default: 0",
       .least = 0,
       .most = 1e15},
      {.name = "rounds",
       .argument = "T",
       .help = "rounds; default: what the longest stream gives, 1000 for a source without end",
       .least = 1,
       .most = most_whole,
       .fixed = false},
      {.name = "scale",
       .argument = "FACTOR",
       .help = "public factor of every feature (1/255 is a number too), as steps and clipping want features of about "
               "size 1",
       .least = -1e12,
       .most = 1e12},
      {.name = "seed",
       .argument = "S",
       .initial = "1",
       .help = "seed of synthetic data, partitions and random graphs; never of secret noise",
       .least = 0,
       .most = most_whole},
      {.name = "sensitivity",
       .argument = "D",
       .help = "how far replacing one record moves the released value: in L1 for laplace, in L2 for gaussian. Clipping "
               "records to C makes it 2C, not C",
       .least = tiny,
       .most = 1e300},
      {.name = "source", .argument = "SOURCE", .help = "the clients' records (Sources, below)", .files = named::source},
      {.name = "start",
       .argument = "WHERE",
       .help = "uniform (the domain's centre; of a network values between +-1/sqrt(fan-in), the same at all clients, "
               "made from --seed), zero, the model.h5 of an earlier run, or a CSV file with a row per client (public)",
       .files = named::start},
      {.name = "step",
       .argument = "C",
       .initial = "1",
       .help = "step sizes are C / (t + i0)^p, t from 1",
       .least = tiny,
       .most = 1e12},
      {.name = "step-cap",
       .argument = "KAPPA",
       .initial = "auto",
       .help =
           "no step exceeds KAPPA times the first round's; what is cut off is owed and taken later. auto: the least "
           "number, 1 or more, by which the client with the least mass repays all it owes before the end; 100 or more "
           "with "
           "--dual "
           "queue, whose steps are short and do not fall",
       .least = tiny,
       .most = infinity,
       .no_value = "auto"},
      {.name = "step-offset", .argument = "I0", .help = "i0", .least = 0, .most = 1e15},
      {.name = "step-power",
       .argument = "P",
       .initial = "0.5",
       .help = "p; 0 is a constant step",
       .least = 0,
       .most = 10},
      {.name = "topology",
       .argument = "FILE",
       .help = "topology file (see starling topology --help); default: a directed ring of all clients",
       .files = named::file},
      {.name = "trust",
       .argument = "WHOM",
       .initial = "local",
       .help = "with plug-in: local (every client adds noise to every batch's part) or central (rank 0 sees sums of "
               "curvatures over all records after the last step, and adds noise once)"},
      {.name = "unit",
       .argument = "UNIT",
       .initial = "record",
       .help = "whose loss is counted: record, or component (one entry of one record's gradient)"},
      {.name = "watchdog",
       .argument = "SECONDS",
       .initial = "60",
       .help = "silence of a peer after which the run ends with exit code 5",
       .least = 0.1,
       .most = 1e9,
       .fixed = false},
  };
  return options;
}

}  // namespace

Option declared(std::string_view name, Option different) {
  const auto& options = catalogue();
  const auto found = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.name == name; });
  check<FailureError>(found != options.end(), "option '{}' is not in the catalogue", name);
  return found->with(std::move(different));
}

}  // namespace starling
