/// A saved model and a source of records to apply it to, as the options of a command name them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "data/source.hpp"
#include "methods/vertical/setting/vertical_config.hpp"
#include "options/options.hpp"
#include "output/model_file/scorer.hpp"
#include "run/identity/identity_options.hpp"
#include "run/settings/source_options.hpp"

namespace starling {

/// The options' values.
struct ModelSource {
  ModelSource() { reading.source.clear(); }  // there is no default
  std::string model;                         ///< a model file, or a run directory
  std::string code;                          ///< of an own model
  std::optional<Client> client;              ///< whose model is taken from the run directory; none: the mean by mass
  ReadSettings reading;
  std::vector<std::string> parties;            ///< of a vertical model: a file of each party, in place of the source
  std::string label_source;                    ///< of these: the file with the labels, whose order of records counts
  MatchChoice match = MatchChoice::automatic;  ///< of these
  IdentityChoice identities;                   ///< of these
  std::string configuration;                   ///< the options as the user gave them

  /// Whether records of parties are matched by blinded ids.
  [[nodiscard]] bool matches_in_private() const {
    return match == MatchChoice::in_private ||
           (match == MatchChoice::automatic && identities.members && !reading.id.empty());
  }
};

/// MODEL, --client, --source, --parties and the options of reading that a model leaves open.
void add_model_source_options(Options& options, ModelSource& choice);

/// Throws UsageError for constants beside those of a model.
void refuse_constants(const ReadSettings& reading);

/// The model that the options name. Throws UsageError and DataError.
[[nodiscard]] SavedModel open_model(const ModelSource& choice);

/// The column of the labels that is to be looked for in records, given that of the model's own records.
[[nodiscard]] std::string label_column(const std::string& of_model);

/// A model's numbers in the label's own units, where it is a regression on a standardised label.
class LabelUnits {
 public:
  LabelUnits(const SavedModel& model, const Loss& loss) {
    if (loss.link() == Link::identity) units_ = model.constants.label_standardisation;
  }
  [[nodiscard]] bool differ() const { return units_.has_value(); }
  [[nodiscard]] double own(double value) const { return units_ ? value * units_->deviation + units_->mean : value; }
  /// A length, such as a standard error.
  [[nodiscard]] double own_length(double length) const { return units_ ? length * units_->deviation : length; }
  [[nodiscard]] double standardised(double value) const { return units_ ? units_->of(value) : value; }

 private:
  std::optional<Standardisation> units_;
};

/// Some of a source's records, and their scores under a model.
struct ScoredRecords {
  std::int64_t first = 0;         ///< number of the first one, from 0
  Batch records;                  ///< with labels in the form of the model's loss; empty where parties have them
  Vector labels;                  ///< of a regression on a standardised label in the label's own units; else the same
  std::vector<std::string> keys;  ///< texts of the column `ReadSettings::key`; empty without such a column
  Vector scores;                  ///< K for each record; of a regression in the same units as `labels`
  std::vector<char>
      unread;      ///< whether each could not be read: the row says nothing, and has no key if that is not known
  Vector spreads;  ///< of the scores, as ParameterSpread::of; empty where the model has none
  [[nodiscard]] std::size_t size() const { return labels.size(); }
};

/// Records of a source and their scores, in the source's order. Memory does not grow with the number of records.
class ScoredSource {
 public:
  enum class Labels { not_needed, needed };

  /// Opens the source. Labels that are needed are mapped to the form of the model's loss. `model` must outlive this.
  /// Throws UsageError and DataError.
  ScoredSource(const SavedModel& model, ReadSettings reading, Labels labels);

  /// Calls `look` for all records, block by block, on another thread: this one reads ahead. Throws the first error in
  /// the order of records: DataError naming file and row, or what `look` has thrown. Where labels are not needed, a
  /// record of text that cannot be read is no error, but is told to the user: such records are `unread`.
  void score(const std::function<void(const ScoredRecords& records)>& look);

  [[nodiscard]] const Loss& loss() const { return *loss_; }
  /// After `score`: tells the user what −1 and 1 stand for, where the model's classes have these numbers and the
  /// source's labels have others.
  void tell_of_classes() const;
  /// After `score`: number of records that could not be read.
  [[nodiscard]] std::int64_t unread() const { return unread_count_; }
  /// Names of the source's columns that are neither features nor named by options.
  [[nodiscard]] const std::vector<std::string>& unused() const { return unused_; }

 private:
  // A block ends at either. The first block is smaller and each of the next may double the records, so that those of a
  // pipe do not wait for long. There are enough blocks for the reader to go on while the disk takes one.
  static constexpr std::size_t first_records = 256;
  static constexpr std::size_t records_at_once = 4096;
  static constexpr std::size_t numbers_at_once = std::size_t{1} << 17;
  static constexpr std::size_t most_blocks = 16;

  void open(ReadSettings reading);
  /// Reads the next records, without their scores. False at the end.
  [[nodiscard]] bool read(ScoredRecords& next);
  /// The next record is in record_, or could not be read; or there is none.
  enum class Read { record, unread, end };
  [[nodiscard]] Read read_record();
  /// Computes the scores, and labels in their own units.
  void complete(ScoredRecords& read);
  void check_record() const;
  /// Looks for labels by which the model does not name its classes.
  void look_at_label();
  [[nodiscard]] double label_of_record() const;

  const SavedModel& model_;
  bool needs_labels_;
  bool has_keys_;
  bool looks_at_labels_ = false;  ///< until one is found that is no name of a class
  bool found_other_label_ = false;
  ModelLoss loss_;
  Scorer scorer_;
  LabelUnits units_;
  std::vector<std::string> unused_;
  std::unique_ptr<RecordReader> reader_;
  Record record_;
  Vector nothing_;  ///< a row in place of one that could not be read
  std::int64_t count_ = 0;
  std::int64_t unread_count_ = 0;
};

}  // namespace starling
