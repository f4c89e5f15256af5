/// The parts by which the clients of one rank learn in a run of mirror descent.
#pragma once

#include <memory>
#include <optional>

#include "core/columns.hpp"
#include "methods/omd/run_canaries.hpp"
#include "model/model.hpp"
#include "protocol/decentralized/omd.hpp"

namespace starling {

class Summary;
struct BegunRun;
struct OmdParts;

/// Model, mechanism and streams of a rank's clients. Persons, constraints on data and canaries stand between them and
/// the protocol. A run that only averages (`--loss none`) has none of them.
class OmdLearning {
 public:
  /// Keeps references. **Collective.**
  OmdLearning(const BegunRun& begun, OmdParts& parts);

  /// The parts for the protocol, which takes keys and streams: call it once.
  [[nodiscard]] std::optional<Learning> hand_over();
  /// Factors of the clients' noisy mean gradients in their steps; empty: 1 for all.
  [[nodiscard]] const Vector& factors() const { return factors_; }
  /// Adds the audit of a run that audits itself. **Collective.**
  void add_audit(Summary& summary) const;
  /// Whether that audit has refuted what the run claims. Rank 0's.
  [[nodiscard]] static bool is_refuted(const Summary& summary);

 private:
  [[nodiscard]] Model& learned_model();
  void start_constraints();

  const BegunRun& begun_;
  OmdParts& parts_;
  std::unique_ptr<Model> persons_;       ///< of runs of unit person
  std::optional<RunCanaries> canaries_;  ///< of runs that audit themselves
  Vector factors_;
};

}  // namespace starling
