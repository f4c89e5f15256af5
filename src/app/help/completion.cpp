// Completion by shells.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/text/names.hpp"
#include "generated_text.hpp"

namespace starling {

namespace {

/// A command that has options, with the names of those above it.
struct Leaf {
  std::string path;
  std::vector<Option> options;
};

std::vector<Leaf> leaves_of(const std::vector<Command>& commands, const std::string& above = "") {
  std::vector<Leaf> leaves;
  for (const Command& command : commands) {
    const std::string path = above.empty() ? command.name : above + " " + command.name;
    if (command.options != nullptr) leaves.push_back({path, command.options()});
    for (Leaf& below : leaves_of(command.subcommands, path)) leaves.push_back(std::move(below));
  }
  return leaves;
}

/// Values that a shell offers, besides the names of files.
std::vector<std::string> offered_values(const Option& option) {
  std::vector<std::string> values = option.words;
  if (option.name == "help") values = {"all"};
  if (option.argument.empty()) return {};
  if (option.values != nullptr) {
    const OptionValues explained = option.values();
    values.insert(values.end(), explained.names.begin(), explained.names.end());
  }
  if (!option.no_value.empty() && std::ranges::find(values, option.no_value) == values.end()) {
    values.push_back(option.no_value);
  }
  return values;
}

bool names_files(const Option& option) {
  return option.files != nullptr || option.positional || option.name == "config" || option.name == "resume";
}

/// The first sentence of the meaning, which is a line.
std::string brief(const Option& option) {
  const std::string& text = option.help;
  const std::size_t end = std::min(text.find("; "), text.find(". "));
  return text.substr(0, end);
}

std::string escaped(const std::string& text, std::string_view signs, const std::string& escape) {
  std::string result;
  for (const char c : text) {
    if (signs.find(c) != std::string_view::npos) result += escape;
    result += c;
  }
  return result;
}

/// Text within single quotes of bash and zsh.
std::string within_quotes(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result;
}

/// The lines of a case statement that print what may stand after a word of the command line.
std::string bash_cases(const std::vector<Command>& table) {
  std::map<std::string, std::string> words;  // "COMMAND --OPTION" or "COMMAND" by what is printed
  const auto add = [&words](const std::string& printed, const std::string& pattern) {
    std::string& patterns = words[printed];
    patterns += (patterns.empty() ? "'" : "|'") + pattern + "'";
  };
  add(fmt::format("{} help --help --version", fmt::join(names_in(table), " ")), "");
  for (const Command& command : table) {
    if (!command.subcommands.empty()) {
      add(fmt::format("{} --help", fmt::join(names_in(command.subcommands), " ")), command.name);
    }
  }
  for (const Leaf& leaf : leaves_of(table)) {
    std::vector<std::string> names;
    for (const Option& option : leaf.options) {
      if (!option.positional) names.push_back("--" + option.name);
      std::vector<std::string> printed = offered_values(option);
      if (names_files(option)) printed.insert(printed.begin(), "@files");
      if (printed.empty()) printed.emplace_back("@text");
      const std::string pattern = option.positional ? leaf.path + " @" : leaf.path + " --" + option.name;
      if (!option.argument.empty()) add(fmt::format("{}", fmt::join(printed, " ")), pattern);
    }
    add(fmt::format("{}", fmt::join(names, " ")), leaf.path);
  }
  std::string text;
  for (const auto& [printed, patterns] : words) {
    text += fmt::format("    {}) echo '{}' ;;\n", patterns, within_quotes(printed));
  }
  return text;
}

constexpr const char* bash_functions = R"bash(
# Offers the words of the list that begin with the text, and names of files where @files is among them. What bash takes for
# earlier words, up to the last : or =, is not part of an answer.
_starling_offer() {
  local text=$1 before=$2 current=$2$1 word
  [[ " $3 " == *' @files '* ]] && compopt -o default
  COMPREPLY=()
  for word in $3; do
    [[ $word != @* && $word == "$text"* ]] || continue
    word=$before$word
    COMPREPLY+=("${word#"${current%"${current##*[:=]}"}"}")
  done
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=] ]] && compopt -o nospace
  return 0
}

