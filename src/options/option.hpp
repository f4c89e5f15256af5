/// Declaration of an option as data, for parsing, help, configuration files and `--resume`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/names.hpp"

namespace starling {

/// Function that resolves every relative file name in the value against `folder`. Words, numbers, absolute names and
/// "-" stay unchanged.
using NamedFiles = std::string (*)(const std::string& value, const std::filesystem::path& folder);

namespace named {
std::string file(const std::string& value, const std::filesystem::path& folder);
/// FILE, FEATURES,LABELS, part-{client}.csv, "-", synthetic:NAME or memory:NAME; lists of files too.
std::string source(const std::string& value, const std::filesystem::path& folder);
/// A start or a noise key: FILE, unless the value is one of the option's words.
std::string start(const std::string& value, const std::filesystem::path& folder);
std::string noise_key(const std::string& value, const std::filesystem::path& folder);
/// FILE, onehot:FILE or reference:FILE.
std::string encoding(const std::string& value, const std::filesystem::path& folder);
/// FILE; what begins with values: names no file.
std::string standardisation(const std::string& value, const std::filesystem::path& folder);
/// constant:FILE; other values name no file.
std::string missing(const std::string& value, const std::filesystem::path& folder);
/// FILE, or a model of absences.
std::string absences(const std::string& value, const std::filesystem::path& folder);
/// plugin:FILE, perhaps with :OPTIONS; other values name no file.
std::string model(const std::string& value, const std::filesystem::path& folder);
/// schedule:FILE, clients:FILE, file:FILE, linear:FILE, several of which + may join; other values name no file.
std::string spec(const std::string& value, const std::filesystem::path& folder);
}  // namespace named

/// Largest whole number of options without a smaller bound. Doubles represent all whole numbers up to this bound.
constexpr long long most_whole = 9'000'000'000'000'000;

/// Values of `--progress`.
enum class ProgressChoice { automatic, on, off, json };

/// A rule that ties an option to another one. A rule about an option that a command does not have is void there.
struct Relation {
  enum class Kind { needs, excludes };
  Kind kind;
  std::string other;                ///< name of the other option
  std::vector<std::string> values;  ///< first words of the other option's value that count; empty: it is given
  std::string why;
  std::string remedy = {};             ///< empty: add or leave out one of the two
  std::vector<std::string> when = {};  ///< first words of the own value for which the rule holds; empty: it is given

  /// The rule for some values of the own option only: `first|second`.
  [[nodiscard]] Relation only_for(const std::string& own_values) const;
};

/// The option is refused unless the other one is given (`topology`) or has one of some values (`regret=static|both`).
/// A list, or a name with parameters, counts by the first word of each entry: `huber:2` is `huber`.
[[nodiscard]] Relation needs(const std::string& other, std::string why, std::string remedy = {});
/// The option is refused beside the other one. A value that is the default excludes nothing.
[[nodiscard]] Relation excludes(const std::string& other, std::string why, std::string remedy = {});

/// Values of an option that help explains below the options, such as the members of a family.
struct OptionValues {
  std::string title;                    ///< heading in help
  std::string text;                     ///< lines, each beginning with two spaces
  std::vector<std::string> names = {};  ///< values, or what values begin with
};

/// The members of a family, such as a Table, as values of an option.
template <class Family>
OptionValues values_of(std::string title, const Family& family) {
  return {std::move(title), family.help(), names_in(family.rows())};
}

/// Bounds of a number, both of which are allowed values; none where there is no bound.
struct Bounds {
  std::optional<double> least = {};
  std::optional<double> most = {};
};

/// The declaration of one option. Members that are left out have the defaults below.
struct Option {
  enum class Kind { flag, text, number, whole, word, list };
  /// The part of a run that another value of the option changes.
  enum class Effect {
    results,  ///< what is computed
    length,   ///< how long it goes on; a resumed run may have another value
    books,    ///< which results are kept, and where
    none,     ///< no result; a resumed run may have another value
  };

  std::string name = {};
  std::string argument = {};  ///< placeholder for the value in help; empty for a flag
  std::string initial = {};   ///< default, as text; empty: the value of the variable when the option is added
  std::string help = {};
  std::string group = {};               ///< heading in help; empty: the heading that Options::group has set
  Kind kind = Kind::text;               ///< set by Options::add from the type of the value
  Bounds range = {};                    ///< of a number
  std::vector<std::string> words = {};  ///< the possible values; empty: any text
  OptionValues (*values)() = nullptr;   ///< explanation of the values; null where `help` says all
  std::string unit = {};                ///< of a number; empty where it has none
  std::string example = {};             ///< a value for help; empty: the last word, else the default
  bool common = false;                  ///< most people need it: it stands in the short help of its command
  std::string no_value = {};            ///< word that stands for no value, such as auto
  std::string unstated = {};            ///< value that a run has whose config.ini states none
  std::string implied = {};             ///< value of an option that is named without one
  bool positional = false;              ///< words without an option are its values; one option of a command at most
  bool many = false;                    ///< takes several words
  NamedFiles files = nullptr;           ///< resolves file names in the value; null if the value names no file
  /// Option and value that, on the command line, make this option's value in a file fall away.
  std::pair<std::string, std::string> falls_with = {};
  Effect effect = Effect::results;
  /// Option beside which, with --resume, this one is no value of the run, but is set aside (Options::aside).
  std::string aside_with = {};
  bool about_configuration = false;  ///< says what to do with the configuration, and is no part of it
  std::vector<Relation> relations = {};

  /// Whether a resumed run may have another value.
  [[nodiscard]] bool may_change() const {
    return about_configuration || effect == Effect::length || effect == Effect::none;
  }
  /// This declaration with every member that `other` states.
  [[nodiscard]] Option with(Option other) const;
};

/// An option as help shows it, `--NAME ARGUMENT  HELP`, with what else is to be said of it.
[[nodiscard]] Option option(std::string name, std::string argument, std::string help, Option others = {});
/// A switch, which has no value, likewise.
[[nodiscard]] Option flag(std::string name, std::string help, Option others = {});

/// Words of an option, each with the value that it stands for.
template <class T>
using Words = std::vector<std::pair<std::string, T>>;

/// Values of options from text. All throw UsageError.
[[nodiscard]] double number_between(const std::string& text, double least, double most);
[[nodiscard]] long long whole_between(const std::string& text, long long least, long long most);
[[nodiscard]] std::vector<std::string> split_list(const std::string& text);
[[nodiscard]] double number_of(const Option& option, const std::string& text);
[[nodiscard]] long long whole_of(const Option& option, const std::string& text);
/// Index of the text among the option's words.
[[nodiscard]] std::size_t word_of(const Option& option, const std::string& text);

}  // namespace starling
