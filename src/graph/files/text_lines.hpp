/// Common parts of the readers of topology files: lines, words, numbers, and errors that name file and line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/check.hpp"

namespace starling {

using LineWords = std::vector<std::string_view>;

/// Replaces `words` by the words of a line, which blanks separate.
void split_words(std::string_view line, LineWords& words);
/// The words of a line, which blanks separate.
[[nodiscard]] LineWords split_words(std::string_view line);

/// A word of a file, fit for a message: bounded and printable.
[[nodiscard]] std::string shown(std::string_view word);

/// The text of a file, line by line. `name` must outlive it.
class TextLines {
 public:
  /// Skips a byte order mark.
  TextLines(std::string_view text, const std::string& name);

  /// The next line, without its end; false at the end of the text. Throws UsageError where it is not UTF-8
  /// (files/text.hpp).
  [[nodiscard]] bool next(std::string_view& line);

  [[nodiscard]] std::int64_t number() const { return line_; }  ///< of the last line, from 1; 0 before the first
  [[nodiscard]] const std::string& name() const { return name_; }
  /// "name:line: ".
  [[nodiscard]] std::string at(std::int64_t line) const;

  /// Throws UsageError "name:line: message" for the last line unless the condition holds.
  template <class... Args>
  void require(bool condition, fmt::format_string<Args...> message, Args&&... args) const {
    if (!condition) throw UsageError(at(line_) + fmt::format(message, std::forward<Args>(args)...));
  }
  /// A whole number from `least` to `most`; throws UsageError.
  [[nodiscard]] long long integer(std::string_view word, std::string_view what, long long least, long long most) const;
  /// A number, as a weight may be written; throws UsageError.
  [[nodiscard]] double weight(std::string_view word) const;

 private:
  std::string_view rest_;
  const std::string& name_;
  std::int64_t line_ = 0;
};

}  // namespace starling
