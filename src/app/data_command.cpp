// `starling data convert|make|describe`.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <numeric>
#include <sys/stat.h>
#include <unistd.h>

#include "starling/app/commands.hpp"
#include "starling/app/description_text.hpp"
#include "starling/app/options.hpp"
#include "starling/app/source_options.hpp"
#include "starling/core/check.hpp"
#include "starling/core/digest.hpp"
#include "starling/core/per_client.hpp"
#include "starling/data/generated_source.hpp"
#include "starling/data/writer.hpp"

namespace starling {

namespace {

using Words = std::vector<std::string>;

constexpr long long many = 9'000'000'000'000'000;
constexpr long long most_clients = 100'000'000;

// Signals: what has been begun is taken back, and the exit code says that nothing was harmed.

volatile std::sig_atomic_t stop_asked = 0;

void ask_to_stop(int) {
  stop_asked = 1;
}

[[noreturn]] void throw_stopped() {
  throw Error(ExitCode::stopped_safely, "stopped by a signal (no file was written) start again");
}

/// Runs `work`; SIGINT, SIGTERM and SIGHUP end it through an exception that takes temporary files away.
template <class Work>
int stoppable(Work work) {
  struct sigaction action {};
  action.sa_handler = ask_to_stop;  // without SA_RESTART: a read from a pipe ends too
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  try {
    return work();
  } catch (const Error&) {
    if (stop_asked != 0) throw_stopped();
    throw;
  }
}

// Progress

enum class ProgressChoice { automatic, on, off };

/// Shows on stderr how far a long pass is: a line that is written over on a terminal, else a line after 2, 4, 8, …
/// seconds. Also where signals are looked for.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Progress(ProgressChoice choice)
      : shown_(choice != ProgressChoice::off),
        live_(choice == ProgressChoice::automatic && ::isatty(STDERR_FILENO) != 0),
        forced_(choice == ProgressChoice::on) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A new pass; `bytes` are those that it has written so far.
  void begin(const std::string& what, std::function<std::uint64_t()> bytes) {
    what_ = what;
    bytes_ = std::move(bytes);
    start_ = Clock::now();
    next_ = live_ ? 0.5 : 2;
    count_ = 0;
  }
  /// After each record.
  void tick() {
    if ((++count_ & 0xFF) != 0) return;
    if (stop_asked != 0) throw_stopped();
    if (shown_ && seconds() >= next_) show();
  }
  void end() {
    if (forced_) show();
    clear();
    bytes_ = nullptr;
  }

 private:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void show() {
    const double passed = seconds();
    std::string line = fmt::format("{}: {} records", what_, count_);
    if (bytes_) {
      const double megabytes = static_cast<double>(bytes_()) / 1e6;
      line += fmt::format(", {:.1f} MB, {:.0f} MB/s", megabytes, megabytes / std::max(passed, 1e-3));
    }
    fmt::print(stderr, "{}{}{}", live_ ? "\r" : "", line, live_ ? "\033[K" : "\n");
    std::fflush(stderr);
    open_ = live_;
    next_ = live_ ? passed + 0.2 : std::max(next_ * 2, 2.0);
  }
  void clear() {
    if (open_) fmt::print(stderr, "\r\033[K");
    open_ = false;
  }

  bool shown_;
  bool live_;
  bool forced_;
  bool open_ = false;
  std::string what_;
  std::function<std::uint64_t()> bytes_;
  Clock::time_point start_;
  double next_ = 0;
  std::int64_t count_ = 0;
};

// Sources

/// A source as the options name it: one file or pair, one per client, or a generator.
struct SourceChoice {
  SourceChoice() { reading.source.clear(); }  // there is no default
  ReadSettings reading;
  std::optional<Client> clients;
  std::uint64_t seed = 1;
  std::int64_t batch = 1;
  std::optional<std::int64_t> records;  ///< of a generator, per client; otherwise what its spec says

  [[nodiscard]] const std::string& name() const { return reading.source; }
  [[nodiscard]] bool synthetic() const { return is_synthetic(name()); }
  [[nodiscard]] bool per_client() const { return synthetic() ? clients.has_value() : is_per_client(name()); }
  [[nodiscard]] Client parts() const { return clients.value_or(1); }
  [[nodiscard]] std::string part(Client u) const {
    if (name() == "-") return "/dev/stdin";
    return synthetic() ? name() : name_of_client(name(), u);
  }

