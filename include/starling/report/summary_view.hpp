/// The JSON of a summary, read with care: it may come from a file that somebody has edited or cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "starling/net/traffic.hpp"
#include "starling/report/summary.hpp"

namespace starling {

using Json = nlohmann::ordered_json;

/// The JSON of summary.json.
[[nodiscard]] Json json_of(const Summary& summary);

/// Infinite and unknown numbers are null.
[[nodiscard]] Json number_json(double value);
[[nodiscard]] inline Json number_json(const std::optional<double>& value) {
  return value ? number_json(*value) : Json(nullptr);
}

/// Paths are written "privacy.epsilon". Every member throws DataError, naming file and key, for a value of another type
/// than it returns; null and a missing key are alike.
class SummaryView {
 public:
  SummaryView(Json json, std::string name) : json_(std::move(json)), name_(std::move(name)) {}
  /// Throws DataError for what is no JSON object.
  [[nodiscard]] static SummaryView parse(const std::string& text, const std::string& name);

  /// Whether there is a value, be it null.
  [[nodiscard]] bool has(const std::string& path) const { return find(path) != nullptr; }
  /// Whether the figure is known but not shown, because it tells of private records.
  [[nodiscard]] bool withholds(const std::string& path) const;
  /// NaN for null.
  [[nodiscard]] double number(const std::string& path) const;
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& path) const;
  /// A whole number, at least 0, that must be there.
  [[nodiscard]] std::int64_t count(const std::string& path) const;
  /// Empty for null.
  [[nodiscard]] std::string text(const std::string& path) const;
  [[nodiscard]] bool flag(const std::string& path) const;
  [[nodiscard]] std::vector<std::string> texts(const std::string& path) const;
  /// Throws besides if an entry is null.
  [[nodiscard]] Vector numbers(const std::string& path) const;
  /// Empty for null. Throws for what is no list.
  [[nodiscard]] Json array(const std::string& path) const;
  [[nodiscard]] std::vector<EdgeTraffic> edges() const;
  /// The objects of an array, each with paths of its own; empty where there is no such array.
  [[nodiscard]] std::vector<SummaryView> list(const std::string& path) const;

  /// Whether models were learned, and whether the labels were classes.
  [[nodiscard]] bool learned() const;
  [[nodiscard]] bool classifies() const;

 private:
  [[nodiscard]] const Json* find(const std::string& path) const;
  [[nodiscard]] DataError wrong(const std::string& path, const std::string& expected) const;

  Json json_;
  std::string name_;
};

/// The table at the end of a run; `first_edges` are those that it shows.
[[nodiscard]] std::string table_of(const SummaryView& summary, const std::vector<EdgeTraffic>& first_edges);
constexpr std::size_t most_shown_edges = 12;

/// Parts of tables. Loss, accuracy, consensus error and mass, as far as they are known:
[[nodiscard]] std::string figure_rows(const SummaryView& summary);
[[nodiscard]] std::string table_row(const std::string& name, const std::string& value);
/// Of long-term constraints: how much they were violated over all clients and rounds. `constraints` of summary.json:
[[nodiscard]] std::string constraint_rows(const SummaryView& summary);
[[nodiscard]] Json constraints_json(const std::vector<ConstraintFigures>& constraints);
/// Figures of --test by class: into `metrics` of summary.json, and out of it ("" where there are none).
void add_test_metrics(const TestMetrics& test, Json& metrics);
[[nodiscard]] std::string test_metric_rows(const SummaryView& summary);
/// `intervals` of summary.json, and out of it; the first few of them, of commands whose models are not coefficients
/// alone.
[[nodiscard]] Json intervals_json(const std::vector<Interval>& intervals);
[[nodiscard]] std::vector<Interval> intervals_of(const SummaryView& summary);
[[nodiscard]] std::string interval_rows(const SummaryView& summary);
/// `per_client`: {client, intervals} of each client that has its own, in the order in which they come.
[[nodiscard]] Json per_client_json(const std::vector<Interval>& intervals);
/// What a regression comes to, of `infer`: a row for each coefficient; "" for other commands.
[[nodiscard]] std::string regression_table(const SummaryView& summary);
/// `study` of summary.json, and out of it.
[[nodiscard]] Json study_json(const std::vector<StudyCell>& cells);
[[nodiscard]] std::vector<StudyCell> study_of(const SummaryView& summary);
/// A line of a table, two blanks in, without blanks at its end.
[[nodiscard]] std::string indented_line(std::string text);
/// "-" for what is not finite.
[[nodiscard]] std::string shown(double value, const char* format);

}  // namespace starling
