#include "model_source.hpp"

#include <filesystem>

#include <fmt/ranges.h>

#include "block_worker.hpp"
#include "console/pass.hpp"
#include "core/check.hpp"
#include "core/record_error.hpp"
#include "core/text/per_client.hpp"
#include "data/generators/synthetic.hpp"
#include "data/memory_records.hpp"
#include "files/tell_user.hpp"
#include "methods/vertical/setting/model_parts.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/model_choice.hpp"

namespace starling {

namespace {

/// The folder of a run directory or of a model file.
std::string folder_of(const std::string& model) {
  if (std::filesystem::is_directory(model)) return model;
  const std::string folder = std::filesystem::path(model).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Takes what a model knows of the records into the options of reading.
void prepare_as(const SavedModel& model, ReadSettings& reading) {
  const PublicConstants constants = model.table_constants();
  if (!model.own_constants) {
    refuse_constants(reading);
    reading.constants = std::make_shared<PublicConstants>(constants);
  } else {
    check(!constants_files(reading).empty(),
          "the model's clients each prepared their records by constants of their own, which are not in its file. Give "
          "those of these records by {}.",
          constants_option_names());
    reading.scale = constants.scale;
    reading.features = constants.description;
    reading.positive = constants.positive;
    reading.class_labels = constants.class_labels;
    reading.ignore = constants.ignore;
  }
  reading.dimension = constants.features;
}

/// Whether no text of the label's column names a class.
bool names_no_labels(const PublicConstants& constants) {
  return std::ranges::none_of(constants.categories,
                              [&](const CategoryColumn& each) { return each.column == constants.label; });
}

/// Whether labels were given in memory beside the features, so that no column has the name of the run's label.
bool has_labels_beside(const std::string& source) {
  if (!is_in_memory(source)) return false;
  const MemoryRecords& records = records_in_memory(source);
  return records.y != nullptr || records.labels_beside;
}

}  // namespace

void refuse_constants(const ReadSettings& reading) {
  for (const ConstantsOption& option : constants_options) {
    check((reading.*option.file).empty(), "{}: the model has the constants of its own records. Leave it out.",
          option.name);
  }
  check(reading.missing == ReadSettings::Missing::refuse,
        "--missing: the model says how missing values are filled in. Leave it out.");
}

void add_model_source_options(Options& options, ModelSource& choice) {
  options.group("Model");
  options.add(option("model-file", "MODEL", "what is applied: the model.h5 of a run, or the run's directory",
                     {.example = "run", .common = true, .positional = true, .files = named::file}),
              choice.model);
  options.add(option("model", "CODE",
                     "of an own model, which only its code can apply: plugin:FILE, with the options that the run had. "
                     "It must be the same file",
                     {.example = "plugin:./poisson.so", .files = named::model}),
              choice.code);
  options.add(option("client", "U",
                     "the model of this client, from the run.h5 beside MODEL; default: the mean of all by their mass",
                     {.range = {0, 1e9}, .example = "0"}),
              choice.client);
  options.group("Records");
  options.add(declared("source",
                       "records to apply it to: FILE, FEATURES,LABELS, or - for standard input. "
                       "Columns are found by their names",
                       {.initial = "", .example = "held-out.csv"}),
              choice.reading.source);
  options.add(option("parties", "FILES",
                     "of a model of `vertical`, instead of --source: a file of each party, in their order, separated "
                     "by commas; records go together by --id, else by their place. One process reads all, or under "
                     "mpirun rank 0 has the head, and ranks 1, 2, ... the parties. The parties' embeddings go to "
                     "rank 0 without noise: the records count as public",
                     {.example = "guest.csv,host.csv",
                      .common = true,
                      .files = named::source,
                      .relations = {excludes("source", "both say where records are", "Give one of them."),
                                    excludes("client", "a vertical model has no clients' models")}}),
              choice.parties);
  options.add(option("label-source", "FILE",
                     "of --parties: the file with the labels, whose order of records counts; default: the first "
                     "party's. Rank 0 reads it",
                     {.example = "guest.csv --parties guest.csv,host.csv",
                      .files = named::source,
                      .relations = {needs("parties", "one file has its labels")}}),
              choice.label_source);
  options.add(
      option(
          "match", "HOW",
          "of --parties: open (rank 0 reads the ids, and the files have the same records), private (ids are compared "
          "blinded: no party learns another's, and rank 0 none. Records of all files alone count; the party with the "
          "labels' file writes the predictions), or auto: private with --identity and --id",
          {.initial = "auto",
           .example = "private --id id --parties guest.csv,host.csv",
           .relations = {needs("parties", "one file has nobody to match with").only_for("private"),
                         needs("id", "records are matched by it").only_for("private")}}),
      choice.match,
      {{"auto", MatchChoice::automatic}, {"private", MatchChoice::in_private}, {"open", MatchChoice::open}});
  add_identity_options(options, choice.identities, "guest.csv,host.csv");
  add_column_options(options, choice.reading);
}

namespace {

/// The model file, or the parts of a vertical model.
SavedModel read_named_model(const std::string& named) {
  const ModelParts parts(named);
  if (!parts.are_together() && parts.are_apart()) return parts.joined();
  const bool folder = std::filesystem::is_directory(named);
  const std::string path = folder ? fmt::format("{}/{}", named, model_file_name) : named;
  check(!folder || std::filesystem::exists(path),
        "'{}': it has no {}: the run has not ended, learned nothing or is of an older version. Name another.", named,
        model_file_name);
  SavedModel model = read_model(path);
  check(!model.is_part(),
        "'{}': it is one part of a vertical model. Name all parts, as in part-{{client}}.h5, or the run's directory.",
        path);
  return model;
}

/// Gives an own model its code, which is what it was learned with. Only who names code has it run.
void take_code(const ModelSource& choice, SavedModel& model) {
  auto* const own = std::get_if<OwnForm>(&model.form);
  if (choice.code.empty()) {
    if (own != nullptr) static_cast<void>(ModelLoss(model));  // says what is missing
    return;
  }
  check(own != nullptr, "--model {}: '{}' is a model of starling itself. Leave --model out.", choice.code,
        choice.model);
  own->model = open_own_model(choice.code);
  check(own->model != nullptr, "--model {}: it names no code. Give plugin:FILE.", choice.code);
  check(own->identity.empty() || own->model->identity() == own->identity,
        "--model {}: '{}' was learned with other code ({}). Give the same code with the same options; of a Python "
        "object its attributes count too.",
        choice.code, choice.model, own->code);
}

}  // namespace

SavedModel open_model(const ModelSource& choice) {
  check(!choice.model.empty(), "no model is named. Give the model.h5 of a run, or the run's directory.");
  SavedModel model = read_named_model(choice.model);
  take_code(choice, model);
  if (!choice.client) return model;
  check(!model.is<VerticalForm>(),
        "--client {} of a model of `vertical`, whose parties have parts of one model. Leave --client out.",
        *choice.client);
  model.parameters = read_client_model(folder_of(choice.model), *choice.client, model.parameters.size());
  return model;
}

std::string label_column(const std::string& of_model) {
  return of_model == "y" || of_model == "label" ? "" : of_model;
}

ScoredSource::ScoredSource(const SavedModel& model, ReadSettings reading, Labels labels)
    : model_(model),
      needs_labels_(labels == Labels::needed),
      has_keys_(!reading.key.empty()),
      loss_(model),
      scorer_(model),
      units_(model, *loss_) {
  open(std::move(reading));
}

void ScoredSource::open(ReadSettings reading) {
  check(!reading.source.empty(), "no --source is named. Give the records that the model is to be applied to.");
  check(!is_synthetic(reading.source) && !is_per_client(reading.source),
        "--source '{}': it must be one file, a pair FEATURES,LABELS or -. `starling data make` writes one.",
        reading.source);
  reading.labels = ReadSettings::Labels::required;
  if (!needs_labels_ && reading.label.empty()) reading.labels = ReadSettings::Labels::optional;
  if (reading.label.empty() && !has_labels_beside(reading.source)) {
    reading.label = label_column(model_.constants.label);
    reading.label_may_be_beside = true;
  }
  prepare_as(model_, reading);
  const bool looks = loss_->classifies() && loss_->scores() == 1 && !model_.is<OwnForm>() &&
                     model_.constants.class_labels.empty() && names_no_labels(model_.constants);
  const bool named = !reading.label.empty() || has_labels_beside(reading.source);
  reading.go_on_waiting = [] {
    if (stop_asked()) throw_stopped();
    return true;
  };
  reading.note_unused = [this](const std::vector<std::string>& names) { unused_ = names; };
  const bool standard = reading.source == "-";
  if (standard && reading.format == "auto") reading.format = "csv";
  const std::string path = standard ? "/dev/stdin" : reading.source;
  reader_ = open_reader(path, reading);
  nothing_.assign(model_.features, 0.0);
  // Without a column of labels records have the label 0.
  looks_at_labels_ = looks && (needs_labels_ || !reader_->label_name().empty() ||
                               (named && reading.labels == ReadSettings::Labels::required));
  if (needs_labels_) reader_ = without_left_out(std::move(reader_));
  if (model_.own_constants)
    require_same_names(model_.constants.columns, reader_->constants().columns, "the model", path);
}

void ScoredSource::score(const std::function<void(const ScoredRecords& records)>& look) {
  BlockWorker<ScoredRecords> worker(most_blocks, [&](ScoredRecords& block) {
    complete(block);
    look(block);
  });
  try {
    while (read(worker.free_block())) worker.hand_over();
  } catch (...) {
    worker.finish();  // throws what was wrong with records before
    throw;
  }
  worker.finish();
}

bool ScoredSource::read(ScoredRecords& next) {
  next.first = count_;
  next.records.clear();
  next.keys.clear();
  std::size_t numbers = 0;
  const std::size_t most = std::min(records_at_once, first_records + static_cast<std::size_t>(count_));
  next.unread.clear();
  Read found = Read::record;
  while (next.records.size() < most && numbers < numbers_at_once && (found = read_record()) != Read::end) {
    const bool unread = found == Read::unread;
    if (!unread) look_at_label();
    const Row nothing{nothing_, {}};
    const Row row = unread ? nothing : record_.row();
    numbers += row.values.size();
    next.records.add(row, needs_labels_ ? label_of_record() : 0);
    next.unread.push_back(unread ? 1 : 0);
    if (has_keys_) next.keys.push_back(record_.key);
  }
  count_ += static_cast<std::int64_t>(next.records.size());
  return !next.records.empty();
}

/// A binary file at fault stays so.
ScoredSource::Read ScoredSource::read_record() {
  constexpr std::int64_t most_told = 20;
  record_.key.clear();
  try {
    if (!reader_->next(record_)) return Read::end;
    check_record();
    return Read::record;
  } catch (const RecordError& fault) {
    if (needs_labels_ || reader_->records() || reader_->sparse()) throw;
    if (++unread_count_ <= most_told) tell_user("no prediction: {}\n", fault.shown());
    if (unread_count_ == most_told + 1) tell_user("no prediction: … (further rows are not named)\n");
    return Read::unread;
  }
}

void ScoredSource::complete(ScoredRecords& read) {
  const View labels = read.records.labels();
  read.labels.assign(labels.begin(), labels.end());
  scorer_.score(read.records, read.scores);
  read.spreads.clear();
  const auto* const linear = model_.as<LinearForm>();
  for (std::size_t i = 0; linear != nullptr && linear->spread && i < read.size(); ++i) {
    read.spreads.push_back(units_.own_length(linear->spread->of(read.records.row(i), linear->intercept)));
  }
  if (!units_.differ()) return;
  for (double& label : read.labels) label = units_.own(label);
  for (double& score : read.scores) score = units_.own(score);
}

void ScoredSource::look_at_label() {
  if (!looks_at_labels_ || record_.left_out) return;
  const bool is_name = record_.label == 1 || record_.label == -1;
  if (is_name && model_.constants.positive.empty()) return;
  found_other_label_ = true;
  looks_at_labels_ = false;
}

void ScoredSource::tell_of_classes() const {
  if (!found_other_label_) return;
  const std::vector<double>& positive = model_.constants.positive;
  const std::string what =
      positive.empty() ? "1 is the label 1, and -1 the label 0 or -1, of the records that the model learned from"
                       : fmt::format("1 is the label {} (--positive), and -1 any other", fmt::join(positive, ", "));
  tell_user("note: classes are -1 and 1: {}. A model that learns with --class-labels predicts the labels.\n", what);
}

double ScoredSource::label_of_record() const {
  try {
    return loss_->label(record_.label);
  } catch (const RecordError& error) {
    throw RecordError(fmt::format("{}: {}", reader_->where(), error.what()),
                      fmt::format("{}: {}", reader_->where(), error.shown()));
  }
}

void ScoredSource::check_record() const {
  const std::size_t last = record_.index.empty() ? 0 : static_cast<std::size_t>(record_.index.back()) + 1;
  const std::size_t features = record_.sparse ? last : record_.values.size();
  const bool fits = record_.sparse ? features <= model_.features : features == model_.features;
  if (fits) return;
  throw DataError(fmt::format("{}: {} features, where the model takes {}. Give the columns that it was learned from.",
                              reader_->where(), features, model_.features));
}

}  // namespace starling
