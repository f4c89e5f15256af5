/// Cumulative violations of long-term constraints, Σ_t Σ_u c_u,t(x_u,t), and duals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/columns.hpp"
#include "core/links.hpp"
#include "regret/growth.hpp"

namespace starling {

/// The violation of one constraint by one run.
struct ConstraintFigures {
  std::string name;
  bool on_data = false;             ///< whether the constraint depends on records
  std::optional<double> violation;  ///< Σ_t Σ_u c over all clients; none where withheld
  double dual_mean = 0;             ///< mean of λ or Q over clients
  double dual_max = 0;              ///< largest λ or Q
  std::optional<GrowthFit> growth;  ///< of the violation; none where it is not positive over the last decade of rounds
};

/// Violations and duals of all constraints at recorded rounds. Violations are NaN where they are withheld.
struct ViolationCurve {
  std::vector<std::string> names;
  std::vector<Round> rounds;
  std::vector<Vector> violations;  ///< sum over all clients, by record, then by constraint
  std::vector<Vector> dual_means;
  std::vector<Vector> dual_maxima;
};

/// The result of a ConstraintRecorder.
struct ConstraintReport {
  std::vector<ConstraintFigures> constraints;
  ViolationCurve curve;
};

}  // namespace starling