_starling() {
  local line=${COMP_LINE:0:COMP_POINT} words path='' option=''
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  local last=$((${#words[@]} - 1)) first=1
  if ((last > 1)); then path=${words[1]}; first=2; fi
  if ((last > 2)) && [[ ${words[2]} != -* && -n $(_starling_words "$path ${words[2]}") ]]; then
    path+=" ${words[2]}"
    first=3
  fi
  local current=${words[last]} before=${words[last - 1]}
  if [[ $current == --*=* ]]; then
    _starling_offer "${current#*=}" "${current%%=*}=" "$(_starling_words "$path ${current%%=*}")"
  elif ((last > first)) && [[ $before == --* ]] && option=$(_starling_words "$path $before") && [[ -n $option ]]; then
    _starling_offer "$current" '' "$option"
  elif [[ $current == -* ]]; then
    _starling_offer "$current" '' "$(_starling_words "$path")"
  else
    option=$(_starling_words "$path @")
    _starling_offer "$current" '' "${option:-$(_starling_words "$path")}"
  fi
}

complete -F _starling starling
)bash";

std::string zsh_values(const Option& option) {
  std::vector<std::string> values;
  for (const std::string& value : offered_values(option)) values.push_back(escaped(value, ":()[]\\ ", "\\"));
  const std::string list = fmt::format("({})", fmt::join(values, " "));
  if (!names_files(option)) return values.empty() ? " " : list;
  return values.empty() ? "_files" : "{ compadd -Q -- " + list.substr(1, list.size() - 2) + "; _files }";
}

/// A spec of _arguments.
std::string zsh_spec(const Option& option) {
  const std::string action = zsh_values(option);
  const std::string argument = escaped(option.argument, ":[]\\", "\\");
  std::string spec = "*:" + argument + ":" + action;
  if (!option.positional) {
    spec = fmt::format("--{}{}[{}]", option.name, option.argument.empty() ? "" : "=",
                       escaped(brief(option), ":[]\\", "\\"));
    if (!option.argument.empty()) spec += ":" + argument + ":" + action;
  }
  return "'" + within_quotes(spec) + "'";
}

std::string zsh_list(const std::vector<Command>& commands) {
  std::string text;
  for (const Command& command : commands) {
    text += fmt::format(" '{}:{}'", command.name, within_quotes(escaped(command.purpose, ":", "\\")));
  }
  return text;
}

std::string fish_quoted(const std::string& text) {
  return "'" + escaped(text, "'\\", "\\") + "'";
}

/// Commands below those named `above`.
std::string fish_list(const std::vector<Command>& commands, const std::string& above) {
  std::string text;
  for (const Command& command : commands) {
    text += fmt::format("complete -c starling -f -n '__starling_ends{}' -a {} -d {}\n", above, command.name,
                        fish_quoted(command.purpose));
  }
  return text;
}

constexpr const char* fish_functions =
    R"fish(# Completion of starling for fish, made from the declarations of its options.

# Whether the words before the cursor are starling and these.
function __starling_ends
    set -l words (commandline -opc)
    set -e words[1]
    test "$words" = "$argv"
end

# Whether they begin with these.
function __starling_begins
    set -l words (commandline -opc)
    set -e words[1]
    test (count $words) -ge (count $argv)
    and set -l first $words[1..(count $argv)]
    and test "$first" = "$argv"
end

)fish";

}  // namespace

std::string bash_completion(const std::vector<Command>& table) {
  return "# Completion of starling for bash, made from the declarations of its options.\n\n"
         "# Words that may follow: of a command, of one of its options, or (@) without an option.\n"
         "_starling_words() {\n  case $1 in\n" +
         bash_cases(table) + "  esac\n}\n" + bash_functions;
}

std::string zsh_completion(const std::vector<Command>& table) {
  std::string text =
      "#compdef starling\n# Completion of starling for zsh, made from the declarations of its options.\n\n"
      "_starling() {\n  local starling_command=$words[2]\n  local -a commands\n"
      "  if ((CURRENT == 2)); then\n    commands=(" +
      zsh_list(table) + " )\n    _describe command commands\n    return\n  fi\n";
  for (const Command& command : table) {
    if (command.subcommands.empty()) continue;
    text += fmt::format(
        "  if [[ $starling_command == {} ]]; then\n    if ((CURRENT == 3)); then\n      commands=({} )\n"
        "      _describe command commands\n      return\n    fi\n    starling_command+=\" $words[3]\"\n    shift "
        "words\n"
        "    ((CURRENT--))\n  fi\n",
        command.name, zsh_list(command.subcommands));
  }
  text += "  shift words\n  ((CURRENT--))\n  case $starling_command in\n";
  for (const Leaf& leaf : leaves_of(table)) {
    text += fmt::format("    '{}')\n      _arguments", leaf.path);
    for (const Option& option : leaf.options) text += " \\\n        " + zsh_spec(option);
    text += " ;;\n";
  }
  return text + "  esac\n}\n\n_starling \"$@\"\n";
}

std::string fish_completion(const std::vector<Command>& table) {
  std::string text = fish_functions;
  text += fish_list(table, "");
  for (const Command& command : table) text += fish_list(command.subcommands, " " + command.name);
  for (const Leaf& leaf : leaves_of(table)) {
    for (const Option& option : leaf.options) {
      if (option.positional) continue;
      text += fmt::format("complete -c starling -n '__starling_begins {}' -l {} -d {}", leaf.path, option.name,
                          fish_quoted(brief(option)));
      if (!option.argument.empty()) text += names_files(option) ? " -r -F" : " -x";
      if (const auto values = offered_values(option); !values.empty()) {
        text += " -a " + fish_quoted(fmt::format("{}", fmt::join(values, " ")));
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace starling
