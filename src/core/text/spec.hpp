/// Specs: names of parts on the command line and in files, `NAME[:key=value[,key=value…]]`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace starling {

/// Parses a number that fills the whole text: `1`, `0.5`, `1e-3`, `4/1`. Throws UsageError naming `what`.
[[nodiscard]] double parse_number(std::string_view text, std::string_view what);
[[nodiscard]] long long parse_integer(std::string_view text, std::string_view what);

/// The parts of a text between characters that are among `separators`: one more than such characters.
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text, std::string_view separators);

/// A key that a part takes, for help and for values given without their key, which go to the keys in this order.
struct Parameter {
  std::string key;
  std::string help;  ///< meaning, unit and default
};

/// A parsed spec. Which keys it may hold is checked by `bind`, so a misspelt key is an error, never ignored.
class Spec {
 public:
  /// Splits the text; throws UsageError for an empty name, key or value.
  [[nodiscard]] static Spec parse(std::string_view text);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& text() const { return text_; }

  /// Gives values without a key the keys of `parameters` in order; throws UsageError for keys that are not among them
  /// and for keys given twice.
  void bind(const std::vector<Parameter>& parameters);

  [[nodiscard]] std::optional<std::string> find(std::string_view key) const;
  [[nodiscard]] double number(std::string_view key, double otherwise) const;
  [[nodiscard]] long long integer(std::string_view key, long long otherwise) const;
  /// Throws UsageError when the key is missing.
  [[nodiscard]] double number(std::string_view key) const;
  [[nodiscard]] long long integer(std::string_view key) const;
  [[nodiscard]] std::string require(std::string_view key) const;

 private:
  struct Item {
    std::string key;
    std::string value;
  };
  std::string text_;
  std::string name_;
  std::vector<Item> items_;
};

}  // namespace starling
