// The page for an ethics board.
#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "files/scratch_folder.hpp"
#include "files/text_files.hpp"
#include "output/model_file/saved_model.hpp"
#include "privacy/statement/odds.hpp"
#include "report/pictures/pictures.hpp"
#include "report/prediction_report.hpp"
#include "report/view/run_reading.hpp"
#include "report/view/table_text.hpp"
#include "run_page.hpp"

namespace starling {

namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;
constexpr std::size_t most_names = 40;
constexpr const char* baseline = "baseline";

/// Metrics of the model on some records.
struct Scored {
  std::string name;
  SummaryView view;
  std::string path;    ///< of the metrics in the view
  bool group = false;  ///< of the records before it
};

/// A metric, and what it means.
struct BoardMetric {
  const char* name;
  const char* key;
  const char* format;
  double factor;
  const char* meaning;
};

constexpr std::array<BoardMetric, 7> board_metrics{
    {{"accuracy", "accuracy", "{:.1f} %", 100, "the share of records whose class is predicted right"},
     {baseline, baseline, "{:.1f} %", 100,
      "the accuracy without any model: every record is taken for one of the most frequent class"},
     {"balanced accuracy", "balanced_accuracy", "{:.1f} %", 100,
      "the mean of that share over the classes: guessing between two classes has 50 %"},
     {"AUC", "auc", "{:.3f}", 1,
      "the probability that of two records, one of each class, the right one has the higher score: 0.5 is chance, 1 is "
      "perfect; ± is a standard error"},
     {"Brier score", "brier", "{:.3f}", 1, "the mean squared error of predicted probabilities: less is better"},
     {"R²", "r2", "{:.3f}", 1,
      "the share of the labels' variance that predictions explain: 0 is no better than the mean"},
     {"RMSE", "rmse", "{:.4g}", 1, "the root of the mean squared error, in the label's own units"}}};

std::string joined_names(std::vector<std::string> names) {
  const std::size_t count = names.size();
  names.resize(std::min(count, most_names));
  return fmt::format("{}{}", fmt::join(names, ", "),
                     count > most_names ? fmt::format(" and {} more", count - most_names) : "");
}

std::string text_at(const std::map<std::string, std::string>& options, const std::string& key) {
  const auto found = options.find(key);
  return found == options.end() ? "" : found->second;
}

/// The model of the run; none where it cannot be read.
std::optional<SavedModel> model_of(const std::string& run) {
  try {
    return read_model(run + "/" + model_file_name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string rule_for_missing(ReadSettings::Missing rule) {
  switch (rule) {
    case ReadSettings::Missing::refuse:
      return "none is allowed: a record that lacks a value stops the run";
    case ReadSettings::Missing::zero:
      return "count as 0 after scaling";
    case ReadSettings::Missing::indicator:
      return "count as 0 after scaling, and a feature says that the value is missing";
    case ReadSettings::Missing::constant:
      return "are replaced by public constants";
  }
  return "";
}

/// Adds the rows of the columns: those learned from, and what was done to them.
void add_columns(Rows& rows, const SavedModel& model) {
  const PublicConstants& constants = model.constants;
  const std::vector<std::string> out = constants.left_out();
  std::vector<std::string> names = model.feature_names();
  std::erase_if(names, [&](const std::string& name) { return std::ranges::count(out, name) > 0; });
  rows.emplace_back("learned from", joined_names(std::move(names)));
  if (!out.empty()) {
    rows.emplace_back("features left out",
                      joined_names(out) + ": their ranges were not found, and the model takes 0 for their values");
  }
  if (!constants.ignore.empty()) {
    rows.emplace_back("records left out", fmt::format("those with label {}", fmt::join(constants.ignore, ", ")));
  }
  rows.emplace_back("missing values", rule_for_missing(constants.missing));
}

Rows data_rows(const RunReport& run, const SummaryView& view) {
  const auto options = read_configuration(run.path());
  Rows rows{{"whose records", fmt::format("those of {} clients", view.count("clients"))}};
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) rows.emplace_back(name, value);
  };
  add("source", std::filesystem::path(text_at(options, "source")).filename().string());
  add("predicted", text_at(options, "label"));
  const std::optional<SavedModel> model = model_of(run.path());
  if (model && !model->is<VerticalForm>()) add_columns(rows, *model);
  add("columns left out", text_at(options, "drop"));
  add("identifies records", text_at(options, "id"));
  add("identifies persons", text_at(options, "person"));
  add("test set", std::filesystem::path(text_at(options, "test")).filename().string());
  return rows;
}

/// The loss that counts in all: of a person at all clients, and with earlier runs of the owner's ledger.
PrivacyLoss loss_in_all(const SummaryView& view) {
  const auto at = [&](const std::string& stem) {
    PrivacyLoss loss;
    loss.epsilon = view.number("privacy." + stem + "epsilon");
    loss.delta = view.number("privacy." + stem + "delta");
    if (!(loss.delta > 0)) loss.delta = 0;
    if (!std::isfinite(loss.epsilon)) loss.epsilon = std::numeric_limits<double>::infinity();
    return loss;
  };
  PrivacyLoss loss = at("");
  for (const std::string& stem :
       {std::string("all_clients_"), std::string("ledger.") + view.text("privacy.unit") + "_"}) {
    if (!view.has("privacy." + stem + "epsilon")) continue;
    if (const PrivacyLoss other = at(stem); other.epsilon > loss.epsilon) loss = other;
  }
  return loss;
}

PrivacyLoss loss_of_client(const SummaryView& view) {
  PrivacyLoss loss;
  loss.epsilon = view.number("privacy.client_epsilon");
  if (!std::isfinite(loss.epsilon)) loss.epsilon = std::numeric_limits<double>::infinity();
  return loss;
}

/// The lines of the short statement that begin so.
std::vector<std::string> in_short_of(const SummaryView& view, const std::vector<std::string>& begins) {
  std::vector<std::string> lines;
  for (const std::string& line : view.texts("privacy.in_short")) {
    if (std::ranges::any_of(begins, [&](const std::string& begin) { return line.starts_with(begin); })) {
      lines.push_back(line);
    }
  }
  return lines;
}

/// A metric of some records; NaN where it is unknown.
double value_of(const Scored& score, const std::string& key) {
  if (key != baseline) return score.view.number(score.path + "." + key);
  std::int64_t most = 0;
  for (const SummaryView& each : score.view.list(score.path + ".classes")) most = std::max(most, each.count("records"));
  if (most == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(most) / static_cast<double>(score.view.count(score.path + ".records"));
}

/// Whether two scores are of the same records: all their figures are equal.
bool are_of_same_records(const Scored& one, const Scored& other) {
  const auto equal = [&](const std::string& key) {
    const double a = value_of(one, key);
    const double b = value_of(other, key);
    return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-9 * std::abs(a);
  };
  return equal("records") && std::ranges::all_of(board_metrics, [&](const auto& metric) { return equal(metric.key); });
}

/// A sentence on the sets of records on which the model is no better than a constant answer; empty where there is none.
std::string constant_answers(const std::vector<Scored>& scores) {
  std::vector<std::string> found;
  for (const Scored& score : scores) {
    const bool by_class = value_of(score, "accuracy") <= value_of(score, baseline);
    if (by_class || value_of(score, "r2") <= 0) found.push_back(score.name);
  }
  if (found.empty()) return "";
  return fmt::format("Predictions are no better than a constant answer on these records: {}.", fmt::join(found, "; "));
}

/// Adds the score of a set of records, unless it is there already under this name or as the run's test set.
void add_score(std::vector<Scored>& scores, Scored score) {
  const auto same = std::ranges::find_if(scores, [&](const Scored& each) { return are_of_same_records(each, score); });
  if (same == scores.end()) {
    scores.push_back(std::move(score));
  } else if (same->path == "metrics.test") {
    same->name = score.name + " (the run's test set)";
  } else if (same->name != score.name && !same->name.starts_with(score.name + " (")) {
    scores.push_back(std::move(score));
  }
}

std::vector<Scored> scores_of(const SummaryView& view, const std::vector<std::string>& folders) {
  std::vector<Scored> scores;
  if (view.has("metrics.test.records")) scores.push_back({"the run's test set", view, "metrics.test"});
  for (const std::string& folder : folders) {
    const std::string file = folder + "/score.json";
    check(std::filesystem::exists(file),
          "--scores '{}': it has no score.json. Name what `starling score --output` named.", folder);
    SummaryView score = SummaryView::parse(read_text(file), file);
    check(score.text("run_id") == view.text("privacy.run_id"),
          "--scores '{}': the score is of another run's model ('{}'). Score the model of this run.", folder,
          score.text("model"));
    const std::string name = std::filesystem::path(score.text("source")).stem().string() +
                             (score.flag("learned_from") ? ", from which it has learned" : "");
    add_score(scores, {name, score, "metrics"});
    for (const SummaryView& group : score.list("groups")) {
      scores.push_back({fmt::format("{}, {} {}", name, score.text("by"), group.text("value")), group, "metrics", true});
    }
  }
  return scores;
}

/// A line for each set of records, with the metrics that some of them has; their meanings go to `meanings`.
TextTable score_table(const std::vector<Scored>& scores, Rows& meanings) {
  TextTable table{{"scored on", "records"}, {}};
  for (const Scored& score : scores) {
    table.rows.push_back({score.name, fmt::format("{}", score.view.count(score.path + ".records"))});
  }
  for (const BoardMetric& metric : board_metrics) {
    const auto value = [&](const Scored& score) { return value_of(score, metric.key); };
    if (std::ranges::none_of(scores, [&](const Scored& score) { return std::isfinite(value(score)); })) continue;
    table.head.emplace_back(metric.name);
    meanings.emplace_back(metric.name, metric.meaning);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double error = scores[i].view.number(fmt::format("{}.{}_standard_error", scores[i].path, metric.key));
      table.rows[i].push_back(shown(metric.factor * value(scores[i]), metric.format) +
                              (std::isfinite(error) ? " ± " + shown(error, metric.format) : ""));
    }
  }
  return table;
}

class BoardPage {
 public:
  BoardPage(const RunReport& run, const BoardRequest& request)
      : run_(run),
        request_(request),
        view_(view_of(run)),
        scores_(scores_of(view_, request.scores)),
        page_(request.title.empty() ? name_of_run(run.path()) : request.title) {}

  RunPage made() {
    add_head();
    add_loss();
    page_.section("The data, and what was left out");
    page_.rows(data_rows(run_, view_));
    add_quality();
    add_open();
    page_.section("How it was made");
    page_.command(view_.text("command_line"));
    add_configuration(page_, run_.path());
    return {page_.text(last_line()), no_pictures_};
  }

 private:
  void add_head() {
    const std::string started = read_notes(run_.path()).text("started");
    page_.paragraph(fmt::format(
        "A model that {} clients, the owners of records, learned together{}. Run {}.", view_.count("clients"),
        started.empty() ? "" : " on " + started.substr(0, started.find('T')), view_.text("privacy.run_id")));
    page_.section("Who is protected, and against whom");
    page_.list(in_short_of(view_, {"Who is protected", "From whom"}));
  }

  void add_loss() {
    page_.section("How much can be learned of one " + view_.text("privacy.unit"));
    page_.list(in_short_of(view_, {"How much"}));
    PrivacyLoss loss = loss_in_all(view_);
    if (!view_.flag("privacy.private")) loss.epsilon = std::numeric_limits<double>::infinity();  // it protects nobody
    page_.paragraph(fmt::format("{}", fmt::join(odds_in_words(loss, view_.text("privacy.unit")), " ")));
    if (std::isfinite(loss.epsilon)) {
      draw("odds", "What somebody may believe of one " + view_.text("privacy.unit"),
           [&](const std::string& folder) { return draw_odds(folder, loss.epsilon); });
    }
  }

  void add_quality() {
    page_.section("How good the model is");
    if (scores_.empty()) {
      page_.paragraph("No score on held-out records is given. `starling score` makes one, and --scores names it.");
      return;
    }
    Rows meanings;
    page_.table(score_table(scores_, meanings));
    if (const std::string constant = constant_answers(scores_); !constant.empty()) page_.list({constant});
    page_.rows(meanings);
    bool explained = false;
    for (const Scored& score : scores_) {
      const auto calibration = calibration_at(score.view, score.path + ".calibration");
      if (!calibration || score.group) continue;
      if (!explained) {
        page_.paragraph(
            "Calibration: of records to which the model gives a probability of 30 %, 30 % should have the "
            "outcome. Points should lie on the dashed line, up to the band of two standard errors. Tenths of the "
            "probabilities with fewer than 10 records are left out.");
      }
      explained = true;
      draw("calibration", "Calibration: " + score.name,
           [&](const std::string& folder) { return draw_calibration(folder, *calibration); });
    }
  }

  void add_open() {
    page_.section("What is not covered");
    std::vector<std::string> open = in_short_of(view_, {"Not covered"});
    for (const std::string& weakness : view_.texts("privacy.weaknesses")) open.push_back(weakness + ".");
    if (view_.flag("privacy.private")) open.push_back(client_in_words(loss_of_client(view_)));
    if (!scores_.empty()) {
      open.emplace_back(
          "The scores on this page were computed without noise: they protect none of the scored records.");
    }
    page_.list(open);
    add_statement(page_, view_);
  }

  template <class Draw>
  void draw(const std::string& name, const std::string& caption, const Draw& drawn_into) {
    if (!request_.with_pictures) return;
    const ScratchFolder folder;
    no_pictures_ = drawn_into(folder.path());
    const std::string file = fmt::format("{}/{}.svg", folder.path(), name);
    if (std::filesystem::exists(file)) page_.picture(caption, read_text(file));
  }

  const RunReport& run_;
  const BoardRequest& request_;
  SummaryView view_;
  std::vector<Scored> scores_;
  Page page_;
  std::string no_pictures_;
};

}  // namespace

RunPage board_page_of(const RunReport& run, const BoardRequest& request) {
  check(run.state() == RunState::finished,
        "--for board: '{}' has not finished, and a board needs its results. Wait for its end, or go on with it.",
        run.path());
  check(view_of(run).learned(), "--for board: '{}' learned nothing from records. Leave --for out.", run.path());
  return BoardPage(run, request).made();
}

}  // namespace starling
