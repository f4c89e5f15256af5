/// A learned model with all that is needed to apply it to new records, and the file `model.h5` that holds it.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/core/links.hpp"
#include "starling/data/constants.hpp"
#include "starling/loss/loss.hpp"
#include "starling/model/curved_model.hpp"
#include "starling/model/network/network.hpp"

namespace starling {

/// Parameters, architecture, preparation and origin of a model. docs/reference/model-h5.md describes the file.
struct SavedModel {
  /// What the loss scores: linear functions of the features, the distance from a point, or outputs of a network. The
  /// losses of an own model are known to its code alone.
  enum class Kind { linear, location, network, own };

  Kind kind = Kind::linear;
  std::string loss = "logistic";  ///< as `--loss`; with several scores, a loss of one score is one-vs-rest
  std::size_t scores = 1;         ///< K
  std::size_t features = 0;       ///< p, of the prepared records
  bool intercept = false;         ///< of a linear model
  /// A row (x, 1) longer than this (L2) is scaled to this length; infinite for none.
  double row_bound = std::numeric_limits<double>::infinity();
  Architecture architecture;              ///< of a network
  Precision precision = Precision::full;  ///< of a network
  std::string code;                       ///< of an own model, as `--model`
  std::string code_identity;              ///< of an own model: what tells its code from other code
  Vector parameters;                      ///< d
  PublicConstants constants;
  bool own_constants = false;  ///< clients prepared their records by constants of their own, which are not saved
  std::vector<std::pair<std::string, std::string>> origin;  ///< run, unit, privacy statement, versions, digests

  /// Blocks of `parameters`: `weights` (K × p) and `intercept` (K × 1), `point` (1 × p, of an own model 1 × d), or the
  /// layers of a network.
  [[nodiscard]] std::vector<ParameterBlock> blocks() const;
  /// Names of the features that the scores are made of; x0, x1, … where the source had none.
  [[nodiscard]] std::vector<std::string> feature_names() const;
};

/// Name of the model file in a run directory.
inline constexpr const char* model_file_name = "model.h5";

/// Writes the file, whole or not at all. Throws FailureError.
void write_model(const std::string& path, const SavedModel& model);

/// Reads a model file. Throws UsageError for a file that cannot be opened, DataError for a file that is damaged, of
/// another program or of a later version.
[[nodiscard]] SavedModel read_model(const std::string& path);

/// The d final parameters of client u, from the run.h5 of a run directory. Throws UsageError for a client that the run
/// does not have, DataError for a file without models of single clients.
[[nodiscard]] Vector read_client_model(const std::string& run_directory, Client u, std::size_t d);

/// The loss of a saved model's scores.
class ModelLoss {
 public:
  /// Throws DataError for an own model, an unknown loss, or one of another number of scores.
  explicit ModelLoss(const SavedModel& model);
  [[nodiscard]] const Loss& operator*() const { return one_vs_rest_ ? *one_vs_rest_ : *loss_; }
  [[nodiscard]] const Loss* operator->() const { return &**this; }

 private:
  std::unique_ptr<Loss> loss_;
  std::unique_ptr<Loss> one_vs_rest_;
};

}  // namespace starling
