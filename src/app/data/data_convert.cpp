// `starling data convert` and `make`.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>
#include <sys/stat.h>

#include "app/commands.hpp"
#include "console/pass.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "data/formats/writer.hpp"
#include "data/preparation/window.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/source_choice.hpp"
#include "run/settings/source_options.hpp"
#include "survival_choice.hpp"

namespace starling {

namespace {

bool is_hdf5_name(const std::string& path) {
  return path.ends_with(".h5") || path.ends_with(".hdf5");
}

struct Copy {
  SourceChoice source;
  std::string output;
  bool force = false;
  StoredPrecision precision = StoredPrecision::float64;
  std::optional<std::size_t> window;
  std::optional<std::size_t> window_step;
  SurvivalChoice survival;
  ProgressChoice progress = ProgressChoice::automatic;
  std::string command_line;
};

void add_output_options(Options& options, Copy& copy) {
  options.group("Output");
  options.add(declared("output",
                       "file to write: .h5, .csv[.gz] or .svm[.gz]; with {client} in its name one per client, else all "
                       "clients' records one after the other",
                       {.argument = "FILE"}),
              copy.output);
  options.add(flag("force", "replace files that exist"), copy.force);
  options.add(declared("precision", "of the features in HDF5: double, or float (half the size)",
                       {.argument = "WHAT", .initial = "double"}),
              copy.precision, {{"double", StoredPrecision::float64}, {"float", StoredPrecision::float32}});
}

void add_window_options(Options& options, Copy& copy) {
  options.group("Windows");
  options.add(
      option("window", "W",
             "write a record for each W consecutive ones of a client: mean and standard deviation (population: "
             "divided by W) of every feature, as NAME_mean and NAME_sd. A window whose records have several labels "
             "(after --positive or --class-labels) or an ignored one, and an incomplete one at the end, is dropped and "
             "counted",
             {.range = {2, 1'000'000'000}, .unit = "records", .example = "10"}),
      copy.window);
  options.add(
      option("window-step", "S",
             "records from the begin of a window to that of the next, 1 to W; default: W (no overlap). Below W a "
             "record is in up to W/S windows (rounded up) and pays for each of them in a private run",
             {.range = {1, 1'000'000'000},
              .unit = "records",
              .example = "5",
              .relations = {needs("window", "there are no windows")}}),
      copy.window_step);
}

/// One output and the clients whose records go there.
struct Target {
  std::string path;
  Client first = 0;
  Client count = 1;
};

/// The copying of one command: checks everything that can be checked beforehand, writes all files, then names them.
class Copier {
 public:
  explicit Copier(const Copy& copy) : copy_(copy), source_(copy.source), progress_(copy.progress) {
    if (!copy.survival.columns.empty()) begin_survival();
    if (!copy.window) return;
    windows_ = WindowSettings{*copy.window, copy.window_step.value_or(*copy.window), std::move(source_.reading.ignore),
                              std::move(source_.reading.positive), std::move(source_.reading.class_labels)};
    source_.reading.ignore.clear();  // windows must see the records that break them
    source_.reading.positive.clear();
    source_.reading.class_labels.clear();
  }

  void run() {
    source_.check_clients();
    plan();
    for (const Target& target : targets_) check_target(target.path);
    if (is_survival()) survival_ = survival_settings(copy_.survival, source_, progress_, release_report_);
    find_features();
    for (const Target& target : targets_) write(target);
    for (const auto& writer : writers_) writer->publish();
    print(report());
  }

 private:
  void begin_survival();
  [[nodiscard]] bool is_survival() const { return !copy_.survival.columns.empty(); }
  [[nodiscard]] std::string survival_line() const;
  [[nodiscard]] const SourceChoice& source() const { return source_; }
  [[nodiscard]] std::unique_ptr<RecordReader> open_part(Client u);
  void plan();
  void check_target(const std::string& path) const;
  void find_features();
  void check_room() const;
  [[nodiscard]] std::size_t features_of(Client u);
  [[nodiscard]] std::unique_ptr<RecordReader> open(Client u);
  void write(const Target& target);
  [[nodiscard]] WriteSettings settings(const Target& target, const RecordReader& reader) const;
  [[nodiscard]] unsigned permissions(const Target& target) const;
  [[nodiscard]] std::string window_line() const;
  [[nodiscard]] std::string overlap_line() const;
  [[nodiscard]] std::string report() const;

  const Copy& copy_;
  SourceChoice source_;
  std::optional<WindowSettings> windows_;
  WindowCounts window_counts_;
  std::optional<SurvivalSettings> survival_;
  std::string release_report_;  // of released intervals
  SurvivalCounts survival_counts_;
  Progress progress_;
  std::vector<Target> targets_;
  std::vector<std::unique_ptr<RecordWriter>> writers_;
  bool sparse_ = false;                  // whether the part opened last is
  std::vector<std::string> part_names_;  // of its features
  std::vector<std::string> names_;       // of the first part that has some
  std::size_t features_ = 0;             // of all parts; 0 where nobody needs it
  std::int64_t sparse_records_ = 0;      // of the parts that were read to know their features
  std::size_t known_features_ = 0;       // of what has been read
  std::unique_ptr<RecordReader> first_;  // of part 0, opened to see its features and not yet read: it may be a pipe
};

/// The event is the label.
void Copier::begin_survival() {
  check(copy_.survival.columns.size() == 2, "--survival takes two columns, TIME,EVENT. Name them.");
  copy_.survival.check_release(source_, copy_.force);
  source_.reading.label = copy_.survival.columns[1];
  source_.reading.shows_missing = true;  // a missing time is none at all
}

void Copier::plan() {
  check(!copy_.output.empty(), "--output is missing: it names the file to write. Add it.");
  check(copy_.precision == StoredPrecision::float64 || is_hdf5_name(copy_.output),
        "--precision float for '{}': only HDF5 has single precision, and text holds what is read. Leave it out.",
        copy_.output);
  if (!is_per_client(copy_.output)) {
    targets_.push_back({copy_.output, 0, source().parts()});
    return;
  }
  check(source().clients.has_value(),
        "--output '{}' has a place for clients: the source is one. Leave {{client}} out, or give --clients.",
        copy_.output);
  for (Client u = 0; u < source().parts(); ++u) targets_.push_back({name_of_client(copy_.output, u), u, 1});
}

void Copier::check_target(const std::string& path) const {
  static_cast<void>(writes_nonzeros(path));
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) return;
  check(std::filesystem::is_regular_file(status), "--output '{}' exists and is no file; name another", path);
  check(copy_.force, "--output '{}' exists: it would be lost. Name another file, or add --force.", path);
  for (Client u = 0; u < source().parts(); ++u) {
    for (const std::string& file : source().files(u)) {
      check(!std::filesystem::equivalent(file, path, ignored), "--output '{}' is the source itself; name another",
            path);
    }
  }
}

/// Dense files have their number of features in the first row, and sparse ones must be read to know it; all parts get
/// the same.
void Copier::find_features() {
  if (writes_nonzeros(targets_.front().path)) return;
  for (Client u = 0; u < source().parts(); ++u) {
    check(u == 0 || source().replayable(u), "'{}' is not a regular file: several are opened twice. Copy it into one.",
          source().part(u));
    const std::size_t found = features_of(u);
    check<DataError>(u == 0 || sparse_ || found == features_,
                     "{}: {} features, where {} has {}. Give all files the same columns.", source().part(u), found,
                     source().part(0), features_);
    require_same_names(names_, part_names_, source().part(0), source().part(u));
    if (names_.empty()) names_ = part_names_;
    features_ = std::max(features_, found);
  }
  check<DataError>(features_ > 0, "{}: no record has a feature, so nothing can be learned from it. Check the file.",
                   source().name());
  check_room();
}

std::unique_ptr<RecordReader> Copier::open_part(Client u) {
  auto reader = source().open(u);
  if (survival_) return make_survival(std::move(reader), *survival_, survival_counts_);
  return windows_ ? make_windows(std::move(reader), *windows_, window_counts_) : std::move(reader);
}

std::size_t Copier::features_of(Client u) {
  auto reader = open_part(u);
  sparse_ = reader->sparse();
  part_names_ = reader->names();
  if (!sparse_ || source().reading.dimension) {
    const std::size_t features = reader->features();
    if (u == 0) first_ = std::move(reader);
    return features;
  }
  check(source().replayable(u), "'{}' can be read once only: its largest index must be known first. Give --dimension.",
        source().part(u));
  progress_.begin("looking for the largest index", nullptr);
  Record record;
  for (; reader->next(record); ++sparse_records_) progress_.tick();
  progress_.end();
  return reader->features();
}

/// Few non-zeros can be many zeros.
void Copier::check_room() const {
  const bool text = !is_hdf5_name(targets_.front().path);
  const double value_bytes = text ? 2 : (copy_.precision == StoredPrecision::float32 ? 4 : 8);
  const double needed = value_bytes * static_cast<double>(sparse_records_) * static_cast<double>(features_);
  std::error_code error;
  const auto folder = std::filesystem::absolute(targets_.front().path, error).parent_path();
  const auto space = std::filesystem::space(folder, error);
  const bool compressed = targets_.front().path.ends_with(".gz");
  check<FailureError>(
      error || compressed || needed <= static_cast<double>(space.available),
      "'{}' would take {:.3g} GB with its zeros, and {:.3g} GB are free. Write non-zeros: --output FILE.svm.",
      copy_.output, needed / 1e9, static_cast<double>(space.available) / 1e9);
}

std::unique_ptr<RecordReader> Copier::open(Client u) {
  return first_ != nullptr && u == 0 ? std::move(first_) : open_part(u);
}

/// Permissions of the source files, so that a private file stays private.
unsigned Copier::permissions(const Target& target) const {
  unsigned allowed = 0666;
  for (Client u = target.first; u < target.first + target.count; ++u) {
    for (const std::string& file : source().files(u)) {
      struct stat status {};
      if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode)) allowed &= status.st_mode;
    }
  }
  return allowed | 0600;
}

WriteSettings Copier::settings(const Target& target, const RecordReader& reader) const {
  WriteSettings settings;
  settings.features = features_;
  settings.names = reader.names();
  settings.precision = copy_.precision;
  settings.source = target.count == 1 ? source().part(target.first) : source().name();
  settings.command = copy_.command_line;
  settings.permissions = permissions(target);
  settings.replace = copy_.force;
  return settings;
}

void Copier::write(const Target& target) {
  std::unique_ptr<RecordWriter> writer;
  for (Client u = target.first; u < target.first + target.count; ++u) {
    const auto reader = open(u);
    if (!writer) {
      writer = open_writer(target.path, settings(target, *reader));
      progress_.begin("writing " + target.path, [&writer] { return writer->bytes(); });
    }
    const std::int64_t before = writer->records();
    copy_records(*reader, *writer, [this] { progress_.tick(); });
    known_features_ = std::max(known_features_, reader->features());
    check<DataError>(writer->records() > before, "{}: no {}, so there is nothing to write. Check the source.",
                     source().part(u), windows_ ? "whole window of one label" : "records");
  }
  progress_.end();
  writer->finish();
  writers_.push_back(std::move(writer));
}

std::string Copier::window_line() const {
  return fmt::format(
             "windows of {} records: {} written; dropped: {} of several labels, {} with an ignored one, {} "
             "incomplete at the end\n",
             windows_->length, window_counts_.kept, window_counts_.mixed, window_counts_.ignored,
             window_counts_.incomplete) +
         overlap_line();
}

/// A warning that records are counted several times; empty for windows that do not overlap.
std::string Copier::overlap_line() const {
  const std::size_t most = windows_of_record(*windows_);
  if (most == 1) return "";
  return fmt::format(
      "note: windows overlap: a record is in up to {} of them (W/S, rounded up), and pays for each in a private run: "
      "multiply its epsilon or mu by {}, or leave --window-step out\n",
      most, most);
}

std::string Copier::survival_line() const {
  return fmt::format(
      "persons: {} with {} events in {} intervals; {} go on after the last; {} without records, censored in the "
      "first half of the first\nnote: a person has up to {} records: protect persons by --unit person --person person "
      "--person-gradient sum\n",
      survival_counts_.persons, survival_counts_.events, survival_->ends.size(), survival_counts_.later,
      survival_counts_.unseen, survival_counts_.most_records);
}

std::string Copier::report() const {
  const auto total = std::accumulate(writers_.begin(), writers_.end(), std::int64_t{0},
                                     [](std::int64_t sum, const auto& writer) { return sum + writer->records(); });
  std::size_t visible = 0;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const auto& writer : writers_) {
    visible = std::max(visible, writer->visible_features());
    least = std::min(least, writer->visible_features());
  }
  std::string text = fmt::format("{}: {} records, {} features{}\n", copy_.output, total, visible,
                                 writers_.size() == 1 ? "" : fmt::format(", {} files", writers_.size()));
  const std::string& id = source().reading.id;
  if (!id.empty()) text += fmt::format("note: column '{}' (--id) is not written: nothing is learned from it\n", id);
  if (windows_) text += window_line();
  if (survival_) text += survival_line() + release_report_;
  if (!source().reading.ignore.empty() || windows_) {
    text += fmt::format(
        "note: {} dropped for their labels leave no place behind: where a record stands in the file depends on the "
        "labels of others, which no privacy figure of a run on the file covers{}\n",
        windows_ ? "windows" : "records", windows_ ? "" : " (a run's own --ignore keeps places)");
  }
  if (!writes_nonzeros(targets_.front().path)) return text;
  if (const std::size_t known = std::max(visible, known_features_); known > least)
    text += fmt::format("note: the last features are always zero: read with --dimension {}\n", known);
  return text;
}

Options convert_options(Copy& copy) {
  Options options("data convert");
  add_source_word(options, copy.source);
  add_client_options(options, copy.source);
  add_reading_options(options, copy.source.reading);
  add_window_options(options, copy);
  add_survival_options(options, copy.survival);
  add_output_options(options, copy);
  add_last_options(options, copy.progress);
  return options;
}

Options make_options(Copy& copy) {
  Options options("data make");
  options.group("Source");
  options.add(option("generator", "GENERATOR", "NAME[:key=value,…]",
                     {.values = [] { return values_of("Generators", generator_table()); },
                      .example = "drift:informative=1",
                      .positional = true}),
              [&copy](const std::string& text) {
                copy.source.reading.source = is_synthetic(text) ? text : "synthetic:" + text;
              });
  options.add(option("records", "N", "records of each client; default: what the generator's n says",
                     {.range = {1, most_whole}, .unit = "records", .example = "1000"}),
              copy.source.records);
  add_client_options(options, copy.source);
  options.add(
      declared("batch", "the --batch of the run that these records are for: a round draws M records", {.initial = "1"}),
      copy.source.batch);
  add_output_options(options, copy);
  add_last_options(options, copy.progress);
  return options;
}

constexpr const char* copy_explanation =
    "The file gets its name when it is complete; before, and after an error or a signal, there is nothing under that "
    "name. Memory does not grow with the number of records. Exit codes: 0 done, 2 usage, 3 data, 5 the file cannot be "
    "written, 75 stopped by a signal.";

template <Options (*options_of)(Copy&)>
int run_copy(const Call& call) {
  auto copy = parsed<Copy, options_of>(call.words);
  copy.command_line = call.command_line;
  return run_for_owner([&] {
    Copier(copy).run();
    return 0;
  });
}

Manual convert_manual() {
  return {
      .usage = "SOURCE --output FILE [OPTIONS]",
      .text =
          std::string(
              "Writes the records of a source, as a run would read them, to one file:\n"
              "  .h5          HDF5: /x (records x features), /y (labels); the features' names as an attribute of /x\n"
              "  .csv[.gz]    a line of names, the features, and last the label, called y; reads back to the same "
              "bits\n"
              "  .svm[.gz]    the non-zero features, indices from 1\n") +
          copy_explanation,
      .examples = {"starling data convert held-out.csv --output held-out.h5",
                   "starling data convert site-{client}.csv --clients 3 --scale 1/10 --output scaled-{client}.h5"}};
}

Manual make_manual() {
  return {
      .usage = "GENERATOR --records N --output FILE [OPTIONS]",
      .text = std::string("Writes the records that `starling omd --source synthetic:GENERATOR` with the same --seed "
                          "and --batch serves, to .h5, .csv[.gz] or .svm[.gz]. All clients in one file are what "
                          "--partition contiguous deals out again. ") +
              copy_explanation,
      .examples = {"starling data make drift:informative=1 --clients 5 --records 2000 --output drift-{client}.csv"}};
}

}  // namespace

Command data_convert_command() {
  return command_of<Copy, convert_options>("convert", "write the records of any source to .h5, .csv[.gz] or .svm[.gz]",
                                           convert_manual, run_copy<convert_options>);
}

Command data_make_command() {
  return command_of<Copy, make_options>("make", "write the records of a generator", make_manual,
                                        run_copy<make_options>);
}

}  // namespace starling
