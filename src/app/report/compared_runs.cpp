#include "compared_runs.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <utility>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "output/directory/run_identity.hpp"
#include "report/view/run_reading.hpp"
#include "report/view/table_text.hpp"

namespace starling {

namespace {

constexpr std::size_t most_near = 5;

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

/// Whether the path is this name, with spaces for underscores, or ends in it as its last parts.
bool ends_in(const std::string& path, std::string name) {
  std::ranges::replace(name, ' ', '_');
  return path == name || path.ends_with("." + name);
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
      {"AUC", "metrics.test.auc", "{:.4f}"},
      {"log-loss", "metrics.test.log_loss", "{:.6f}"},
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
  if (!chosen.empty()) configuration["tuning"] = "auto";  // config.ini has what it chose, which is not to change
}

std::string cell_of(const SummaryView& view, const ComparedFigure& figure) {
  if (view.withholds(figure.path)) return "withheld";
  const double value = figure.factor * view.number(figure.path);
  if (!std::isfinite(value) && is_unbounded(view, figure.path)) return "unbounded";
  return shown(value, figure.format.c_str());
}

ComparedFigure figure_at(const std::string& path) {
  const auto& usual = usual_figures();
  const auto known = std::ranges::find_if(usual, [&](const auto& figure) { return figure.path == path; });
  return known == usual.end() ? ComparedFigure{path, path} : *known;
}

std::string heading_of(const ComparedFigure& figure) {
  return figure.name + (figure.format.ends_with(" %") ? " in %" : "");
}

ComparedFigure without_unit(ComparedFigure figure) {
  if (figure.format.ends_with(" %")) figure.format.resize(figure.format.size() - 2);
  return figure;
}

bool is_known(const std::string& cell) {
  return cell != "-" && cell != "withheld" && cell != "unbounded";
}

ComparedFigure figure_named(const std::string& name, const std::vector<ComparedRun>& runs) {
  const std::set<std::string> paths = numeric_paths(runs);
  if (name == "loss") return figure_at("loss.mean");
  if (paths.count(name) > 0) return figure_at(name);
  for (const ComparedFigure& figure : usual_figures()) {
    if (figure.name == name || figure.path == name) return figure;
  }
  std::vector<std::string> found;
  std::ranges::copy_if(paths, std::back_inserter(found), [&](const std::string& path) { return ends_in(path, name); });
  check(found.size() < 2, "--metric '{}' could be {}: each is a figure of these runs. Give its whole path.", name,
        fmt::join(found, " or "));
  check(!found.empty(), "--metric '{}': no run has such a figure. Near: {}; `starling report RUN --json` shows all.",
        name, near(name, paths));
  return figure_at(found.front());
}

void require_known_figure(const std::string& name) {
  std::set<std::string> known{"loss"};
  for (const ComparedFigure& figure : usual_figures()) known.insert({figure.name, figure.path});
  std::istringstream keys(STARLING_SUMMARY_KEYS);
  for (std::string key; keys >> key;) known.insert(key);
  const bool found =
      known.count(name) > 0 || std::ranges::any_of(known, [&](const std::string& key) { return ends_in(key, name); });
  check(found, "--metric '{}': no run has such a figure. Near: {}.", name, near(name, known));
}

std::string key_named(const std::string& name, const std::vector<ComparedRun>& runs) {
  std::string key = name;
  std::set<std::string> known;
  std::set<std::string> longer;  // options that end with the key, as total-epsilon with epsilon
  std::ranges::replace(key, '_', '-');
  for (const ComparedRun& run : runs) {
    if (run.values.count(name) > 0 || option_of(run, name) != nullptr) return name;
    if (option_of(run, key) != nullptr) return key;
    for (const auto& [option, value] : run.configuration) {
      if (option.ends_with("-" + key)) longer.insert(option);
    }
    for (const auto& [name, value] : run.configuration) known.insert(name);
    for (const auto& [path, value] : run.values) known.insert(path);
  }
  check(longer.size() == 1,
        "--by '{}': no run has such an option in config.ini, or such a key in summary.json. Near: {}.", name,
        near(name, known));
  return *longer.begin();
}

std::string value_of(const ComparedRun& run, const std::string& key) {
  if (const std::string* value = option_of(run, key)) {
    return value->starts_with('/') ? std::filesystem::path(*value).stem().string() : *value;
  }
  const auto found = run.values.find(key);
  return found == run.values.end() ? "-" : found->second;
}

}  // namespace starling
