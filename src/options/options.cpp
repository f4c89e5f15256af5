#include "starling/options/options.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <sstream>
#include <string_view>

#include <boost/program_options.hpp>

#include "starling/core/check.hpp"
#include "starling/core/spec.hpp"
#include "starling/files/text.hpp"

namespace starling {

namespace po = boost::program_options;

namespace {

std::string trimmed(const std::string& text) {
  const auto from = text.find_first_not_of(" \t\r");
  return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

/// Line of `key =` in an INI text, from 1, after `earlier` lines with the same key; 0 if there is none. Below a line
/// [section], keys begin with `section.`.
int line_of(const std::string& text, const std::string& key, std::size_t earlier) {
  std::istringstream lines(text);
  std::string line;
  std::string section;
  for (int number = 1; std::getline(lines, line); ++number) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.starts_with('[') && line.ends_with(']')) section = line.substr(1, line.size() - 2) + ".";
    if (const auto equals = line.find('=');
        equals == std::string::npos || section + trimmed(line.substr(0, equals)) != key)
      continue;
    if (earlier-- == 0) return number;
  }
  return 0;
}

/// Options that say what to do with a configuration are no part of one.
bool is_part_of_a_file(const std::string& name) {
  return name != "config" && name != "print-config" && name != "help" && name != "resume";
}

/// As texts, or as numbers.
bool is_same(const std::string& a, const std::string& b) {
  if (a == b) return true;
  try {
    return parse_number(a, "value") == parse_number(b, "value");
  } catch (const UsageError&) {
    return false;
  }
}

/// Options that a run may be resumed with, whatever it began with. (Of `rounds`, the run sees whether it may.)
bool may_change(const std::string& name) {
  static const std::set<std::string> free{"rounds",       "progress", "json",         "json-models", "checkpoint-every",
                                          "ledger-block", "watchdog", "print-config", "exchange"};
  return free.contains(name);
}

/// A value whose names of files hold in any folder.
std::string anywhere(const Option& option, const std::string& text) {
  return option.files == nullptr ? text : option.files(text, std::filesystem::current_path());
}

po::options_description describe(const std::vector<Option>& options) {
  po::options_description description;
  for (const Option& option : options) {
    if (option.argument.empty()) {
      description.add_options()(option.name.c_str(), po::bool_switch(), "");
    } else {
      description.add_options()(option.name.c_str(), po::value<std::string>(), "");
    }
  }
  return description;
}

po::positional_options_description places_of(const std::vector<Option>& options) {
  po::positional_options_description places;
  for (const Option& option : options) {
    if (option.positional) places.add(option.name.c_str(), 1);
  }
  return places;
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = indent;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column + word.size() + 1 > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

}  // namespace

void refuse_placeholders(const std::string& text, const std::string& what) {
  for (const char* place :
       {"%option%", "%value%", "%prefix%", "%canonical_option%", "%original_token%", "%invalid_line%"}) {
    check(text.find(place) == std::string::npos, "{} holds {} (no option reads that) name it otherwise", what, place);
  }
}

const Option* Options::find(const std::string& name) const {
  const auto found = std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

void Options::read_command_line(const std::vector<std::string>& words) {
  try {
    const auto description = describe(options_);
    using Style = po::command_line_style::style_t;
    const auto parsed = po::command_line_parser(words)
                            .options(description)
                            .positional(places_of(options_))
                            .style(Style::allow_long | Style::long_allow_adjacent | Style::long_allow_next)
                            .run();
    for (const auto& option : parsed.options) {
      const std::string text = option.value.empty() ? "true" : option.value.front();
      check(text.find_first_of("#\r\n") == std::string::npos,
            "--{} '{}' holds a # or a line break (it could not stand in config.ini) name it otherwise",
            option.string_key, text);
      const auto [earlier, first] = given_.emplace(option.string_key, Given{text, "--" + option.string_key});
      check(first || earlier->second.text == text,
            "--{} is given twice, as '{}' and as '{}': either could be meant. Give it once", option.string_key,
            earlier->second.text, text);
    }
  } catch (const po::too_many_positional_options_error&) {
    const auto word = std::find_if(options_.begin(), options_.end(), [](const Option& o) { return o.positional; });
    const std::string most =
        word == options_.end() ? "options only" : fmt::format("one {} and options", word->argument);
    throw UsageError(fmt::format("starling {} takes {}, each option beginning with -- (see starling {} --help)",
                                 command_, most, command_));
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{} (see starling {} --help)", error.what(), command_));
  }
}

std::map<std::string, Options::Given> Options::read_file(const std::string& path, const std::string& folder) const {
  std::map<std::string, Given> result;
  const std::string text = fmt::format("{}\n", fmt::join(read_lines(path, fmt::format("--config '{}'", path)), "\n"));
  refuse_placeholders(text, path);
  std::istringstream lines(text);
  try {
    const auto parsed = po::parse_config_file(lines, describe(options_), true);
    std::set<std::string> seen;
    for (const auto& option : parsed.options) {
      const std::string& key = option.string_key;
      const bool first = seen.insert(key).second;
      const std::string where = fmt::format("{}:{}: {}", path, line_of(text, key, first ? 0 : 1), key);
      check(!option.unregistered && find(key) != nullptr && is_part_of_a_file(key),
            "{}: unknown key (starling {} has no such option) see starling {} --help", where, command_, command_);
      check(first, "{}: the key stands twice (one value could be meant as well as the other) delete one", where);
      const Given value{option.value.empty() ? "true" : option.value.front(), where};
      // A default in a file, as --print-config writes them all, is nothing that the user asked for.
      if (!value.text.empty() && value.text == find(key)->initial) continue;
      const auto& [other, fading] = find(key)->falls_with;
      if (const auto given = given_.find(other); given != given_.end() && given->second.text == fading) continue;
      const NamedFiles files = find(key)->files;
      result[key] = {files == nullptr ? value.text : files(value.text, folder), where};
    }
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{}: {} (a line reads key = value)", path, error.what()));
  }
  return result;
}

/// The configuration of a run, in which the command line may change nothing that matters.
std::map<std::string, Options::Given> Options::read_run(const std::string& directory) const {
  for (const char* other : {"config", "output"}) {
    check(!given(other),
          "--resume with --{} (a run has its configuration and its results in its directory) leave it out", other);
  }
  check(std::filesystem::is_directory(directory), "--resume '{}': no such directory. Name the directory of a run",
        directory);
  const std::string path = directory + "/config.ini";
  check(std::filesystem::is_regular_file(path), "--resume '{}': it has no config.ini (a run's directory has one)",
        directory);
  std::map<std::string, Given> of_run;
  try {
    of_run = read_file(path, "");  // its names hold anywhere, or, where ranks began in different folders, from there
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} (--resume goes on with a run of the same command)", error.what()));
  }
  std::vector<std::string> differences;
  for (const auto& [name, here] : given_) {
    if (name == "resume" || may_change(name)) continue;
    const auto there = of_run.find(name);
    const std::string text = there != of_run.end() ? there->second.text : find(name)->initial;
    if (!is_same(text, here.text) && !is_same(text, anywhere(*find(name), here.text)))
      differences.push_back(fmt::format("{} = {}, here {}", name, text.empty() ? "-" : text, here.text));
  }
  check(differences.empty(),
        "--resume '{}': the run has another configuration ({}) leave these options out, or start a run of its own",
        directory, fmt::join(differences, "; "));
  return of_run;
}

void Options::parse(const std::vector<std::string>& words) {
  read_command_line(words);
  if (given("resume")) {
    given_.merge(read_run(given_.at("resume").text));
  } else if (given("config")) {
    const std::string& path = given_.at("config").text;
    given_.merge(read_file(path, std::filesystem::path(path).parent_path().string()));
  }
  for (const Option& option : options_) {
    const auto value = given_.find(option.name);
    if (value == given_.end()) {
      if (!option.initial.empty()) option.apply(option.initial);
      continue;
    }
    const auto& [text, where] = value->second;
    check(!text.empty() || option.initial.empty(), "{} has no value (the default is '{}') give one or leave it out",
          where, option.initial);
    try {
      option.apply(text);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", where, error.what()));
    }
  }
}

std::string Options::help() const {
  constexpr std::size_t indent = 32;
  constexpr std::size_t width = 110;
  std::string text;
  std::string group;
  for (const Option& option : options_) {
    if (option.group != group) {
      group = option.group;
      text += fmt::format("\n{}:\n", group);
    }
    std::string head = option.positional ? fmt::format("  {}", option.argument)
                                         : fmt::format("  --{} {}", option.name, option.argument);
    if (head.size() + 2 > indent) {
      head += fmt::format("\n{:{}}", "", indent);
    } else {
      head.resize(indent, ' ');
    }
    const std::string initial =
        option.initial.empty() || option.argument.empty() ? "" : fmt::format(" [{}]", option.initial);
    text += fmt::format("{}{}\n", head, wrapped(option.help + initial, indent, width));
  }
  return text;
}

std::string Options::configuration(Names names) const {
  std::string text;
  for (const Option& option : options_) {
    if (!is_part_of_a_file(option.name)) continue;
    const auto value = given_.find(option.name);
    const std::string shown =
        value != given_.end() ? (names == Names::absolute ? anywhere(option, value->second.text) : value->second.text)
                              : option.initial;
    if (shown.empty() || (option.argument.empty() && shown == "false")) continue;
    text += fmt::format("{} = {}\n", option.name, shown);
  }
  return text;
}

namespace setter {

namespace {
double checked_number(const std::string& text, double least, double most) {
  const double value = parse_number(text, "value");
  check(value >= least && value <= most, "{} is out of range ({} to {})", text, least, most);
  return value;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    check(end > from, "'{}' has an empty place (values are separated by single commas) correct the list", text);
    items.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return items;
}
}  // namespace

std::function<void(const std::string&)> text(std::string& target) {
  return [&target](const std::string& value) { target = value; };
}
std::function<void(const std::string&)> text(std::optional<std::string>& target) {
  return [&target](const std::string& value) { target = value; };
}
std::function<void(const std::string&)> number(double& target, double least, double most) {
  return [&target, least, most](const std::string& value) { target = checked_number(value, least, most); };
}
std::function<void(const std::string&)> number(std::optional<double>& target, double least, double most) {
  return [&target, least, most](const std::string& value) { target = checked_number(value, least, most); };
}
std::function<void(const std::string&)> number_or_auto(std::optional<double>& target, double least, double most) {
  return [&target, least, most](const std::string& value) {
    target = value == "auto" ? std::nullopt : std::optional(checked_number(value, least, most));
  };
}
std::function<void(const std::string&)> flag(bool& target) {
  return [&target](const std::string& value) { target = one_of(value, {"true", "false"}) == "true"; };
}
std::function<void(const std::string&)> list(std::vector<std::string>& target) {
  return [&target](const std::string& text) { target = split_list(text); };
}
std::function<void(const std::string&)> list(std::vector<double>& target) {
  return [&target](const std::string& text) {
    target.clear();
    for (const std::string& item : split_list(text)) target.push_back(parse_number(item, "value"));
  };
}
std::function<void(const std::string&)> integer_into(std::function<void(long long)> store, long long least,
                                                     long long most) {
  return [store = std::move(store), least, most](const std::string& text) {
    const long long value = parse_integer(text, "value");
    check(value >= least && value <= most, "{} is out of range ({} to {})", text, least, most);
    store(value);
  };
}
std::string one_of(const std::string& text, const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), text) != words.end()) return text;
  throw UsageError(fmt::format("unknown word '{}' (known: {})", text, fmt::join(words, ", ")));
}

}  // namespace setter

}  // namespace starling
