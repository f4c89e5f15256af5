#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "app/commands.hpp"
#include "console/pass.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "core/text/per_client.hpp"
#include "files/durable_file.hpp"
#include "files/text_files.hpp"
#include "graph/topology.hpp"
#include "init.hpp"
#include "loss/loss.hpp"
#include "net/host/mpi_session.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/privacy_options.hpp"
#include "run/settings/source_options.hpp"

namespace starling {

namespace {

namespace fs = std::filesystem;

constexpr Client usual_clients = 4;     // among whom one source is dealt
constexpr Client small_network = 8;     // where all may talk to all
constexpr int most_ranks_of_jobs = 64;  // that a batch script asks for by itself
constexpr const char* reading_group = "Reading";

struct InitConfig {
  InitConfig() {
    reading.source.clear();
    reading.missing_key = ReadSettings::MissingKey::refuse;  // without a person's column no record is looked at
  }
  ReadSettings reading;
  std::optional<Client> clients;
  std::string unit = "record";
  std::string person;
  std::optional<std::string> total_epsilon;
  std::string graph;
  std::string loss;
  LaunchPlace place = LaunchPlace::here;
  std::string output;
  bool force = false;
};

const Words<LaunchPlace> places{{"here", LaunchPlace::here}, {"slurm", LaunchPlace::slurm}};

Options init_options(InitConfig& config) {
  Options options("init");
  options.group("The five questions");
  options.add(declared("source", "the records: a file, or one for each client with {client} in its name",
                       {.example = "site-{client}.csv", .positional = true}),
              config.reading.source);
  options.add(option("unit", "UNIT", "who is protected: record, or person (with --person)",
                     {.initial = "record", .example = "record", .common = true}),
              config.unit, {{"record", "record"}, {"person", "person"}});
  options.add(option("total-epsilon", "E", "epsilon of a unit in all its releases, or none: nothing is protected",
                     {.example = "1", .common = true}),
              [&config](const std::string& text) {
                if (text != "none") static_cast<void>(number_between(text, tiny, most_epsilon));
                config.total_epsilon = text;
              });
  options.add(option("topology", "GRAPH",
                     "a family (starling topology --help), or a topology file; default: complete up to 8 clients, else "
                     "exponential",
                     {.example = "ring", .common = true, .files = named::file}),
              config.graph);
  options.add(option("where", "PLACE", "here (mpirun on this computer), or slurm (a batch script as well)",
                     {.initial = "here", .common = true}),
              config.place, places);
  options.group("More");
  options.add(
      declared("clients", {.help = "number of clients; default: one for each file of a source with {client}, else 4"}),
      config.clients);
  options.add(
      option("person", "COLUMN", "name or number (from 0) of the column that tells persons apart",
             {.example = "patient", .relations = {needs("unit=person", "records stand for themselves without it")}}),
      config.person);
  options.add(option("loss", "LOSS", "loss of the run; default: one that fits the labels", {.example = "poisson:20"}),
              [&config](const std::string& text) {
                static_cast<void>(loss_table().make(text));
                config.loss = text;
              });
  options.add(option("output", "DIR", "folder for the files; made if not there", {.initial = "."}), config.output);
  options.add(flag("force", "replace files that exist"), config.force);
  add_reading_options(options, config.reading);
  add_missing_person_option(options, config.reading.missing_key);
  options.group("General");
  options.add(declared("config"));
  options.add(declared("print-config", {.help = "print the effective options as such a file and exit"}));
  options.add(declared("help"));
  return options;
}

/// One call of the command: answers first, then files.
class Init {
 public:
  Init(InitConfig& config, const Options& options, std::string program)
      : config_(config), options_(options), program_(std::move(program)) {}

  int run();

 private:
  [[nodiscard]] bool asks(const std::string& option) const { return can_ask() && !options_.given(option); }
  void choose_source();
  void choose_unit();
  void choose_epsilon();
  void choose_graph();
  void take_graph(const std::string& answer);
  void choose_place();
  void take_unit(const std::string& answer);
  void plan();
  void write_files();
  [[nodiscard]] std::string in_folder(const std::string& name) const;
  [[nodiscard]] std::string reading_lines() const;
  [[nodiscard]] std::string start_command() const;

