/// Clipped gradients of persons, for `--unit person`.
#pragma once

#include "model/model_decorator.hpp"

namespace starling {

/// A model whose sums have one clipped gradient for each person of a batch: the mean, or the sum, of the gradients of
/// the person's records, clipped as a whole. Records out of range add nothing. A person without a record in range, or
/// whose gradient is out of range, adds zero. Batches that do not consist of persons are the other model's.
///
/// Sensitivity. A person's contribution depends on this person's records alone: of one record it is what the model
/// makes of it, otherwise a vector that `clip_rows` has clipped to the bound. So the requirements of
/// privacy/noise/grid.hpp hold with persons in place of records. A model that adds up `Summing::at_once` records
/// together (networks: GradientSum) is asked for the same positions of the batch together. Where one of them has more
/// than one record, all of these are added one by one, as a chunk with a record out of range is, and contributions of
/// several records are clipped to the bound less `Summing::margin`. Batches that differ in one person then differ in
/// one such sum, and GradientSum's proof holds.
///
/// Where no person has more than one record, the sum has the same bits as that of the records (networks: if none is
/// left out in front of others).
class PersonModel final : public ModelDecorator {
 public:
  enum class Weighing {
    mean,  ///< persons count alike
    sum,   ///< a person counts by the number of records, as far as the clip allows
  };

  /// Keeps a reference.
  PersonModel(Model& model, Weighing weighing) : ModelDecorator(model), weighing_(weighing) {}

  /// The score counts records.
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;

 private:
  /// Writes the clipped gradient of the person whose records these are into part_.
  Score evaluate_person(View parameters, const Batch& records, const Clip& clip);

  Weighing weighing_;
  Vector part_;
  Batch chunk_;
  Batch own_;
};

}  // namespace starling
