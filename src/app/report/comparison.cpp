#include "comparison.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "files/text_files.hpp"
#include "report/view/table_text.hpp"

namespace starling {

Comparison::Comparison(const std::vector<RunReport>& runs, const ComparisonRequest& request)
    : groups_(runs, request.by), by_(groups_.asked ? groups_.keys : groups_.differing) {
  for (const std::string& metric : request.metrics) figures_.push_back(figure_named(metric, groups_.runs));
  const auto any = [this](const ComparedFigure& figure, const auto& holds) {
    return std::ranges::any_of(groups_.all, [&](const Group& group) { return holds(groups_.cell(group, figure)); });
  };
  drawn_ = figures_;
  for (const char* path : {"accuracy", "metrics.test_loss", "loss.mean", "rounds"}) {
    if (drawn_.empty() && any(figure_at(path), is_known)) drawn_.push_back(figure_at(path));
  }
  if (!figures_.empty()) return;
  std::ranges::copy_if(usual_figures(), std::back_inserter(figures_), [&](const ComparedFigure& figure) {
    return any(figure, [](const std::string& cell) { return cell != "-"; });
  });
}

/// Mean, standard deviation and number of runs as they are, or the word that stands for them.
void Comparison::append_exact(Cells& row, const Group& group, ComparedFigure figure) const {
  const std::string text = groups_.cell(group, figure);
  if (text != "-" && !is_known(text)) {
    row.insert(row.end(), {text, "", ""});
    return;
  }
  figure.factor = 1;
  const FigureSpread spread = spread_of(groups_.numbers(group, figure));
  row.insert(row.end(), {spread.count == 0 ? "" : csv_exact(spread.mean), csv_exact(spread.deviation),
                         fmt::format("{}", spread.count)});
}

TextTable Comparison::cells(bool exact) const {
  TextTable table{{exact ? "run" : "", "n"}, {}};
  table.head.insert(table.head.end(), by_.begin(), by_.end());
  for (const ComparedFigure& figure : figures_) {
    table.head.push_back(exact ? figure.path : figure.name);
    if (exact) table.head.insert(table.head.end(), {figure.path + " sd", figure.path + " n"});
  }
  for (const Group& group : groups_.all) {
    Cells row{groups_.first_name(group), fmt::format("{}", group.size())};
    for (const std::string& key : by_)
      row.push_back(exact ? groups_.key_cell(group, key) : groups_.short_cell(group, key));
    for (const ComparedFigure& figure : figures_) {
      exact ? append_exact(row, group, figure) : row.push_back(groups_.cell(group, figure));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string Comparison::table(TableFormat format) const {
  if (format != TableFormat::latex) return formatted(cells(format == TableFormat::csv), format);
  std::string text;
  for (const TextTable& table : pivots()) text += (text.empty() ? "" : "\n") + formatted(table, format);
  return text;
}

TextTable Comparison::pivot(const std::vector<ComparedFigure>& figures) const {
  const bool across = groups_.asked && groups_.keys.size() > 1;
  std::vector<std::string> keys = groups_.keys;
  if (across) keys.erase(keys.begin() + 1);
  keys.insert(keys.end(), groups_.rest.begin(), groups_.rest.end());
  const std::vector<std::string> columns = across ? groups_.values(groups_.keys[1]) : std::vector<std::string>{""};
  std::map<std::pair<Cells, std::string>, int> places;
  for (const Group& group : groups_.all) {
    Cells row;
    for (const std::string& key : keys) row.push_back(groups_.short_cell(group, key));
    ++places[{row, across ? groups_.short_cell(group, groups_.keys[1]) : ""}];
  }
  const bool named = keys.empty() || std::ranges::any_of(places, [](const auto& place) { return place.second > 1; });
  TextTable table{keys, {}};
  if (named) table.head.emplace_back("run");
  table.names = table.head.size();
  for (const ComparedFigure& figure : figures) {
    for (const std::string& column : columns)
      table.head.push_back(across ? groups_.keys[1] + " " + column : heading_of(figure));
  }
  for (const std::string& value : keys.empty() ? Cells{""} : groups_.values(keys.front())) {
    for (const Group& group : groups_.all) {
      if (!keys.empty() && groups_.short_cell(group, keys.front()) != value) continue;
      Cells row;
      for (const std::string& key : keys) row.push_back(groups_.short_cell(group, key));
      if (named) row.push_back(groups_.first_name(group));
      auto place = std::ranges::find_if(
          table.rows, [&](const Cells& other) { return std::equal(row.begin(), row.end(), other.begin()); });
      if (place == table.rows.end()) {
        row.resize(table.head.size(), "");
        place = table.rows.insert(place, std::move(row));
      }
      for (std::size_t k = 0; k < figures.size(); ++k) {
        const std::size_t column =
            across ? static_cast<std::size_t>(std::ranges::find(columns, groups_.short_cell(group, groups_.keys[1])) -
                                              columns.begin())
                   : k;
        (*place)[table.names + column] = groups_.cell(group, without_unit(figures[k]));
      }
    }
  }
  return table;
}

std::vector<TextTable> Comparison::pivots() const {
  std::vector<TextTable> tables;
  const auto [least, most] = std::ranges::minmax(groups_.all, {}, [](const Group& group) { return group.size(); });
  const std::string count =
      least.size() == most.size() ? fmt::format("{}", most.size()) : fmt::format("{} to {}", least.size(), most.size());
  const std::string spread = most.size() > 1 ? fmt::format("mean ± standard deviation of {} runs", count) : "";
  if (!groups_.asked || groups_.keys.size() < 2) {
    tables.push_back(pivot(figures_));
    tables.back().caption = spread;
    return tables;
  }
  for (const ComparedFigure& figure : figures_) {
    tables.push_back(pivot({figure}));
    tables.back().caption = heading_of(figure) + (spread.empty() ? "" : ", " + spread);
  }
  return tables;
}

std::string Comparison::text() const {
  std::vector<Cells> all{{""}, {"state"}};
  for (const Group& group : groups_.all) {
    all[0].push_back(groups_.name(group));
    all[1].emplace_back(starling::name_of(groups_.runs[group.front()].report.state()));
  }
  for (const ComparedFigure& figure : figures_) {
    Cells row{figure.name};
    for (const Group& group : groups_.all) row.push_back(groups_.cell(group, figure));
    all.push_back(std::move(row));
  }
  const auto first_setting = static_cast<std::ptrdiff_t>(all.size());
  for (const std::string& key : groups_.differing) {
    Cells row{key};
    for (const Group& group : groups_.all) {
      const auto& configuration = groups_.runs[group.front()].configuration;
      const auto value = configuration.find(key);
      row.push_back(value == configuration.end() ? "-" : value->second);
    }
    all.push_back(std::move(row));
  }
  const std::vector<std::size_t> widths = widths_of(all);
  std::string text;
  append_rows(text, {all.front()}, widths);
  if (!groups_.differing.empty()) text += "\n  settings that differ\n";
  append_rows(text, {all.begin() + first_setting, all.end()}, widths);
  text += "\n  figures\n";
  append_rows(text, {all.begin() + 1, all.begin() + first_setting}, widths);
  return text;
}

bool Comparison::against_an_option() const {
  return !groups_.keys.empty() && !drawn_.empty() && (groups_.asked || groups() > most_lines_together);
}

ComparedMetric Comparison::metric_of(const ComparedFigure& figure) const {
  ComparedMetric metric{heading_of(figure), {}};
  std::vector<std::string> keys(groups_.keys.begin() + std::min<std::ptrdiff_t>(2, std::ssize(groups_.keys)),
                                groups_.keys.end());
  keys.insert(keys.end(), groups_.rest.begin(), groups_.rest.end());
  const bool across = std::ranges::any_of(
      groups_.all, [&](const Group& group) { return groups_.number(group, groups_.keys.front()).has_value(); });
  std::set<Cells> places;
  for (const std::string& panel : groups_.keys.size() > 1 ? groups_.values(groups_.keys[1]) : Cells{""}) {
    for (const Group& group : groups_.all) {
      if (groups_.keys.size() > 1 && groups_.short_cell(group, groups_.keys[1]) != panel) continue;
      ComparedValues point{panel.empty() ? "" : groups_.keys[1] + " " + panel,
                           groups_.label(group, keys),
                           groups_.short_cell(group, groups_.keys.front()),
                           groups_.number(group, groups_.keys.front()),
                           {}};
      if (across && !point.number) {
        const std::string what =
            point.at == "-" ? "without " + groups_.keys.front() : groups_.keys.front() + " " + point.at;
        point.line = point.line.empty() || point.line.starts_with("without ") ? what : point.line + ", " + what;
      }
      if (!places.insert({point.panel, point.line, point.at}).second) point.line += " " + groups_.name(group);
      if (is_known(groups_.cell(group, figure))) point.values = groups_.numbers(group, figure);
      metric.points.push_back(std::move(point));
    }
  }
  return metric;
}

std::string Comparison::caption() const {
  if (!against_an_option()) return "the runs' course";
  Cells names;
  for (const ComparedFigure& figure : drawn_) names.push_back(figure.name);
  return fmt::format("{} against {}{}", fmt::join(names, ", "), groups_.keys.front(),
                     groups_.keys.size() > 1 ? " for each " + groups_.keys[1] : "");
}

std::string Comparison::draw(const std::string& folder, PictureFormats formats) const {
  if (against_an_option()) {
    std::vector<ComparedMetric> metrics;
    for (const ComparedFigure& figure : drawn_) metrics.push_back(metric_of(figure));
    return draw_metrics(folder, groups_.keys.front(), metrics, formats);
  }
  std::vector<ComparedRuns> lines;
  for (const Group& group : groups_.all) {
    lines.push_back({groups_.name(group), {}});
    for (const std::size_t i : group) lines.back().histories.push_back(groups_.runs[i].report.history());
  }
  return draw_courses(folder, lines, formats);
}

}  // namespace starling