  InitConfig& config_;
  const Options& options_;
  std::string program_;  // as the user has called it, for a shell
  PlannedRun run_;
  std::string topology_text_;
};

void Init::choose_source() {
  const auto take = [this](const std::string& source) {
    run_.clients = count_files(source);
    config_.reading.source = source;
  };
  if (asks("source")) {
    ask("1 of 5. Where are the records? A file, or one for each client, such as site-{client}.csv", "", take);
  } else {
    check(!config_.reading.source.empty(), "no records are named. Give a file: starling init records.csv.");
    take(config_.reading.source);
  }
  run_.has_own_files = is_per_client(config_.reading.source);
  if (!run_.has_own_files) run_.clients = usual_clients;
  if (config_.clients) run_.clients = *config_.clients;
}

void Init::take_unit(const std::string& answer) {
  std::istringstream words(answer);
  std::string person;
  words >> config_.unit >> person;
  check(config_.unit == "record" || config_.unit == "person", "'{}' is no unit. Answer record, or person COLUMN.",
        answer);
  check((config_.unit == "person") == !person.empty(),
        "'{}': a person needs the column that tells persons apart, and a record none. Answer record, or person COLUMN.",
        answer);
  config_.person = person;
}

void Init::choose_unit() {
  if (asks("unit")) {
    ask("2 of 5. Who is protected? record, or person COLUMN (all records with one value of the column)", "record",
        [this](const std::string& answer) { take_unit(answer); });
  }
  check(config_.unit == "record" || !config_.person.empty(),
        "--unit person without --person: nothing else tells whose records they are. Add --person COLUMN.");
  run_.person = config_.person;
  config_.reading.key = run_.person;  // no feature
  config_.reading.key_option = "--person ";
  run_.look = look_at_data(config_.reading, run_.clients, config_.loss);
  print(fmt::format("  found {} records in {} file{}{}\n", run_.look.records, run_.look.files,
                    run_.look.files == 1 ? "" : "s",
                    run_.look.label.empty() ? "" : fmt::format("; label: {}", run_.look.label)));
}

void Init::choose_epsilon() {
  const auto take = [this](const std::string& text) {
    if (text != "none") run_.epsilon = number_between(text, tiny, most_epsilon);
  };
  if (asks("total-epsilon")) {
    ask(fmt::format("3 of 5. How much may all releases tell of a {}? epsilon (0.1 strict, 1 usual, 8 loose), or none",
                    config_.unit),
        "1", take);
  } else {
    check(
        config_.total_epsilon.has_value(),
        "--total-epsilon is missing: how much a run may tell of a {} is its owner's decision. Give --total-epsilon 1, "
        "or none.",
        config_.unit);
    take(*config_.total_epsilon);
  }
}

/// A file, or a family with its parameters; then perhaps the number of clients to whom one source is dealt.
void Init::take_graph(const std::string& answer) {
  std::istringstream words(answer);
  std::string graph;
  std::string number;
  words >> graph >> number;
  if (!number.empty()) {
    check(!run_.has_own_files, "'{}': the number of clients is that of their files. Leave it out.", answer);
    run_.clients = static_cast<Client>(whole_between(number, 1, max_clients));
  }
  std::error_code ignored;
  if (fs::is_regular_file(graph, ignored)) {
    const Client clients = read_graph(graph)->clients();
    if (!run_.has_own_files && number.empty() && !config_.clients) run_.clients = clients;
    check(clients == run_.clients, "'{}' is a graph of {} clients, and there are {}. Give another graph.", graph,
          clients, run_.clients);
    run_.topology = in_folder(graph);
    run_.graph = "the graph of a file";
    topology_text_.clear();
  } else {
    topology_text_ = fmt::format("# starling topology make {} --clients {}\n{}", graph, run_.clients,
                                 make_graph(graph, run_.clients, WeightRule::sender)->text());
    run_.graph = graph;
    run_.topology = "graph.topo";
  }
}

void Init::choose_graph() {
  const std::string usual = run_.clients <= small_network ? "complete" : "exponential";
  if (!config_.graph.empty()) return take_graph(config_.graph);
  if (!asks("topology")) return run_.clients > 1 ? take_graph(usual) : void();
  if (run_.has_own_files) {
    if (run_.clients == 1) return print("4 of 5. One client needs no graph.\n");
    ask(fmt::format("4 of 5. Who sends models to whom, of {} clients? complete, ring, exponential, star, …, or a file",
                    run_.clients),
        usual, [this](const std::string& answer) { take_graph(answer); });
    return;
  }
  ask("4 of 5. To how many clients is the file dealt, and who sends models to whom? GRAPH NUMBER, or a file",
      fmt::format("{} {}", usual, run_.clients), [this](const std::string& answer) { take_graph(answer); });
}

void Init::choose_place() {
  run_.place = config_.place;
  if (!asks("where")) return;
  ask("5 of 5. Where does it run? here, or slurm", "here", [this](const std::string& answer) {
    const auto place = std::ranges::find(places, answer, [](const auto& each) { return each.first; });
    check(place != places.end(), "'{}' is no such place. Answer here, or slurm.", answer);
    run_.place = place->second;
  });
}

/// The name of a file as run.ini shall have it: names there begin from its own folder.
std::string Init::in_folder(const std::string& name) const {
  if (fs::path(config_.output).lexically_normal() == ".") return name;
  return named::source(name, fs::current_path());
}

/// The reading options that were given, as lines of run.ini.
std::string Init::reading_lines() const {
  const bool here = fs::path(config_.output).lexically_normal() == ".";
  std::istringstream lines(options_.configuration(here ? Options::Names::as_given : Options::Names::absolute));
  const std::vector<Option> declarations = options_.declarations();
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find(" = "));
    const auto option = std::ranges::find(declarations, name, &Option::name);
    if (option != declarations.end() && option->group == reading_group && options_.given(name)) text += line + "\n";
  }
  return text;
}

