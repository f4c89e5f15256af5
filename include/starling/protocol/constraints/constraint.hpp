/// Long-term budget constraints: Σ_t Σ_u c_u,t(x_u,t) ≤ 0 over a whole run, not in every round (method 2; dissertation,
/// chapters 3 and 4). What they are; duals and the round are in constraints.hpp.
///
/// All but energy are linear in the model: c(x) = a·x − b, with a and b known to all, or a made of records.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "starling/core/batch.hpp"
#include "starling/core/boundary.hpp"
#include "starling/core/table.hpp"

namespace starling {

/// c(x) = a·x − bound, the same for all clients and rounds; it depends on no record.
struct PublicConstraint {
  std::string name;
  std::vector<std::int32_t> index;  ///< parameters with a coefficient, ascending
  Vector values;                    ///< a, of these
  double bound = 0;

  [[nodiscard]] double value(View x) const;
};

/// c_u,t(x) = (1/m) Σ_i Σ_{j ∈ columns} x_j z_ij − bound over the records z_i of a batch: what these features add to
/// the score of a linear model. Private, for it depends on records.
struct DataConstraint {
  std::string name;
  std::vector<std::int32_t> columns;  ///< features, ascending
  double bound = 0;
};

/// A client's messages of a round may cost `budget` on average: each costs per_message, and per_byte for each byte.
/// Public: it depends on the graph alone.
struct EnergyBudget {
  std::string name;
  double per_message = 0;
  double per_byte = 0;
  double budget = 0;
};

/// The constraints of a run; wherever they are counted, public ones come first, then those on data, then energy.
struct ConstraintSet {
  std::vector<PublicConstraint> fixed;
  std::vector<DataConstraint> data;
  std::optional<EnergyBudget> energy;

  /// Those on models: fixed and data.
  [[nodiscard]] std::size_t on_models() const { return fixed.size() + data.size(); }
  /// Throws UsageError for a second energy budget.
  void add(ConstraintSet more);
};

/// What a constraint must know of the model.
struct ConstraintFacts {
  std::size_t dimension = 0;  ///< d, parameters
  std::size_t features = 0;   ///< of a record; 0 where nothing is learned
  std::size_t scores = 1;
  std::vector<std::string> names;  ///< of the features, where the source has them
};

/// linear, box, data, energy. Each makes one constraint or several.
[[nodiscard]] const Table<ConstraintSet, const ConstraintFacts&>& constraint_table();

/// Constraints joined by `+`, as in `linear:caps.csv+data:column=age,max=0.1`. A `+` that no family's name follows
/// belongs to a name or number. Throws UsageError.
[[nodiscard]] ConstraintSet make_constraints(const std::string& text, const ConstraintFacts& facts);

/// A constraint over some client-rounds together: Σ c = a·x − bound.
struct ConstraintRow {
  Vector a;  ///< d entries
  double bound = 0;
};

/// Adds c_u,t of one client-round to rows (one for each constraint on models, with d entries); m is the public batch
/// size. For evaluation passes, which see records.
void add_constraint_rows(const ConstraintSet& set, const Batch& batch, std::size_t m, std::span<ConstraintRow> rows);

}  // namespace starling
