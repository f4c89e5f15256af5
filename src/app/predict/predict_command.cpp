#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <unistd.h>

#include <fmt/ranges.h>

#include "app/commands.hpp"
#include "console/pass.hpp"
#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "files/tell_user.hpp"
#include "files/text_files.hpp"
#include "model_source.hpp"
#include "parties_together.hpp"
#include "prediction_writer.hpp"
#include "run/launch.hpp"
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
              "it learned from: columns are found by name, texts encoded, numbers standardised in the same way.",
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

void note_unused(const ScoredSource& source) {
  if (source.unused().empty()) return;
  tell_user("note: columns that the model does not take: {}\n", fmt::join(source.unused(), ", "));
}

/// Appends the lines of some records.
void add_lines(const ScoredRecords& records, std::size_t scores, const PredictionLines& lines, std::string& text) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const fmt::format_int number(records.first + static_cast<std::int64_t>(i) + 1);
    const std::string key = records.keys.empty() ? std::string() : csv_text(records.keys[i]);
    lines.add(text, records.keys.empty() ? std::string_view(number.data(), number.size()) : key,
              View(records.scores).subspan(i * scores, scores),
              records.spreads.empty() ? std::nullopt : std::optional(records.spreads[i]));
  }
}

void tell_of(const Predict& predict, std::int64_t count) {
  if (predict.output != "-" && predict.progress != ProgressChoice::off)
    tell_user("{}: predictions of {} records\n", predict.output, count);
}

/// The parties predict together, and rank 0 writes the table. **Collective.**
ExitCode predict_together(World& world, const Predict& predict) {
  const PredictionColumns columns = parse_columns(predict.columns);
  PartiesTogether parties(world, predict.from, ScoredSource::Labels::not_needed);
  std::optional<LineFile> file;
  std::optional<PredictionLines> lines;
  parties.together([&] {
    if (!parties.is_first()) return;
    const std::string& id = predict.from.reading.id;
    lines.emplace(parties.head(), parties.loss(), columns, id.empty() ? "record" : id);
    file.emplace(predict.output, predict.force);
  });
  std::string text = lines ? lines->header() : "";
  std::int64_t count = 0;
  Progress progress(world.rank() == 0 ? predict.progress : ProgressChoice::off);
  progress.begin("predicting", nullptr);
  parties.score([&](const ScoredRecords& records) {
    add_lines(records, parties.head().scores, *lines, text);
    file->write(text);
    count += static_cast<std::int64_t>(records.size());
    progress.tick(static_cast<std::int64_t>(records.size()));
  });
  progress.end();
  parties.together([&] {
    if (!file) return;
    file->finish();
    tell_of(predict, count);
  });
  return ExitCode::done;
}

int predict(const Predict& predict) {
  const PredictionColumns columns = parse_columns(predict.columns);
  const SavedModel model = open_model(predict.from);
  ReadSettings reading = predict.from.reading;
  reading.key = reading.id;  // whose text stands in the first column
  reading.key_option = "--id";
  const bool named = !reading.id.empty();
  ScoredSource source(model, reading, ScoredSource::Labels::not_needed);
  note_unused(source);
  const PredictionLines lines(model, source.loss(), columns, named ? reading.id : "record");
  LineFile file(predict.output, predict.force);
  Progress progress(predict.progress);
  progress.begin("predicting " + reading.source, nullptr);
  std::string text = lines.header();
  std::int64_t count = 0;
  source.score([&](const ScoredRecords& records) {
    add_lines(records, model.scores, lines, text);
    file.write(text);
    count += static_cast<std::int64_t>(records.size());
    progress.tick(static_cast<std::int64_t>(records.size()));
  });
  check<DataError>(count > 0, "{}: no records. Check the file.", reading.source);
  file.finish();
  progress.end();
  source.tell_of_classes();
  tell_of(predict, count);
  return 0;
}

int run_predict(const Call& call) {
  const auto choice = parsed<Predict, predict_options>(call.words);
  if (!choice.from.parties.empty()) {
    return run_on_all_ranks([&](World& world) { return predict_together(world, choice); }, call.errors);
  }
  if (!call.speaks) return 0;
  return run_for_owner([&] { return predict(choice); });
}

}  // namespace

Command predict_command() {
  Command command = command_of<Predict, predict_options>("predict", "apply the model of a run to new records",
                                                         predict_manual, run_predict);
  command.may_run_on_all = true;
  return command;
}

}  // namespace starling
