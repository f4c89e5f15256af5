// Manual pages.
#include <sstream>

#include <fmt/format.h>

#include "console/help.hpp"
#include "console/version.hpp"
#include "generated_text.hpp"
#include "options/help.hpp"

namespace starling {

namespace {

/// Text in roff: its own signs are those of the text, and no line is a request.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) result += "\\&";
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '\'' ? "\\(aq" : std::string(1, c);
  }
  return result;
}

std::string with_dashes(std::string path) {
  for (char& c : path) c = c == ' ' ? '-' : c;
  return path;
}

std::string begin_page(const std::string& name, const std::string& purpose) {
  return fmt::format(".TH {0} 1 \"\" \"starling {1}\" \"starling\"\n.SH NAME\n{0} \\- {2}\n", roff(name),
                     roff(version().substr(0, version().find(' '))), roff(purpose));
}

/// Lines that stay as they are.
std::string verbatim(const std::string& lines) {
  return ".nf\n" + roff(lines) + (lines.ends_with('\n') ? "" : "\n") + ".fi\n";
}

/// Lines that begin with a space stay as they are; the others are filled.
std::string prose(const std::string& text) {
  std::string result;
  bool table = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool in_table = line.starts_with(' ');
    if (in_table != table) result += in_table ? ".nf\n" : ".fi\n";
    table = in_table;
    result += line.empty() ? ".PP\n" : roff(line) + "\n";
  }
  return result + (table ? ".fi\n" : "");
}

std::string entry(const Option& option) {
  std::string head =
      option.positional ? "\\fI" + roff(option.argument) + "\\fR" : "\\fB" + roff("--" + option.name) + "\\fR";
  if (!option.positional && !option.argument.empty()) head += " \\fI" + roff(option.argument) + "\\fR";
  std::string text = option.help;
  if (option.values != nullptr) text += " (" + option.values().title + ", below)";
  if (!option.unit.empty()) text += " (unit: " + option.unit + ")";
  if (!option.initial.empty() && !option.argument.empty()) text += " [" + option.initial + "]";
  return ".TP\n" + head + "\n" + roff(text) + "\n";
}

std::string options_of(const std::vector<Option>& options) {
  std::string text = ".SH OPTIONS\n";
  for (const auto& group : grouped(options)) {
    text += ".SS " + roff(group.front().group) + "\n";
    for (const Option& option : group) text += entry(option);
  }
  for (const OptionValues& each : explained_values(options)) {
    text += ".SS " + roff(each.title) + "\n" + verbatim(each.text);
  }
  return text;
}

std::string list(const std::vector<Command>& commands, const std::string& above) {
  std::string text = ".SH COMMANDS\n";
  for (const Command& command : commands) {
    text +=
        fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(with_dashes(above + " " + command.name)), roff(command.purpose));
  }
  return text;
}

}  // namespace

std::string man_page(const std::vector<Command>& table) {
  return begin_page("starling", "decentralized, differentially private online learning on MPI") +
         ".SH SYNOPSIS\n\\fBstarling\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n" + list(table, "starling") +
         ".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n" +
         roff(
             "the commands; after a command its most needed options, with --help=all every option, with --help=OPTION "
             "one of them") +
         "\n.TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\n" + roff("version of the program and its libraries") + "\n";
}

std::string man_page(const Command& command, const std::string& path) {
  const Manual manual = command.manual == nullptr ? Manual() : command.manual();
  std::string text = begin_page(with_dashes("starling " + path), command.purpose) + ".SH SYNOPSIS\n";
  const std::vector<std::string> usages = usage_of(command, path);
  for (std::size_t i = 0; i < usages.size(); ++i) text += (i > 0 ? ".br\n" : "") + roff(usages[i]) + "\n";
  if (!manual.text.empty()) text += ".SH DESCRIPTION\n" + prose(manual.text);
  if (!command.subcommands.empty()) text += list(command.subcommands, "starling " + path);
  if (command.options != nullptr) text += options_of(command.options());
  if (!manual.more.empty()) text += ".SH NOTES\n" + verbatim(manual.more.substr(manual.more.find_first_not_of('\n')));
  if (!manual.examples.empty())
    text += ".SH EXAMPLES\n" + verbatim(fmt::format("{}", fmt::join(manual.examples, "\n")));
  return text + ".SH SEE ALSO\n\\fBstarling\\fR(1)\n";
}

}  // namespace starling
