/// Predictions as a table of text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "output/model_file/saved_model.hpp"

namespace starling {

/// The columns of the table.
struct PredictionColumns {
  bool scores = true;
  bool probabilities = true;  ///< where the loss has some
  bool classes = true;        ///< where the loss tells classes apart
  bool intervals = true;      ///< of a regression with known spreads: standard error (plug-in), 95 % interval
};

/// Texts of the label's column by the labels of a loss's classes: of categories, where one stands for each, else of the
/// declared class labels. Empty for own models.
[[nodiscard]] std::map<double, std::string> texts_of_classes(const SavedModel& model, const Loss& loss);

/// Makes lines of a CSV file: the record's identifier, and what the model predicts.
class PredictionLines {
 public:
  /// `id` is the name of the identifiers' column. `loss` must outlive this.
  PredictionLines(const SavedModel& model, const Loss& loss, const PredictionColumns& columns, std::string id);

  [[nodiscard]] std::string header() const;
  /// Appends the line of a record with these scores to `text`; `id` is a field of a CSV file. `spread` is that of the
  /// score of a model with spreads.
  void add(std::string& text, std::string_view id, View scores, std::optional<double> spread) const;
  /// Appends a line without a prediction.
  void add_empty(std::string& text, std::string_view id) const;

 private:
  [[nodiscard]] std::size_t class_of(View scores) const;
  /// Write fields at `at`, with a comma before each, and return their end.
  char* put_scores(char* at, View scores, std::optional<double> spread) const;
  char* put_classes(char* at, View scores) const;
  char* put_label(char* at, double label) const;

  std::string id_;
  Link link_;
  bool classifies_;
  bool names_classes_;  ///< the score is the label of the predicted class
  std::size_t scores_;
  PredictionColumns columns_;
  bool has_error_ = false;               ///< whether the spread of a score is its standard error
  std::optional<double> quantile_;       ///< of 95 % intervals, for models with spreads
  std::vector<std::string> classes_;     ///< names; of a loss of one score those of −1 and 1
  std::map<double, std::string> texts_;  ///< of labels, where scores are labels of classes
  std::size_t longest_fields_ = 0;       ///< bytes of a line after its identifier, at most
};

}  // namespace starling
