/// Options of a command: command line, configuration file, help and print-out from one list.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "starling/options/named_files.hpp"

namespace starling {

/// Of --progress, wherever it is an option.
enum class ProgressChoice { automatic, on, off };

/// Largest value of whole numbers that have no other bound: doubles hold them exactly.
constexpr long long most_whole = 9'000'000'000'000'000;

/// One option. `apply` gets its text, which is the default's unless the user gave one.
struct Option {
  std::string group;
  std::string name;
  std::string argument;  ///< how help shows its value; empty for a switch
  std::string initial;   ///< default, as text; empty where there is none
  std::string help;
  std::function<void(const std::string&)> apply;
  bool positional = false;     ///< a word that belongs to no option is its value; one option at most
  NamedFiles files = nullptr;  ///< how its value names files; null where it names none
  /// Option and value that, on the command line, make this option's value in a file fall away.
  std::pair<std::string, std::string> falls_with = {};
};

/// Throws UsageError for text that the parser of options cannot be given: in its messages it fills places such as
/// %value% until none is left, and would not come to an end with text that holds one. `what` says where the text
/// stands.
void refuse_placeholders(const std::string& text, const std::string& what);

/// The options of one command.
class Options {
 public:
  explicit Options(std::string command) : command_(std::move(command)) {}

  void add(Option option) { options_.push_back(std::move(option)); }

  /// Reads the command line, then the file that --config names (the command line wins; relative names of files in it
  /// begin from its folder), and applies every option that has a value. Throws UsageError: for unknown keys of a file
  /// with file and line, for bad values with where they came from, for an option with two values. With --resume the
  /// file is the run's own, and the command line may change nothing that the run depends on.
  void parse(const std::vector<std::string>& words);

  /// Options with their groups, arguments, defaults and meanings.
  [[nodiscard]] std::string help() const;
  /// All options that have a value, as a file for --config. Names of files that the user gave are absolute, so that the
  /// file may lie anywhere.
  enum class Names { absolute, as_given };
  [[nodiscard]] std::string configuration(Names names = Names::absolute) const;
  /// Whether the user gave this option, on the command line or in the file.
  [[nodiscard]] bool given(const std::string& name) const { return given_.count(name) > 0; }

 private:
  struct Given {
    std::string text;
    std::string where;  ///< "--step" or "file:line: step"
  };
  void read_command_line(const std::vector<std::string>& words);
  [[nodiscard]] std::map<std::string, Given> read_file(const std::string& path, const std::string& folder) const;
  [[nodiscard]] std::map<std::string, Given> read_run(const std::string& directory) const;
  [[nodiscard]] const Option* find(const std::string& name) const;

  std::string command_;
  std::vector<Option> options_;
  std::map<std::string, Given> given_;
};

/// Setters for common kinds of values, which throw UsageError for text that is none.
namespace setter {
std::function<void(const std::string&)> text(std::string& target);
std::function<void(const std::string&)> text(std::optional<std::string>& target);
std::function<void(const std::string&)> number(double& target, double least, double most);
std::function<void(const std::string&)> number(std::optional<double>& target, double least, double most);
/// A number, or `auto` for none.
std::function<void(const std::string&)> number_or_auto(std::optional<double>& target, double least, double most);
std::function<void(const std::string&)> flag(bool& target);
/// Values separated by commas.
std::function<void(const std::string&)> list(std::vector<std::string>& target);
std::function<void(const std::string&)> list(std::vector<double>& target);

/// Whole numbers of any integer type.
std::function<void(const std::string&)> integer_into(std::function<void(long long)> store, long long least,
                                                     long long most);
template <class T>
std::function<void(const std::string&)> integer(T& target, long long least, long long most) {
  return integer_into([&target](long long value) { target = static_cast<T>(value); }, least, most);
}
template <class T>
std::function<void(const std::string&)> integer(std::optional<T>& target, long long least, long long most) {
  return integer_into([&target](long long value) { target = static_cast<T>(value); }, least, most);
}
/// One of a few words, each with its value.
template <class T>
std::function<void(const std::string&)> choice(T& target, const std::vector<std::pair<std::string, T>>& words);
std::string one_of(const std::string& text, const std::vector<std::string>& words);
template <class T>
std::function<void(const std::string&)> choice(T& target, const std::vector<std::pair<std::string, T>>& words) {
  return [&target, words](const std::string& text) {
    std::vector<std::string> names;
    for (const auto& [name, value] : words) names.push_back(name);
    const std::string found = one_of(text, names);
    for (const auto& [name, value] : words) {
      if (name == found) target = value;
    }
  };
}
}  // namespace setter

}  // namespace starling
