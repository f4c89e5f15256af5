/// The method's own figures of a run of mirror descent, from its rounds to its results.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"

namespace starling {

class ConstraintRecorder;
class DecentralizedOmd;
class KeptParts;
class ModelAverage;
class ModelPath;
class Observer;
class PlayedRecorder;
class Summary;
struct BegunRun;
struct ConstraintReport;
struct NetworkFigures;
struct OmdParts;
struct Recorded;
struct RoundsEnd;

/// Observers of the rounds, and the results that follow from them: regret, effective weights, violations of
/// constraints, mean models and the noise in the model.
class OmdResults {
 public:
  /// `noise_factors`, of this rank's clients, scale their releases in steps; empty: 1. Keeps references.
  OmdResults(const BegunRun& begun, const OmdParts& parts, const Recorded& recorded, const DecentralizedOmd& omd,
             const Vector& noise_factors);
  ~OmdResults();

  void add_observers(std::vector<Observer*>& observers, KeptParts& parts);
  /// The models that the run ends with: the last ones or their means over rounds, in part the start.
  [[nodiscard]] Released<Columns> final_models() const;
  /// Regret, or a note on why there is none. **Collective.**
  void add_regret(Summary& summary, bool stopped);
  /// Violations, the consensus that the graph promises, effective weights, and the noise in the model. **Collective.**
  void add_all_others(Summary& summary, const RoundsEnd& end);
  /// Names the violations that are withheld, once `summary` has all of them.
  static void name_withheld(Summary& summary);
  /// Returns the reasons for missing pictures.
  [[nodiscard]] std::vector<std::string> draw(const std::vector<NetworkFigures>& history) const;

 private:
  void add_violations(Summary& summary, const RoundsEnd& end);
  void add_weights(Summary& summary);
  void add_noise(Summary& summary);
  [[nodiscard]] bool all_steps_arrived() const;
  void note_late_clients();

  const BegunRun& begun_;
  const OmdParts& parts_;
  const Recorded& recorded_;
  const DecentralizedOmd& omd_;
  const Vector& noise_factors_;
  std::unique_ptr<PlayedRecorder> played_;
  std::unique_ptr<ModelPath> path_;                 ///< null in a run that learns nothing
  std::unique_ptr<ModelAverage> average_;           ///< null where the last models are the result
  std::unique_ptr<ConstraintRecorder> violations_;  ///< null without constraints
  std::unique_ptr<ConstraintReport> violation_;     ///< once rounds are over
};

}  // namespace starling
