#include "comparison.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "files/text_files.hpp"
#include "report/view/table_text.hpp"
#include "run/settings/learning_config.hpp"

namespace starling {

namespace {

/// Whether another value of the option makes no other run.
bool is_idle(const std::string& option) {
  const Option::Effect effect = effect_of(option);
  return effect == Option::Effect::books || effect == Option::Effect::none;
}

/// The options that tell runs apart. Choices of --tuning auto follow from the others, the records and the noise.
std::map<std::string, std::string> telling_options(const ComparedRun& run) {
  auto options = run.configuration;
  std::erase_if(options, [&](const auto& option) {
    return option.first == "seed" || is_idle(option.first) || run.chosen.count(option.first) > 0;
  });
  return options;
}

/// Everything that runs of one group share.
std::string kinship(const ComparedRun& run) {
  const double planned = run.view.number("rounds_planned");
  const bool stopped = run.report.state() == RunState::finished && run.view.number("rounds") < planned;
  std::string text = run.view.text("command") + "\n" + name_of(run.report.state()) + (stopped ? " stopped" : "");
  for (const auto& [key, value] : telling_options(run)) text += "\n" + key + " = " + value;
  return text;
}

/// The last parts of the paths, or whole paths where two runs share one.
Cells names_of(const std::vector<ComparedRun>& runs) {
  Cells names;
  for (const ComparedRun& run : runs)
    names.push_back(std::filesystem::absolute(run.report.path()).lexically_normal().filename().string());
  const std::set<std::string> different(names.begin(), names.end());
  if (different.size() == names.size()) return names;
  names.clear();
  for (const ComparedRun& run : runs) names.push_back(run.report.path());
  return names;
}

/// Options of which the groups have different values.
std::vector<std::string> differing_options(const std::vector<ComparedRun>& runs,
                                           const std::vector<std::vector<std::size_t>>& groups) {
  std::map<std::string, std::set<std::string>> values;
  for (const auto& group : groups) {
    for (const auto& [key, value] : telling_options(runs[group.front()])) values[key];
  }
  std::vector<std::string> differing;
  for (auto& [key, found] : values) {
    for (const auto& group : groups) {
      const auto options = telling_options(runs[group.front()]);
      const auto value = options.find(key);
      found.insert(value == options.end() ? "-" : value->second);
    }
    if (found.size() > 1) differing.push_back(key);
  }
  return differing;
}

struct Spread {
  double mean = 0;
  double deviation = std::nan("");  ///< of a sample; NaN for one value
  std::size_t count = 0;
};

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  spread.count = values.size();
  const auto [least, most] = std::ranges::minmax_element(values);
  if (values.size() > 1 && *least == *most) return {*least, 0, spread.count};  // a mean of equal values would round
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return spread;
}

}  // namespace

Comparison::Comparison(const std::vector<RunReport>& runs, const ComparisonRequest& request) {
  for (const RunReport& run : runs) runs_.emplace_back(run);
  names_ = names_of(runs_);
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const auto [group, first] = known.emplace(kinship(runs_[i]), groups_.size());
    if (first) groups_.emplace_back();
    groups_[group->second].push_back(i);
  }
  differing_ = differing_options(runs_, groups_);
  for (const std::string& key : request.by) require_key(key, runs_);
  by_ = request.by.empty() ? differing_ : request.by;
  for (const std::string& metric : request.metrics) figures_.push_back(figure_named(metric, runs_));
  if (!figures_.empty()) return;
  for (const ComparedFigure& figure : usual_figures()) {
    if (std::ranges::any_of(groups_, [&](const Group& group) { return cell(group, figure) != "-"; })) {
      figures_.push_back(figure);
    }
  }
}

std::string Comparison::name(const Group& group) const {
  return group.size() == 1 ? names_[group.front()] : fmt::format("{}(n={})", names_[group.front()], group.size());
}

/// The figure of a run, or mean ± standard deviation; "(k of n)" follows where only k of n runs have it.
std::string Comparison::cell(const Group& group, const ComparedFigure& figure) const {
  const std::string first = cell_of(runs_[group.front()].view, figure);
  if (group.size() == 1) return first;
  std::vector<double> values;
  for (const std::size_t i : group) {
    const std::string each = cell_of(runs_[i].view, figure);
    if (each == "withheld" || each == "unbounded") return each;
    if (each != "-") values.push_back(figure.factor * runs_[i].view.number(figure.path));
  }
  if (values.empty()) return "-";
  const Spread spread = spread_of(values);
  std::string text = shown(spread.mean, figure.format.c_str());
  if (spread.count > 1 && spread.deviation > 0) text += " ± " + shown(spread.deviation, figure.format.c_str());
  if (spread.count < group.size()) text += fmt::format(" ({} of {})", spread.count, group.size());
  return text;
}

