#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "apply_model.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/text/per_client.hpp"
#include "files/tell_user.hpp"
#include "files/text_files.hpp"
#include "output/model_file/scorer.hpp"
#include "prediction_writer.hpp"
#include "report/pictures/pictures.hpp"
#include "report/prediction_report.hpp"
#include "report/view/run_reading.hpp"
#include "report/view/summary_view.hpp"
#include "report/view/table_text.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_groups = 100;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool same_content(const std::string& file, const std::string& other) {
  return fs::equivalent(file, other) ||
         (fs::file_size(file) == fs::file_size(other) && sha256_of_file(file) == sha256_of_file(other));
}

/// Whether `file` is one of the files from which the run learned, or has the same content. None where that is not
/// known: the folder has no configuration, the run's files are not here, or one of both is no file. Throws DataError.
std::optional<bool> learned_from(const std::string& run, const std::string& file) {
  if (!is_file(run + "/config.ini") || !is_file(file)) return std::nullopt;
  const auto values = read_configuration(run);
  const auto source = values.find("source");
  if (source == values.end()) return std::nullopt;
  const auto clients = values.find("clients");
  const Client count = is_per_client(source->second) && clients != values.end() ? std::stoi(clients->second) : 1;
  bool all_here = true;
  for (Client u = 0; u < count; ++u) {
    const std::string part = is_per_client(source->second) ? name_of_client(source->second, u) : source->second;
    if (is_file(part) && same_content(file, part)) return true;
    all_here = all_here && is_file(part);
  }
  return all_here ? std::optional(false) : std::nullopt;
}

struct ScoreChoice {
  ModelSource from;
  std::string by;
  bool json = false;
  std::optional<std::string> output;
  ProgressChoice progress = ProgressChoice::automatic;
};

Options score_options(ScoreChoice& choice) {
  Options options("score");
  add_model_source_options(options, choice.from);
  options.group("Output");
  options.add(option("by", "COLUMN",
                     fmt::format("metrics of each group of records too, by the text of this column (its name, or its "
                                 "number from 0); at most {} groups",
                                 most_groups),
                     {.example = "hospital",
                      .common = true,
                      .relations = {excludes("parties", "columns of the records are at several parties")}}),
              choice.by);
  options.add(declared("json", {.help = "print the metrics as one JSON object"}), choice.json);
  options.add(
      option("output", "DIR", "folder for score.json, and for calibration.svg where the model predicts probabilities",
             {.example = "scores", .files = named::file}),
      choice.output);
  add_last_options(options, choice.progress);
  return options;
}

Manual score_manual() {
  return {.usage = "MODEL --source FILE [--by COLUMN] [--json] [--output DIR]",
          .text =
              "Scores the model of a run on labelled records: accuracy, balanced accuracy, precision, recall, F1 and "
              "the confusion matrix; of two classes the area under the ROC curve with DeLong's standard error; "
              "log-loss, Brier score and calibration where the loss has probabilities; R^2, RMSE and mean absolute "
              "error of numbers. The metrics are computed without noise: they protect no record of the source. The "
              "area is exact, so records of two classes take up to 24 bytes each, and twice as much with --by.",
          .examples = {"starling score run --source held-out.csv",
                       "mpirun -n 3 starling score run-vertical --parties guest.csv,host.csv --id id"}};
}

/// The results: metrics over all records and over groups of records.
struct ScoreReport {
  std::string model;             ///< path
  std::string run_id;            ///< of the run that learned it
  std::optional<Client> client;  ///< whose model it is; none: the mean of all
  std::string source;
  std::optional<bool> learned_from;           ///< whether the run has learned from the source; none: nobody knows
  TestMetrics metrics;                        ///< over all records
  std::string by;                             ///< column of the groups; empty without groups
  std::map<std::string, TestMetrics> groups;  ///< by the column's text
  std::map<double, std::string> class_texts;  ///< texts of the label's column by the labels of classes
};

/// The object that docs/reference/json-output.md describes.
Json json_of(const ScoreReport& report) {
  Json json = {{"model", report.model},
               {"run_id", report.run_id},
               {"client", report.client},
               {"source", report.source},
               {"learned_from", report.learned_from},
               {"metrics", json_of(report.metrics)}};
  for (const auto& [label, text] : report.class_texts) {
    json["class_texts"].push_back({{"class", label}, {"text", text}});
  }
  if (report.by.empty()) return json;
  json["by"] = report.by;
  json["groups"] = Json::array();
  for (const auto& [value, metrics] : report.groups) {
    json["groups"].push_back({{"value", value}, {"metrics", json_of(metrics)}});
  }
  return json;
}

/// A line of the table of groups, of one column more than headings.
std::string group_line(const std::string& group, const std::string& records, const std::string& first,
                       const std::string& second, const std::string& third) {
  return indented_line(fmt::format("{:<22}{:>12}{:>12}{:>12}{:>12}", group, records, first, second, third));
}

std::string group_rows(const ScoreReport& report) {
  if (report.groups.empty()) return "";
  const bool classes = report.metrics.classification.has_value();
  std::string text = "\n" + (classes ? group_line(report.by, "records", "accuracy", "balanced", "AUC")
                                     : group_line(report.by, "records", "R^2", "RMSE", "MAE"));
  for (const auto& [value, metrics] : report.groups) {
    const std::string records = std::to_string(metrics.records);
    if (classes) {
      const Classification& own = *metrics.classification;
      text += group_line(value, records, shown(100 * own.accuracy, "{:.2f} %"),
                         shown(100 * own.balanced_accuracy, "{:.2f} %"),
                         shown(own.roc ? own.roc->area : std::nan(""), "{:.4f}"));
    } else {
      const RegressionMetrics& own = *metrics.regression;
      text += group_line(value, records, shown(own.r2, "{:.4f}"), shown(own.rmse, "{:.6g}"), shown(own.mae, "{:.6g}"));
    }
  }
  return text;
}

