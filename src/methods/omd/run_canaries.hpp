/// `--audit`: a one-run audit inside a job (privacy/audit/one_run.hpp).
#pragma once

#include "net/agreement.hpp"
#include "protocol/canary.hpp"

namespace starling {

/// Fewer say nothing.
inline constexpr Round least_canaries = 32;

/// The canaries of one rank's clients. Model and mechanism stand before those of the job.
class RunCanaries {
 public:
  /// Keeps references to both. The signs come from the operating system.
  RunCanaries(Model& model, Mechanism& mechanism);

  [[nodiscard]] Model& model() { return model_; }
  [[nodiscard]] Mechanism& mechanism() { return mechanism_; }

  /// The audit of `claim` by the releases of all ranks, on rank 0; nothing elsewhere, or if there were too few canaries
  /// to say anything. **Collective.**
  [[nodiscard]] std::optional<OneRunResult> finish(Agreement& agreement, const Charge& claim, double delta) const;

 private:
  CanaryLog log_;
  CanaryModel model_;
  CanaryMechanism mechanism_;
};

}  // namespace starling
