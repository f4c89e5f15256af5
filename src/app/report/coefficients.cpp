#include "coefficients.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/ranges.h>

#include "app/predict/prediction_writer.hpp"
#include "core/check.hpp"
#include "core/numerics/distributions.hpp"
#include "files/text_files.hpp"
#include "output/model_file/own_units.hpp"
#include "page.hpp"
#include "report/parts/parts.hpp"

namespace starling {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Names of the numbers in the CSV file, in their order.
constexpr std::array<const char*, 10> csv_names{"estimate", "standard_error", "low",       "high",       "z",
                                                "p",        "ratio",          "ratio_low", "ratio_high", "noise_added"};

Link link_of(const SavedModel& model) {
  return loss_table().make(model.loss)->link();
}

bool has_intercept(const SavedModel& model) {
  return model.as<LinearForm>()->intercept;
}

/// Coefficients of one score.
std::size_t count_of(const SavedModel& model) {
  return model.features + (has_intercept(model) ? 1 : 0);
}

OwnUnits units_of(const SavedModel& model) {
  const bool predicts = link_of(model) == Link::identity;
  return {model.constants, predicts ? model.constants.label_standardisation : std::nullopt, model.features,
          has_intercept(model)};
}

std::string number_text(double value, bool is_probability) {
  constexpr double least = 1e-4;
  if (std::isnan(value)) return "";
  if (!is_probability) return fmt::format("{:.4g}", value);
  return value < least ? "< 0.0001" : fmt::format("{:.4f}", value);
}

}  // namespace

const std::vector<std::string>& coefficient_formats() {
  static const std::vector<std::string> formats{"text", "csv", "markdown", "latex", "html"};
  return formats;
}

CoefficientTable::CoefficientTable(const SavedModel& model, const SummaryView& summary) {
  check(!model.is<PartForm>(),
        "--coefficients: the model of this run lies in parts, one of each party and a head, so there is no one table. "
        "model.h5 has the weights of each party (party/1, party/2 and so on), and starling predict applies them.");
  check(model.is<LinearForm>() && !model.parameters.empty(),
        "--coefficients: the model of this run is not linear, so it has none. Leave the option out.");
  if (const auto own = intervals_of(summary, "own_units"); !own.empty()) {
    take_intervals(model, own, true);
  } else if (const auto prepared = intervals_of(summary); !prepared.empty()) {
    take_intervals(model, prepared, false);
  } else {
    take_model(model);
    why_[error] = why_[low] =
        fmt::format("starling {} estimates none ({} does)", summary.text("command"),
                    link_of(model) == Link::log ? "without noise starling infer" : "starling infer");
  }
  take_noise(model, summary);
  leave_out(model);
  add_tests(summary);
  add_ratios(model);
  add_dispersion(model, summary);
  add_notes(model);
}

/// Intervals of prepared features are brought to own units. The interval of an intercept that means of features have
/// moved would take the covariances of the estimates.
void CoefficientTable::take_intervals(const SavedModel& model, const std::vector<Interval>& intervals,
                                      bool in_own_units) {
  const std::size_t d = count_of(model);
  const OwnUnits units = units_of(model);
  const Vector factors = in_own_units ? Vector(d, 1.0) : units.deviations(1);
  const bool moves = !in_own_units && std::ranges::any_of(model.constants.standardisation,
                                                          [](const auto& each) { return each.mean != 0; });
  for (std::size_t first = 0; first + d <= intervals.size(); first += d) {
    Vector estimates;
    for (std::size_t j = 0; j < d; ++j) estimates.push_back(intervals[first + j].estimate);
    if (!in_own_units) estimates = units.coefficients(estimates);
    for (std::size_t j = 0; j < d; ++j) {
      const Interval& each = intervals[first + j];
      Row row{each.name, has_intercept(model) && j + 1 == d, each.client, each.level, each.method};
      const double factor = moves && row.is_intercept ? unknown : factors[j];
      if (std::isnan(factor)) row.reason = "its error in own units needs covariances, which the run does not keep";
      row.numbers = {estimates[j], factor * each.standard_error, estimates[j] - factor * (each.estimate - each.low),
                     estimates[j] + factor * (each.high - each.estimate)};
      rows_.push_back(std::move(row));
    }
  }
  const bool by_scaling = intervals.front().method == "random-scaling";
  const char* const hidden =
      "noise, or columns that nearly depend on each other, hide them (the run's notes say what helps)";
  why_[error] = by_scaling ? "intervals by random scaling have no standard errors (--intervals plug-in has)" : hidden;
  why_[low] = by_scaling ? "the path of the run is too short for intervals" : hidden;
}

void CoefficientTable::take_model(const SavedModel& model) {
  const std::size_t d = count_of(model);
  const std::vector<std::string> names = model.parameter_names(model.parameters.size());
  for (std::size_t first = 0; first + d <= model.parameters.size(); first += d) {
    const Vector own = units_of(model).coefficients(View(model.parameters).subspan(first, d));
    for (std::size_t j = 0; j < d; ++j) {
      rows_.push_back({names[first + j], has_intercept(model) && j + 1 == d});
      rows_.back().numbers = {own[j], unknown, unknown, unknown};
    }
  }
}

