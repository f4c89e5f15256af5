#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "core/text/spec.hpp"
#include "files/text.hpp"
#include "graph/topology.hpp"
#include "sweep.hpp"

namespace starling {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_runs = 10'000;
constexpr int most_ranks = 1'000'000;
/// Options that the sweep itself sets.
constexpr std::array reserved{"output", "progress"};

/// Options that name a place outside of the run directory to which one run alone can write.
constexpr std::array places{std::pair("private", "their private folders"), std::pair("openmetrics", "their figures"),
                            std::pair("tensorboard", "their event files"),
                            std::pair("save-partition", "their partitions")};

/// A line `key = value`.
struct Line {
  std::string where;  ///< "file:line"
  std::string section;
  std::string key;
  std::string value;
};

/// An option and its values.
struct Axis {
  Option option;
  std::vector<std::string> values;
};

std::vector<Line> lines_of_spec(const std::string& path) {
  std::vector<Line> lines;
  std::set<std::string> seen;
  std::string section;
  int number = 0;
  for (const std::string& each : read_lines(path, fmt::format("the sweep '{}'", path))) {
    const std::string where = fmt::format("{}:{}", path, ++number);
    const std::string line(trimmed(std::string_view(each).substr(0, each.find('#'))));
    if (line.empty()) continue;
    if (line.front() == '[') {
      section = line.ends_with(']') ? line.substr(1, line.size() - 2) : line;
      check(section == "sweep" || section == "options" || section == "slurm",
            "{}: unknown section '{}': known are [sweep], [options], [slurm]. {}", where, line,
            did_you_mean(line, {"[sweep]", "[options]", "[slurm]"}, "", "Name one of them."));
      continue;
    }
    const auto equals = line.find('=');
    check(equals != std::string::npos, "{}: '{}' is no line of a sweep: a line reads key = value. Write it so.", where,
          line);
    check(!section.empty(), "{}: the line stands before any section. Begin with [sweep].", where);
    lines.push_back(
        {where, section, std::string(trimmed(line.substr(0, equals))), std::string(trimmed(line.substr(equals + 1)))});
    check(seen.insert(section + "." + lines.back().key).second,
          "{}: {} stands twice: either could be meant. Write its values in one line, separated by |.", where,
          lines.back().key);
    check(!lines.back().value.empty(), "{}: {} has no value. Give one, or delete the line.", where, lines.back().key);
  }
  return lines;
}

/// The whole numbers of FROM..TO, or the text itself.
std::vector<std::string> expanded(const std::string& text, const Option& option, const std::string& where) {
  const auto dots = text.find("..");
  if (option.kind != Option::Kind::whole || dots == std::string::npos) return {text};
  const long long from = parse_integer(text.substr(0, dots), where);
  const long long to = parse_integer(text.substr(dots + 2), where);
  check(from <= to && to - from < static_cast<long long>(most_runs),
        "{}: the range {} is empty or has more than {} numbers. Write FROM..TO.", where, text, most_runs);
  std::vector<std::string> numbers;
  for (long long i = from; i <= to; ++i) numbers.push_back(fmt::format("{}", i));
  return numbers;
}

std::vector<std::string> values_of(const Line& line, const Option& option, const std::string& folder) {
  std::vector<std::string> values;
  for (const std::string_view part : split_at(line.value, "|")) {
    const std::string text(trimmed(part));
    check(!text.empty(), "{}: {} has an empty value beside |. Delete the |, or give the value.", line.where, line.key);
    for (std::string value : expanded(text, option, line.where)) {
      if (option.files != nullptr) value = option.files(value, folder);
      if (option.name == "config") value = named::file(value, folder);
      check(std::ranges::find(values, value) == values.end(),
            "{}: {} has the value '{}' twice: runs are never repeated. Delete one.", line.where, line.key, value);
      values.push_back(std::move(value));
    }
  }
  return values;
}

/// The value as a part of a folder's name.
std::string name_part(std::string value) {
  if (value.starts_with('/')) value = fs::path(value).stem().string();
  for (char& c : value) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '+' || c == '-';
    if (!plain) c = '-';
  }
  constexpr std::size_t longest = 40;
  return value.substr(0, longest);
}

void add_word(std::vector<std::string>& words, const Option& option, const std::string& value) {
  if (!option.argument.empty()) {
    words.push_back("--" + option.name + "=" + value);
  } else if (value == "true") {
    words.push_back("--" + option.name);
  } else {
    check(value == "false", "{} = {}: it is a switch. Give true or false.", option.name, value);
  }
}

/// The run whose number, digit by digit, counts the values of the axes.
SweepRun run_of(const std::vector<Axis>& axes, std::size_t number) {
  SweepRun run;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    const std::string& value = axis->values[number % axis->values.size()];
    number /= axis->values.size();
    add_word(run.words, axis->option, value);
    if (axis->values.size() == 1) continue;
    const std::string part = axis->option.name + "-" + name_part(value);
    run.name = run.name.empty() ? part : part + "_" + run.name;
  }
  if (run.name.empty()) run.name = "run";
  std::ranges::reverse(run.words);
  return run;
}

void read_sweep_line(Sweep& sweep, const Line& line) {
  if (line.key == "command") {
    sweep.command = line.value;
  } else if (line.key == "ranks") {
    sweep.ranks = static_cast<int>(whole_between(line.value, 1, most_ranks));
  } else if (line.key == "launcher") {
    std::istringstream words(line.value);
    sweep.launcher.clear();
    for (std::string word; words >> word;) sweep.launcher.push_back(word);
  } else {
    throw UsageError(fmt::format(
        "{}: unknown key '{}' of [sweep]: known are command, ranks, launcher. {}", line.where, line.key,
        did_you_mean(line.key, {"command", "ranks", "launcher"}, "", "Options of the command stand below [options].")));
  }
}

