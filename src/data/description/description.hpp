/// Summary statistics of a source, for its owner, who must choose `--clip`, `--scale` and a loss. They are computed
/// from private records and not protected.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "data/source.hpp"

namespace starling {

/// Count, mean, standard deviation and range of a stream of numbers (Welford 1962).
class Moments {
 public:
  void add(double value);
  /// Adds 0 `count` times (Chan, Golub and LeVeque 1979).
  void add_zeros(std::int64_t count);

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] double mean() const { return mean_; }
  /// Standard deviation, divided by the count.
  [[nodiscard]] double deviation() const;
  /// Smallest and largest number; ∞ and −∞ before the first.
  [[nodiscard]] double min() const { return min_; }
  [[nodiscard]] double max() const { return max_; }

 private:
  std::int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // Σ (value − mean)²
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
};

/// Quantiles of non-negative numbers to 1 %, from counts on a logarithmic scale, in 1 MB.
class LogQuantiles {
 public:
  LogQuantiles() : counts_(buckets) {}
  void add(double value);
  /// The p-quantile to 1 %; 0 before the first number.
  [[nodiscard]] double at(double p) const;

 private:
  static constexpr int parts = 64;  // of each power of two
  static constexpr int least = std::numeric_limits<double>::min_exponent - std::numeric_limits<double>::digits;
  static constexpr std::size_t buckets =
      static_cast<std::size_t>(std::numeric_limits<double>::max_exponent - least + 1) * parts;
  std::vector<std::int64_t> counts_;
  std::int64_t zeros_ = 0;
  std::int64_t total_ = 0;
};

/// Statistics of one feature.
struct FeatureFigures {
  static constexpr std::size_t most_distinct = 20;
  Moments moments;
  std::vector<double> values;  ///< distinct values, ascending, up to most_distinct of them
  bool many = false;           ///< whether there are more; `values` is then empty
  void add(double value);
  /// Marks the start of another file.
  void begin_file() { last_ = -std::numeric_limits<double>::infinity(); }
  [[nodiscard]] bool constant() const { return !many && values.size() == 1; }
  /// Whether there are many values, all whole numbers, and each is larger than its predecessor in the file.
  [[nodiscard]] bool counts_up() const { return many && ascends_; }

 private:
  double last_ = -std::numeric_limits<double>::infinity();
  bool ascends_ = true;
};

/// Statistics of the norms of records.
struct NormFigures {
  Moments moments;
  LogQuantiles quantiles;
  void add(double norm);
};

/// Statistics of a source.
struct Description {
  static constexpr std::size_t most_labels = 1000;
  static constexpr std::size_t most_features = 10'000'000;  ///< about 1 GB of statistics
  std::int64_t records = 0;
  std::size_t features = 0;
  bool sparse = false;
  std::vector<std::string> names;  ///< of features; empty if the source has none
  std::int64_t nonzeros = 0;
  std::vector<FeatureFigures> columns;  ///< one per feature
  Moments label;
  std::map<double, std::int64_t> labels;  ///< counts of distinct labels, up to most_labels of them
  bool many_labels = false;               ///< whether there are more; `labels` is then empty
  NormFigures l1;                         ///< Σ |x_j| of each record
  NormFigures l2;                         ///< √Σ x_j² of each record
  std::int64_t repeated_keys = 0;         ///< records whose `Record::key` occurred before
  std::vector<std::int64_t> records_of_files;
};

/// Computes a Description in one pass over each source. Memory does not grow with the number of records, except for 8
/// bytes per record with a key.
class Describer {
 public:
  /// Adds all records of a source and calls `tick` after each. Throws DataError for bad records, for more than
  /// Description::most_features, for dense sources of different widths, and for dense beside sparse sources.
  void read(RecordReader& reader, const std::function<void()>& tick);
  /// Statistics of all sources read. Throws DataError if there was no record or no feature.
  [[nodiscard]] Description finish();

 private:
  void add(const Row& row, double label);
  void add_label(double label);
  void grow(std::size_t features);

  Description result_;
  std::vector<std::uint64_t> keys_;  // hashes
};

}  // namespace starling
