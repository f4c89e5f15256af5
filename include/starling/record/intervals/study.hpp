/// How often intervals cover what they should: a study of replications, on generators whose coefficients are known.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "starling/core/columns.hpp"
#include "starling/record/intervals/interval.hpp"

namespace starling {

/// A mean over replications with its standard error, s/√R; the error is NaN of one replication, and both of none.
struct MeanFigure {
  double mean = 0;
  double error = 0;
};

/// Of one coefficient: share of the replications in which its interval covered the truth, mean length of the interval,
/// and mean of estimate − truth.
struct CoefficientFigures {
  std::string name;
  MeanFigure coverage;
  MeanFigure length;
  MeanFigure bias;
};

/// The intervals of one method and level after so many steps.
struct StudyCell {
  std::string method;
  double level = 0;
  Round steps = 0;
  double records = 0;
  std::int64_t replications = 0;
  std::int64_t unknown = 0;  ///< intervals without bounds: they count neither as covering nor as failing
  MeanFigure coverage;       ///< mean over coefficients (and clients): the paper's CP, a share of 1
  MeanFigure length;         ///< likewise: the paper's AL
  std::vector<CoefficientFigures> coefficients;
};

/// Collects replications. Intervals of one replication are not independent: a replication's mean over its coefficients,
/// and over its clients where they have their own, is one observation, and standard errors are over replications.
class Study {
 public:
  /// `at`: all intervals of one replication at one moment; in each method, level and client a coefficient's interval
  /// stands where its truth stands in `truth`. Throws UsageError where they are not as many.
  void add(const IntervalsAt& at, const Vector& truth);
  /// By method and level in the order in which they came first, then by steps.
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
  /// Of all coefficients together, or of one; lengths and bias of intervals that have bounds.
  struct Tally {
    Moments coverage;
    Moments length;
    Moments bias;
  };
  struct Cell {
    double records = 0;
    std::int64_t replications = 0;
    std::int64_t unknown = 0;
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

/// A table: a row for each method and level, a column for each number of records (at most five, spread evenly, the
/// last among them); coverage in per cent with its standard error, and mean length × 100.
[[nodiscard]] std::string study_table(const std::vector<StudyCell>& cells);

/// Writes FOLDER/study.csv: method, level, steps, records, coefficient, replications, unknown, coverage,
/// coverage_error, length, length_error, bias, bias_error. A line for each cell, its field `coefficient` empty, and
/// after it one for each of its coefficients. Throws FailureError.
void write_study(const std::string& folder, const std::vector<StudyCell>& cells);

}  // namespace starling
