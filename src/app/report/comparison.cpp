#include "app/report/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "core/text/spec.hpp"
#include "files/text_files.hpp"
#include "output/directory/run_identity.hpp"
#include "report/view/run_reading.hpp"
#include "report/view/table_text.hpp"
#include "run/settings/learning_config.hpp"

namespace starling {

namespace {

constexpr std::size_t most_near = 5;
constexpr std::size_t most_digits = 6;  ///< of a number that is shown as it was written

void collect(const Json& json, const std::string& path, std::map<std::string, std::string>& values) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) collect(value, path.empty() ? key : path + "." + key, values);
  } else if (json.is_string()) {
    values[path] = json.get<std::string>();
  } else if (json.is_number() || json.is_boolean()) {
    values[path] = json.dump();
  }
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

/// The names that are nearest, for a message.
std::string near(const std::string& name, const std::set<std::string>& known) {
  std::vector<std::pair<std::size_t, std::string>> by_distance;
  for (const std::string& other : known) {
    const bool inside = other.find(name) != std::string::npos;
    by_distance.emplace_back(
        inside ? 0 : std::min(name_distance(name, other), 1 + name_distance(last_part(name), last_part(other))), other);
  }
  std::ranges::sort(by_distance);
  std::string text;
  for (std::size_t i = 0; i < std::min(most_near, by_distance.size()); ++i) {
    text += (i == 0 ? "" : ", ") + by_distance[i].second;
  }
  return text;
}

/// Losses are unbounded where the summary says null; those of a run that goes on are not known yet.
bool is_unbounded(const SummaryView& view, const std::string& path) {
  const bool final = !view.has("state") || path == "privacy.epsilon_per_release";
  return final && view.learned() && path.starts_with("privacy.") && path.find("epsilon") != std::string::npos &&
         (view.has("privacy.statement") && !view.text("privacy.mechanism").empty());
}

ComparedFigure figure_at(const std::string& path) {
  const auto& usual = usual_figures();
  const auto known = std::ranges::find_if(usual, [&](const auto& figure) { return figure.path == path; });
  return known == usual.end() ? ComparedFigure{path, path} : *known;
}

std::set<std::string> numeric_paths(const std::vector<ComparedRun>& runs) {
  std::set<std::string> paths;
  for (const ComparedRun& run : runs) {
    for (const auto& [path, value] : run.values) {
      if (value.find_first_of("0123456789") != std::string::npos && std::isfinite(std::atof(value.c_str())) &&
          value.find_first_not_of("0123456789+-.eE") == std::string::npos) {
        paths.insert(path);
      }
    }
    for (const std::string& path : run.view.texts("withheld")) paths.insert(path);
  }
  return paths;
}

/// "2 after round 100; 5-7 after round 300".
std::string changes_text(const Membership& members, Membership::Change::Kind kind) {
  std::string text;
  for (const Membership::Change& change : members.changes(kind)) {
    text += fmt::format("{}{} after round {}", text.empty() ? "" : "; ", list_of_clients(change.clients), change.round);
    if (!change.source.empty()) text += " from " + change.source;
  }
  return text;
}

/// The options of a run: those of config.ini, and as `lost`, `join` and `rewire` how its clients have changed since.
std::map<std::string, std::string> options_with_changes(const std::string& run) {
  auto options = read_configuration(run);
  const auto identity = RunIdentity::find(run);
  if (!identity) return options;
  using Kind = Membership::Change::Kind;
  for (const auto& [option, text] :
       {std::pair("lost", changes_text(identity->members, Kind::loss)),
        std::pair("join", changes_text(identity->members, Kind::join)), std::pair("rewire", identity->rewired)}) {
    if (!text.empty()) options[option] = text;
  }
  return options;
}

