/// The constraints of one run of `starling omd`, from their options to what its rounds need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/links.hpp"
#include "privacy/mechanism/second_part.hpp"
#include "protocol/constraints/constraint_set.hpp"
#include "protocol/constraints/dual_settings.hpp"
#include "run/settings/constraint_options.hpp"

namespace starling {

class CompositeModel;
class EnergySchedule;
class LongTermConstraints;
class Model;
class PairedMechanism;
class Schedule;
struct OmdSettings;

class RunConstraints {
 public:
  /// The run has `rounds` rounds. `protects` says whether a mechanism adds noise. Throws UsageError.
  RunConstraints(const ConstraintOptions& options, const ConstraintFacts& facts, Round rounds, bool protects);
  ~RunConstraints();

  [[nodiscard]] const ConstraintSet& set() const { return set_; }
  [[nodiscard]] const DualSettings& duals() const { return duals_; }
  /// All that public constraints are made of.
  [[nodiscard]] std::string text() const;
  /// Steps of --dual queue replace --step.
  void set_steps(OmdSettings& settings) const;
  /// The part of a round's release beside gradients, if there is one.
  [[nodiscard]] std::optional<SecondPart> second_part() const;

  /// Makes the duals of this rank's clients. `pair` as LongTermConstraints has it.
  void start(std::size_t clients, PairedMechanism* pair, std::size_t batch);
  /// Null before start(), and of runs with an energy budget alone.
  [[nodiscard]] LongTermConstraints* duals_of_clients() { return constraints_.get(); }
  /// The model whose gradients are released.
  [[nodiscard]] Model& model(Model& model);
  /// The schedule that clients can afford; `schedule` must outlive this.
  [[nodiscard]] const Schedule& affordable(const Schedule& schedule, std::size_t message_bytes, int steps_per_round,
                                           std::uint64_t seed);
  [[nodiscard]] const EnergySchedule* energy() const { return energy_.get(); }

 private:
  void refuse_what_has_no_meaning() const;

  const ConstraintOptions& options_;
  ConstraintSet set_;
  PrivateConstraint how_;
  DualSettings duals_;
  double smoothing_;
  bool protects_;
  std::unique_ptr<LongTermConstraints> constraints_;
  std::unique_ptr<CompositeModel> composite_;
  std::unique_ptr<EnergySchedule> energy_;
};

}  // namespace starling
