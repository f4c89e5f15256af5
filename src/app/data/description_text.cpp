#include "description_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "data/column_names.hpp"
#include "loss/loss.hpp"
#include "report/view/summary_view.hpp"

namespace starling {

namespace {

constexpr std::size_t most_listed_labels = 20;
constexpr std::size_t most_named_classes = 100;
constexpr std::size_t most_tabled_features = 40;
constexpr std::size_t most_json_features = 10'000;
constexpr std::size_t most_named = 40;
constexpr double large = 20;  // steps and clipping work best with features of about size 1
constexpr double uneven = 100;

bool all_fit(const Loss& loss, const Description& figures) {
  try {
    for (const auto& [label, count] : figures.labels) static_cast<void>(loss.label(label));
    return true;
  } catch (const DataError&) {
    return false;
  }
}

std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

/// A value of a column, with digits down to a tenth of the first digit of the column's deviation: at least 6, and no
/// more than a double has.
std::string number_beside(double value, double deviation) {
  constexpr double most_digits = 17;
  const double digits = 2 + std::floor(std::log10(std::abs(value))) - std::floor(std::log10(deviation));
  if (value == 0 || !(deviation > 0) || !(digits > 6)) return number(value);
  return fmt::format("{:.{}g}", value, static_cast<int>(std::min(digits, most_digits)));
}

/// Least, mean and largest of a column, and its deviation.
std::array<std::string, 4> spread_of(const Moments& moments) {
  const double deviation = moments.deviation();
  return {number_beside(moments.min(), deviation), number_beside(moments.mean(), deviation),
          number_beside(moments.max(), deviation), number(deviation)};
}

std::string name_of(const Description& figures, std::size_t feature) {
  const bool named = feature < figures.names.size() && !figures.names[feature].empty();
  return named ? figures.names[feature] : std::to_string(feature);
}

std::string distinct(const FeatureFigures& column) {
  return column.many ? fmt::format("over {}", FeatureFigures::most_distinct) : std::to_string(column.values.size());
}

std::vector<std::size_t> constants(const Description& figures) {
  std::vector<std::size_t> found;
  for (std::size_t j = 0; j < figures.columns.size(); ++j) {
    if (figures.columns[j].constant()) found.push_back(j);
  }
  return found;
}

/// Names, or runs of numbers such as "0-3, 7".
std::string listed(const Description& figures, const std::vector<std::size_t>& features) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < features.size();) {
    std::size_t end = i + 1;
    while (figures.names.empty() && end < features.size() && features[end] == features[end - 1] + 1) ++end;
    items.push_back(name_of(figures, features[i]) + (end > i + 1 ? "-" + name_of(figures, features[end - 1]) : ""));
    i = end;
  }
  const std::size_t more = items.size() > most_named ? items.size() - most_named : 0;
  items.resize(items.size() - more);
  return fmt::format("{}{}", fmt::join(items, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

/// Largest |value| of any feature.
double reach(const Description& figures) {
  double most = 0;
  for (const FeatureFigures& column : figures.columns) {
    most = std::max({most, std::abs(column.moments.min()), std::abs(column.moments.max())});
  }
  return most;
}

/// Features that vary, by their standard deviation.
std::vector<std::pair<double, std::size_t>> by_deviation(const Description& figures) {
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t j = 0; j < figures.columns.size(); ++j) {
    const double deviation = figures.columns[j].moments.deviation();
    if (deviation > 0 && !figures.columns[j].constant()) found.emplace_back(deviation, j);
  }
  std::ranges::sort(found);
  return found;
}

/// A factor that brings the largest value to about 1, easy to type: 1/255, or 1/3e+04 rounded up to two digits.
std::string suggested_scale(double most) {
  if (most == std::floor(most) && most < 1e6) return fmt::format("1/{}", most);
  const double unit = std::pow(10.0, std::floor(std::log10(most)) - 1);
  return fmt::format("1/{:.2g}", std::ceil(most / unit) * unit);
}

void note_labels(const Description& figures, std::vector<std::string>& notes) {
  if (figures.labels.size() == 1) {
    notes.push_back("all labels are the same: there is nothing to learn from them");
    return;
  }
  if (const auto classes = classes_to_name(figures)) {
    notes.push_back(fmt::format("the labels are classes to --loss {} with --class-labels {}{}", classes->loss,
                                classes->labels,
                                figures.labels.size() == 2 ? ", the second of which is what is predicted" : ""));
  } else if (fitting_losses(figures).empty()) {
    notes.push_back(
        "the labels fit no classification loss: use --loss squared or huber, or say with --class-labels or --positive "
        "which labels count as -1 and +1");
  }
}

void note_counters(const Description& figures, std::vector<std::string>& notes) {
  for (std::size_t j = 0; j < figures.features; ++j) {
    if (!figures.columns[j].counts_up()) continue;
    notes.push_back(
        fmt::format("feature {} is a whole number that grows from record to record: it looks like a row number or a "
                    "time, which a model should not see (--drop, or --id)",
                    name_of(figures, j)));
  }
}

void note_scales(const Description& figures, std::vector<std::string>& notes) {
  const double most = reach(figures);
  if (most > large) {
    notes.push_back(fmt::format(
        "features reach {} (steps and clipping want about 1): consider --ranges with public limits of each, or "
        "one --scale {} for all; every client and the test set must share it",
        number(most), suggested_scale(most)));
  }
  const auto found = by_deviation(figures);
  if (found.empty()) return;
  const auto [largest, widest] = found.back();
  const double usual = found[(found.size() - 1) / 2].first;
  if (largest > uneven * usual) {
    notes.push_back(
        fmt::format("feature {} varies {:.0f} times as much as the usual one (sd {} and {}): one --scale does not even "
                    "them out; --standardise takes public constants for each",
                    name_of(figures, widest), largest / usual, number(largest), number(usual)));
  }
}

// text

std::string labels_line(const Description& figures) {
  const auto [least, mean, most, deviation] = spread_of(figures.label);
  const auto range = fmt::format("{} to {}, mean {}, sd {}", least, most, mean, deviation);
  if (figures.many_labels) return fmt::format("over {} distinct: {}", Description::most_labels, range);
  if (figures.labels.size() > most_listed_labels) return fmt::format("{} distinct: {}", figures.labels.size(), range);
  std::string list;
  for (const auto& [label, count] : figures.labels) {
    list += fmt::format("{}{} ({}, {:.1f} %)", list.empty() ? "" : ", ", label, count,
                        100 * static_cast<double>(count) / static_cast<double>(figures.records));
  }
  return fmt::format("{} distinct: {}", figures.labels.size(), list);
}

double density(const Description& figures) {
  return static_cast<double>(figures.nonzeros) /
         (static_cast<double>(figures.records) * static_cast<double>(figures.features));
}

std::string norm_line(const char* name, const NormFigures& norms) {
  // The estimates are accurate to 1 %; exact figures bound the estimates.
  const auto at = [&norms](double p) {
    return number(std::clamp(norms.quantiles.at(p), norms.moments.min(), norms.moments.max()));
  };
  return fmt::format("    {:<8}{:>14}{:>14}{:>14}{:>14}{:>14}\n", name, number(norms.moments.min()), at(0.5),
                     number(norms.moments.mean()), at(0.95), number(norms.moments.max()));
}

std::string feature_table(const Description& figures) {
  std::size_t width = 8;
  for (std::size_t j = 0; j < figures.features; ++j) width = std::max(width, name_of(figures, j).size());
  std::vector<std::array<std::string, 4>> rows{{"min", "mean", "max", "sd"}};
  for (const FeatureFigures& column : figures.columns) rows.push_back(spread_of(column.moments));
  std::size_t cell = 14;
  for (const auto& row : rows) {
    for (const std::string& text : row) cell = std::max(cell, text.size() + 2);
  }
  const auto line = [&](const std::array<std::string, 4>& row) {
    return fmt::format("{:>{}}{:>{}}{:>{}}{:>{}}", row[0], cell, row[1], cell, row[2], cell, row[3], cell);
  };
  std::string text = fmt::format("  {:<{}}{}{:>10}\n", "feature", width + 2, line(rows.front()), "distinct");
  for (std::size_t j = 0; j < figures.features; ++j) {
    text += fmt::format("    {:<{}}{}{:>10}\n", name_of(figures, j), width, line(rows[j + 1]),
                        distinct(figures.columns[j]));
  }
  return text;
}

/// Summary that replaces the table where there are many features.
std::string feature_overview(const Description& figures) {
  double least = figures.columns[0].moments.min();
  double most = figures.columns[0].moments.max();
  std::size_t binary = 0;
  for (const FeatureFigures& column : figures.columns) {
    least = std::min(least, column.moments.min());
    most = std::max(most, column.moments.max());
    binary += !column.many && column.values.size() == 2 ? 1 : 0;
  }
  std::string text = fmt::format("  values              {} to {}\n", number(least), number(most));
  text += fmt::format("  features            {} constant, {} of two values, {} others\n", constants(figures).size(),
                      binary, figures.features - constants(figures).size() - binary);
  if (const auto found = by_deviation(figures); !found.empty()) {
    text += fmt::format("  their sd            {} ({}) to {} ({})\n", number(found.front().first),
                        name_of(figures, found.front().second), number(found.back().first),
                        name_of(figures, found.back().second));
  }
  return text;
}

// JSON

Json norm_json(const NormFigures& norms) {
  const auto at = [&norms](double p) {
    return std::clamp(norms.quantiles.at(p), norms.moments.min(), norms.moments.max());
  };
  return {{"min", norms.moments.min()},
          {"median", at(0.5)},
          {"mean", norms.moments.mean()},
          {"p95", at(0.95)},
          {"max", norms.moments.max()}};
}

Json label_json(const Description& figures) {
  Json counts;
  if (!figures.many_labels && figures.labels.size() <= most_listed_labels) {
    counts = Json::array();
    for (const auto& [label, count] : figures.labels) counts.push_back({label, count});
  }
  return {{"distinct", figures.many_labels ? Json() : Json(figures.labels.size())},
          {"counts", counts},
          {"min", figures.label.min()},
          {"max", figures.label.max()},
          {"mean", figures.label.mean()},
          {"sd", figures.label.deviation()}};
}

Json column_json(const Description& figures, std::size_t j) {
  const FeatureFigures& column = figures.columns[j];
  const bool named = j < figures.names.size();
  return {{"index", j},
          {"name", named ? Json(figures.names[j]) : Json()},
          {"min", column.moments.min()},
          {"max", column.moments.max()},
          {"mean", column.moments.mean()},
          {"sd", column.moments.deviation()},
          {"distinct", column.many ? Json() : Json(column.values.size())}};
}

Json columns_json(const Description& figures) {
  if (figures.features > most_json_features) return {};
  Json list = Json::array();
  for (std::size_t j = 0; j < figures.features; ++j) list.push_back(column_json(figures, j));
  return list;
}

}  // namespace

bool are_whole(const Description& figures) {
  return !figures.many_labels &&
         std::ranges::all_of(figures.labels, [](const auto& each) { return each.first == std::floor(each.first); });
}

std::vector<std::string> fitting_losses(const Description& figures) {
  std::vector<std::string> fitting;
  if (figures.many_labels) return fitting;
  const double classes = std::max(2.0, std::floor(figures.label.max()) + 1);
  for (const auto& row : loss_table().rows()) {
    const bool of_classes = counts_classes(row.name);
    // Whole numbers that lie far apart are hardly numbers of classes.
    if (of_classes && classes > 2 * static_cast<double>(figures.labels.size())) continue;
    const std::string spec = of_classes ? fmt::format("{}:{}", row.name, classes) : row.name;
    const auto loss = loss_table().make(spec);
    const bool of_times = loss->link() == Link::hazard;  // labels say whether an event is in an interval
    if (loss->classifies() && !of_times && all_fit(*loss, figures)) fitting.push_back(spec);
  }
  return fitting;
}

std::optional<NamedClasses> classes_to_name(const Description& figures) {
  if (figures.many_labels || figures.labels.size() < 2 || figures.labels.size() > most_named_classes) return {};
  std::vector<double> labels;
  for (const auto& [label, count] : figures.labels) labels.push_back(label);
  const bool two = labels.size() == 2;
  const bool fits =
      two ? all_fit(*loss_table().make("logistic"), figures)
          : labels.front() != 1 || !are_whole(figures) || labels.back() != static_cast<double>(labels.size());
  if (fits) return {};
  return NamedClasses{two ? "logistic" : fmt::format("softmax:{}", labels.size()),
                      fmt::format("{}", fmt::join(labels, ","))};
}

/// Whether a feature was made of a column: it cannot be left out alone.
bool is_made(const Description& figures, std::size_t feature) {
  if (feature >= figures.names.size()) return false;
  const std::string& name = figures.names[feature];
  return name.ends_with(".missing") || name.find('=') != std::string::npos;
}

std::vector<std::string> notes_on(const DescribedSource& source) {
  const Description& figures = source.figures;
  std::vector<std::string> notes = source.layout;
  if (const auto found = constants(figures); !found.empty()) {
    const bool has_column = std::ranges::any_of(found, [&](std::size_t j) { return !is_made(figures, j); });
    notes.push_back(fmt::format("{} constant feature{} {}: nothing can be learned from {}{}", found.size(),
                                found.size() == 1 ? "" : "s", listed(figures, found), found.size() == 1 ? "it" : "them",
                                has_column ? " (--drop leaves columns out)" : ""));
  }
  note_counters(figures, notes);
  std::ranges::move(notes_on_names(figures.names), std::back_inserter(notes));
  if (!source.is_tuned) note_scales(figures, notes);
  note_labels(figures, notes);
  if (source.has_ids && figures.repeated_keys > 0) {
    notes.push_back(fmt::format(
        "{} record{} an id that stood before: privacy is counted per record, so whoever has several is protected less",
        figures.repeated_keys, figures.repeated_keys == 1 ? " has" : "s have"));
  }
  return notes;
}

std::string to_text(const DescribedSource& source) {
  const Description& figures = source.figures;
  std::string text = source.source + '\n';
  text += fmt::format("  records             {}\n", figures.records);
  if (source.clients) {
    const auto [least, most] = std::ranges::minmax_element(figures.records_of_files);
    text += fmt::format("  clients             {}, with {} to {} records\n", *source.clients, *least, *most);
  }
  text += fmt::format("  features            {}, {}, {:.3g} % not zero\n", figures.features,
                      figures.sparse ? "sparse" : "dense", 100 * density(figures));
  text += fmt::format("  labels              {}\n", labels_line(figures));
  if (const auto losses = fitting_losses(figures); !losses.empty())
    text += fmt::format("  they fit --loss     {}\n", fmt::join(losses, ", "));
  text += fmt::format("  can be replayed     {}\n", source.replayable ? "yes" : "no");
  for (std::size_t i = 0; i < std::min(source.digests.size(), most_named); ++i)
    text += fmt::format("  sha256              {}  {}\n", source.digests[i].second, source.digests[i].first);
  if (source.digests.size() > most_named)
    text += fmt::format("                      and {} more (--json)\n", source.digests.size() - most_named);
  text += fmt::format("  {:<10}{:>14}{:>14}{:>14}{:>14}{:>14}\n", "row norm", "min", "median", "mean", "95 %", "max") +
          norm_line("L1", figures.l1) + norm_line("L2", figures.l2);
  text += figures.features <= most_tabled_features ? feature_table(figures) : feature_overview(figures);
  for (const std::string& note : notes_on(source)) text += fmt::format("note: {}\n", note);
  return text + "These figures come from the records as they are; nothing protects them. Keep them to yourself.\n";
}

std::string to_json(const DescribedSource& source) {
  const Description& figures = source.figures;
  const auto file = [](const auto& digest) { return Json{{"name", digest.first}, {"sha256", digest.second}}; };
  const Json object{{"source", source.source},
                    {"files", json_list(source.digests, file)},
                    {"replayable", source.replayable},
                    {"clients", source.clients},
                    {"records", figures.records},
                    {"records_per_client", source.clients ? Json(figures.records_of_files) : Json()},
                    {"features", figures.features},
                    {"sparse", figures.sparse},
                    {"density", density(figures)},
                    {"labels", label_json(figures)},
                    {"losses", fitting_losses(figures)},
                    {"row_l1", norm_json(figures.l1)},
                    {"row_l2", norm_json(figures.l2)},
                    {"constant", constants(figures)},
                    {"columns", columns_json(figures)},
                    {"repeated_ids", source.has_ids ? Json(figures.repeated_keys) : Json()},
                    {"notes", notes_on(source)}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace starling
