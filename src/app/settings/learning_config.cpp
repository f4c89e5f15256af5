#include "learning_config.hpp"

#include "starling/core/check.hpp"

namespace starling {

void add_client_options(Options& options, const char* group, LearningConfig& config, const std::string& otherwise) {
  options.add(
      {group, "clients", "N", "",
       fmt::format(
           "number of clients; default: {}. More clients than ranks must be asked for; a rank then hosts a block of "
           "them",
           otherwise),
       setter::integer(config.clients, 1, most_clients)});
  options.add({group, "clients-per-rank", "K", "", "shorthand for --clients K x ranks",
               setter::integer(config.clients_per_rank, 1, most_clients)});
}

void add_data_options(Options& options, LearningConfig& config) {
  const char* group = "Data";
  options.add({group, "source", "SOURCE", config.data.source, "the clients' records (Sources, below)",
               setter::text(config.data.source), false, named::source});
  options.add({group, "partition", "HOW", "contiguous", "how a file's records are dealt to clients (below)",
               setter::text(config.data.partition), false, named::spec});
  options.add({group, "save-partition", "FILE", "", "write which record is whose, for --partition file:FILE",
               setter::text(config.save_partition), false, named::file});
  options.add(
      {group, "memory", "MB", "64",
       "records that a rank keeps in memory, in megabytes; larger shares are read again as they are needed",
       setter::integer_into([&config](long long mb) { config.data.memory = static_cast<std::size_t>(mb) << 20; }, 0,
                            1'000'000'000)});
  options.add({group, "batch", "M", "1",
               "records of a batch: a client takes one per round (fedavg: one per local step); public, and what sums "
               "are divided by",
               setter::integer(config.data.batch, 1, 1'000'000'000)});
  options.add({group, "epochs", "E", "1", "passes over the data; each adds to what a record pays",
               setter::integer(config.data.epochs, 1, 1'000'000'000)});
  options.add({group, "rounds", "T", "",
               "rounds; default: what the longest stream gives, 1000 for a source without end",
               setter::integer(config.rounds, 1, most_whole)});
  options.add({group, "test", "SOURCE", "", "public records on which every client's model is scored",
               setter::text(config.test), false, named::source});
  options.add({group, "seed", "S", "1", "seed of synthetic data, partitions and random graphs; never of secret noise",
               setter::integer(config.data.seed, 0, most_whole)});
}

void add_output_options(Options& options, LearningConfig& config, const std::string& command) {
  const char* group = "Output";
  options.add({group, "output", "DIR", "",
               fmt::format("run directory; must not exist, or be empty; default: run-{}-<time>", command),
               setter::text(config.output), false, named::file});
  options.add({group, "record-every", "K", "",
               "record models every K rounds; default: geometric, some 17 records per decade",
               setter::integer(config.record_every, 1, most_whole)});
  options.add({group, "progress", "WHEN", "auto", "auto (a bar on a terminal, else lines), on (lines) or off",
               setter::choice<ProgressChoice>(
                   config.progress,
                   {{"auto", ProgressChoice::automatic}, {"on", ProgressChoice::on}, {"off", ProgressChoice::off}})});
  options.add({group, "json", "", "", "print the summary as one JSON object on stdout", setter::flag(config.json)});
  options.add({group, "watchdog", "SECONDS", "60", "silence of a peer after which the run ends with exit code 5",
               setter::number(config.watchdog, 0.1, 1e9)});
  options.add({group, "config", "FILE", "", "read options from an INI file (key = value); the command line wins",
               [](const std::string&) {}});
  options.add({group, "print-config", "", "", "print the effective configuration as such a file and exit",
               setter::flag(config.print_config)});
  options.add({group, "help", "", "", "this text", [](const std::string&) {}});
}

void add_model_output_options(Options& options, LearningConfig& config) {
  const char* group = "Output";
  options.add(
      {group, "record-clients", "WHOM", "",
       fmt::format(
           "whose models are recorded: of the first K clients, of sample:K spread evenly, of all, or of none (not "
           "at the end either); default: all up to 100 clients, else 10 of them, and of those no more than have "
           "a million numbers together; one where all have the same model. Of more than {} clients figures "
           "(mass, presence, loss, accuracy, and traffic over a graph) are kept one by one for the clients that "
           "are named, by default for 10, and of all it is kept how they are spread, unless WHOM is all",
           most_clients_one_by_one),
       [&config](const std::string& text) { config.record_clients = RecordedChoice::parse(text); }});
  options.add(
      {group, "json-models", "", "", "the same with every client's final model", setter::flag(config.json_models)});
}

void add_checkpoint_options(Options& options, LearningConfig& config) {
  const char* group = "Checkpoints";
  options.add({group, "checkpoint-every", "K|SECONDSs", "0",
               "write the state to the run directory after every K rounds, or about every so many seconds (60s), to go "
               "on from after a crash; it is written in any case when SIGINT, SIGTERM or SIGUSR1 stops the run (a "
               "second SIGINT ends it at once)",
               [&config](const std::string& text) {
                 config.checkpoint = {};
                 if (text.ends_with('s')) {
                   setter::number(config.checkpoint.seconds, 0.01, 1e9)(text.substr(0, text.size() - 1));
                 } else {
                   setter::integer(config.checkpoint.rounds, 0, most_whole)(text);
                 }
               }});
  options.add({group, "resume", "DIR", "",
               "go on with the run in DIR from its newest checkpoint (from the start if there is none), with its "
               "configuration; as many ranks as it had. A run that reads pipes goes on with other records, after the "
               "last round that may have been released. Only --rounds, --checkpoint-every and what changes no result "
               "may be given besides",
               setter::text(config.resume)});
}

void add_exchange_option(Options& options, const char* group, ExchangeWay& way) {
  options.add(
      {group, "exchange", "HOW", "auto",
       "how vectors get to neighbours on other ranks of the same host: messages, windows (memory that the ranks "
       "share: receivers read vectors where they are made), or auto (windows if the system has memory to share). "
       "Changes no result",
       setter::choice<ExchangeWay>(way, {{"auto", ExchangeWay::automatic},
                                         {"messages", ExchangeWay::messages},
                                         {"windows", ExchangeWay::windows}})});
}

void check_learning_options(const LearningConfig& config) {
  check(!config.clients || !config.clients_per_rank, "--clients and --clients-per-rank exclude each other; give one");
  check_privacy_options(config.privacy);
}

}  // namespace starling
