/// Small files of numbers in rows and columns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/links.hpp"

namespace starling {

struct NumberPair {
  std::int64_t key = 0;
  double value = 0;
  std::size_t line = 0;  ///< line of the file, from 1
};

/// Reads lines `key,value` in the order of the file. Keys are whole numbers from 0; values are numbers or ratios. Empty
/// lines, lines that begin with #, and a first line with column names are skipped. Throws UsageError naming file and
/// line.
[[nodiscard]] std::vector<NumberPair> read_number_pairs(const std::string& path);

/// Throws UsageError that begins with `where` for a value that is not in [least, most].
void require_in_range(double value, std::string_view where, double least, double most);

/// A client's number, of so many clients. Throws UsageError that begins with `where`.
[[nodiscard]] Client client_of(double number, Client clients, const std::string& where);

/// The value of each client, from lines `client,value` that name every client once. check_value(value, where) throws
/// UsageError for a bad value. Throws UsageError naming file and line.
[[nodiscard]] std::vector<double> read_values_of_clients(
    const std::string& path, Client clients, const std::function<void(double, const std::string&)>& check_value);

/// The finite numbers of a line, separated by commas. Throws UsageError that begins with `where`.
[[nodiscard]] std::vector<double> parse_number_row(std::string_view line, const std::string& where);

/// Reads rows of finite numbers, separated by commas, all of one length. Empty lines and lines that begin with # are
/// skipped. Throws UsageError naming file and line; `purpose` names the file in a message that it cannot be read.
[[nodiscard]] std::vector<std::vector<double>> read_number_rows(const std::string& path, const std::string& purpose);

}  // namespace starling
