/// Settings of vertical learning: its networks, its rounds, and its steps on shares.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/columns.hpp"
#include "core/links.hpp"
#include "model/network/network.hpp"
#include "protocol/step_schedule.hpp"

namespace starling {

struct AbsenceModel;

enum class OptimiserKind {
  sgd,   ///< θ − η g
  adam,  ///< Kingma and Ba 2015, Algorithm 1, with β₁ = 0.9, β₂ = 0.999, ε = 10^-8
};

/// Shapes of a run's networks, the same on all ranks, and their start values.
struct VerticalArchitecture {
  std::vector<Architecture> features;  ///< of parties 1, …, K, each with e outputs
  Architecture head;                   ///< with K e inputs
  Precision precision = Precision::single;
  std::uint64_t seed = 1;  ///< of start values, which differ from block to block
  OptimiserKind optimiser = OptimiserKind::sgd;
  /// Start values of this rank's blocks, the head's first, in place of drawn ones; empty ones are drawn.
  std::vector<Vector> start = {};

  [[nodiscard]] std::size_t parties() const { return features.size(); }
  /// Whether the start values of block k are given.
  [[nodiscard]] bool starts(std::size_t k) const { return k < start.size() && !start[k].empty(); }
};

/// The ranks that know the labels: all, or rank 0 only.
enum class LabelHolders { all, head };

/// Settings of a run; η_t is the step schedule's length of step t, 0.03 by default.
struct VerticalPlan : StepSchedule {
  VerticalPlan() : StepSchedule{0.03, 0, 0} {}
  Round rounds = 1;
  Round local_steps = 1;  ///< E
  LabelHolders labels = LabelHolders::all;
  bool central = false;             ///< baseline: columns go to rank 0, which learns all blocks jointly
  std::optional<Round> lazy_after;  ///< baseline: no block learns after this many rounds
  double embedding_clip = 1;        ///< clipping bound of a record's embedding, under a mechanism
  std::size_t batch = 1;            ///< m, public
  std::size_t person_rows = 1;      ///< R, public: rows of a person in a round; 1: records stand for themselves
  /// Parties that sit rounds out; null: none. Rank 0, client 0, is never asked for.
  std::shared_ptr<const AbsenceModel> absences = {};
  bool keeps_predictions = false;  ///< whether to keep predictions(), for the ROC curve

  /// Rows of a full round.
  [[nodiscard]] std::size_t rows() const { return batch * person_rows; }
  /// Whether the party that is client u is absent in round t.
  [[nodiscard]] bool is_absent(Client u, Round t) const;
};

/// The steps of a run on shares.
struct SharedSteps {
  Round rounds = 64;
  double step = 1;      ///< η
  double momentum = 0;  ///< m
  /// So many of the rounds, the first that are paid for, have noisy histograms of the columns in place of gradients. By
  /// their mean each party standardises its own columns, and labels that are numbers.
  Round scale_rounds = 0;
  /// So many of these, the last, look within the ranges that the others have shown.
  Round within_rounds = 0;

  /// The first round, from 0, whose model is in the mean.
  [[nodiscard]] Round first_of_mean() const { return rounds / 2; }
};

}  // namespace starling
