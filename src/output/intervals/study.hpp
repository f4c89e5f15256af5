/// Coverage studies: replications on generators whose coefficients are known.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/columns.hpp"
#include "output/intervals/interval.hpp"

namespace starling {

/// A mean over R replications with its standard error, s/√R. The error is NaN for R = 1; both are NaN for R = 0.
struct MeanFigure {
  double mean = 0;
  double error = 0;
};

/// Coverage (share of the replications in which the interval covered the truth), mean length of the interval, and bias
/// (mean of estimate − truth) of one coefficient.
struct CoefficientFigures {
  std::string name;
  MeanFigure coverage;
  MeanFigure length;
  MeanFigure bias;
};

/// The figures of one method and level after a number of steps.
struct StudyCell {
  std::string method;
  double level = 0;
  Round steps = 0;
  double records = 0;
  std::int64_t replications = 0;
  std::int64_t unknown = 0;      ///< intervals without bounds, which coverage leaves out
  std::int64_t not_settled = 0;  ///< replications whose path had not settled
  MeanFigure coverage;           ///< mean over coefficients and clients, a share of 1
  MeanFigure length;             ///< mean over coefficients and clients
  std::vector<CoefficientFigures> coefficients;
};

/// The collector of replications. Intervals of one replication are not independent. Hence one observation is a
/// replication's mean over its coefficients and clients, and standard errors are over replications.
class Study {
 public:
  /// Adds all intervals of one replication at one moment. Within a method, level and client the intervals have the
  /// order of `truth`. Throws UsageError where their numbers differ.
  void add(const IntervalsAt& at, const Vector& truth);
  /// The cells, by method and level in the order of their first appearance, then by steps.
  [[nodiscard]] std::vector<StudyCell> cells() const;

 private:
  /// Mean and sum of squared deviations, by Welford's recursion.
  struct Moments {
    std::int64_t count = 0;
    double mean = 0;
    double squares = 0;
    void add(double value);
    [[nodiscard]] MeanFigure figure() const;
  };
  /// Moments of one coefficient or of all. Length and bias are of intervals with bounds.
  struct Tally {
    Moments coverage;
    Moments length;
    Moments bias;
  };
  struct Cell {
    double records = 0;
    std::int64_t replications = 0;
    std::int64_t unknown = 0;
    std::int64_t not_settled = 0;
    Tally all;
    std::vector<std::string> names;
    std::vector<Tally> each;
  };
  /// One replication's intervals of one method and level.
  using Group = std::vector<const Interval*>;

  static void add_group(Cell& cell, const Group& group, const Vector& truth);
  std::size_t kind_of(const Interval& interval);

  std::vector<std::pair<std::string, double>> kinds_;  ///< methods and levels
  std::map<std::pair<std::size_t, Round>, Cell> cells_;
};

/// Writes FOLDER/study.csv: method, level, steps, records, coefficient, replications, unknown, not_settled, coverage,
/// coverage_error, length, length_error, bias, bias_error. Each cell has a line with an empty field `coefficient`,
/// followed by a line for each coefficient. Throws FailureError.
void write_study(const std::string& folder, const std::vector<StudyCell>& cells);

}  // namespace starling
