#include "learning_config.hpp"

#include <algorithm>

#include "catalogue.hpp"
#include "codec/quantiser.hpp"
#include "core/check.hpp"
#include "data/serving/partition.hpp"
#include "net/neighbours/exchange_way.hpp"
#include "output/directory/private_place.hpp"
#include "source_options.hpp"

namespace starling {

void add_client_options(Options& options, LearningConfig& config, const std::string& otherwise) {
  options.add(
      declared("clients", {.help = fmt::format("number of clients; default: {}. More clients than ranks must be "
                                               "asked for; a rank then hosts a block of them",
                                               otherwise)}),
      config.clients);
  options.add(declared("clients-per-rank"), config.clients_per_rank);
}

void add_data_options(Options& options, LearningConfig& config, const std::string& batch, std::string* batch_file) {
  options.group("Data");
  options.add(declared("source", {.initial = config.data.source, .values = source_values, .aside_with = "join"}),
              config.data.source);
  options.add(option("partition", "HOW", "how a file's records are dealt to clients",
                     {.values = [] { return values_of("Partitions", partition_table()); }, .files = named::spec}),
              config.data.partition);
  options.add(option("save-partition", "FILE", "write which record is whose, for --partition file:FILE",
                     {.example = "partition.csv", .files = named::file, .effect = Option::Effect::books}),
              config.save_partition);
  options.add(
      option("memory", "MB",
             "records that a rank keeps in memory, in megabytes; larger shares are read again as they are needed",
             {.initial = "64", .unit = "megabytes"}),
      [&config](const std::string& text) {
        config.data.memory = static_cast<std::size_t>(whole_between(text, 0, 1'000'000'000)) << 20;
      });
  if (batch_file == nullptr) {
    options.add(declared("batch", batch, {.initial = "1"}), config.data.batch);
  } else {
    options.add(declared("batch", batch, {.argument = "M|file:FILE", .initial = "1", .files = named::spec}),
                [&config, batch_file](const std::string& text) {
                  const bool is_file = text.starts_with("file:");
                  *batch_file = is_file ? text.substr(5) : "";
                  if (!is_file) config.data.batch = static_cast<std::size_t>(whole_between(text, 1, 1'000'000'000));
                });
  }
  options.add(declared("epochs"), config.data.epochs);
  options.add(declared("rounds"), config.rounds);
  options.add(
      option("test", "SOURCE", "public records on which every client's model is scored; not those to learn from",
             {.example = "held-out.csv", .common = true, .files = named::source}),
      config.test);
  options.add(declared("seed"), config.data.seed);
}

void add_output_options(Options& options, LearningConfig& config, const std::string& command) {
  options.group("Output");
  options.add(declared("output", {.help = fmt::format(
                                      "run directory; must not exist, or be empty; default: run-{}-<time>", command)}),
              config.output);
  options.add(
      option("private", "DIR",
             "folder for what belongs to the owners of records (keys, ledgers, checkpoints, private metrics) on "
             "each host, as on its own disk; {host} stands for the host's name. It must not exist, or be empty. "
             "Only rank 0's host then needs --output, and clients stay on their hosts when a run goes on; default: "
             "private/ of the run directory",
             {.example = "/scratch/{host}/run", .files = named::file, .effect = Option::Effect::books}),
      [&config](const std::string& text) {
        check_private_place(text);
        config.private_place = text;
      });
  options.add(
      option("record-every", "K", "record models every K rounds; default: geometric, some 17 records per decade",
             {.range = {1, most_whole}, .unit = "rounds", .example = "100", .effect = Option::Effect::books}),
      config.record_every);
  options.add(declared("progress"), config.progress,
              {{"auto", ProgressChoice::automatic},
               {"on", ProgressChoice::on},
               {"off", ProgressChoice::off},
               {"json", ProgressChoice::json}});
  options.add(declared("json"), config.json);
  options.add(
      flag("verbose",
           "print the traffic of single edges too, and the whole privacy statement, which privacy.txt has in any case",
           {.effect = Option::Effect::none}),
      config.verbose);
  options.add(option("tensorboard", "DIR",
                     "also write the history as event files for TensorBoard, into this folder, which is made",
                     {.example = "events", .files = named::file, .effect = Option::Effect::none}),
              config.tensorboard);
  options.add(option("openmetrics", "FILE",
                     "also keep the latest figures in this file, as metrics for Prometheus. Its node exporter "
                     "collects files whose names end in .prom",
                     {.example = "starling.prom", .files = named::file, .effect = Option::Effect::none}),
              config.openmetrics);
  options.add(declared("watchdog"), config.watchdog);
  options.add(declared("config"));
  options.add(declared("print-config"));
  options.add(declared("help"));
}

void add_model_output_options(Options& options, LearningConfig& config) {
  options.group("Output");
  options.add(
      option(
          "record-clients", "WHOM",
          fmt::format(
              "whose models are recorded: of the first K clients, of sample:K spread evenly, of all, or of none (not "
              "at the end either); default: all up to 100 clients, else 10 of them, and of those no more than have "
              "a million numbers together; one where all have the same model. Of more than {} clients figures "
              "(mass, presence, loss, accuracy, and traffic over a graph) are kept one by one for the clients that "
              "are named, by default for 10, and of all it is kept how they are spread, unless WHOM is all",
              most_clients_one_by_one),
          {.example = "all", .effect = Option::Effect::books}),
      [&config](const std::string& text) { config.record_clients = RecordedChoice::parse(text); });
  options.add(flag("json-models", "the same with every client's final model", {.effect = Option::Effect::none}),
              config.json_models);
}

void add_personal_option(Options& options, LearningConfig& config, std::vector<Relation> relations) {
  options.add(
      flag("personal",
           "after the rounds each client fits a model to its own records, around the common one, if these are the "
           "better for it: private/<rank>/personal/, for the owner alone",
           {.effect = Option::Effect::books, .relations = std::move(relations)}),
      config.personal);
}

void add_checkpoint_options(Options& options, LearningConfig& config) {
  options.group("Checkpoints");
  options.add(
      option(
          "checkpoint-every", "K|SECONDSs",
          "write the state to the run directory after every K rounds, or about every so many seconds (60s), to go "
          "on from after a crash; it is written in any case when SIGINT, SIGTERM, SIGUSR1 or SIGHUP stops the run (a "
          "second SIGINT ends it at once)",
          {.initial = "0",
           .unit = "rounds, or seconds where s follows",
           .example = "60s",
           .effect = Option::Effect::none}),
      [&config](const std::string& text) {
        config.checkpoint = {};
        if (text.ends_with('s')) {
          config.checkpoint.seconds = number_between(text.substr(0, text.size() - 1), 0.01, 1e9);
        } else {
          config.checkpoint.rounds = whole_between(text, 0, most_whole);
        }
      });
  options.add(
      option("resume", "DIR",
             "go on with the run in DIR from its newest checkpoint (from the start if there is none), with its "
             "configuration; on any number of ranks. A run that reads pipes goes on with other records, after the "
             "last round that may have been released. Only --rounds, --checkpoint-every and what changes no result "
             "may be given besides",
             {.example = "run", .common = true, .about_configuration = true}),
      config.resume);
  options.add(
      option(
          "lost", "WHICH",
          "with --resume: go on without these clients, for good: a list (3,7,10-19), or missing: all "
          "clients whose private state is not there",
          {.example = "missing --resume run",
           .about_configuration = true,
           .relations = {needs("resume", "clients are lost by a run that has begun", "Name the run: --resume DIR.")}}),
      config.lost);
  options.add(option("join", "N",
                     "with --resume: N more clients join the run for good. Their records are those of a --source that "
                     "is given beside; the run's own --source need not be, if it gives each client its own records",
                     {.range = {1, 1e6},
                      .unit = "clients",
                      .example = "2 --source new-{client}.csv --resume run",
                      .about_configuration = true,
                      .relations = {needs("resume", "clients join a run that has begun", "Name the run: --resume DIR."),
                                    excludes("lost", "a start changes the clients once", "Take two starts.")}}),
              config.join);
}

void add_rewire_option(Options& options, LearningConfig& config) {
  options.add(
      option("rewire", "FAMILY",
             "with --lost or --join: the graph of the clients that are then there: a family of starling topology make",
             {.example = "exponential --lost missing --resume run", .about_configuration = true}),
      config.rewire);
}

void add_exchange_option(Options& options, ExchangeWay& way) {
  options.add(
      option("exchange", "HOW",
             "how vectors get to neighbours on other ranks of the same host: messages, windows (memory that the ranks "
             "share: receivers read vectors where they are made), or auto (windows if the system has memory to share). "
             "Changes no result",
             {.initial = "auto",
              .example = "windows --topology ring.topo",
              .effect = Option::Effect::none,
              .relations =
                  {excludes("deadline", "parcels that are late wait in a message, not in a window").only_for("windows"),
                   excludes("async", "parcels that are late wait in a message, not in a window").only_for("windows")}}),
      way, {{"auto", ExchangeWay::automatic}, {"messages", ExchangeWay::messages}, {"windows", ExchangeWay::windows}});
}

void add_precision_option(Options& options, std::string& precision, std::vector<Relation> relations) {
  options.add(
      option("message-precision", "HOW",
             "numbers of models in messages. What rounding takes from a message stays with its sender, who sends "
             "it later: sums over clients lose nothing",
             {.values = [] { return values_of("Quantisers", quantiser_table()); },
              .example = "bits:8",
              .relations = std::move(relations)}),
      precision);
}

Option::Effect effect_of(const std::string& option) {
  static const std::vector<Option> shared = [] {
    LearningConfig config;
    ExchangeWay way = ExchangeWay::automatic;
    Options options("run");
    add_data_options(options, config);
    add_privacy_options(options, config.privacy, config.data, PersonChoices::all);
    add_output_options(options, config, "run");
    add_model_output_options(options, config);
    add_personal_option(options, config);
    add_checkpoint_options(options, config);
    add_identity_options(options, config);
    add_exchange_option(options, way);
    return options.declarations();
  }();
  const auto found = std::ranges::find_if(shared, [&](const Option& each) { return each.name == option; });
  return found == shared.end() ? Option::Effect::results : found->effect;
}

void refuse_audit(const LearningConfig& config) {
  check(!config.privacy.audit, "--audit: canaries are made for omd alone. Use starling privacy audit.");
}

void check_learning_options(const LearningConfig& config) {
  check_privacy_options(config.privacy);
  check(!config.rewire || config.lost || config.join,
        "--rewire without --lost or --join: the graph stays as long as the clients do. Say who is gone or how many "
        "come.");
}

void keep_configuration(const Options& options, LearningConfig& config, const std::vector<std::string>& open,
                        const std::vector<std::string>& needless) {
  config.json = config.json || config.json_models;
  std::vector<std::string> left_open = needless;
  left_open.insert(left_open.end(), open.begin(), open.end());
  config.text = options.configuration(Options::Names::absolute, needless);
  config.as_given = options.configuration(Options::Names::as_given, needless);
  config.to_tune = options.configuration(Options::Names::absolute, left_open);
}

}  // namespace starling
