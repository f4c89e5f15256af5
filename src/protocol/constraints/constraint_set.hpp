/// Long-term constraints Σ_t Σ_u c_u,t(x_u,t) ≤ 0 over a whole run, not in every round (docs/methods/constraints.md;
/// dissertation, chapters 3 and 4). Their duals are in long_term_constraints.hpp.
///
/// All constraints but energy are linear in the model: c(x) = a·x − b, with public a and b, or with a made of records.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "core/boundary.hpp"
#include "core/text/spec.hpp"

namespace starling {

/// A public constraint c(x) = a·x − bound, the same for all clients and rounds.
struct PublicConstraint {
  std::string name;
  std::vector<std::int32_t> index;  ///< parameters with a coefficient, ascending
  Vector values;                    ///< their coefficients in a
  double bound = 0;

  [[nodiscard]] double value(View x) const;
};

/// A private constraint c_u,t(x) = (1/m) Σ_i Σ_{j ∈ columns} x_j z_ij − bound over the records z_i of a batch: the mean
/// contribution of these features to the score of a linear model.
struct DataConstraint {
  std::string name;
  std::vector<std::int32_t> columns;  ///< features, ascending
  double bound = 0;
};

/// A public budget for messages: a client's messages of a round may cost `budget` on average. Each costs per_message,
/// and per_byte for each byte.
struct EnergyBudget {
  std::string name;
  double per_message = 0;
  double per_byte = 0;
  double budget = 0;
};

/// The constraints of a run. Everywhere public constraints are numbered first, then constraints on data, then energy.
struct ConstraintSet {
  std::vector<PublicConstraint> fixed;  ///< the public constraints
  std::vector<DataConstraint> data;
  std::optional<EnergyBudget> energy;

  /// Number of constraints on models: fixed and data.
  [[nodiscard]] std::size_t on_models() const { return fixed.size() + data.size(); }
  /// Adds all constraints of `more`. Throws UsageError for a second energy budget.
  void add(ConstraintSet more);
};

/// Facts about the model and the data that the makers of constraints use.
struct ConstraintFacts {
  std::size_t dimension = 0;       ///< d, parameters
  std::size_t features = 0;        ///< features of a record; 0 in a run that only averages
  std::size_t scores = 1;          ///< scores of a record
  std::vector<std::string> names;  ///< names of the features, if the source has names
};

using ConstraintTable = Table<ConstraintSet, const ConstraintFacts&>;
/// The families linear, box, data, energy. Each makes one constraint or several.
[[nodiscard]] const ConstraintTable& constraint_table();

/// Makes constraints joined by `+`, as in `linear:caps.csv+data:column=age,max=0.1`. A `+` that is not followed by the
/// name of a family belongs to a name or number. Throws UsageError.
[[nodiscard]] ConstraintSet make_constraints(const std::string& text, const ConstraintFacts& facts,
                                             const ConstraintTable& table = constraint_table());

/// Sum of a constraint over several client-rounds: Σ c = a·x − bound.
struct ConstraintRow {
  Vector a;  ///< d entries
  double bound = 0;
};

/// Adds c_u,t of one client-round to `rows`: one per constraint on models, of d entries. m is the public batch size.
/// For evaluation passes, which see records.
void add_constraint_rows(const ConstraintSet& set, const Batch& batch, std::size_t m, std::span<ConstraintRow> rows);

}  // namespace starling