  /// Throws UsageError where --clients and the name do not belong together.
  void check_clients() const {
    check(!name().empty(),
          "no source was named (a file, FEATURES,LABELS, part-{{client}}.csv or synthetic:NAME) name one");
    check(synthetic() || per_client() || !clients,
          "--clients {} with the one source '{}' (only a name with {{client}} stands for several) leave --clients out",
          clients.value_or(0), name());
    check(synthetic() || !per_client() || clients, "'{}' names one file per client: say how many with --clients",
          name());
  }
  /// The files that hold a part; none of a generator.
  [[nodiscard]] std::vector<std::string> files(Client u) const;
  [[nodiscard]] std::unique_ptr<RecordReader> open(Client u) const;
  /// Whether all files of a part can be read again; pipes cannot.
  [[nodiscard]] bool replayable(Client u) const;
};

bool is_regular(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored);
}

bool SourceChoice::replayable(Client u) const {
  const auto names = files(u);
  return std::all_of(names.begin(), names.end(), is_regular);
}

std::vector<std::string> SourceChoice::files(Client u) const {
  if (synthetic()) return {};
  return files_of(part(u));
}

std::unique_ptr<RecordReader> SourceChoice::open(Client u) const {
  if (!synthetic()) {
    ReadSettings settings = reading;
    settings.source = part(u);
    settings.go_on_waiting = [] {
      if (stop_asked != 0) throw_stopped();
      return true;
    };
    return open_reader(settings.source, settings);
  }
  refuse_reading_options(reading);
  std::shared_ptr<const Generator> generator = make_generator(name());
  const std::int64_t available = generator->records();
  check(records || available > 0, "'{}' has no end: say how many records (n=… in its name, or --records)", name());
  check(!records || available == 0 || *records <= available, "--records {} is more than '{}' has", records.value_or(0),
        name());
  return open_generated(std::move(generator), name(), seed, u, batch, records.value_or(available));
}

// Options that several commands share

void add_source_word(Options& options, SourceChoice& source) {
  options.add(
      {"Source", "source", "SOURCE", "", "what to read (Sources, below)", setter::text(source.reading.source), true});
}

void add_client_options(Options& options, SourceChoice& source) {
  options.add({"Source", "clients", "N", "", "number of clients, for a source with {client} in its name or a generator",
               setter::integer(source.clients, 1, most_clients)});
  options.add(
      {"Source", "seed", "S", "1", "seed of a generator, as in starling omd", setter::integer(source.seed, 0, many)});
}

void add_last_options(Options& options, ProgressChoice& progress, bool& print_config) {
  const char* group = "General";
  options.add(
      {group, "progress", "WHEN", "auto",
       "on stderr: auto (where it takes long: a line that changes on a terminal, else lines), on (lines) or off",
       setter::choice<ProgressChoice>(
           progress, {{"auto", ProgressChoice::automatic}, {"on", ProgressChoice::on}, {"off", ProgressChoice::off}})});
  options.add({group, "config", "FILE", "", "read options from an INI file (key = value); the command line wins",
               [](const std::string&) {}});
  options.add({group, "print-config", "", "", "print the effective options as such a file and exit",
               setter::flag(print_config)});
  options.add({group, "help", "", "", "this text", [](const std::string&) {}});
}

void print(const std::string& text) {
  const bool done = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  check<FailureError>(done, "cannot write to standard output (it is closed, or its disk is full)");
}

bool asks_for_help(const Words& words) {
  return std::find(words.begin(), words.end(), "--help") != words.end();
}

// convert and make

bool is_hdf5_name(const std::string& path) {
  return path.ends_with(".h5") || path.ends_with(".hdf5");
}

struct Copy {
  SourceChoice source;
  std::string output;
  bool force = false;
  Precision precision = Precision::float64;
  ProgressChoice progress = ProgressChoice::automatic;
  bool print_config = false;
  std::string command_line;
};

