/// Keys: the texts that tell records, persons, groups and categories apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace starling {

/// The key that a text stands for: the text, or the whole number in it where its decimals are zero. Programs write 7 as
/// "7.0" in a column with missing values. Leading zeros and all other spellings count: "07" and "7" are two keys. None
/// for what programs write for numbers that they have rounded, such as 1.23E+15: two keys may have become one.
[[nodiscard]] std::optional<std::string_view> key_of_text(std::string_view text);

/// The key that a number of a floating-point type with so many binary digits stands for: all digits of a whole number,
/// the shortest text of any other, and nothing for NaN. None for infinity, and for numbers so large that the type skips
/// whole numbers: two keys may have become one.
[[nodiscard]] std::optional<std::string> key_of_number(double value, int digits);

/// Whether a key says that there is none, by what pandas.read_csv or read_number takes for a missing value.
[[nodiscard]] bool is_missing_key(std::string_view key);

/// Order of keys that are numbers: by value, and exact for whole numbers of any length.
[[nodiscard]] bool precedes_as_number(std::string_view key, std::string_view other);

}  // namespace starling
