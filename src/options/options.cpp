#include "options/options.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include <boost/program_options.hpp>

#include "core/check.hpp"
#include "core/text/spec.hpp"
#include "files/text.hpp"
#include "files/text_files.hpp"
#include "options/meant.hpp"
#include "options/toml_file.hpp"

namespace starling {

namespace po = boost::program_options;

namespace {

/// Texts as one list, which split_list parts again.
std::string list_of(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(csv_text(text));
  return fmt::format("{}", fmt::join(items, ","));
}

std::vector<std::string> lines_of_config(const std::string& path) {
  return read_lines(path, fmt::format("--config '{}'", path));
}

/// Line of `key =` in an INI text, from 1, after `earlier` lines with the same key; 0 if there is none. Below a line
/// [section], keys begin with `section.`.
int line_of(const std::string& text, const std::string& key, std::size_t earlier) {
  std::istringstream lines(text);
  std::string line;
  std::string section;
  for (int number = 1; std::getline(lines, line); ++number) {
    line = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (line.starts_with('[') && line.ends_with(']')) section = line.substr(1, line.size() - 2) + ".";
    if (const auto equals = line.find('=');
        equals == std::string::npos || section + std::string(trimmed(std::string_view(line).substr(0, equals))) != key)
      continue;
    if (earlier-- == 0) return number;
  }
  return 0;
}

/// Throws UsageError for a line of an INI text that is no section, no comment, and has no equals sign.
void check_lines(const std::string& text, const std::string& path) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line = trimmed(std::string_view(line).substr(0, line.find('#')));
    check(line.empty() || line.front() == '[' || line.find('=') != std::string::npos,
          "{}:{}: '{}' is no key = value. Write it so, or begin the line with #.", path, number, line);
  }
}

/// Whether two values are the same text or the same number.
bool is_same(const std::string& a, const std::string& b) {
  if (a == b) return true;
  try {
    return parse_number(a, "value") == parse_number(b, "value");
  } catch (const UsageError&) {
    return false;
  }
}

/// Whether one of the values that the text lists, each without its parameters, is among `words`.
bool names_one_of(const std::string& text, const std::vector<std::string>& words) {
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, ',');) {
    if (std::find(words.begin(), words.end(), entry.substr(0, entry.find(':'))) != words.end()) return true;
  }
  return false;
}

/// A value in which names of files are absolute.
std::string with_absolute_names(const Option& option, const std::string& text) {
  return option.files == nullptr ? text : option.files(text, std::filesystem::current_path());
}

/// Throws UsageError if no configuration file could hold the value, as where the present folder has such a name: a run
/// could not be resumed.
void require_line(const Option& option, const std::string& value) {
  const bool whole = option.files == nullptr || trimmed(value) == value;
  check(value.find_first_of("#\r\n") == std::string::npos && whole && !text_fault(value),
        "--{} '{}' holds a #, a line break, a blank at an end, or bytes that are not UTF-8: it could not stand in "
        "config.ini. Name it, and the folder where it is, otherwise.",
        option.name, value);
}

po::options_description describe(const std::vector<Option>& options) {
  po::options_description description;
  for (const Option& option : options) {
    if (option.argument.empty()) {
      description.add_options()(option.name.c_str(), po::bool_switch(), "");
    } else if (option.many) {
      description.add_options()(option.name.c_str(), po::value<std::vector<std::string>>()->multitoken(), "");
    } else {
      description.add_options()(option.name.c_str(), po::value<std::string>(), "");
    }
  }
  return description;
}

std::vector<std::string> names_of(const std::vector<Option>& options) {
  std::vector<std::string> names;
  for (const Option& option : options) {
    if (!option.positional) names.push_back(option.name);
  }
  return names;
}

po::positional_options_description places_of(const std::vector<Option>& options) {
  po::positional_options_description places;
  for (const Option& option : options) {
    if (option.positional) places.add(option.name.c_str(), option.many ? -1 : 1);
  }
  return places;
}

}  // namespace

void refuse_placeholders(const std::string& text, const std::string& what) {
  for (const char* place :
       {"%option%", "%value%", "%prefix%", "%canonical_option%", "%original_token%", "%invalid_line%"}) {
    check(text.find(place) == std::string::npos, "{} holds {}: no option can read that. Name it otherwise.", what,
          place);
  }
}

void Options::add(Option option, Reader read) {
  if (option.group.empty()) option.group = group_;
  entries_.push_back({std::move(option), std::move(read)});
}

std::vector<Option> Options::declarations() const {
  std::vector<Option> options;
  for (const Entry& entry : entries_) options.push_back(entry.option);
  return options;
}

