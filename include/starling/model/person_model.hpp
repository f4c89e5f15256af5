/// A model whose units are persons with several records (docs/methods/privacy.md, "Units").
#pragma once

#include <memory>

#include "starling/model/model.hpp"

namespace starling {

/// What a person contributes to a sum of gradients, before it is clipped.
enum class PersonGradient { mean, sum };

/// A model that clips the gradient of a person, and not those of the person's records. A person's gradient is the mean,
/// or the sum, of the gradients of its records in range. Its clipped norm is at most the bound, as that of a record in
/// Model::evaluate; so replacing all records of one person by any others moves the sum by at most twice the bound.
///
/// Losses and accuracies count records. Where every person has one record, all results have the bits of the model
/// itself.
class PersonModel final : public Model {
 public:
  PersonModel(std::unique_ptr<Model> model, PersonGradient of) : model_(std::move(model)), of_(of) {}

  [[nodiscard]] std::size_t dimension() const override { return model_->dimension(); }
  [[nodiscard]] bool classifies() const override { return model_->classifies(); }
  [[nodiscard]] std::optional<Vector> initial(std::uint64_t seed) const override { return model_->initial(seed); }
  [[nodiscard]] double largest_parameter() const override { return model_->largest_parameter(); }
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  [[nodiscard]] Score score(View parameters, const Batch& batch) override { return model_->score(parameters, batch); }

 private:
  Score add_person(View parameters, const Clip& clip, Vector& gradient);

  std::unique_ptr<Model> model_;
  PersonGradient of_;
  Batch records_;  // of the person at hand
  Vector own_;     // their gradient
};

}  // namespace starling
