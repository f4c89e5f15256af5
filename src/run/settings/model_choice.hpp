/// `--model`, `--precision` and `--intercept`: what a loss scores, for the commands that learn any model.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "options/options.hpp"

namespace starling {

class Loss;
class Model;
class OwnModel;
struct DataSettings;
struct DataShape;
struct PrivacyOptions;
struct SavedModel;
enum class Precision;

struct ModelChoice {
  enum class Kind { linear, location, perceptron, convolutional, own };
  Kind kind = Kind::linear;
  std::shared_ptr<OwnModel> own;        ///< the user's model; null for models of starling
  std::string code;                     ///< of the user's model, as the option's value
  std::vector<std::size_t> widths;      ///< of a network
  std::optional<Precision> precision;   ///< of a network; none: single
  std::optional<bool> asked_intercept;  ///< of a linear model; none: nobody has said or chosen

  [[nodiscard]] bool intercept() const { return asked_intercept.value_or(false); }
  /// Length of a run of parameters that ends with its constant, which `--l2` leaves free; 0: the model has none.
  [[nodiscard]] std::size_t run_of_constant(std::size_t features) const {
    return kind == Kind::linear && !own && intercept() ? features + 1 : 0;
  }
  [[nodiscard]] bool is_network() const { return kind == Kind::perceptron || kind == Kind::convolutional; }
};

/// The own model that `plugin:FILE[:OPTIONS]` or `own:NAME` names; null for a text of another kind. Throws UsageError.
[[nodiscard]] std::shared_ptr<OwnModel> open_own_model(const std::string& text);

void add_model_options(Options& options, ModelChoice& choice);
/// Throws UsageError for a clipping norm, and for batches with ignored records, that the precision of a network cannot
/// carry.
void check_model_choice(const ModelChoice& choice, const PrivacyOptions& privacy, const DataSettings& data);

/// Throws UsageError for hazards whose persons count by means over their records: those who live longer have more.
void check_person_gradient(const PrivacyOptions& privacy, const Loss& loss);

/// The member of loss_table that `text` names, or, beside an own model, what stands in its place.
[[nodiscard]] std::unique_ptr<Loss> make_loss(const ModelChoice& choice, const std::string& text);

/// `loss` must outlive the model. Throws UsageError where the data's features or the loss's scores are not those of the
/// choice.
[[nodiscard]] std::unique_ptr<Model> make_model(const ModelChoice& choice, const Loss& loss, const DataShape& shape);

/// The same model without parameters and constants, for its file.
[[nodiscard]] SavedModel saved_model(const ModelChoice& choice, const std::string& loss, const Loss& made,
                                     const DataShape& shape);

/// The model whose gradients are clipped: `model`, or under `--unit person` one of persons, which `persons` keeps.
[[nodiscard]] Model& learned_model(Model& model, const PrivacyOptions& privacy, std::unique_ptr<Model>& persons);

}  // namespace starling