const Option* Options::find(const std::string& name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.option.name == name; });
  return found == entries_.end() ? nullptr : &found->option;
}

/// Rewrites `--csv models` as `--csv=models` and `--csv` as `--csv=history`: any other word is not the value of such an
/// option.
std::vector<std::string> Options::with_implied_values(const std::vector<std::string>& words) const {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    result.push_back(words[i]);
    const Option* option = words[i].starts_with("--") ? find(words[i].substr(2)) : nullptr;
    if (option == nullptr || option->implied.empty()) continue;
    const bool given = i + 1 < words.size() && names_one_of(words[i + 1], option->words);
    result.back() += "=" + (given ? words[++i] : option->implied);
  }
  return result;
}

/// Throws UsageError for the first word too many: neither an option, nor the value of one, nor the command's own word.
void Options::throw_stray_word(const std::vector<std::string>& words) const {
  const auto own = std::find_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.option.positional; });
  std::vector<std::string> without;  // words without an option
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Option* option = words[i].starts_with("--") ? find(words[i].substr(2)) : nullptr;
    if (!words[i].starts_with("--")) without.push_back(words[i]);
    if (option != nullptr && !option->argument.empty() && option->implied.empty()) ++i;
  }
  const std::size_t most = own == entries_.end() ? 0 : 1;
  const std::string stray = without.size() > most ? without[most] : without.empty() ? "" : without.back();
  std::error_code ignored;
  const bool is_file = find("source") != nullptr && std::filesystem::is_regular_file(stray, ignored);
  const bool is_second = most == 1 && own->option.name == "source" && is_file;
  const std::string remedy =
      is_second ? " Files of several clients are one SOURCE with {client} in its name, as in site-{client}.csv for "
                  "site-0.csv and site-1.csv."
      : is_file ? fmt::format(" Records are named by --source {}.", stray)
                : "";
  throw UsageError(fmt::format(
      "starling {} takes {}, each option beginning with --: '{}' is none.{} See starling {} --help.", command_,
      most == 0 ? "options only" : fmt::format("one {} and options", own->option.argument), stray, remedy, command_));
}

void Options::read_command_line(const std::vector<std::string>& words) {
  const std::vector<Option> options = declarations();
  const bool has_files = find("config") != nullptr;
  try {
    const auto description = describe(options);
    using Style = po::command_line_style::style_t;
    const auto parsed = po::command_line_parser(with_implied_values(words))
                            .options(description)
                            .positional(places_of(options))
                            .style(Style::allow_long | Style::long_allow_adjacent | Style::long_allow_next)
                            .run();
    for (const auto& option : parsed.options) {
      const std::vector<std::string> texts = option.value.empty() ? std::vector<std::string>{"true"} : option.value;
      check(!has_files || texts.front().find_first_of("#\r\n") == std::string::npos,
            "--{} '{}' holds a # or a line break: it could not stand in config.ini. Name it otherwise.",
            option.string_key, texts.front());
      const auto [earlier, first] = given_.emplace(option.string_key, Given{texts, "--" + option.string_key});
      if (first) continue;
      if (find(option.string_key)->many) {
        earlier->second.texts.insert(earlier->second.texts.end(), texts.begin(), texts.end());
        continue;
      }
      check(earlier->second.texts == texts,
            "--{} is given twice, as '{}' and as '{}': either could be meant. Give it once.", option.string_key,
            earlier->second.texts.front(), texts.front());
    }
  } catch (const po::too_many_positional_options_error&) {
    throw_stray_word(words);
  } catch (const po::unknown_option& error) {
    const std::string& given = error.get_option_name();
    const std::string name = given.substr(0, given.find('='));
    const auto meant = meant_option(name.substr(name.find_first_not_of('-')), names_of(options));
    throw UsageError(fmt::format("unknown option {}. {} starling {} --help=all lists all options.", name,
                                 meant ? "Did you mean --" + *meant + "?" : "It is none of this command.", command_));
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{} (see starling {} --help)", error.what(), command_));
  }
}

std::vector<FileEntry> Options::read_ini(const std::string& text, const std::string& path) const {
  check_lines(text, path);
  std::istringstream lines(text);
  try {
    std::vector<FileEntry> entries;
    std::set<std::string> seen;
    for (const auto& entry : po::parse_config_file(lines, describe(declarations()), true).options) {
      const std::string& key = entry.string_key;
      const bool first = seen.insert(key).second;
      entries.push_back(
          {key, {entry.value.empty() ? "true" : entry.value.front()}, false, line_of(text, key, first ? 0 : 1)});
    }
    return entries;
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{}: {}: a line reads key = value.", path, error.what()));
  }
}

