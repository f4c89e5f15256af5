// Intervals as tables in files: coefficients.csv and intervals.csv.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/check.hpp"
#include "core/text/exact_number.hpp"
#include "files/text_files.hpp"
#include "output/directory/run_directory.hpp"
#include "output/intervals/interval.hpp"

namespace starling {

namespace {

using Fields = std::vector<std::string>;

const Fields columns{"steps", "records", "name", "estimate", "low", "high", "level", "method"};
constexpr std::size_t place_of_client = 2;

std::string client_field(const Interval& each) {
  return each.client ? fmt::format("{},", *each.client) : ",";
}

bool any_of_a_client(const std::vector<Interval>& intervals) {
  return std::ranges::any_of(intervals, [](const Interval& each) { return each.client.has_value(); });
}

/// Takes the number of a field, NaN of an empty one; false where it is none.
bool take(const std::string& field, double& value) {
  const auto number = exact_number<double>(field);
  value = number.value_or(std::numeric_limits<double>::quiet_NaN());
  return field.empty() || std::isfinite(value);
}
template <class Whole>
bool take_count(const std::string& field, Whole& value) {
  const auto number = exact_number<Whole>(field);
  value = number.value_or(Whole{-1});
  return value >= 0;
}

/// Takes a row with the columns of the file; false where it is none.
bool take(Fields row, bool with_client, IntervalsAt& at, Interval& interval) {
  if (row.size() != columns.size() + (with_client ? 1 : 0)) return false;
  interval.standard_error = std::numeric_limits<double>::quiet_NaN();
  if (with_client) {
    const std::string client = row[place_of_client];
    row.erase(row.begin() + place_of_client);
    if (!client.empty() && !take_count(client, interval.client.emplace())) return false;
  }
  interval.name = row[2];
  interval.method = row[7];
  return take_count(row[0], at.steps) && take(row[1], at.records) && at.records >= 0 &&
         take(row[3], interval.estimate) && take(row[4], interval.low) && take(row[5], interval.high) &&
         take(row[6], interval.level);
}

}  // namespace

void write_coefficients(const RunDirectory& directory, const std::vector<Interval>& intervals,
                        const std::string& name) {
  const bool with_client = any_of_a_client(intervals);
  std::string text = with_client ? "client," : "";
  text += "name,estimate,standard_error,low,high,level,method\n";
  for (const Interval& each : intervals) {
    if (with_client) text += client_field(each);
    text += fmt::format("{},{},{},{},{},{},{}\n", csv_text(each.name), csv_exact(each.estimate),
                        csv_exact(each.standard_error), csv_exact(each.low), csv_exact(each.high),
                        csv_exact(each.level), csv_text(each.method));
  }
  write_text(directory.path() + "/" + name, text);
}

void write_interval_path(const std::string& folder, const std::vector<IntervalsAt>& path) {
  const bool with_client =
      std::ranges::any_of(path, [](const IntervalsAt& at) { return any_of_a_client(at.intervals); });
  Fields names = columns;
  if (with_client) names.insert(names.begin() + place_of_client, "client");
  std::string text = fmt::format("{}\n", fmt::join(names, ","));
  for (const IntervalsAt& at : path) {
    for (const Interval& each : at.intervals) {
      text += fmt::format("{},{},{}{},{},{},{},{},{}\n", at.steps, csv_exact(at.records),
                          with_client ? client_field(each) : "", csv_text(each.name), csv_exact(each.estimate),
                          csv_exact(each.low), csv_exact(each.high), csv_exact(each.level), csv_text(each.method));
    }
  }
  write_text(folder + "/intervals.csv", text);
}

std::vector<IntervalsAt> read_interval_path(const std::string& folder) {
  const std::string file = folder + "/intervals.csv";
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return {};
  const auto rows = csv_rows(read_text(file));
  Fields with_client = columns;
  with_client.insert(with_client.begin() + place_of_client, "client");
  const bool has_client = rows && !rows->empty() && rows->front() == with_client;
  check<DataError>(has_client || (rows && !rows->empty() && rows->front() == columns),
                   "'{}' is not a table of intervals: its first line is not '{}', or a text has no end. Restore it.",
                   file, fmt::join(columns, ","));
  std::vector<IntervalsAt> path;
  for (std::size_t i = 1; i < rows->size(); ++i) {
    IntervalsAt at;
    Interval interval;
    check<DataError>(take((*rows)[i], has_client, at, interval) && (path.empty() || path.back().steps <= at.steps),
                     "'{}' row {} is not one of intervals, which has steps not before the row above, records and a "
                     "name, then numbers or empty fields and a method. Restore it.",
                     file, i + 1);
    if (path.empty() || path.back().steps != at.steps) path.push_back(at);
    path.back().intervals.push_back(std::move(interval));
  }
  return path;
}

}  // namespace starling
