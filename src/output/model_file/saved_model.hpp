/// A learned model with all that is needed to apply it to new records, and the file `model.h5` that holds it.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/batch.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"
#include "data/constants.hpp"
#include "loss/loss.hpp"
#include "model/network/network.hpp"

namespace starling {

class OwnModel;

/// The spread S of the estimated parameters θ of a linear regression. The interval of a prediction z·θ is
/// z·θ ± quantile · √(z' S z), with `interval_quantile` of the method (docs/methods/inference.md, "Intervals").
struct ParameterSpread {
  std::string method;  ///< plug-in: S is the covariance of θ; random-scaling: V̂/n, which is none
  Vector matrix;       ///< packed upper triangle, row by row
  /// √(z' S z) of a row z = x, or (x, 1) for an intercept. `x` may be sparse.
  [[nodiscard]] double of(const Row& x, bool intercept) const;
};

struct SavedModel;

// The kinds of models, by what their loss scores. `kind` is the name in the file.

/// Linear functions of the features.
struct LinearForm {
  static constexpr const char* kind = "linear";
  bool intercept = false;
  /// A row (x, 1) longer than this (L2) is scaled to this length; infinite for none.
  double row_bound = std::numeric_limits<double>::infinity();
  std::optional<ParameterSpread> spread = {};  ///< of a run of `infer` that knew it
};
/// The distance from a point.
struct LocationForm {
  static constexpr const char* kind = "location";
};
/// Outputs of a network.
struct NetworkForm {
  static constexpr const char* kind = "network";
  Architecture architecture;
  Precision precision = Precision::full;
};
/// Predictions of code of its own, which alone knows the losses.
struct OwnForm {
  static constexpr const char* kind = "own";
  std::string code;                      ///< as `--model`
  std::string identity;                  ///< what tells the code from other code
  std::shared_ptr<OwnModel> model = {};  ///< the code, where somebody has given it; not in the file
};
/// A model of vertical learning, or a part of it, which predicts nothing alone.
struct PartForm : NetworkForm {
  std::size_t party_count = 0;  ///< K of the run
};
/// Outputs of the head on embeddings, which are its features: a part.
struct HeadForm : PartForm {
  static constexpr const char* kind = "head";
};
/// One party's network, whose outputs are the party's embedding: a part.
struct EmbeddingForm : PartForm {
  static constexpr const char* kind = "embedding";
  std::size_t party = 0;  ///< from 1
  /// Largest L2 norm of an embedding: a longer one is scaled to it; infinite for none.
  double bound = std::numeric_limits<double>::infinity();
  /// Of a network of one layer: a row (x, 1) longer than this (L2) is scaled to this length; infinite for none.
  double row_bound = std::numeric_limits<double>::infinity();
  /// Places of the party's columns among the table's features, and the number of all features. Only a run with one
  /// table without names has them.
  std::vector<std::size_t> places = {};
  std::size_t table_features = 0;
};
/// Outputs of the head on the embeddings of all parties. The network is the head's.
struct VerticalForm : PartForm {
  static constexpr const char* kind = "vertical";
  std::vector<SavedModel> parties;  ///< the embeddings of parties 1, 2, …
};

/// Parameters, form, preparation and origin of a model. docs/reference/model-h5.md describes the file.
struct SavedModel {
  std::variant<LinearForm, LocationForm, NetworkForm, OwnForm, VerticalForm, HeadForm, EmbeddingForm> form;
  std::string loss = "logistic";  ///< as `--loss`; with several scores, a loss of one score is one-vs-rest
  std::size_t scores = 1;         ///< K
  std::size_t features = 0;       ///< p, of the prepared records
  Vector parameters;              ///< d
  PublicConstants constants;
  bool own_constants = false;  ///< clients prepared their records by constants of their own, which are not saved
  std::vector<std::pair<std::string, std::string>> origin;  ///< run, unit, privacy statement, versions, digests

  /// The form, if it is a `Form` or derived from it; else null.
  template <class Form>
  [[nodiscard]] const Form* as() const {
    return std::visit(
        [](const auto& own) -> const Form* {
          if constexpr (std::is_base_of_v<Form, std::remove_cvref_t<decltype(own)>>) {
            return &own;
          } else {
            return nullptr;
          }
        },
        form);
  }
  template <class Form>
  [[nodiscard]] bool is() const {
    return as<Form>() != nullptr;
  }
  /// Whether it is one part of a vertical model, which predicts nothing alone.
  [[nodiscard]] bool is_part() const { return is<HeadForm>() || is<EmbeddingForm>(); }
  /// Blocks of `parameters`: `weights` (K × p) and `intercept` (K × 1), `point` (1 × p, of an own model 1 × d), or the
  /// layers of a network.
  [[nodiscard]] std::vector<ParameterBlock> blocks() const;
  /// Names of the features that the scores are made of; x0, x1, … where the source had none.
  [[nodiscard]] std::vector<std::string> feature_names() const;
  /// Names of the first `count` parameters: features, with the number of the score where there are several, and
  /// "intercept"; of other models the block with the places in it.
  [[nodiscard]] std::vector<std::string> parameter_names(std::size_t count) const;
  /// An entry of the origin; empty without it.
  [[nodiscard]] std::string origin_text(const std::string& key) const;
  /// Constants of a table that has all features; of a vertical model those of all parties, one after the other. Throws
  /// UsageError where one table cannot have them: two parties have columns of one name, or a party has pictures.
  [[nodiscard]] PublicConstants table_constants() const;
};

/// Name of the model file in a run directory.
inline constexpr const char* model_file_name = "model.h5";
/// Name of the file of one part of a vertical model: of the head (client 0) or of party k (client k).
[[nodiscard]] std::string part_file_name(Client client);

/// The vertical model of a head and of all parties' embeddings. Throws DataError unless they are the parts of one run.
[[nodiscard]] SavedModel joined_model(SavedModel head, std::vector<SavedModel> parties);
/// The head (client 0) of a vertical model, or the embedding of party k (client k).
[[nodiscard]] SavedModel part_of(const SavedModel& vertical, Client client);

/// Accounts that may read a file: all that may read its folder, or its owner alone (mode 0600).
enum class ModelReaders { all, owner };

/// Writes the file, whole or not at all. Throws FailureError.
void write_model(const std::string& path, const SavedModel& model, ModelReaders readers = ModelReaders::all);

/// The bytes of its file.
[[nodiscard]] std::string file_of_model(const SavedModel& model);

/// Reads the file of a model or of a part. Throws UsageError for a file that cannot be opened, DataError for a file
/// that is damaged, of another program or of a later version.
[[nodiscard]] SavedModel read_model(const std::string& path);
/// The model of the bytes of its file. Throws as read_model does.
[[nodiscard]] SavedModel model_in(const std::string& bytes);

/// The d final parameters of client u, from the run.h5 of a run directory. Throws UsageError for a client that the run
/// does not have or has lost, DataError for a file without models of single clients.
[[nodiscard]] Vector read_client_model(const std::string& run_directory, Client u, std::size_t d);

/// The loss of a saved model's scores; of an own model, whose code has the loss, what stands in its place.
class ModelLoss {
 public:
  /// Throws DataError for an own model without its code, an unknown loss, or one of another number of scores.
  explicit ModelLoss(const SavedModel& model);
  [[nodiscard]] const Loss& operator*() const { return one_vs_rest_ ? *one_vs_rest_ : *loss_; }
  [[nodiscard]] const Loss* operator->() const { return &**this; }

 private:
  std::unique_ptr<Loss> loss_;
  std::unique_ptr<Loss> one_vs_rest_;
};

}  // namespace starling