void Init::plan() {
  choose_source();
  choose_unit();
  choose_epsilon();
  choose_graph();
  choose_place();
  run_.source = in_folder(config_.reading.source);
  run_.reading = reading_lines();
  const int most = run_.place == LaunchPlace::slurm ? most_ranks_of_jobs : std::max(cpus_of_this_host(), 1);
  run_.ranks = static_cast<int>(std::min<Client>(run_.clients, most));
}

void Init::write_files() {
  const fs::path folder = config_.output;
  struct File {
    std::string name;
    std::string text;
    bool of_owner = false;  ///< it tells of the records
  };
  std::vector<File> files{{"run.ini", configuration_text(run_), true}};
  if (!topology_text_.empty()) files.push_back({"graph.topo", topology_text_});
  if (run_.place == LaunchPlace::slurm) {
    files.push_back({"run.sbatch", batch_script(run_, fs::canonical("/proc/self/exe").string(),
                                                fs::absolute(folder).lexically_normal().string())});
  }
  std::error_code error;
  fs::create_directories(folder, error);
  check(fs::is_directory(folder, error), "--output '{}': it cannot be made a folder. Name another.", config_.output);
  for (const File& file : files) {
    check(config_.force || !fs::exists(folder / file.name, error),
          "--output '{}': it has a {}, which would be lost. Name another folder, or add --force.", config_.output,
          file.name);
  }
  print("\nWrote");
  for (const auto& [name, text, of_owner] : files) {
    const std::string path = (folder / name).string();
    if (const auto place = replaced_file(path); of_owner && place) {
      require_written(replace_file(*place, text), path, "check the folder and the disk");
    } else {
      write_text(path, text);
    }
    print(" " + (folder / name).lexically_normal().string());
  }
  print("\n");
}

std::string Init::start_command() const {
  const std::string folder = fs::path(config_.output).lexically_normal().string();
  const auto file = [&](const std::string& name) { return (fs::path(folder) / name).lexically_normal().string(); };
  if (run_.place == LaunchPlace::slurm) return quoted({"sbatch", file("run.sbatch")});
  const std::string launcher = run_.ranks > 1 ? fmt::format("mpirun -n {} ", run_.ranks) : "";
  return launcher + program_ + " " + quoted({"omd", "--config", file("run.ini"), "--output", file("run")});
}

int Init::run() {
  plan();
  for (const std::string& note : run_.look.notes) print(fmt::format("note: {}\n", note));
  write_files();
  const std::vector<Decision>& decisions = run_.look.decisions;
  if (!decisions.empty()) {
    print("\nFirst decide, by lines of run.ini or options of starling init:\n");
    for (const Decision& decision : decisions) {
      print(fmt::format("  * {}.\n", decision.matter));
      for (const std::string& choice : decision.choices) print(fmt::format("      {}\n", choice));
    }
  }
  print(fmt::format("\n{}:\n  {}\n", decisions.empty() ? "Start the run" : "Then start the run", start_command()));
  return decisions.empty() ? 0 : 1;
}

Manual init_manual() {
  return {.usage = "[SOURCE] [OPTIONS]",
          .text =
              "Prepares a run of starling omd. It asks five questions, looks at the records, and writes run.ini, a "
              "topology and, for SLURM, run.sbatch. Then it prints the command that starts the run. Options answer "
              "questions; where there is no terminal, SOURCE and --total-epsilon must be given, and the others have "
              "defaults. What it prints and writes of the records (their number, columns and labels) is for their "
              "owner. Exit codes: 0 done, 1 done, and something in the records needs the owner's decision, 2 usage, "
              "3 data.",
          .examples = {"starling init site-{client}.csv --total-epsilon 1 --topology ring --output prepared"}};
}

int run_init(const Call& call) {
  InitConfig config;
  Options options = init_options(config);
  options.parse(call.words);
  const std::string program = call.command_line.substr(0, call.command_line.find(" init"));
  return run_for_owner([&] { return Init(config, options, program).run(); });
}

}  // namespace

Command init_command() {
  return command_of<InitConfig, init_options>(
      "init", "prepare a run by five questions: run.ini, a topology, a batch script", init_manual, run_init);
}

}  // namespace starling
