/// Numbers of text files.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace starling {

enum class NumberFault { none, missing, text, not_finite, out_of_range };

struct ParsedNumber {
  double value = 0;  ///< also of a fault `not_finite`
  NumberFault fault = NumberFault::none;
};

/// Reads a number that fills the whole text; a leading plus sign is allowed, and the usual marks of a missing value
/// (nothing, ?, NA, N/A, null) are distinguished from other text. A number too small for double precision is 0.
[[nodiscard]] ParsedNumber read_number(std::string_view text);

/// The day of a date: 2024-03-01, or 1.3.2024 with the day first, perhaps with a time after it, which does not count.
/// None of other texts, of days that no calendar has, and of 3/1/2024, where day and month may each come first.
[[nodiscard]] std::optional<std::chrono::sys_days> read_date(std::string_view text);

/// Whether a text says that a feature is missing: by a mark of a missing value or by NaN.
[[nodiscard]] bool is_missing_feature(std::string_view text);

/// The texts that say that a feature is missing: the usual marks, NaN, and others. An other mark that is a number is
/// every text of this number.
class MissingMarks {
 public:
  MissingMarks() = default;
  explicit MissingMarks(const std::vector<std::string>& others);
  [[nodiscard]] bool has(std::string_view text) const { return is_other(text) || is_missing_feature(text); }
  /// Whether it is one of the others.
  [[nodiscard]] bool is_other(std::string_view text) const;
  /// Whether a text that reads as a number may be one of the others.
  [[nodiscard]] bool has_numbers() const { return !numbers_.empty(); }

 private:
  std::vector<std::string> texts_;
  std::vector<double> numbers_;
};

/// Begins the part of a fault's message that lists further columns of text in the row.
inline constexpr std::string_view other_texts_mark = "; no number either: ";

/// Options that mend a field, of those that the command takes for this file.
struct Remedies {
  bool encode = false;         ///< --encode
  bool drop = false;           ///< --drop
  bool label = false;          ///< --label
  bool missing = false;        ///< --missing
  bool marks = false;          ///< --missing-values
  bool decimal_comma = false;  ///< --decimal comma: no comma stands between columns
  bool dates = false;          ///< --dates
};

/// Throws RecordError "WHERE: PLACE is 'TEXT' (why) what to do". Others than the owner of the data are told
/// `told_place` where it is not empty. `end` stands behind the message.
[[noreturn]] void throw_number_fault(const std::string& where, const std::string& place, std::string_view text,
                                     NumberFault fault, const Remedies& remedies, std::string_view told_place = "",
                                     std::string_view end = "");

/// Whether a text is a date such as 2024-03-01, 1.3.2024 or 3/1/24, with or without a time after it.
[[nodiscard]] bool is_date(std::string_view text);

/// Text of a file, made fit for a message: printable and not long.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace starling