std::map<std::string, Options::Given> Options::read_file(const std::vector<std::string>& lines, const std::string& path,
                                                         const std::string& folder) {
  std::map<std::string, Given> result;
  const std::string text = fmt::format("{}\n", fmt::join(lines, "\n"));
  refuse_placeholders(text, path);
  std::set<std::string> seen;
  for (const auto& [key, values, is_array, line] : is_toml(path) ? read_toml(text, path) : read_ini(text, path)) {
    const std::string where = fmt::format("{}:{}: {}", path, line, key);
    const Option* option = find(key);
    const auto meant = option == nullptr ? meant_option(key, names_of(declarations())) : std::nullopt;
    const std::size_t dot = key.rfind('.');
    check(option != nullptr || dot == std::string::npos || find(key.substr(dot + 1)) == nullptr,
          "{}: unknown key: the heading [{}] makes it of {}, and options stand without a heading. Delete the heading.",
          where, key.substr(0, dot), key.substr(dot + 1));
    check(option != nullptr && !option->about_configuration,
          "{}: unknown key: starling {} has no such option. {} starling {} --help=all lists all options.", where,
          command_,
          given("resume") ? "The run is of another command, or the line was added."
          : meant         ? "Did you mean " + *meant + "?"
                          : "Delete the line.",
          command_);
    check(seen.insert(key).second, "{}: the key stands twice: either value could be meant. Delete one line.", where);
    const std::string value = is_array ? list_of(values) : values.front();
    // A default in a file, as --print-config writes most defaults, asks for nothing that other options exclude.
    if (!value.empty() && value == option->initial) {
      stated_defaults_.insert(key);
      continue;
    }
    const auto& [other, fading] = option->falls_with;
    if (const auto given = given_.find(other); given != given_.end() && given->second.texts.front() == fading) continue;
    std::vector<std::string>& texts = result[key].texts;
    texts = option->many ? values : std::vector{value};
    for (std::string& text_of_one : texts) {
      if (option->files != nullptr) text_of_one = option->files(text_of_one, folder);
    }
    result[key].where = where;
  }
  return result;
}

/// The configuration of the run in a directory. What the command line only repeats is forgotten. Throws UsageError if
/// the command line has other values for options that a run keeps.
std::map<std::string, Options::Given> Options::read_run(const std::string& directory, const std::string& text) {
  for (const char* other : {"config", "output"}) {
    check(!given(other),
          "--resume with --{}: a run has its configuration and its results in its directory. Leave it out.", other);
  }
  const std::string path = directory + "/config.ini";
  check(!text.empty() || std::filesystem::is_directory(directory),
        "--resume '{}': no such directory. Name the directory of a run.", directory);
  check(
      !text.empty() || std::filesystem::is_regular_file(path),
      "--resume '{}': the directory has no config.ini. Name the directory of a run. (One that was killed while it was "
      "made has none, and has released nothing: remove it, and start the run again.)",
      directory);
  std::map<std::string, Given> of_run;
  try {
    // Names of files are absolute, or hold from the present folder where ranks began in different ones.
    of_run = read_file(text.empty() ? lines_of_config(path) : text_lines(text, path), path, "");
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} --resume goes on with a run of the same command.", error.what()));
  }
  std::vector<std::string> differences;
  std::erase_if(given_, [&](const auto& each) {
    const auto& [name, here] = each;
    const Option& option = *find(name);
    if (option.may_change()) return false;
    const auto there = of_run.find(name);
    const bool is_stated = there != of_run.end() || !option.initial.empty();
    const std::string before = there != of_run.end() ? there->second.texts.front()
                               : is_stated           ? option.initial
                                                     : option.unstated;
    const std::string& asked = here.texts.front();
    if (is_same(before, asked) || is_same(before, with_absolute_names(option, asked))) {
      if (!is_stated) unstated_.insert(name);
      return is_stated;
    }
    differences.push_back(fmt::format("{} = {}, here {}", name, before.empty() ? "-" : before, asked));
    return false;
  });
  check(differences.empty(),
        "--resume '{}': the run has another configuration ({}). Leave these options out, or start a run of its own.",
        directory, fmt::join(differences, "; "));
  return of_run;
}

void Options::parse(const std::vector<std::string>& words, const std::string& of_run) {
  read_command_line(words);
  if (given("resume")) {
    set_aside();
    given_.merge(read_run(given_.at("resume").texts.front(), of_run));
  } else if (given("config")) {
    const std::string& path = given_.at("config").texts.front();
    given_.merge(read_file(lines_of_config(path), path, std::filesystem::path(path).parent_path().string()));
  } else if (!of_run.empty()) {
    given_.merge(read_file(text_lines(of_run, "config.ini"), "config.ini", ""));
  }
  read_values();
  check_relations();
}