void add_output_options(Options& options, Copy& copy) {
  const char* group = "Output";
  options.add(
      {group, "output", "FILE", "",
       "file to write: .h5, .csv[.gz] or .svm[.gz]; with {client} in its name one per client, else all clients' "
       "records one after the other",
       setter::text(copy.output)});
  options.add({group, "force", "", "", "replace files that exist", setter::flag(copy.force)});
  options.add(
      {group, "precision", "WHAT", "double", "of the features in HDF5: double, or float (half the size)",
       setter::choice<Precision>(copy.precision, {{"double", Precision::float64}, {"float", Precision::float32}})});
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
  explicit Copier(const Copy& copy) : copy_(copy), progress_(copy.progress) {}

  void run() {
    copy_.source.check_clients();
    plan();
    for (const Target& target : targets_) check_target(target.path);
    find_features();
    for (const Target& target : targets_) write(target);
    for (const auto& writer : writers_) writer->publish();
    print(report());
  }

 private:
  [[nodiscard]] const SourceChoice& source() const { return copy_.source; }
  void plan();
  void check_target(const std::string& path) const;
  void find_features();
  void check_room() const;
  [[nodiscard]] std::size_t features_of(Client u);
  [[nodiscard]] std::unique_ptr<RecordReader> open(Client u);
  void write(const Target& target);
  [[nodiscard]] WriteSettings settings(const Target& target, const RecordReader& reader) const;
  [[nodiscard]] unsigned permissions(const Target& target) const;
  [[nodiscard]] std::string report() const;

  const Copy& copy_;
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

void Copier::plan() {
  check(!copy_.output.empty(), "--output is missing (the file to write) add it");
  check(copy_.precision == Precision::float64 || is_hdf5_name(copy_.output),
        "--precision float for '{}' (only HDF5 has single precision; text holds what is read) leave it out",
        copy_.output);
  if (!is_per_client(copy_.output)) {
    targets_.push_back({copy_.output, 0, source().parts()});
    return;
  }
  check(source().clients.has_value(),
        "--output '{}' has a place for clients (the source is one) leave {{client}} out, or give --clients",
        copy_.output);
  for (Client u = 0; u < source().parts(); ++u) targets_.push_back({name_of_client(copy_.output, u), u, 1});
}

void Copier::check_target(const std::string& path) const {
  static_cast<void>(writes_nonzeros(path));
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) return;
  check(std::filesystem::is_regular_file(status), "--output '{}' exists and is no file; name another", path);
  check(copy_.force, "--output '{}' exists (it would be lost) name another file, or add --force", path);
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
    check(u == 0 || source().replayable(u), "'{}' is not a regular file (several are opened twice) copy it into one",
          source().part(u));
    const std::size_t found = features_of(u);
    check<DataError>(u == 0 || sparse_ || found == features_,
                     "{}: {} features ({} has {}) give all files the same columns", source().part(u), found,
                     source().part(0), features_);
    require_same_names(names_, part_names_, source().part(0), source().part(u));
    if (names_.empty()) names_ = part_names_;
    features_ = std::max(features_, found);
  }
  check<DataError>(features_ > 0, "{}: no record has a feature (nothing can be learned from it) check the file",
                   source().name());
  check_room();
}

std::size_t Copier::features_of(Client u) {
  auto reader = source().open(u);
  sparse_ = reader->sparse();
  part_names_ = reader->names();
  if (!sparse_ || source().reading.dimension) {
    const std::size_t features = reader->features();
    if (u == 0) first_ = std::move(reader);
    return features;
  }
  check(source().replayable(u), "'{}' can be read once only (its largest index must be known first) give --dimension",
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
  const double value_bytes = text ? 2 : (copy_.precision == Precision::float32 ? 4 : 8);
  const double needed = value_bytes * static_cast<double>(sparse_records_) * static_cast<double>(features_);
  std::error_code error;
  const auto folder = std::filesystem::absolute(targets_.front().path, error).parent_path();
  const auto space = std::filesystem::space(folder, error);
  const bool compressed = targets_.front().path.ends_with(".gz");
  check<FailureError>(
      error || compressed || needed <= static_cast<double>(space.available),
      "'{}' would take {:.3g} GB with its zeros ({:.3g} GB are free) write non-zeros: --output FILE.svm", copy_.output,
      needed / 1e9, static_cast<double>(space.available) / 1e9);
}

std::unique_ptr<RecordReader> Copier::open(Client u) {
  return first_ != nullptr && u == 0 ? std::move(first_) : source().open(u);
}

/// Those of the files it comes from, so that a private file stays private.
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
    check<DataError>(writer->records() > before, "{}: no records (there is nothing to write) check the source",
                     source().part(u));
  }
  progress_.end();
  writer->finish();
  writers_.push_back(std::move(writer));
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
  add_output_options(options, copy);
  add_last_options(options, copy.progress, copy.print_config);
  return options;
}