Option option_of(const Line& line, const std::vector<Option>& options, const std::string& command) {
  const auto found = std::ranges::find_if(options, [&](const Option& o) { return o.name == line.key; });
  check(
      found != options.end(), "{}: unknown key '{}': starling {} has no such option. {}", line.where, line.key, command,
      did_you_mean(line.key, names_in(options), "", fmt::format("starling {} --help=all lists all options.", command)));
  check(!found->about_configuration || line.key == "config",
        "{}: {} is for one run, and a sweep begins runs of its own. Delete the line.", line.where, line.key);
  check(std::ranges::find(reserved, line.key) == reserved.end(), "{}: {} is set by the sweep itself. Delete the line.",
        line.where, line.key);
  return *found;
}

const Command& command_of(const Sweep& sweep, const std::vector<Command>& commands) {
  std::string known;
  for (const Command& command : commands) {
    if (command.on_all_ranks && command.configuration) known += (known.empty() ? "" : ", ") + command.name;
  }
  check(!sweep.command.empty(), "{} has no command. Write `command = omd` (or another of {}) below [sweep].",
        sweep.path, known);
  const Command* command = find_command(commands, sweep.command);
  check(command != nullptr && command->on_all_ranks && command->configuration,
        "{}: there are no runs of '{}'. Name one of {}.", sweep.path, sweep.command, known);
  return *command;
}

/// The options may stand in the sweep's file or in one that its `config` names.
void require_own_places(const std::string& configuration) {
  for (const auto& [option, what] : places) {
    check(("\n" + configuration).find(fmt::format("\n{} = ", option)) == std::string::npos,
          "--{}: all runs would have {} in one place. Leave it out{}.", option, what,
          std::string_view(option) == "private" ? ": each then has its own" : "");
  }
}

/// The value of an option in a configuration; empty where it has none.
std::string value_in(const std::string& configuration, const std::string& option) {
  const std::string head = "\n" + option + " = ";
  const std::size_t at = ("\n" + configuration).find(head);
  if (at == std::string::npos) return "";
  const std::size_t from = at + head.size() - 1;
  return configuration.substr(from, configuration.find('\n', from) - from);
}

/// A topology is a file, also where its name is that of a family.
void require_topology(const std::string& configuration) {
  const std::string file = value_in(configuration, "topology");
  std::error_code ignored;
  if (file.empty() || fs::exists(file, ignored)) return;
  const std::string clients = value_in(configuration, "clients");
  const std::string name = fs::path(file).filename().string();
  const bool is_family = std::ranges::count(names_in(topology_table().rows()), name) > 0;
  throw UsageError(fmt::format(
      "--topology '{}': there is no such file. Make one: starling topology make {} --clients {} --output {}.", file,
      is_family ? name : "FAMILY", clients.empty() ? "N" : clients, is_family ? name + ".topo" : name));
}

/// Makes names differ, and reads the options of every run as the command does, with what a run needs.
void complete_runs(Sweep& sweep, const Command& command) {
  std::set<std::string> names;
  for (SweepRun& run : sweep.runs) {
    const std::string name = run.name;
    for (int i = 2; !names.insert(run.name).second; ++i) run.name = fmt::format("{}-{}", name, i);
    try {
      run.configuration = command.configuration(run.words);
      require_own_places(run.configuration);
      require_topology(run.configuration);
      if (command.require_complete) command.require_complete(run.words);
    } catch (const UsageError& error) {
      const bool comma = fmt::format("{}", fmt::join(run.words, " ")).find(',') != std::string::npos;
      throw UsageError(fmt::format("{}, run {}: {}{}", sweep.path, run.name, error.what(),
                                   comma ? " (in a sweep, | separates the values of several runs)" : ""));
    }
  }
}

}  // namespace

Sweep read_sweep(const std::string& path, const std::vector<Command>& commands) {
  Sweep sweep;
  sweep.path = path;
  const std::vector<Line> lines = lines_of_spec(path);
  for (const Line& line : lines) {
    if (line.section == "slurm" && line.key == "modules") sweep.modules = line.value;
    if (line.section == "slurm" && line.key != "modules") sweep.slurm.emplace_back(line.key, line.value);
    if (line.section != "sweep") continue;
    try {
      read_sweep_line(sweep, line);
    } catch (const UsageError& error) {
      const std::string why = error.what();
      throw UsageError(why.starts_with(line.where) ? why : fmt::format("{}: {}: {}", line.where, line.key, why));
    }
  }
  const Command& command = command_of(sweep, commands);
  const std::vector<Option> options = command.options();
  const std::string folder = fs::absolute(path).parent_path().string();
  std::vector<Axis> axes;
  std::size_t count = 1;
  for (const Line& line : lines) {
    if (line.section != "options") continue;
    const Option option = option_of(line, options, sweep.command);
    axes.push_back({option, values_of(line, option, folder)});
    count *= axes.back().values.size();
    if (axes.back().values.size() > 1) sweep.varied.push_back(line.key);
    check(count <= most_runs, "{} stands for more than {} runs. Take fewer values.", path, most_runs);
  }
  for (std::size_t i = 0; i < count; ++i) sweep.runs.push_back(run_of(axes, i));
  complete_runs(sweep, command);
  return sweep;
}

std::string shared_ledger(const Sweep& sweep) {
  constexpr std::string_view key = "ledger = ";
  std::set<std::string> ledgers;
  for (const SweepRun& run : sweep.runs) {
    std::istringstream lines(run.configuration);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(key) && !ledgers.insert(line).second) return line.substr(key.size());
    }
  }
  return "";
}

}  // namespace starling
