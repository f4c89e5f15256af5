#include "model_source.hpp"

#include "app/console/pass.hpp"
#include "app/settings/catalogue.hpp"
#include <filesystem>

#include "starling/core/check.hpp"
#include "starling/core/per_client.hpp"
#include "starling/core/record_error.hpp"
#include "starling/data/generators/synthetic.hpp"

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
  const PublicConstants& constants = model.constants;
  if (!model.own_constants) {
    for (const ConstantsOption& option : constants_options) {
      check((reading.*option.file).empty(), "{}: the model has the constants of its own records. Leave it out.",
            option.name);
    }
    check(reading.missing == ReadSettings::Missing::refuse,
          "--missing: the model says how missing values are filled in. Leave it out.");
    reading.constants = std::make_shared<PublicConstants>(constants);
  } else {
    check(!constants_files(reading).empty(),
          "the model's clients each prepared their records by constants of their own, which are not in its file. Give "
          "those of these records by {}.",
          constants_option_names());
    reading.scale = constants.scale;
    reading.features = constants.description;
    reading.positive = constants.positive;
  }
  reading.dimension = constants.features;
}

}  // namespace

void add_model_source_options(Options& options, ModelSource& choice) {
  options.group("Model");
  options.add({.name = "model-file",
               .argument = "MODEL",
               .help = "what is applied: the model.h5 of a run, or the run's directory",
               .positional = true,
               .files = named::file},
              choice.model);
  options.add({.name = "client",
               .argument = "U",
               .help = "the model of this client, from the run.h5 beside MODEL; default: the mean of all by their mass",
               .least = 0,
               .most = 1e9},
              choice.client);
  options.group("Records");
  options.add(declared("source", {.initial = "",
                                  .help = "records to apply it to: FILE, FEATURES,LABELS, or - for standard input. "
                                          "Columns are found by their names"}),
              choice.reading.source);
  add_column_options(options, choice.reading);
}

SavedModel open_model(const ModelSource& choice) {
  check(!choice.model.empty(), "no model is named. Give the model.h5 of a run, or the run's directory.");
  const bool folder = std::filesystem::is_directory(choice.model);
  const std::string path = folder ? fmt::format("{}/{}", choice.model, model_file_name) : choice.model;
  check(!folder || std::filesystem::exists(path),
        "'{}': it has no {}: the run has not ended, learned nothing or is of an older version. Name another.",
        choice.model, model_file_name);
  SavedModel model = read_model(path);
  if (choice.client) {
    model.parameters = read_client_model(folder_of(choice.model), *choice.client, model.parameters.size());
  }
  return model;
}

ScoredSource::ScoredSource(const SavedModel& model, ReadSettings reading, Labels labels)
    : model_(model),
      needs_labels_(labels == Labels::needed),
      has_keys_(!reading.key.empty()),
      loss_(model),
      scorer_(model) {
  if (loss_->link() == Link::identity) label_units_ = model.constants.label_standardisation;
  open(std::move(reading));
}

void ScoredSource::open(ReadSettings reading) {
  check(!reading.source.empty(), "no --source is named. Give the records that the model is to be applied to.");
  check(!is_synthetic(reading.source) && !is_per_client(reading.source),
        "--source '{}': it must be one file, a pair FEATURES,LABELS or -. `starling data make` writes one.",
        reading.source);
  const bool has_default_name = model_.constants.label == "y" || model_.constants.label == "label";
  reading.labels = ReadSettings::Labels::required;
  if (!needs_labels_ && reading.label.empty()) reading.labels = ReadSettings::Labels::optional;
  if (reading.label.empty() && !has_default_name) reading.label = model_.constants.label;
  prepare_as(model_, reading);
  reading.go_on_waiting = [] {
    if (stop_asked()) throw_stopped();
    return true;
  };
  reading.note_unused = [this](const std::vector<std::string>& names) { unused_ = names; };
  const bool standard = reading.source == "-";
  if (standard && reading.format == "auto") reading.format = "csv";
  const std::string path = standard ? "/dev/stdin" : reading.source;
  reader_ = without_left_out(open_reader(path, reading));
  if (model_.own_constants)
    require_same_names(model_.constants.columns, reader_->constants().columns, "the model", path);
}

bool ScoredSource::read(ScoredRecords& next) {
  next.first = count_;
  next.records.clear();
  next.labels.clear();
  next.keys.clear();
  while (next.size() < at_once && reader_->next(record_)) {
    check_record();
    const double label = needs_labels_ ? label_of_record() : 0;
    next.records.add(record_.row(), label);
    next.labels.push_back(own_units(label));
    if (has_keys_) next.keys.push_back(record_.key);
  }
  count_ += static_cast<std::int64_t>(next.size());
  return next.size() > 0;
}

void ScoredSource::score(ScoredRecords& read) {
  scorer_.score(read.records, read.scores);
  if (!label_units_) return;
  for (double& score : read.scores) score = own_units(score);
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

double ScoredSource::own_units(double value) const {
  return label_units_ ? value * label_units_->deviation + label_units_->mean : value;
}

}  // namespace starling
