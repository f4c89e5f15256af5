// Studies of replications.
#include "output/intervals/study.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "parts.hpp"

namespace starling {

namespace {

constexpr std::size_t most_columns = 5;
constexpr std::size_t study_cell_width = 20;

using Moment = std::pair<Round, double>;  ///< steps and records

/// At most five, spread evenly, the last among them.
std::vector<Moment> moments_of(const std::vector<StudyCell>& cells) {
  std::set<Moment> all;
  for (const StudyCell& cell : cells) all.emplace(cell.steps, cell.records);
  const std::vector<Moment> sorted(all.begin(), all.end());
  if (sorted.size() <= most_columns) return sorted;
  std::vector<Moment> some;
  for (std::size_t i = 0; i < most_columns; ++i) some.push_back(sorted[i * (sorted.size() - 1) / (most_columns - 1)]);
  return some;
}

std::string name_of_row(const StudyCell& cell) {
  return fmt::format("{}, {}", cell.method, shown(100 * cell.level, "{:.4g} %"));
}

/// "95.2 (0.8) / 7.22"
std::string cell_text(const StudyCell& cell) {
  return fmt::format("{} ({}) / {}", shown(100 * cell.coverage.mean, "{:.1f}"),
                     shown(100 * cell.coverage.error, "{:.1f}"),
                     shown(100 * cell.length.mean, cell.length.mean < 10 ? "{:.2f}" : "{:.0f}"));
}

void add_figure(Json& json, const std::string& name, const MeanFigure& figure) {
  json[name] = number_json(figure.mean);
  json[name + "_error"] = number_json(figure.error);
}

MeanFigure figure_of(const SummaryView& view, const std::string& name) {
  return {view.number(name), view.number(name + "_error")};
}

void add_study(const Summary& summary, Json& all) {
  const auto& cells = summary.get<std::vector<StudyCell>>();
  if (cells.empty()) return;
  Json list = Json::array();
  for (const StudyCell& cell : cells) {
    Json json = {{"method", cell.method},
                 {"level", number_json(cell.level)},
                 {"steps", cell.steps},
                 {"records", number_json(cell.records)},
                 {"replications", cell.replications},
                 {"unknown", cell.unknown},
                 {"not_settled", cell.not_settled}};
    add_figure(json, "coverage", cell.coverage);
    add_figure(json, "length", cell.length);
    json["coefficients"] = Json::array();
    for (const CoefficientFigures& one : cell.coefficients) {
      Json own = {{"name", one.name}};
      add_figure(own, "coverage", one.coverage);
      add_figure(own, "length", one.length);
      add_figure(own, "bias", one.bias);
      json["coefficients"].push_back(std::move(own));
    }
    list.push_back(std::move(json));
  }
  all["study"] = std::move(list);
}

}  // namespace

const SummaryPart study_part{add_study};

std::string study_table(const std::vector<StudyCell>& cells) {
  if (cells.empty()) return "";
  const std::vector<Moment> moments = moments_of(cells);
  std::vector<std::string> rows;
  std::map<std::pair<std::string, Moment>, std::string> texts;
  std::size_t width = 7;  // of "records"
  std::int64_t unknown = 0;
  std::int64_t not_settled = 0;
  std::int64_t least = cells.front().replications;
  std::int64_t most = least;
  for (const StudyCell& cell : cells) {
    const std::string row = name_of_row(cell);
    if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
    texts[{row, {cell.steps, cell.records}}] = cell_text(cell);
    width = std::max(width, row.size());
    unknown += cell.unknown;
    not_settled = std::max(not_settled, cell.not_settled);
    least = std::min(least, cell.replications);
    most = std::max(most, cell.replications);
  }
  const std::string count = least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
  std::string text = indented_line(fmt::format(
      "Coverage in % (its standard error) / mean length x 100, over {} replications and all coefficients", count));
  text += "\n";
  std::string records = fmt::format("{:<{}}", "records", width);
  std::string steps = fmt::format("{:<{}}", "steps", width);
  for (const Moment& moment : moments) {
    records += fmt::format("{:>{}}", shown(moment.second, "{:.0f}"), study_cell_width);
    steps += fmt::format("{:>{}}", moment.first, study_cell_width);
  }
  text += indented_line(records) + indented_line(steps);
  for (const std::string& row : rows) {
    std::string cells_of_row = fmt::format("{:<{}}", row, width);
    for (const Moment& moment : moments) {
      const auto found = texts.find({row, moment});
      cells_of_row += fmt::format("{:>{}}", found == texts.end() ? "-" : found->second, study_cell_width);
    }
    text += indented_line(cells_of_row);
  }
  if (unknown > 0) text += indented_line(fmt::format("{} intervals had no bounds and count neither way", unknown));
  if (not_settled > 0) {
    text += indented_line(fmt::format("{} of {} paths had not settled: their intervals may be off", not_settled, most));
  }
  return text + indented_line("Single coefficients, and all moments, are in study.csv.");
}

std::vector<StudyCell> study_of(const SummaryView& summary) {
  std::vector<StudyCell> cells;
  for (const SummaryView& each : summary.list("study")) {
    StudyCell cell{each.text("method"),
                   each.number("level"),
                   each.count("steps"),
                   each.number("records"),
                   each.count("replications"),
                   each.count("unknown"),
                   each.integer("not_settled").value_or(0),  // older runs have none
                   figure_of(each, "coverage"),
                   figure_of(each, "length"),
                   {}};
    for (const SummaryView& one : each.list("coefficients")) {
      cell.coefficients.push_back(
          {one.text("name"), figure_of(one, "coverage"), figure_of(one, "length"), figure_of(one, "bias")});
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace starling