/// The option that the key names in this run; null if there is none.
const std::string* option_of(const ComparedRun& run, const std::string& key) {
  for (const std::string& name : {key, last_part(key)}) {
    const auto found = run.configuration.find(name);
    if (found != run.configuration.end()) return &found->second;
  }
  return nullptr;
}

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
  // Options that some run has chosen by itself come last: they follow from the others.
  std::stable_partition(differing.begin(), differing.end(), [&](const std::string& option) {
    return std::ranges::none_of(runs, [&](const ComparedRun& run) { return run.chosen.count(option) > 0; });
  });
  return differing;
}

bool is_known(const std::string& cell) {
  return cell != "-" && cell != "withheld" && cell != "unbounded";
}

/// The number that the text of an option is, as 1/2; none of a word.
std::optional<double> number_in(const std::string& text) {
  try {
    return parse_number(text, "");
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

/// The figure's heading in a table whose cells have no unit.
std::string heading_of(const ComparedFigure& figure) {
  return figure.name + (figure.format.ends_with(" %") ? " in %" : "");
}

/// The figure with cells without a unit.
ComparedFigure without_unit(ComparedFigure figure) {
  if (figure.format.ends_with(" %")) figure.format.resize(figure.format.size() - 2);
  return figure;
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

const std::vector<ComparedFigure>& usual_figures() {
  static const std::vector<ComparedFigure> figures{
      {"rounds", "rounds", "{:.0f}"},
      {"loss, mean", "loss.mean", "{:.6f}"},
      {"loss, last tenth", "loss.last", "{:.6f}"},
      {"test loss", "metrics.test_loss", "{:.6f}"},
      {"accuracy", "accuracy", "{:.2f} %", 100},
      {"test accuracy", "metrics.test_accuracy", "{:.2f} %", 100},
      {"progressive accuracy", "metrics.progressive_accuracy", "{:.2f} %", 100},
      {"balanced accuracy", "metrics.balanced_accuracy", "{:.2f} %", 100},
      {"precision", "metrics.precision", "{:.2f} %", 100},
      {"recall", "metrics.recall", "{:.2f} %", 100},
      {"F1", "metrics.f1", "{:.2f} %", 100},
      {"specificity", "metrics.specificity", "{:.2f} %", 100},
      {"static regret", "regret.static", "{:.6g}"},
      {"static exponent", "regret.exponent.static.value", "{:.3f}"},
      {"dynamic regret", "regret.dynamic", "{:.6g}"},
      {"dynamic exponent", "regret.exponent.dynamic.value", "{:.3f}"},
      {"path length", "regret.path_length", "{:.6g}"},
      {"consensus error", "consensus_error", "{:.3e}"},
      {"mass", "mass", "{:.12g}"},
      {"epsilon per release", "privacy.epsilon_per_release", "{:.6g}"},
      {"epsilon", "privacy.epsilon", "{:.6g}"},
      {"client epsilon", "privacy.client_epsilon", "{:.6g}"},
      {"messages", "traffic.messages", "{:.0f}"},
      {"bytes", "traffic.bytes", "{:.0f}"},
      {"rounds/s", "time.rounds_per_second", "{:.0f}"}};
  return figures;
}

ComparedRun::ComparedRun(const RunReport& of)
    : report(of), view(view_of(of)), configuration(options_with_changes(of.path())) {
  collect(Json::parse(of.json()), "", values);
  for (const SummaryView& each : view.list("tuning.chosen")) chosen.insert(each.text("option"));
}

std::string cell_of(const SummaryView& view, const ComparedFigure& figure) {
  if (view.withholds(figure.path)) return "withheld";
  const double value = figure.factor * view.number(figure.path);
  if (!std::isfinite(value) && is_unbounded(view, figure.path)) return "unbounded";
  return shown(value, figure.format.c_str());
}

ComparedFigure figure_named(const std::string& name, const std::vector<ComparedRun>& runs) {
  const std::set<std::string> paths = numeric_paths(runs);
  if (name == "loss") return figure_at("loss.mean");
  if (paths.count(name) > 0) return figure_at(name);
  for (const ComparedFigure& figure : usual_figures()) {
    if (figure.name == name || figure.path == name) return figure;
  }
  std::string part = name;
  std::ranges::replace(part, ' ', '_');
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    if (last_part(path) == part || path.ends_with("." + part)) found.push_back(path);
  }
  check(found.size() < 2, "--metric '{}' could be {}: each is a figure of these runs. Give its whole path.", name,
        fmt::join(found, " or "));
  check(!found.empty(), "--metric '{}': no run has such a figure. Near: {}; `starling report RUN --json` shows all.",
        name, near(name, paths));
  return figure_at(found.front());
}

void require_known_figure(const std::string& name) {
  std::string part = name;
  std::ranges::replace(part, ' ', '_');
  std::set<std::string> known{"loss"};
  for (const ComparedFigure& figure : usual_figures()) known.insert({figure.name, figure.path});
  std::istringstream keys(STARLING_SUMMARY_KEYS);
  for (std::string key; keys >> key;) known.insert(key);
  const bool found = known.count(name) > 0 ||
                     std::ranges::any_of(known, [&](const std::string& key) { return key.ends_with("." + part); });
  check(found, "--metric '{}': no run has such a figure. Near: {}.", name, near(name, known));
}

void require_key(const std::string& key, const std::vector<ComparedRun>& runs) {
  std::set<std::string> known;
  for (const ComparedRun& run : runs) {
    if (run.values.count(key) > 0 || option_of(run, key) != nullptr) return;
    for (const auto& [name, value] : run.configuration) known.insert(name);
    for (const auto& [path, value] : run.values) known.insert(path);
  }
  throw UsageError(
      fmt::format("--by '{}': no run has such an option in config.ini, or such a key in summary.json. Near: {}.", key,
                  near(key, known)));
}

std::string value_of(const ComparedRun& run, const std::string& key) {
  if (const std::string* value = option_of(run, key)) {
    return value->starts_with('/') ? std::filesystem::path(*value).stem().string() : *value;
  }
  const auto found = run.values.find(key);
  return found == run.values.end() ? "-" : found->second;
}

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
  asked_ = !request.by.empty();
  by_ = asked_ ? request.by : differing_;
  keys_ = asked_ ? by_ : untold({});
  rest_ = untold(keys_);
  for (const std::string& metric : request.metrics) figures_.push_back(figure_named(metric, runs_));
  drawn_ = figures_;
  for (const char* path : {"accuracy", "metrics.test_loss", "loss.mean", "rounds"}) {
    if (!drawn_.empty()) break;
    const ComparedFigure figure = figure_at(path);
    if (std::ranges::any_of(groups_, [&](const Group& group) { return is_known(cell(group, figure)); })) {
      drawn_.push_back(figure);
    }
  }
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

/// The value of a key as tables with names show it: numbers in short, words as they are.
std::string Comparison::short_cell(const Group& group, const std::string& key) const {
  const std::string text = key_cell(group, key);
  const bool brief = text.size() <= most_digits && !text.starts_with('.');
  const std::optional<double> value = brief ? std::nullopt : number(group, key);
  return value ? fmt::format("{:.4g}", *value) : text;
}

/// The options beyond the keys that tell groups apart: a group has other values of them than one with the same keys.
/// The keys, then the options that part runs beyond them. Options that follow from others, as the number of clients
/// from the graph, are left out. An option of few values comes first beside keys; else one of many, which becomes the
/// horizontal axis.
std::vector<std::string> Comparison::untold(const std::vector<std::string>& keys) const {
  std::vector<std::string> telling = keys;
  std::vector<std::string> untold;
  std::vector<std::string> options = differing_;
  std::ranges::stable_sort(options, {}, [&](const std::string& option) {
    const auto count = std::ssize(values(option));
    return keys.empty() ? -count : count;
  });
  for (const std::string& option : options) {
    std::map<Cells, std::string> known;
    const bool follows = std::ranges::all_of(groups_, [&](const Group& group) {
      Cells told;
      for (const std::string& key : telling) told.push_back(short_cell(group, key));
      const std::string value = short_cell(group, option);
      return known.emplace(told, value).first->second == value;
    });
    if (follows) continue;
    telling.push_back(option);
    untold.push_back(option);
  }
  return untold;
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
    for (const std::string& key : by_) row.push_back(exact ? key_cell(group, key) : short_cell(group, key));
    for (const ComparedFigure& figure : figures_) {
      exact ? append_exact(row, group, figure) : row.push_back(cell(group, figure));
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

std::optional<double> Comparison::number(const Group& group, const std::string& key) const {
  double sum = 0;
  for (const std::size_t i : group) {
    const std::optional<double> each = number_in(value_of(runs_[i], key));
    if (!each || !std::isfinite(*each)) return std::nullopt;
    sum += *each;
  }
  return sum / static_cast<double>(group.size());
}

/// The values of a key: numbers ascending, then words in the order of the runs.
std::vector<std::string> Comparison::values(const std::string& key) const {
  std::vector<std::pair<double, std::string>> found;
  for (const Group& group : groups_) {
    const std::string value = short_cell(group, key);
    if (std::ranges::find(found, value, &std::pair<double, std::string>::second) != found.end()) continue;
    found.emplace_back(number(group, key).value_or(std::numeric_limits<double>::infinity()), value);
  }
  std::ranges::stable_sort(found, {}, &std::pair<double, std::string>::first);
  std::vector<std::string> texts;
  for (auto& [number, text] : found) texts.push_back(std::move(text));
  return texts;
}

TextTable Comparison::pivot(const std::vector<ComparedFigure>& figures) const {
  const bool across = asked_ && keys_.size() > 1;
  std::vector<std::string> keys = keys_;
  if (across) keys.erase(keys.begin() + 1);
  keys.insert(keys.end(), rest_.begin(), rest_.end());
  const std::vector<std::string> columns = across ? values(keys_[1]) : std::vector<std::string>{""};
  std::map<std::pair<Cells, std::string>, int> places;
  for (const Group& group : groups_) {
    Cells row;
    for (const std::string& key : keys) row.push_back(short_cell(group, key));
    ++places[{row, across ? short_cell(group, keys_[1]) : ""}];
  }
  const bool named = keys.empty() || std::ranges::any_of(places, [](const auto& place) { return place.second > 1; });
  TextTable table{keys, {}};
  if (named) table.head.emplace_back("run");
  table.names = table.head.size();
  for (const ComparedFigure& figure : figures) {
    for (const std::string& column : columns)
      table.head.push_back(across ? keys_[1] + " " + column : heading_of(figure));
  }
  for (const std::string& value : keys.empty() ? Cells{""} : values(keys.front())) {
    for (const Group& group : groups_) {
      if (!keys.empty() && short_cell(group, keys.front()) != value) continue;
      Cells row;
      for (const std::string& key : keys) row.push_back(short_cell(group, key));
      if (named) row.push_back(names_[group.front()]);
      auto place = std::ranges::find_if(
          table.rows, [&](const Cells& other) { return std::equal(row.begin(), row.end(), other.begin()); });
      if (place == table.rows.end()) {
        row.resize(table.head.size(), "");
        place = table.rows.insert(place, std::move(row));
      }
      for (std::size_t k = 0; k < figures.size(); ++k) {
        const std::size_t column =
            across ? static_cast<std::size_t>(std::ranges::find(columns, short_cell(group, keys_[1])) - columns.begin())
                   : k;
        (*place)[table.names + column] = cell(group, without_unit(figures[k]));
      }
    }
  }
  return table;
}

std::vector<TextTable> Comparison::pivots() const {
  std::vector<TextTable> tables;
  const auto [least, most] = std::ranges::minmax(groups_, {}, [](const Group& group) { return group.size(); });
  const std::string count =
      least.size() == most.size() ? fmt::format("{}", most.size()) : fmt::format("{} to {}", least.size(), most.size());
  const std::string spread = most.size() > 1 ? fmt::format("mean ± standard deviation of {} runs", count) : "";
  if (!asked_ || keys_.size() < 2) {
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

/// "epsilon 1, topology ring-8", or "without epsilon". What else a group does not have is left out.
std::string Comparison::label(const Group& group, const std::vector<std::string>& keys) const {
  std::string text;
  for (const std::string& key : keys) {
    const std::string value = short_cell(group, key);
    if (value != "-") text += (text.empty() ? "" : ", ") + key + " " + value;
  }
  return text.empty() && !keys.empty() ? "without " + keys.front() : text;
}

std::string Comparison::label_of_run(std::size_t run) const {
  std::vector<std::string> told = keys_;
  told.insert(told.end(), rest_.begin(), rest_.end());
  const auto group =
      std::ranges::find_if(groups_, [&](const Group& each) { return std::ranges::find(each, run) != each.end(); });
  return label(*group, told);
}

bool Comparison::against_an_option() const {
  return !keys_.empty() && !drawn_.empty() && (asked_ || groups_.size() > most_lines_together);
}

ComparedMetric Comparison::metric_of(const ComparedFigure& figure) const {
  ComparedMetric metric{heading_of(figure), {}};
  std::vector<std::string> keys(keys_.begin() + std::min<std::ptrdiff_t>(2, std::ssize(keys_)), keys_.end());
  keys.insert(keys.end(), rest_.begin(), rest_.end());
  const bool across =
      std::ranges::any_of(groups_, [&](const Group& group) { return number(group, keys_.front()).has_value(); });
  std::set<Cells> places;
  for (const std::string& panel : keys_.size() > 1 ? values(keys_[1]) : Cells{""}) {
    for (const Group& group : groups_) {
      if (keys_.size() > 1 && short_cell(group, keys_[1]) != panel) continue;
      ComparedValues point{panel.empty() ? "" : keys_[1] + " " + panel,
                           label(group, keys),
                           short_cell(group, keys_.front()),
                           number(group, keys_.front()),
                           {}};
      if (across && !point.number) {
        const std::string what = point.at == "-" ? "without " + keys_.front() : keys_.front() + " " + point.at;
        point.line = point.line.empty() || point.line.starts_with("without ") ? what : point.line + ", " + what;
      }
      if (!places.insert({point.panel, point.line, point.at}).second) point.line += " " + name(group);
      if (is_known(cell(group, figure))) {
        for (const std::size_t i : group) {
          const double value = figure.factor * runs_[i].view.number(figure.path);
          if (std::isfinite(value)) point.values.push_back(value);
        }
      }
      metric.points.push_back(std::move(point));
    }
  }
  return metric;
}

std::string Comparison::caption() const {
  if (!against_an_option()) return "the runs' course";
  Cells names;
  for (const ComparedFigure& figure : drawn_) names.push_back(figure.name);
  return fmt::format("{} against {}{}", fmt::join(names, ", "), keys_.front(),
                     keys_.size() > 1 ? " for each " + keys_[1] : "");
}

std::string Comparison::draw(const std::string& folder, PictureFormats formats) const {
  if (against_an_option()) {
    std::vector<ComparedMetric> metrics;
    for (const ComparedFigure& figure : drawn_) metrics.push_back(metric_of(figure));
    return draw_metrics(folder, keys_.front(), metrics, formats);
  }
  std::vector<ComparedRuns> lines;
  for (const Group& group : groups_) {
    lines.push_back({name(group), {}});
    for (const std::size_t i : group) lines.back().histories.push_back(runs_[i].report.history());
  }
  return draw_courses(folder, lines, formats);
}

}  // namespace starling
