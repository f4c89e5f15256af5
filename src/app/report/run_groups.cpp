#include "run_groups.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/text/spec.hpp"
#include "report/view/table_text.hpp"
#include "run/settings/learning_config.hpp"

namespace starling {

namespace {

constexpr std::size_t most_digits = 6;  ///< of a number that is shown as it was written

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
                                           const std::vector<RunGroups::Group>& groups) {
  std::map<std::string, std::multiset<std::string>> values;  // of each option, those that groups have
  for (const auto& group : groups) {
    for (const auto& [key, value] : telling_options(runs[group.front()])) values[key].insert(value);
  }
  std::vector<std::string> differing;
  for (const auto& [key, found] : values) {
    if (found.size() < groups.size() || *found.begin() != *found.rbegin()) differing.push_back(key);
  }
  // Options that some run has chosen by itself come last: they follow from the others.
  std::stable_partition(differing.begin(), differing.end(), [&](const std::string& option) {
    return std::ranges::none_of(runs, [&](const ComparedRun& run) { return run.chosen.count(option) > 0; });
  });
  return differing;
}

/// The number that the text of an option is, as 1/2; none of a word.
std::optional<double> number_in(const std::string& text) {
  try {
    return parse_number(text, "");
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace

FigureSpread spread_of(const std::vector<double>& values) {
  FigureSpread spread;
  spread.count = values.size();
  if (values.empty()) return spread;
  const auto [least, most] = std::ranges::minmax_element(values);
  if (values.size() > 1 && *least == *most) return {*least, 0, spread.count};  // a mean of equal values would round
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return spread;
}

RunGroups::RunGroups(const std::vector<RunReport>& reports, const std::vector<std::string>& by) {
  for (const RunReport& report : reports) runs.emplace_back(report);
  names_ = names_of(runs);
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto [group, first] = known.emplace(kinship(runs[i]), all.size());
    if (first) all.emplace_back();
    all[group->second].push_back(i);
  }
  differing = differing_options(runs, all);
  asked = !by.empty();
  if (!asked) keys = untold({});
  for (const std::string& name : by) keys.push_back(key_named(name, runs));
  rest = untold(keys);
}

std::vector<double> RunGroups::numbers(const Group& group, const ComparedFigure& figure) const {
  std::vector<double> numbers;
  for (const std::size_t i : group) {
    const double value = figure.factor * runs[i].view.number(figure.path);
    if (std::isfinite(value)) numbers.push_back(value);
  }
  return numbers;
}

std::string RunGroups::name(const Group& group) const {
  return group.size() == 1 ? names_[group.front()] : fmt::format("{}(n={})", names_[group.front()], group.size());
}

std::string RunGroups::cell(const Group& group, const ComparedFigure& figure) const {
  const std::string first = cell_of(runs[group.front()].view, figure);
  if (group.size() == 1) return first;
  for (const std::size_t i : group) {
    const std::string each = cell_of(runs[i].view, figure);
    if (each != "-" && !is_known(each)) return each;
  }
  const FigureSpread spread = spread_of(numbers(group, figure));
  if (spread.count == 0) return "-";
  std::string text = shown(spread.mean, figure.format.c_str());
  if (spread.count > 1 && spread.deviation > 0) text += " ± " + shown(spread.deviation, figure.format.c_str());
  if (spread.count < group.size()) text += fmt::format(" ({} of {})", spread.count, group.size());
  return text;
}

std::string RunGroups::key_cell(const Group& group, const std::string& key) const {
  std::vector<std::string> values;
  for (const std::size_t i : group) {
    const std::string value = value_of(runs[i], key);
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return fmt::format("{}", fmt::join(values, " "));
}

std::string RunGroups::short_cell(const Group& group, const std::string& key) const {
  const std::string text = key_cell(group, key);
  const bool brief = text.size() <= most_digits && !text.starts_with('.');
  const std::optional<double> value = brief ? std::nullopt : number(group, key);
  return value ? fmt::format("{:.4g}", *value) : text;
}

/// The options beyond the keys that tell groups apart: a group has other values of them than one with the same keys.
/// The keys, then the options that part runs beyond them. Options that follow from others, as the number of clients
/// from the graph, are left out. An option of few values comes first beside keys; else one of many, which becomes the
/// horizontal axis.
std::vector<std::string> RunGroups::untold(const std::vector<std::string>& told) const {
  std::vector<std::string> telling = told;
  std::vector<std::string> untold;
  std::vector<std::string> options = differing;
  std::ranges::stable_sort(options, {}, [&](const std::string& option) {
    const auto count = std::ssize(values(option));
    return told.empty() ? -count : count;
  });
  for (const std::string& option : options) {
    std::map<Cells, std::string> known;
    const bool follows = std::ranges::all_of(all, [&](const Group& group) {
      Cells cells;
      for (const std::string& key : telling) cells.push_back(short_cell(group, key));
      const std::string value = short_cell(group, option);
      return known.emplace(cells, value).first->second == value;
    });
    if (follows) continue;
    telling.push_back(option);
    untold.push_back(option);
  }
  return untold;
}

std::optional<double> RunGroups::number(const Group& group, const std::string& key) const {
  double sum = 0;
  for (const std::size_t i : group) {
    const std::optional<double> each = number_in(value_of(runs[i], key));
    if (!each || !std::isfinite(*each)) return std::nullopt;
    sum += *each;
  }
  return sum / static_cast<double>(group.size());
}

std::vector<std::string> RunGroups::values(const std::string& key) const {
  std::vector<std::pair<double, std::string>> found;
  for (const Group& group : all) {
    const std::string value = short_cell(group, key);
    if (std::ranges::find(found, value, &std::pair<double, std::string>::second) != found.end()) continue;
    found.emplace_back(number(group, key).value_or(std::numeric_limits<double>::infinity()), value);
  }
  std::ranges::stable_sort(found, {}, &std::pair<double, std::string>::first);
  std::vector<std::string> texts;
  for (auto& [number, text] : found) texts.push_back(std::move(text));
  return texts;
}

std::string RunGroups::label(const Group& group, const std::vector<std::string>& told) const {
  std::string text;
  for (const std::string& key : told) {
    const std::string value = short_cell(group, key);
    if (value != "-") text += (text.empty() ? "" : ", ") + key + " " + value;
  }
  return text.empty() && !told.empty() ? "without " + told.front() : text;
}

std::string RunGroups::label_of_run(std::size_t run) const {
  std::vector<std::string> told = keys;
  told.insert(told.end(), rest.begin(), rest.end());
  const auto group =
      std::ranges::find_if(all, [&](const Group& each) { return std::ranges::find(each, run) != each.end(); });
  return label(*group, told);
}

}  // namespace starling
