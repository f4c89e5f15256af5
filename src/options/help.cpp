#include "options/help.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>

namespace starling {

namespace {

constexpr std::size_t text_column = 32;

/// A line of a table with one column of heads.
std::string line(const std::string& head, const std::string& text) {
  std::string shown = fmt::format("  {:<{}}", head, text_column - 2);
  if (head.size() + 4 > text_column) shown = fmt::format("  {}\n{:{}}", head, "", text_column);
  return shown + filled(text, text_column) + "\n";
}

/// The text up to the end of its first sentence or clause outside parentheses. A default stays.
std::string first_clause(const std::string& text) {
  int open = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    const bool ends = text[i] == '.' || (text[i] == ';' && text.compare(i, 11, "; default: ") != 0);
    if (open == 0 && ends && text[i + 1] == ' ') return text.substr(0, i);
  }
  return text;
}

std::string text_of(const Option& option, std::string text, const std::string& reference) {
  if (option.values != nullptr) text += fmt::format(" ({})", reference);
  if (!option.initial.empty() && !option.argument.empty()) text += fmt::format(" [{}]", option.initial);
  return text;
}

std::string bounds_of(const Option& option) {
  const auto& [least, most] = option.range;
  if (least && most) return fmt::format(" from {:g} to {:g}", *least, *most);
  if (least) return fmt::format(" of {:g} or more", *least);
  return most ? fmt::format(" of {:g} or less", *most) : "";
}

std::string possible_values(const Option& option) {
  if (option.argument.empty()) return "none: it is a switch";
  std::string text = !option.words.empty()                 ? fmt::format("{}", fmt::join(option.words, ", "))
                     : option.kind == Option::Kind::whole  ? "a whole number" + bounds_of(option)
                     : option.kind == Option::Kind::number ? "a number" + bounds_of(option)
                     : option.kind == Option::Kind::list   ? "one or more, separated by commas"
                     : option.values != nullptr            ? option.values().title + ", below"
                     : option.files == named::file         ? "a file or directory, where the meaning says no more"
                                                           : "a text, as the meaning says";
  if (!option.no_value.empty()) text += ", or " + option.no_value;
  return text;
}

const Option* find(const std::vector<Option>& options, const std::string& name) {
  const auto found = std::ranges::find(options, name, &Option::name);
  return found == options.end() ? nullptr : &*found;
}

std::string example_value(const Option& option) {
  if (!option.example.empty()) return option.example;
  if (option.kind != Option::Kind::flag && !option.words.empty()) {
    return option.words.back() == option.initial ? option.words.front() : option.words.back();
  }
  return option.initial;
}

bool is_among(const std::string& value, const std::vector<std::string>& first_words) {
  return std::ranges::find(first_words, value.substr(0, value.find(':'))) != first_words.end();
}

/// A value of the other option with which the relation holds; the example where it does.
std::string value_for(const Relation& relation, const Option& other) {
  const std::string example = example_value(other);
  if (relation.values.empty() || is_among(example, relation.values)) return example;
  const auto word = std::ranges::find_if(other.words, [&](const auto& w) { return is_among(w, relation.values); });
  return word == other.words.end() ? relation.values.front() : *word;
}

/// Adds the option with that value and what it needs, unless it is there.
void add_words(const Option& option, const std::string& value, const std::vector<Option>& options,
               std::vector<std::string>& words) {
  const std::string name = "--" + option.name;
  if (std::ranges::find(words, name) != words.end()) return;
  if (!option.positional) words.push_back(name);
  std::istringstream following(option.argument.empty() ? option.example : value);
  for (std::string word; following >> word;) words.push_back(word);
  for (const Relation& relation : option.relations) {
    const Option* other = find(options, relation.other);
    const bool concerns = relation.when.empty() || is_among(value, relation.when);
    if (relation.kind != Relation::Kind::needs || other == nullptr || !concerns) continue;
    if (!is_among(other->initial, relation.values)) add_words(*other, value_for(relation, *other), options, words);
  }
}

}  // namespace

std::string filled(std::string_view text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (column + word.size() + 1 > help_width) {
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

std::string paragraphs(std::string_view text) {
  std::string result;
  std::string open;
  const auto close = [&] {
    if (!open.empty()) result += filled(open, 0) + "\n";
    open.clear();
  };
  std::istringstream lines{std::string(text)};
  for (std::string each; std::getline(lines, each);) {
    if (!each.empty() && each.front() != ' ') {
      open += each + " ";
      continue;
    }
    close();
    result += each + "\n";
  }
  close();
  return result;
}

std::string head_of(const Option& option) {
  if (option.positional) return option.argument;
  return option.argument.empty() ? "--" + option.name : fmt::format("--{} {}", option.name, option.argument);
}

std::vector<std::vector<Option>> grouped(const std::vector<Option>& options) {
  std::vector<std::vector<Option>> groups;
  for (const Option& option : options) {
    const auto group = std::ranges::find_if(groups, [&](const auto& g) { return g.front().group == option.group; });
    if (group == groups.end()) {
      groups.push_back({option});
    } else {
      group->push_back(option);
    }
  }
  return groups;
}

std::vector<OptionValues> explained_values(const std::vector<Option>& options) {
  std::vector<OptionValues> all;
  std::set<std::string> titles;
  for (const Option& option : options) {
    if (option.values == nullptr) continue;
    if (OptionValues values = option.values(); titles.insert(values.title).second) all.push_back(std::move(values));
  }
  return all;
}

std::string help_on_all(const std::vector<Option>& options) {
  std::string text;
  for (const auto& group : grouped(options)) {
    text += fmt::format("\n{}:\n", group.front().group);
    for (const Option& option : group) {
      text += line(head_of(option),
                   text_of(option, option.help, option.values == nullptr ? "" : option.values().title + ", below"));
    }
  }
  for (const OptionValues& each : explained_values(options)) text += fmt::format("\n{}:\n{}", each.title, each.text);
  return text;
}

std::string help_on_common(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) {
    if (option.common)
      text += line(head_of(option), text_of(option, first_clause(option.help), "--help=" + option.name));
  }
  return text;
}

std::vector<std::string> example_of(const Option& option, const std::vector<Option>& options) {
  std::vector<std::string> words;
  add_words(option, example_value(option), options, words);
  return words;
}

std::string help_on(const Option& option, const std::vector<Option>& options, std::string_view command) {
  std::string text = fmt::format("{} {}\n\n{}\n\n", command, head_of(option), filled(option.help, 0));
  const auto row = [&](const char* head, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<10}{}\n", head, filled(value, 12));
  };
  row("values", possible_values(option));
  row("unit", option.unit);
  row("default", option.argument.empty()  ? ""
                 : option.initial.empty() ? "none, or as the meaning says"
                                          : option.initial);
  for (const Relation& relation : option.relations) {
    if (find(options, relation.other) == nullptr) continue;
    const std::string own = relation.when.empty() ? "" : fmt::format("{}: ", fmt::join(relation.when, ", "));
    row(relation.kind == Relation::Kind::needs ? "needs" : "excludes",
        fmt::format("{}--{}{}: {}", own, relation.other,
                    relation.values.empty() ? "" : fmt::format(" {}", fmt::join(relation.values, " or ")),
                    relation.why));
  }
  row("example", fmt::format("{} {}", command, fmt::join(example_of(option, options), " ")));
  if (option.values == nullptr) return text;
  const OptionValues values = option.values();
  return text + fmt::format("\n{}:\n{}", values.title, values.text);
}

}  // namespace starling
