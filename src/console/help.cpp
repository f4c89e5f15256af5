#include "help.hpp"

#include <algorithm>
#include <sstream>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "options/help.hpp"

namespace starling {

namespace {

std::string title_of(const Command& command, const std::string& path) {
  return fmt::format("starling {}: {}\n\n", path, command.purpose);
}

std::string usage_text(const Command& command, const std::string& path) {
  std::string text;
  for (const std::string& line : usage_of(command, path)) text += (text.empty() ? "usage: " : "       ") + line + "\n";
  return text;
}

/// Examples in lines of their own, broken before an option where they are too long.
std::string lines_of(const std::string& example) {
  std::string text = "  ";
  std::size_t column = 2;
  std::istringstream words(example);
  for (std::string word; words >> word;) {
    const bool breaks = column + word.size() + 3 > help_width && word.starts_with("--");
    text += breaks ? "\\\n      " : "";
    column = breaks ? 6 : column;
    text += word + " ";
    column += word.size() + 1;
  }
  text.back() = '\n';
  return text;
}

std::string full_help(const Command& command, const std::string& path) {
  const Manual manual = command.manual == nullptr ? Manual() : command.manual();
  std::string text = title_of(command, path) + usage_text(command, path) + "\n" + paragraphs(manual.text);
  if (!manual.examples.empty()) text += manual.examples.size() > 1 ? "\nExamples:\n" : "\nExample:\n";
  for (const std::string& example : manual.examples) text += lines_of(example);
  if (!command.subcommands.empty()) text += "\nCommands (each has --help):\n" + list_of(command.subcommands, "");
  if (command.options != nullptr) text += help_on_all(command.options());
  return text + manual.more;
}

std::string common_help(const Command& command, const std::string& path) {
  const Manual manual = command.manual();
  const std::vector<Option> options = command.options();
  return title_of(command, path) + usage_text(command, path) + "example:\n" + lines_of(manual.examples.front()) + "\n" +
         help_on_common(options) +
         fmt::format("\n--help=all has all {} options. --help=OPTION has one with its values, as in --help={}.\n",
                     options.size(), options.front().name);
}

bool fits_a_screen(const std::string& text) {
  return std::ranges::count(text, '\n') <= static_cast<std::ptrdiff_t>(help_lines);
}

}  // namespace

std::optional<std::string> help_topic(const std::vector<std::string>& words) {
  constexpr std::string_view with_topic = "--help=";
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") return "common";
    if (word.starts_with(with_topic)) return word.substr(with_topic.size());
  }
  return std::nullopt;
}

std::string help_text(const Command& command, const std::string& path, const std::string& topic) {
  if (topic == "all" || command.options == nullptr) return full_help(command, path);
  const std::vector<Option> options = command.options();
  if (topic == "common") {
    std::string full = full_help(command, path);
    const bool has_common = std::ranges::any_of(options, &Option::common);
    return fits_a_screen(full) || !has_common ? full : common_help(command, path);
  }
  const std::string name = topic.substr(std::min(topic.find_first_not_of('-'), topic.size()));
  std::vector<std::string> known{"all"};
  for (const Option& option : options) {
    if (option.name == name || (option.positional && option.argument == name)) {
      return help_on(option, options, "starling " + path);
    }
    known.push_back(option.name);
  }
  throw UsageError(fmt::format("--help={}: starling {} has no such option. {} --help=all lists all options.", topic,
                               path, did_you_mean(name, known, "--help=", "Name one that it has.")));
}

std::vector<std::string> usage_of(const Command& command, const std::string& path) {
  const std::string before = (command.on_all_ranks ? "mpirun -n RANKS starling " : "starling ") + path + " ";
  std::istringstream usages(command.manual == nullptr ? "COMMAND …" : command.manual().usage);
  std::vector<std::string> lines;
  for (std::string usage; std::getline(usages, usage);) lines.push_back(before + usage);
  return lines;
}

}  // namespace starling
