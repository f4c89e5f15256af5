/// Canaries in a real run, for the one-run audit (privacy/audit/one_run.hpp; docs/methods/privacy.md, "Audits").
///
/// A run with canaries is a production run in which these decorators replace the model and the mechanism. It does not
/// learn from the first record (or person) of each batch.
#pragma once

#include "model/model_decorator.hpp"
#include "privacy/audit/one_run.hpp"
#include "privacy/keys/keystream.hpp"
#include "privacy/mechanism/mechanism_decorator.hpp"

namespace starling {

/// A model that replaces the gradient of a batch's first record or person by a canary: plus or minus the clipping bound
/// (1 without clipping) in one coordinate, by a coin from `signs`. Writes each sign to the log. An empty batch has no
/// canary.
class CanaryModel final : public ModelDecorator {
 public:
  /// Keeps references to the model and the log. Throws UsageError if the model has no such coordinate.
  CanaryModel(Model& model, std::size_t coordinate, const NoiseKey& signs, CanaryLog& log);

  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;

 private:
  std::size_t coordinate_;
  Keystream words_;
  CanaryLog& log_;
  Batch first_;
  Batch others_;
};

/// A mechanism that writes the canaries' coordinate of each release to the log. Only releases of sums with a canary are
/// written, under correlated noise all; they must come in the order in which the sums were made.
class CanaryMechanism final : public MechanismDecorator {
 public:
  /// Keeps references to the mechanism and the log.
  CanaryMechanism(Mechanism& mechanism, std::size_t coordinate, CanaryLog& log);

  void release(const ReleaseAddress& address, double price, const NoiseKey& key, const Secret<Vector>& sum,
               Released<Vector>& noisy_mean) override;

 private:
  std::size_t coordinate_;
  CanaryLog& log_;
  /// Standard deviation of the independent noise from which a correlated release is made, at a price of 1, in clips.
  double deviation_ = 0;
};

}  // namespace starling
