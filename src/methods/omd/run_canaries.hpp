/// `--audit`: a one-run audit inside a job (privacy/audit/one_run.hpp).
#pragma once

#include <memory>
#include <optional>

#include "core/links.hpp"

namespace starling {

class Agreement;
class CanaryMechanism;
class CanaryModel;
struct Charge;
class Mechanism;
class Model;
struct CanaryLog;
struct OneRunResult;

/// Fewer say nothing.
inline constexpr Round least_canaries = 32;

/// The canaries of one rank's clients. Model and mechanism stand before those of the job.
class RunCanaries {
 public:
  /// Keeps references to both. The signs come from the operating system.
  RunCanaries(Model& model, Mechanism& mechanism);
  ~RunCanaries();

  [[nodiscard]] Model& model();
  [[nodiscard]] Mechanism& mechanism();

  /// The audit of `claim` by the releases of all ranks, on rank 0; nothing elsewhere, or if there were too few canaries
  /// to say anything. **Collective.**
  [[nodiscard]] std::optional<OneRunResult> finish(Agreement& agreement, const Charge& claim, double delta) const;

 private:
  std::unique_ptr<CanaryLog> log_;
  std::unique_ptr<CanaryModel> model_;
  std::unique_ptr<CanaryMechanism> mechanism_;
};

}  // namespace starling