/// The report, in which classes have the texts of the label's column: for the table.
Json with_texts(const ScoreReport& report) {
  Json json = json_of(report);
  if (!json["metrics"].contains("classes")) return json;
  for (Json& each : json["metrics"]["classes"]) {
    const auto found = report.class_texts.find(each["class"].get<double>());
    if (found != report.class_texts.end()) each["text"] = found->second;
  }
  return json;
}

/// The same as tables.
std::string text_of(const ScoreReport& report) {
  const SummaryView view(with_texts(report), "the results");
  const std::string whose = report.client ? fmt::format(", client {}", *report.client) : "";
  std::string text =
      table_row("model", report.model + whose) + table_row("source", report.source) +
      table_row("records", std::to_string(report.metrics.records) +
                               (report.learned_from.value_or(false) ? ", from which it has learned" : ""));
  if (view.has("metrics.accuracy")) {
    text += table_row("accuracy", shown(100 * view.number("metrics.accuracy"), "{:.2f} %"));
  }
  text += metric_rows(view, "metrics");
  for (const std::string& table : {class_rows(view, "metrics"), calibration_rows(view, "metrics")}) {
    if (!table.empty()) text += "\n" + table;
  }
  return text + group_rows(report);
}

/// Writes score.json, and draws calibration.svg where there are probabilities, into a folder, which is made. Returns a
/// sentence that says why there is no picture, or an empty string. Throws UsageError and FailureError.
std::string store(const ScoreReport& report, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  check(!failed, "cannot make the folder '{}': {}. Name another with --output.", folder, failed.message());
  write_text(folder + "/score.json", json_of(report).dump(2) + "\n");
  const std::optional<Classification>& classes = report.metrics.classification;
  return classes && classes->probabilities ? draw_calibration(folder, classes->probabilities->calibration) : "";
}

/// Compares predictions with labels, and shows the metrics.
class Scoring final : public ModelUse {
 public:
  explicit Scoring(const ScoreChoice& choice) : choice_(choice) {}

  [[nodiscard]] Reading reading() const override {
    return {"scoring", ScoredSource::Labels::needed, choice_.by, "--by"};
  }
  void check_model(const SavedModel& model) override {
    const std::optional<PredictionForm> form = prediction_form(model);
    check(form.has_value(),
          "'{}' predicts no label: it is a location, of expert advice, or an own model without predictions. Apply it "
          "with starling predict.",
          choice_.from.model);
    form_ = *form;
    all_.emplace(form_);
  }
  void begin(const SavedModel& model, const Loss& loss) override {
    class_texts_ = texts_of_classes(model, loss);
    run_id_ = model.origin_text("run_id");
  }
  void take(const ScoredRecords& records) override {
    for (std::size_t i = 0; i < records.size(); ++i) {
      const View scores = View(records.scores).subspan(i * form_.scores, form_.scores);
      all_->add(scores, records.labels[i]);
      if (!choice_.by.empty()) group_of(records.keys[i]).add(scores, records.labels[i]);
    }
  }
  void finish(std::int64_t /*count*/) override {
    ScoreReport report{choice_.from.model, run_id_,         choice_.from.client, source_of(choice_.from),
                       learned(),          all_->metrics(), choice_.by,          {},
                       class_texts_};
    for (const auto& [value, tally] : groups_) report.groups.emplace(value, tally.metrics());
    const std::string problem = choice_.output ? store(report, *choice_.output) : "";
    if (!problem.empty()) tell_user("note: {}\n", problem);
    if (report.learned_from.value_or(false)) {
      tell_user("note: the run has learned from {}: new records may be predicted worse. Score held-out ones.\n",
                report.source);
    }
    print(choice_.json ? json_of(report).dump(2) + "\n" : text_of(report));
  }

 private:
  [[nodiscard]] std::optional<bool> learned() const {
    const fs::path model = choice_.from.model;
    std::error_code error;
    const fs::path run = fs::is_directory(model, error) ? model : fs::absolute(model, error).parent_path();
    return learned_from(run.string(), choice_.from.reading.source);
  }
  PredictionTally& group_of(const std::string& value) {
    const auto found = groups_.find(value);
    if (found != groups_.end()) return found->second;
    check<DataError>(groups_.size() < most_groups,
                     "--by {}: the column has more than {} values. Name one with fewer values.", choice_.by,
                     most_groups);
    return groups_.emplace(value, form_).first->second;
  }

  const ScoreChoice& choice_;
  PredictionForm form_;
  std::optional<PredictionTally> all_;
  std::map<std::string, PredictionTally> groups_;
  std::string run_id_;
  std::map<double, std::string> class_texts_;  ///< texts of the label's column
};

int run_score(const Call& call) {
  const auto choice = choice_of<ScoreChoice, score_options>(call);
  return apply_model<Scoring>(call, choice);
}

}  // namespace

Command score_command() {
  Command command = command_of<ScoreChoice, score_options>("score", "metrics of a run's model on labelled records",
                                                           score_manual, run_score);
  command.may_run_on_all = true;
  return command;
}

}  // namespace starling