/// The noise of each coefficient: that of a parameter, in own units.
void CoefficientTable::take_noise(const SavedModel& model, const SummaryView& summary) {
  const bool is_open = summary.text("privacy.mechanism") == "none";
  const Vector own = units_of(model).deviations(is_open ? 0 : summary.number("added_noise.deviation"));
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].numbers[noise] = own[i % own.size()];
  const bool has_intervals = rows_.front().level.has_value();
  why_[noise] = summary.has("added_noise") ? summary.text("added_noise.unknown")
                : has_intervals            ? "the intervals have it in them"
                                           : "the records decide what later steps make of it";
}

/// Features that the model leaves out have parameters, which mean nothing.
void CoefficientTable::leave_out(const SavedModel& model) {
  const std::vector<Standardisation>& scales = model.constants.standardisation;
  const std::vector<ColumnFeature> made =
      scales.empty() ? std::vector<ColumnFeature>() : model.constants.made_features();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::size_t j = i % count_of(model);
    if (j >= made.size() || made[j].kind != ColumnFeature::Kind::value) continue;
    if (!scales[made[j].column].is_left_out()) continue;
    rows_[i].numbers.fill(unknown);
    rows_[i].reason = "left out of the model, which takes 0 for its values";
  }
  const std::vector<std::string> names = model.constants.left_out();
  if (names.empty()) return;
  notes_.push_back(fmt::format("Left out of the model, which takes 0 for their values: {}.", fmt::join(names, ", ")));
}

/// Tests by the normal law that a coefficient is 0; none for paths that have not settled.
void CoefficientTable::add_tests(const SummaryView& summary) {
  const Unsettled unsettled = unsettled_of(summary);
  for (Row& row : rows_) {
    const bool tests = !unsettled.contains(row.client);
    row.numbers[z] = tests ? row.numbers[estimate] / row.numbers[error] : unknown;
    row.numbers[p] = 2 * normal_cdf(-std::abs(row.numbers[z]));
    if (!tests && row.reason.empty()) row.reason = "not settled";
  }
  why_[z] = why_[p] = unsettled.empty() ? why_[error] : "the run has not settled";
  why_[high] = why_[low];
  if (!unsettled.empty())
    notes_.emplace_back("NOT SETTLED, so that intervals may be off. The run's notes say what helps.");
}

/// Adds the odds ratios, or rate ratios: the factors of the odds, or of the mean, for one unit more of a feature.
void CoefficientTable::add_ratios(const SavedModel& model) {
  const Link link = link_of(model);
  const bool are_logarithms = link == Link::logit || link == Link::log || link == Link::hazard;
  for (Row& row : rows_) {
    for (const auto& [of, from] :
         {std::pair(ratio, estimate), std::pair(ratio_low, low), std::pair(ratio_high, high)}) {
      row.numbers[of] = are_logarithms && !row.is_intercept ? std::exp(row.numbers[from]) : unknown;
    }
  }
  if (!are_logarithms)
    why_[ratio] = fmt::format("coefficients of --loss {} are no logarithms of odds or rates", model.loss);
  if (!are_logarithms || !is_known(low)) {
    why_[ratio_low] = why_[ratio_high] = are_logarithms ? why_[low] : why_[ratio];
  }
  if (!are_logarithms) return;
  if (link == Link::log) {
    ratio_name_ = "rate ratio";
    notes_.emplace_back("rate ratio: what the label's mean is multiplied by where the feature is greater by 1.");
    return;
  }
  if (link == Link::hazard) {
    ratio_name_ = "hazard ratio";
    notes_.emplace_back("hazard ratio: what the hazard is multiplied by where the feature is greater by 1.");
    return;
  }
  ratio_name_ = "odds ratio";
  if (model.scores > 1) return;
  const std::map<double, std::string> classes = texts_of_classes(model, *ModelLoss(model));
  const auto yes = classes.find(1);
  notes_.push_back(fmt::format("odds ratio: what the odds of {} are multiplied by where the feature is greater by 1.",
                               yes == classes.end() ? "label 1" : fmt::format("'{}'", yes->second)));
}

/// The variance of an amount is the dispersion times its squared mean.
void CoefficientTable::add_dispersion(const SavedModel& model, const SummaryView& summary) {
  if (!model.loss.starts_with("gamma")) return;
  Row row{"dispersion"};
  row.numbers.fill(unknown);
  row.numbers[estimate] = summary.number("dispersion");
  row.reason = summary.has("dispersion") ? "the deviance by degrees of freedom: it has no error of its own"
                                         : "a stream of starling renewable without noise estimates the dispersion";
  rows_.push_back(std::move(row));
}