std::string Comparison::key_cell(const Group& group, const std::string& key) const {
  std::vector<std::string> values;
  for (const std::size_t i : group) {
    const std::string value = value_of(runs_[i], key);
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return fmt::format("{}", fmt::join(values, " "));
}

/// Mean, standard deviation and number of runs as they are, or the word that stands for them.
void Comparison::append_exact(Cells& row, const Group& group, const ComparedFigure& figure) const {
  const std::string text = cell(group, figure);
  if (text == "withheld" || text == "unbounded") {
    row.insert(row.end(), {text, "", ""});
    return;
  }
  std::vector<double> values;
  for (const std::size_t i : group) {
    const double value = runs_[i].view.number(figure.path);
    if (std::isfinite(value)) values.push_back(value);
  }
  const Spread spread = spread_of(values);
  row.insert(row.end(), {values.empty() ? "" : csv_exact(spread.mean), csv_exact(spread.deviation),
                         fmt::format("{}", spread.count)});
}

TextTable Comparison::cells(bool exact) const {
  TextTable table{{exact ? "run" : "", "n"}, {}};
  table.head.insert(table.head.end(), by_.begin(), by_.end());
  for (const ComparedFigure& figure : figures_) {
    table.head.push_back(exact ? figure.path : figure.name);
    if (exact) table.head.insert(table.head.end(), {figure.path + " sd", figure.path + " n"});
  }
  for (const Group& group : groups_) {
    Cells row{names_[group.front()], fmt::format("{}", group.size())};
    for (const std::string& key : by_) row.push_back(key_cell(group, key));
    for (const ComparedFigure& figure : figures_) {
      exact ? append_exact(row, group, figure) : row.push_back(cell(group, figure));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string Comparison::table(TableFormat format) const {
  return formatted(cells(format == TableFormat::csv), format);
}

std::string Comparison::text() const {
  std::vector<Cells> all{{""}, {"state"}};
  for (const Group& group : groups_) {
    all[0].push_back(name(group));
    all[1].emplace_back(starling::name_of(runs_[group.front()].report.state()));
  }
  for (const ComparedFigure& figure : figures_) {
    Cells row{figure.name};
    for (const Group& group : groups_) row.push_back(cell(group, figure));
    all.push_back(std::move(row));
  }
  const auto first_setting = static_cast<std::ptrdiff_t>(all.size());
  for (const std::string& key : differing_) {
    Cells row{key};
    for (const Group& group : groups_) {
      const auto& configuration = runs_[group.front()].configuration;
      const auto value = configuration.find(key);
      row.push_back(value == configuration.end() ? "-" : value->second);
    }
    all.push_back(std::move(row));
  }
  const std::vector<std::size_t> widths = widths_of(all);
  std::string text;
  append_rows(text, {all.front()}, widths);
  if (!differing_.empty()) text += "\n  settings that differ\n";
  append_rows(text, {all.begin() + first_setting, all.end()}, widths);
  text += "\n  figures\n";
  append_rows(text, {all.begin() + 1, all.begin() + first_setting}, widths);
  return text;
}

/// "epsilon 1, topology ring-8.topo", from one of the keys on.
std::string Comparison::label(const Group& group, std::size_t first_key) const {
  std::string text;
  for (std::size_t k = first_key; k < by_.size(); ++k) {
    text += (text.empty() ? "" : ", ") + by_[k] + " " + key_cell(group, by_[k]);
  }
  return text;
}

std::string Comparison::draw(const std::string& folder, PictureFormats formats) const {
  const bool many = groups_.size() > most_lines_together && !by_.empty();
  std::vector<ComparedRuns> lines;
  std::set<std::string> labels;
  for (const Group& group : groups_) {
    ComparedRuns line;
    if (many) line.facet = by_.front() + " " + key_cell(group, by_.front());
    line.label = many ? label(group, 1) : name(group);
    // Lines that the keys do not tell apart have the names of their runs.
    if (!labels.insert(line.facet + "\n" + line.label).second)
      line.label += (line.label.empty() ? "" : ", ") + name(group);
    if (line.label.empty()) line.label = "all";
    for (const std::size_t i : group) line.histories.push_back(runs_[i].report.history());
    lines.push_back(std::move(line));
  }
  return draw_comparison(folder, lines, formats);
}

}  // namespace starling
