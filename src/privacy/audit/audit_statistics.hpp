/// Numbers drawn from an observation, on which events are defined.
#pragma once

#include <string>
#include <vector>

#include "privacy/audit/audit.hpp"

namespace starling {

/// Statistics of a subject that an audit examines. Each is a function of one observation alone.
class AuditStatistics {
 public:
  /// Looks at the first `pilot` observations of each side to find the direction of the difference and, in long
  /// observations, the coordinates that tell most.
  AuditStatistics(const AuditSubject& subject, std::int64_t pilot, const AuditTick& tick);

  [[nodiscard]] std::size_t size() const { return list_.size(); }
  /// Writes the statistics of one observation into size() entries. NaN becomes infinite, so that all values have an
  /// order.
  void compute(View seen, MutableView values) const;
  /// "coordinate 3", for words such as "coordinate 3 >= 1.5".
  [[nodiscard]] std::string name(std::size_t statistic) const;

 private:
  enum class Kind { coordinate, projection, distances, sum, norm1, largest, lowest_bit, residue };
  struct Statistic {
    Kind kind;
    std::size_t coordinate = 0;
  };
  void find_direction(const AuditSubject& subject, const struct PilotMoments& pilot);
  [[nodiscard]] double value(const Statistic& statistic, View seen) const;

  [[nodiscard]] std::string coordinate(std::size_t j) const;

  double step_;
  std::vector<std::string> names_;  ///< of coordinates, or empty
  Vector direction_;                ///< difference of the sides over the variance
  Vector weights_;                  ///< of a coordinate in the difference of distances: 1 over its spread
  std::array<Vector, 2> centres_;
  std::vector<Statistic> list_;
};

}  // namespace starling