void CoefficientTable::add_notes(const SavedModel& model) {
  if (model.own_constants) {
    notes_.emplace_back("Clients have scaled features by constants of their own: coefficients are of scaled features.");
  }
  if (std::ranges::any_of(model.constants.standardisation,
                          [](const auto& each) { return each.is_clipped() && !each.is_left_out(); })) {
    notes_.emplace_back(
        "Features are clipped, to public ranges or to some deviations about their means (clip in model.h5): "
        "coefficients hold within.");
  }
  if (std::isfinite(model.as<LinearForm>()->row_bound)) {
    notes_.push_back(fmt::format("Records longer than {:.4g} are shortened to it: coefficients are of shorter ones.",
                                 model.as<LinearForm>()->row_bound));
  }
  if (is_known(noise) && rows_.front().numbers[noise] > 0) {
    notes_.emplace_back(
        "noise added: standard deviation of all the noise that the steps have added. Later steps have taken most of it "
        "back, so that the coefficient's own error is smaller. By how much, the records alone tell.");
  }
}

bool CoefficientTable::is_known(Number number) const {
  return std::ranges::any_of(rows_, [number](const Row& row) { return !std::isnan(row.numbers[number]); });
}

std::string CoefficientTable::level_text(const Row& row) const {
  return row.level ? fmt::format("{:.4g} %, {}", 100 * *row.level, row.method) : "";
}

TextTable CoefficientTable::whole() const {
  TextTable table{{"client", "name", "level", "method"}, {}};
  table.head.insert(table.head.end(), csv_names.begin(), csv_names.end());
  table.head.emplace_back("reason");
  for (const Row& row : rows_) {
    Cells cells{row.client ? std::to_string(*row.client) : "", row.name, row.level ? csv_exact(*row.level) : "",
                row.method};
    std::vector<std::string> reasons;
    if (!row.reason.empty()) reasons.push_back(row.reason);
    for (std::size_t number = 0; number < Number::count; ++number) {
      cells.push_back(csv_exact(row.numbers[number]));
      const bool needs = row.reason.empty() && std::isnan(row.numbers[number]) && !why_[number].empty();
      if (needs && std::ranges::find(reasons, why_[number]) == reasons.end()) reasons.push_back(why_[number]);
    }
    cells.push_back(fmt::format("{}", fmt::join(reasons, "; ")));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

TextTable CoefficientTable::in_short() const {
  const bool of_clients = rows_.front().client.has_value();
  const bool several =
      std::ranges::any_of(rows_, [this](const Row& row) { return level_text(row) != level_text(rows_.front()); });
  const std::array<std::string, Number::count> heads{"estimate", "std. error", "low", "high", "z",
                                                     "p",        ratio_name_,  "low", "high", "noise added"};
  TextTable table;
  if (of_clients) table.head.emplace_back("client");
  table.head.emplace_back("coefficient");
  if (several) table.head.emplace_back("interval");
  for (std::size_t number = 0; number < Number::count; ++number) {
    if (is_known(static_cast<Number>(number))) table.head.push_back(heads[number]);
  }
  for (const Row& row : rows_) {
    Cells cells;
    if (of_clients) cells.push_back(std::to_string(*row.client));
    cells.push_back(row.name);
    if (several) cells.push_back(level_text(row));
    for (std::size_t number = 0; number < Number::count; ++number) {
      if (is_known(static_cast<Number>(number))) cells.push_back(number_text(row.numbers[number], number == p));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> CoefficientTable::notes_below() const {
  std::vector<std::string> notes = notes_;
  const std::string level = level_text(rows_.front());
  if (is_known(low) && !level.empty()) notes.insert(notes.begin(), fmt::format("Intervals: {}.", level));
  if (is_known(p)) notes.emplace_back("p: of the hypothesis that the coefficient is 0, two-sided, by the normal law.");
  for (const auto& [number, name] : {std::pair(error, "Standard errors and tests"), std::pair(low, "Intervals"),
                                     std::pair(ratio, "Ratios"), std::pair(noise, "Noise added")}) {
    if (!is_known(number) && !why_[number].empty())
      notes.push_back(fmt::format("{}: none, since {}.", name, why_[number]));
  }
  for (const Row& row : rows_) {
    if (row.is_intercept && !row.reason.empty() && is_known(error) && std::isnan(row.numbers[error])) {
      notes.push_back(fmt::format("{}: {}.", row.name, row.reason));
    }
  }
  return notes;
}

std::string CoefficientTable::text(const std::string& format) const {
  if (format == "csv") return formatted(whole(), TableFormat::csv);
  const std::string title = "Coefficients in the units of the data";
  const std::vector<std::string> notes = notes_below();
  if (format == "html") {
    Page page(title);
    page.table(in_short());
    page.list(notes);
    return page.text("starling report --coefficients html");
  }
  if (format == "latex") {
    return formatted(in_short(), TableFormat::latex) + fmt::format("% {}\n", fmt::join(notes, "\n% "));
  }
  const bool is_text = format == "text";
  std::string text = is_text ? title + "\n\n" : "";
  text += formatted(in_short(), is_text ? TableFormat::text : TableFormat::markdown);
  for (const std::string& note : notes)
    text += fmt::format("{}{}{}\n", note == notes.front() ? "\n" : "", is_text ? "" : "* ", note);
  return text;
}

}  // namespace starling
