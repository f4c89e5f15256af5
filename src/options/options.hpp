/// Options of one command. The declarations define the command line, the configuration file, help and print-out.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "options/option.hpp"

namespace starling {

struct FileEntry;

/// Throws UsageError for text that the parser of options cannot handle. The parser fills placeholders such as %value%
/// in its messages until none is left. Text that contains a placeholder would make this loop endless. `what` says where
/// the text stands.
void refuse_placeholders(const std::string& text, const std::string& what);

/// Options in the order of help and of configuration files. First add all options, each with the variable for its
/// value. Then `parse` reads the words of the command line.
class Options {
 public:
  /// Reader of a value's text. Throws UsageError for invalid text.
  using Reader = std::function<void(const std::string&)>;

  explicit Options(std::string command) : command_(std::move(command)) {}

  /// Sets the heading of the options that are added from now on.
  void group(std::string heading) { group_ = std::move(heading); }

  /// Adds an option whose value goes to `target`: a bool (a flag), number, whole number, text or list of either, or
  /// one of these that may be absent. What `target` holds now is the default, unless the declaration has another.
  template <class T>
  void add(Option option, T& target);
  /// Adds an option whose value is one of some words.
  template <class T>
  void add(Option option, T& target, const std::type_identity_t<Words<T>>& words);
  /// Adds an option whose value a function reads.
  void add(Option option, Reader read);
  /// Adds an option that the parser itself or the dispatch of commands reads, such as --config.
  void add(Option option) {
    add(std::move(option), Reader([](const std::string&) {}));
  }

  /// Reads the command line, then the file that --config names, and assigns the value of every option that has one to
  /// its variable. The command line wins. Relative file names in the file start from its folder. Throws UsageError for
  /// unknown keys of a file, with file and line; for bad values, with their source; for an option with two values; and
  /// for options that exclude or lack each other. With --resume the file is the run's own. The command line may then
  /// change nothing that the run depends on. `of_run` is the text of that file as another process has read it; if it is
  /// empty the file is read here. Without --resume `of_run` is read as a file for --config.
  void parse(const std::vector<std::string>& words, const std::string& of_run = "");

  /// Gives an option this value in place of the one that it has, as if the user had given it. Throws UsageError for a
  /// bad value.
  void choose(const std::string& name, const std::string& text);
  /// Forgets what was given for an option, which has its default again, or the value that its owner has set.
  void withdraw(const std::string& name);
  /// Throws UsageError for options that exclude or lack each other.
  void check_relations() const;

  /// All options that have a value, as a file for --config, but for those `left_out`. File names that the user gave are
  /// absolute, so that the file may lie anywhere.
  enum class Names { absolute, as_given };
  [[nodiscard]] std::string configuration(Names names = Names::absolute,
                                          const std::vector<std::string>& left_out = {}) const;
  /// Whether the user gave this option, on the command line or in the file.
  [[nodiscard]] bool given(const std::string& name) const { return given_.count(name) > 0; }
  /// Likewise, or a file states the option's default.
  [[nodiscard]] bool stated(const std::string& name) const { return given(name) || stated_defaults_.count(name) > 0; }
  /// The value, with absolute file names, of an option that is set aside (Option::aside_with); none if none was given.
  [[nodiscard]] std::optional<std::string> aside(const std::string& name) const;
  /// The declarations, without the variables.
  [[nodiscard]] std::vector<Option> declarations() const;

 private:
  struct Entry {
    Option option;
    Reader read;
  };
  struct Given {
    std::vector<std::string> texts;  ///< several if the option takes several words
    std::string where;               ///< "--step" or "file:line: step"
  };
  [[nodiscard]] const Entry& entry_of(const std::string& name) const;
  void read_command_line(const std::vector<std::string>& words);
  [[noreturn]] void throw_stray_word(const std::vector<std::string>& words) const;
  [[nodiscard]] std::vector<std::string> with_implied_values(const std::vector<std::string>& words) const;
  [[nodiscard]] std::vector<FileEntry> read_ini(const std::string& text, const std::string& path) const;
  [[nodiscard]] std::map<std::string, Given> read_file(const std::vector<std::string>& lines, const std::string& path,
                                                       const std::string& folder);
  [[nodiscard]] std::map<std::string, Given> read_run(const std::string& directory, const std::string& text);
  [[nodiscard]] const Option* find(const std::string& name) const;
  [[nodiscard]] std::string value_of(const Option& option) const;
  [[nodiscard]] bool is_there(const Option& option) const;
  void check_relation(const Option& option, const Relation& relation) const;
  void read_values() const;
  void read_value(const Entry& entry) const;
  void set_aside();

  std::string command_;
  std::string group_;
  std::vector<Entry> entries_;
  std::map<std::string, Given> given_;
  std::map<std::string, std::string> aside_;
  std::set<std::string> unstated_;         ///< options given as Option::unstated to a run that goes on
  std::set<std::string> stated_defaults_;  ///< options whose default stands in a file
};

namespace detail {

template <class T>
struct Plain {
  using type = T;
};
template <class T>
struct Plain<std::optional<T>> {
  using type = T;
};

template <class T>
T value_from(const Option& option, const std::string& text) {
  if constexpr (std::same_as<T, bool>) {
    return word_of(option, text) == 0;
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(whole_of(option, text));
  } else if constexpr (std::floating_point<T>) {
    return number_of(option, text);
  } else {
    static_assert(std::same_as<T, std::string>);
    if (!option.words.empty()) static_cast<void>(word_of(option, text));
    return text;
  }
}

template <class T>
constexpr Option::Kind kind_of() {
  if constexpr (std::same_as<T, bool>) return Option::Kind::flag;
  if constexpr (std::integral<T>) return Option::Kind::whole;
  if constexpr (std::floating_point<T>) return Option::Kind::number;
  return Option::Kind::text;
}

}  // namespace detail

template <class T>
void Options::add(Option option, T& target) {
  using Value = typename detail::Plain<T>::type;
  if constexpr (requires { typename Value::value_type; } && !std::same_as<Value, std::string>) {
    option.kind = Option::Kind::list;
    add(option, Reader([&target, option](const std::string& text) {
          if (!option.many) target.clear();
          const auto items = option.many ? std::vector{text} : split_list(text);
          for (const std::string& item : items) {
            target.push_back(detail::value_from<typename Value::value_type>(option, item));
          }
        }));
  } else {
    option.kind = detail::kind_of<Value>();
    if (option.kind == Option::Kind::flag) option.words = {"true", "false"};
    if constexpr (std::same_as<Value, T> && !std::same_as<T, bool>) {
      if (option.initial.empty()) option.initial = fmt::format("{}", target);
    }
    add(option, Reader([&target, option](const std::string& text) {
          if (!option.no_value.empty() && text == option.no_value) {
            target = T();
          } else {
            target = detail::value_from<Value>(option, text);
          }
        }));
  }
}

template <class T>
void Options::add(Option option, T& target, const std::type_identity_t<Words<T>>& words) {
  option.kind = Option::Kind::word;
  option.words.clear();
  for (const auto& [word, value] : words) {
    option.words.push_back(word);
    if (option.initial.empty() && value == target) option.initial = word;
  }
  add(option,
      Reader([&target, option, words](const std::string& text) { target = words[word_of(option, text)].second; }));
}

}  // namespace starling
