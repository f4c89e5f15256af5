/// A saved model and a source of records to apply it to, as the options of a command name them.
#pragma once

#include "app/settings/source_options.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/batch.hpp"
#include "starling/data/source.hpp"
#include "starling/options/options.hpp"
#include "starling/record/model_file/scorer.hpp"

namespace starling {

/// The options' values.
struct ModelSource {
  ModelSource() { reading.source.clear(); }  // there is no default
  std::string model;                         ///< a model file, or a run directory
  std::optional<Client> client;              ///< whose model is taken from the run directory; none: the mean by mass
  ReadSettings reading;
};

/// MODEL, --client, --source and the options of reading that a model leaves open.
void add_model_source_options(Options& options, ModelSource& choice);

/// The model that the options name. Throws UsageError and DataError.
[[nodiscard]] SavedModel open_model(const ModelSource& choice);

/// Scores of a source's records under a model, in their order. Memory does not grow with the number of records.
class ScoredSource {
 public:
  enum class Labels { not_needed, needed };

  /// Opens the source. Labels that are needed are mapped to the form of the model's loss. `model` must outlive this.
  /// Throws UsageError and DataError.
  ScoredSource(const SavedModel& model, ReadSettings reading, Labels labels);

  /// Goes to the next record. False at the end. Throws DataError naming file and row.
  [[nodiscard]] bool next();

  // Of the current record:
  /// K scores. A regression on a standardised label has its score in the label's own units.
  [[nodiscard]] View scores() const { return View(scores_).subspan(at_ * model_.scores, model_.scores); }
  /// The label in the same units, in the form of the loss.
  [[nodiscard]] double label() const { return labels_[at_]; }
  /// Text of the column `ReadSettings::key`.
  [[nodiscard]] const std::string& key() const { return keys_[at_]; }

  [[nodiscard]] const Loss& loss() const { return *loss_; }
  /// Names of the source's columns that are neither features nor named by options.
  [[nodiscard]] const std::vector<std::string>& unused() const { return unused_; }

 private:
  static constexpr std::size_t at_once = 512;

  void open(ReadSettings reading);
  void fill();
  void check_record() const;
  [[nodiscard]] double own_units(double value) const;

  const SavedModel& model_;
  bool needs_labels_;
  ModelLoss loss_;
  Scorer scorer_;
  std::optional<Standardisation> label_units_;  ///< of a regression on a standardised label
  std::vector<std::string> unused_;
  std::unique_ptr<RecordReader> reader_;
  Record record_;
  Batch batch_;
  Vector labels_;
  std::vector<std::string> keys_;
  Vector scores_;
  std::size_t at_ = 0;
};

}  // namespace starling
