#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/predict/parties_together.hpp"
#include "app/predict/prediction_writer.hpp"
#include "console/pass.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "files/tell_user.hpp"
#include "output/model_file/scorer.hpp"
#include "run/launch.hpp"
#include "run/settings/catalogue.hpp"
#include "score_report.hpp"

namespace starling {

namespace {

constexpr std::size_t most_groups = 100;

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

/// The metrics of scored records.
class Scoring {
 public:
  Scoring(const PredictionForm& form, const ScoreChoice& choice) : form_(form), by_(choice.by), all_(form) {}

  void add(const ScoredRecords& records) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      const View scores = View(records.scores).subspan(i * form_.scores, form_.scores);
      all_.add(scores, records.labels[i]);
      if (!by_.empty()) group_of(records.keys[i]).add(scores, records.labels[i]);
    }
  }
  /// Texts of the label's column, for the report.
  void name(std::map<double, std::string> class_texts) { class_texts_ = std::move(class_texts); }
  [[nodiscard]] const std::map<double, std::string>& class_texts() const { return class_texts_; }
  [[nodiscard]] const PredictionTally& all() const { return all_; }
  [[nodiscard]] const std::map<std::string, PredictionTally>& groups() const { return groups_; }

 private:
  PredictionTally& group_of(const std::string& value) {
    const auto found = groups_.find(value);
    if (found != groups_.end()) return found->second;
    check<DataError>(groups_.size() < most_groups,
                     "--by {}: the column has more than {} values. Name one with fewer values.", by_, most_groups);
    return groups_.emplace(value, form_).first->second;
  }

  PredictionForm form_;
  std::string by_;
  PredictionTally all_;
  std::map<std::string, PredictionTally> groups_;
  std::map<double, std::string> class_texts_;
};

PredictionForm form_of(const ScoreChoice& choice, const SavedModel& model) {
  const std::optional<PredictionForm> form = prediction_form(model);
  check(
      form.has_value(),
      "'{}' predicts no label: it is a location, of expert advice, or an own model without predictions. Apply it with "
      "starling predict.",
      choice.from.model);
  return *form;
}

/// Scores one source.
Scoring scoring_of(const ScoreChoice& choice) {
  const SavedModel model = open_model(choice.from);
  Scoring scoring(form_of(choice, model), choice);
  ReadSettings reading = choice.from.reading;
  reading.key = choice.by;
  reading.key_option = "--by";
  ScoredSource source(model, reading, ScoredSource::Labels::needed);
  scoring.name(texts_of_classes(model, source.loss()));
  Progress progress(choice.progress);
  progress.begin("scoring " + choice.from.reading.source, nullptr);
  source.score([&](const ScoredRecords& records) {
    scoring.add(records);
    progress.tick(static_cast<std::int64_t>(records.size()));
  });
  progress.end();
  source.tell_of_classes();
  return scoring;
}

void show(const ScoreChoice& choice, const Scoring& scoring) {
  const std::string source =
      choice.from.parties.empty() ? choice.from.reading.source : fmt::format("{}", fmt::join(choice.from.parties, ","));
  check<DataError>(scoring.all().records() > 0, "{}: no records. Check the file.", source);
  ScoreReport report{choice.from.model,    choice.from.client, source, scoring.all().metrics(), choice.by, {},
                     scoring.class_texts()};
  for (const auto& [value, tally] : scoring.groups()) report.groups.emplace(value, tally.metrics());
  const std::string problem = choice.output ? store(report, *choice.output) : "";
  if (!problem.empty()) tell_user("note: {}\n", problem);
  print(choice.json ? json_of(report).dump(2) + "\n" : text_of(report));
}

/// The parties predict together, and rank 0 has the metrics. **Collective.**
ExitCode score_together(World& world, const ScoreChoice& choice) {
  PartiesTogether parties(world, choice.from, ScoredSource::Labels::needed);
  std::optional<Scoring> scoring;
  parties.together([&] {
    if (!parties.is_first()) return;
    scoring.emplace(form_of(choice, parties.head()), choice);
    scoring->name(texts_of_classes(parties.head(), parties.loss()));
  });
  parties.score([&](const ScoredRecords& records) { scoring->add(records); });
  parties.together([&] {
    if (scoring) show(choice, *scoring);
  });
  return ExitCode::done;
}

int run_score(const Call& call) {
  const auto choice = parsed<ScoreChoice, score_options>(call.words);
  if (!choice.from.parties.empty()) {
    return run_on_all_ranks([&](World& world) { return score_together(world, choice); }, call.errors);
  }
  if (!call.speaks) return 0;
  return run_for_owner([&] {
    show(choice, scoring_of(choice));
    return 0;
  });
}

}  // namespace

Command score_command() {
  Command command = command_of<ScoreChoice, score_options>("score", "metrics of a run's model on labelled records",
                                                           score_manual, run_score);
  command.may_run_on_all = true;
  return command;
}

}  // namespace starling