const Options::Entry& Options::entry_of(const std::string& name) const {
  const auto entry = std::ranges::find_if(entries_, [&](const Entry& each) { return each.option.name == name; });
  check<FailureError>(entry != entries_.end(), "{} has no option --{}", command_, name);
  return *entry;
}

void Options::choose(const std::string& name, const std::string& text) {
  const Entry& entry = entry_of(name);
  given_[name] = Given{{text}, "--" + name};
  read_value(entry);
}

void Options::withdraw(const std::string& name) {
  const Entry& entry = entry_of(name);
  given_.erase(name);
  read_value(entry);
}

void Options::check_relations() const {
  for (const Entry& entry : entries_) {
    for (const Relation& relation : entry.option.relations) check_relation(entry.option, relation);
  }
}

void Options::set_aside() {
  for (const Option& option : declarations()) {
    if (option.aside_with.empty() || !given(option.aside_with) || !given(option.name)) continue;
    aside_[option.name] = with_absolute_names(option, given_.at(option.name).texts.front());
    given_.erase(option.name);
  }
}

std::optional<std::string> Options::aside(const std::string& name) const {
  const auto value = aside_.find(name);
  return value == aside_.end() ? std::nullopt : std::optional(value->second);
}

void Options::read_values() const {
  for (const Entry& entry : entries_) read_value(entry);
}

void Options::read_value(const Entry& entry) const {
  const auto& [option, read] = entry;
  const auto value = given_.find(option.name);
  if (value == given_.end()) {
    if (!option.initial.empty()) read(option.initial);
    return;
  }
  const auto& [texts, where] = value->second;
  check(!texts.front().empty(), "{} has no value{}. Give one, or leave it out.", where,
        option.initial.empty() ? "" : fmt::format(" (the default is '{}')", option.initial));
  try {
    for (const std::string& text : texts) read(text);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", where, error.what()));
  }
}

std::string Options::value_of(const Option& option) const {
  const auto value = given_.find(option.name);
  return value == given_.end() ? option.initial : value->second.texts.front();
}

/// Whether the user gave the option a value other than its default.
bool Options::is_there(const Option& option) const {
  const bool off = option.kind == Option::Kind::flag && value_of(option) == "false";
  return given(option.name) && !off && !is_same(value_of(option), option.initial);
}

void Options::check_relation(const Option& option, const Relation& relation) const {
  const Option* other = find(relation.other);
  const bool lacks = relation.kind == Relation::Kind::needs;
  const bool off = option.kind == Option::Kind::flag && value_of(option) == "false";
  const bool applies = !relation.when.empty() ? names_one_of(value_of(option), relation.when)
                       : lacks                ? given(option.name) && !off
                                              : is_there(option);
  if (other == nullptr || !applies) return;
  const bool there = relation.values.empty() ? is_there(*other) : names_one_of(value_of(*other), relation.values);
  if (there == lacks) return;
  const std::string own = "--" + option.name + (relation.when.empty() ? "" : " " + value_of(option));
  std::string others = "--" + other->name;
  if (!relation.values.empty())
    others += lacks ? fmt::format(" {}", fmt::join(relation.values, " or ")) : " " + value_of(*other);
  if (lacks) {
    throw UsageError(fmt::format(
        "{} without {}: {}. {}", own, others, relation.why,
        relation.remedy.empty() ? fmt::format("Add {}, or leave --{} out.", others, option.name) : relation.remedy));
  }
  const bool alike = relation.when.empty() && relation.values.empty();
  throw UsageError(fmt::format(fmt::runtime(alike ? "{} and {} exclude each other: {}. {}" : "{} with {}: {}. {}"), own,
                               others, relation.why,
                               relation.remedy.empty() ? "Leave one of them out." : relation.remedy));
}

std::string Options::configuration(Names names, const std::vector<std::string>& left_out) const {
  std::string text;
  for (const Option& option : declarations()) {
    if (option.about_configuration || std::ranges::count(left_out, option.name) > 0) continue;
    if (unstated_.contains(option.name)) continue;
    const auto value = given_.find(option.name);
    const std::string shown = value == given_.end()      ? option.initial
                              : names == Names::absolute ? with_absolute_names(option, value->second.texts.front())
                                                         : value->second.texts.front();
    if (shown.empty() || (option.argument.empty() && shown == "false")) continue;
    require_line(option, shown);
    text += fmt::format("{} = {}\n", option.name, shown);
  }
  return text;
}

}  // namespace starling