Options make_options(Copy& copy) {
  Options options("data make");
  const auto set_generator = [&copy](const std::string& text) {
    copy.source.reading.source = is_synthetic(text) ? text : "synthetic:" + text;
  };
  options.add({"Source", "generator", "GENERATOR", "", "NAME[:key=value,…] (Generators, below)", set_generator, true});
  options.add({"Source", "records", "N", "", "records of each client; default: what the generator's n says",
               setter::integer(copy.source.records, 1, many)});
  add_client_options(options, copy.source);
  options.add({"Source", "batch", "M", "1",
               "the --batch of the run that these records are for: a round draws M records",
               setter::integer(copy.source.batch, 1, 1'000'000'000)});
  add_output_options(options, copy);
  add_last_options(options, copy.progress, copy.print_config);
  return options;
}

std::string generators_help() {
  return "\nGenerators:\n" + generator_table().help();
}

constexpr const char* copy_explanation =
    "The file gets its name when it is complete; before, and after an error or a signal, there is nothing under that "
    "name.\n"
    "Memory does not grow with the number of records. Exit codes: 0 done, 2 usage, 3 data, 5 the file cannot be "
    "written,\n75 stopped by a signal.\n";

std::string convert_help() {
  Copy copy;
  return std::string(
             "usage: starling data convert SOURCE --output FILE [options]\n\n"
             "Writes the records of a source, as a run would read them, to one file:\n"
             "  .h5          HDF5: /x (records x features), /y (labels); the features' names as an attribute of /x\n"
             "  .csv[.gz]    a line of names, the features, and last the label y; reads back to the same bits\n"
             "  .svm[.gz]    the non-zero features, indices from 1\n\n") +
         copy_explanation + convert_options(copy).help() + sources_help() +
         "\nExample:\n"
         "  starling data convert a9a.gz --output a9a.h5\n"
         "  starling data convert part-{client:1}.csv.gz --clients 3 --drop 0 --output part-{client}.h5\n";
}

std::string make_help() {
  Copy copy;
  return std::string(
             "usage: starling data make GENERATOR --records N --output FILE [options]\n\n"
             "Writes the records that `starling omd --source synthetic:GENERATOR` with the same --seed and --batch "
             "serves,\nto .h5, .csv[.gz] or .svm[.gz]. All clients in one file are what --partition contiguous deals "
             "out again.\n\n") +
         copy_explanation + make_options(copy).help() + generators_help() +
         "\nExample:\n"
         "  starling data make drift:informative=1 --clients 5 --records 2000 --output drift-{client}.csv\n";
}

int run_copy(const Words& words, const std::string& command_line, Options (*options_of)(Copy&)) {
  Copy copy;
  Options options = options_of(copy);
  options.parse(words);
  copy.command_line = command_line;
  if (copy.print_config) {
    print(options.configuration());
    return 0;
  }
  Copier(copy).run();
  return 0;
}

// describe

struct Describe {
  SourceChoice source;
  bool json = false;
  ProgressChoice progress = ProgressChoice::automatic;
  bool print_config = false;
};

Options describe_options(Describe& describe) {
  Options options("data describe");
  add_source_word(options, describe.source);
  add_client_options(options, describe.source);
  add_reading_options(options, describe.source.reading);
  options.add({"Output", "json", "", "",
               "print one JSON object: source, files, replayable, clients, records, records_per_client, features, "
               "sparse, density, labels, losses, row_l1, row_l2, constant, columns, repeated_ids, notes",
               setter::flag(describe.json)});
  add_last_options(options, describe.progress, describe.print_config);
  return options;
}

std::string describe_help() {
  Describe describe;
  return "usage: starling data describe SOURCE [options]\n\n"
         "Says what a source holds: records, labels, the range of each feature, norms of rows, and what to look at "
         "before a\nrun. The output is NOT PROTECTED: it is computed from the records as they are, and is meant for "
         "their owner alone.\n"
         "The L1 norm of a row bounds that of its gradient under the logistic and the hinge loss (--intercept adds 1 "
         "to it):\n--clip at the largest norm cuts nothing, at the median it cuts half of the records at most. Medians "
         "and 95 %\nquantiles are good to 1 %. With --id, 8 bytes of memory per record are used to count ids that "
         "stand "
         "twice;\notherwise memory does not grow with the number of records. Exit codes: 0 done, 2 usage, 3 data.\n" +
         describe_options(describe).help() + sources_help() +
         "\nExample:\n"
         "  starling data describe a9a.gz\n";
}

void add_digests(const SourceChoice& source, DescribedSource& described) {
  described.replayable = true;
  if (source.synthetic()) {
    const std::string identity = identity_of_generated(source.name(), source.seed);
    described.digests.emplace_back(identity, sha256(identity));
    return;
  }
  for (Client u = 0; u < source.parts(); ++u) {
    described.replayable = described.replayable && source.replayable(u);
    for (const std::string& file : source.files(u)) {
      if (is_regular(file)) described.digests.emplace_back(file, sha256_of_file(file));
    }
  }
}

DescribedSource describe_source(Describe& describe) {
  SourceChoice& source = describe.source;
  source.check_clients();
  source.reading.key = source.reading.id;  // whose text tells ids that stand twice
  DescribedSource described;
  described.source = source.name();
  described.has_ids = !source.reading.id.empty();
  if (source.per_client()) described.clients = source.parts();
  Describer describer;
  Progress progress(describe.progress);
  progress.begin("reading " + source.name(), nullptr);
  for (Client u = 0; u < source.parts(); ++u) {
    describer.read(*source.open(u), [&progress] { progress.tick(); });
  }
  progress.end();
  try {
    described.figures = describer.finish();
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", source.name(), error.what()));
  }
  add_digests(source, described);
  return described;
}

int run_describe(const Words& words) {
  Describe describe;
  Options options = describe_options(describe);
  options.parse(words);
  if (describe.print_config) {
    print(options.configuration());
    return 0;
  }
  const DescribedSource described = describe_source(describe);
  print(describe.json ? to_json(described) + '\n' : to_text(described));
  return 0;
}

constexpr const char* overview =
    "usage: starling data convert|make|describe ...\n\n"
    "Commands (each has --help)\n"
    "  convert SOURCE --output FILE       write the records of any source to .h5, .csv[.gz] or .svm[.gz]\n"
    "  make GENERATOR --output FILE       write the records of a generator\n"
    "  describe SOURCE [--json]           what a source holds, for its owner (the figures are not protected)\n";

int run_subcommand(const std::string& name, const Words& words, const std::string& command_line) {
  if (name == "convert") {
    if (!asks_for_help(words)) return run_copy(words, command_line, convert_options);
    print(convert_help());
  } else if (name == "make") {
    if (!asks_for_help(words)) return run_copy(words, command_line, make_options);
    print(make_help());
  } else if (name == "describe") {
    if (!asks_for_help(words)) return run_describe(words);
    print(describe_help());
  } else {
    check(name == "--help" || name == "-h" || name == "help",
          "unknown data command '{}' (known: convert, make, describe) see `starling data --help`", name);
    print(overview);
  }
  return 0;
}

}  // namespace

int run_data(const std::vector<std::string>& words, const std::string& command_line, bool speaks) {
  if (!speaks) return 0;  // one process is enough, however many were started
  check(!words.empty(), "`data` lacks a command (convert, make or describe) see `starling data --help`");
  const Words rest(words.begin() + 1, words.end());
  return stoppable([&] { return run_subcommand(words[0], rest, command_line); });
}

}  // namespace starling
