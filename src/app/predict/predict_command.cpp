#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <unistd.h>

#include "app/commands.hpp"
#include "apply_model.hpp"
#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "files/tell_user.hpp"
#include "files/text_files.hpp"
#include "prediction_writer.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

struct Predict {
  ModelSource from;
  std::string output = "-";
  bool force = false;
  std::vector<std::string> columns;
  ProgressChoice progress = ProgressChoice::automatic;
};

Options predict_options(Predict& predict) {
  Options options("predict");
  add_model_source_options(options, predict.from);
  options.group("Output");
  options.add(option("output", "FILE", "table of predictions, CSV with a line for each record; - is standard output",
                     {.files = named::file}),
              predict.output);
  options.add(flag("force", "replace a file that exists", {.common = true}), predict.force);
  options.add(
      option("columns", "LIST",
             "columns of the table, separated by commas: score, probability (where the loss has some), class, "
             "interval (of a regression of infer: standard error and 95 % interval, where they are known); or all",
             {.initial = "all", .common = true}),
      predict.columns);
  add_last_options(options, predict.progress);
  return options;
}

Manual predict_manual() {
  return {.usage = "MODEL --source FILE [--output FILE]",
          .text =
              "Applies the model of a run to new records. The model file holds all that was done to the records that "
              "it learned from: columns are found by name, texts encoded, numbers standardised in the same way. A "
              "record that cannot be read is named and has an empty prediction. Exit codes: 0 done, 1 done, and some "
              "records have no prediction, 2 usage, 3 data.",
          .examples = {"starling predict run --source held-out.csv --output predictions.csv",
                       "mpirun -n 3 starling predict run-vertical --parties guest.csv,host.csv --id id"}};
}

PredictionColumns parse_columns(const std::vector<std::string>& words) {
  if (words.size() == 1 && words.front() == "all") return {};
  PredictionColumns columns{false, false, false, false};
  const std::map<std::string, bool*> known{{"score", &columns.scores},
                                           {"probability", &columns.probabilities},
                                           {"class", &columns.classes},
                                           {"interval", &columns.intervals}};
  for (const std::string& word : words) {
    const auto found = known.find(word);
    check(found != known.end(), "--columns '{}': it must be score, probability, class, interval or all.", word);
    *found->second = true;
  }
  return columns;
}

/// A text file that has its name once it is whole; or standard output, a pipe or a device, which get lines as they
/// come.
class LineFile {
 public:
  LineFile(std::string path, bool replace) : path_(std::move(path)) {
    if (path_ == "-") return;
    place_ = replaced_file(path_);
    std::error_code ignored;
    check(replace || !place_ || !std::filesystem::exists(*place_, ignored),
          "--output '{}' exists. Name another, or add --force.", path_);
    file_.emplace(place_ ? part() : path_, place_ ? O_WRONLY | O_CREAT | O_TRUNC : O_WRONLY | O_NOCTTY, 0666);
    check(file_->get() >= 0, "--output '{}' cannot be written: {}.", path_, std::strerror(errno));
  }
  ~LineFile() {
    if (place_ && !whole_) ::unlink(part().c_str());
  }
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  void write(std::string& text) {
    const int error = write_all(file_ ? file_->get() : STDOUT_FILENO, text);
    check<FailureError>(error == 0, "cannot write '{}': {}. See whether the disk is full.", path_,
                        std::strerror(error));
    waiting_ += text.size();
    text.clear();
    if (!place_ || waiting_ < bytes_at_once) return;
    // The disk begins to write at once, so that `finish` waits for little; fsync tells of errors.
    ::sync_file_range(file_->get(), 0, 0, SYNC_FILE_RANGE_WRITE);
    waiting_ = 0;
  }
  void finish() {
    whole_ = !place_ || (::fsync(file_->get()) == 0 && std::rename(part().c_str(), place_->c_str()) == 0);
    check<FailureError>(whole_, "cannot write '{}': {}. See whether the disk is full.", path_, std::strerror(errno));
  }

 private:
  static constexpr std::size_t bytes_at_once = std::size_t{1} << 22;  // for the disk

  [[nodiscard]] std::string part() const { return *place_ + ".part"; }

  std::string path_;
  std::optional<std::string> place_;  ///< of the file; none for what gets lines as they come
  bool whole_ = false;
  std::size_t waiting_ = 0;         ///< bytes that the disk was not told to write
  std::optional<Descriptor> file_;  ///< none for standard output
};

/// Appends the lines of some records.
void add_lines(const ScoredRecords& records, std::size_t scores, const PredictionLines& lines, std::string& text) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const fmt::format_int number(records.first + static_cast<std::int64_t>(i) + 1);
    const std::string key = records.keys.empty() ? std::string() : csv_text(records.keys[i]);
    const std::string_view id = records.keys.empty() ? std::string_view(number.data(), number.size()) : key;
    if (!records.unread.empty() && records.unread[i] != 0) {
      lines.add_empty(text, id);
      continue;
    }
    lines.add(text, id, View(records.scores).subspan(i * scores, scores),
              records.spreads.empty() ? std::nullopt : std::optional(records.spreads[i]));
  }
}

/// Writes the table of predictions.
class Predicting final : public ModelUse {
 public:
  explicit Predicting(const Predict& choice) : choice_(choice), columns_(parse_columns(choice.columns)) {}

  [[nodiscard]] Reading reading() const override {
    return {"predicting", ScoredSource::Labels::not_needed, choice_.from.reading.id, "--id"};
  }
  void begin(const SavedModel& model, const Loss& loss) override {
    const std::string& id = choice_.from.reading.id;
    lines_.emplace(model, loss, columns_, id.empty() ? "record" : id);
    scores_ = model.scores;
    file_.emplace(choice_.output, choice_.force);
    text_ = lines_->header();
  }
  void take(const ScoredRecords& records) override {
    add_lines(records, scores_, *lines_, text_);
    file_->write(text_);
  }
  void finish(std::int64_t count) override {
    file_->finish();
    if (choice_.output != "-" && choice_.progress != ProgressChoice::off)
      tell_user("{}: predictions of {} records\n", choice_.output, count);
  }

 private:
  const Predict& choice_;
  PredictionColumns columns_;
  std::optional<PredictionLines> lines_;
  std::size_t scores_ = 0;
  std::optional<LineFile> file_;
  std::string text_;
};

int run_predict(const Call& call) {
  const auto choice = choice_of<Predict, predict_options>(call);
  return apply_model<Predicting>(call, choice);
}

}  // namespace

Command predict_command() {
  Command command = command_of<Predict, predict_options>("predict", "apply the model of a run to new records",
                                                         predict_manual, run_predict);
  command.may_run_on_all = true;
  return command;
}

}  // namespace starling
