/// What a source holds, in figures: for its owner, who must choose --clip, --scale and a loss. They are computed from
/// private records and are not protected in any way.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "starling/data/source.hpp"

namespace starling {

/// Count, mean, spread and range of numbers that come one by one (Welford 1962).
class Moments {
 public:
  void add(double value);
  /// The same as adding 0 `count` times (Chan, Golub and LeVeque 1979).
  void add_zeros(std::int64_t count);

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] double mean() const { return mean_; }
  /// Standard deviation, divided by the count.
  [[nodiscard]] double deviation() const;
  /// Infinity and its negative where there is no number.
  [[nodiscard]] double min() const { return min_; }
  [[nodiscard]] double max() const { return max_; }

 private:
  std::int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // Σ (value − mean)²
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
};

/// Quantiles of non-negative numbers, each to 1 %, from counts on a logarithmic scale; 1 MB whatever the number.
class LogQuantiles {
 public:
  LogQuantiles() : counts_(buckets) {}
  void add(double value);
  /// The smallest number that a share `p` of all does not exceed, but for 1 %; 0 where there is none.
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

/// Figures of one feature.
struct FeatureFigures {
  static constexpr std::size_t most_distinct = 20;
  Moments moments;
  std::vector<double> values;  ///< the distinct ones, ascending, as long as there are no more than most_distinct
  bool many = false;           ///< there are more; `values` is empty then
  void add(double value);
  /// What follows is from another file.
  void begin_file() { last_ = -std::numeric_limits<double>::infinity(); }
  [[nodiscard]] bool constant() const { return !many && values.size() == 1; }
  /// Whether all values, which are many, are whole numbers and each is larger than the one before it in its file.
  [[nodiscard]] bool counts_up() const { return many && ascends_; }

 private:
  double last_ = -std::numeric_limits<double>::infinity();
  bool ascends_ = true;
};

/// Figures of the norms of records.
struct NormFigures {
  Moments moments;
  LogQuantiles quantiles;
  void add(double norm);
};

struct Description {
  static constexpr std::size_t most_labels = 1000;
  static constexpr std::size_t most_features = 10'000'000;  ///< about 1 GB of figures
  std::int64_t records = 0;
  std::size_t features = 0;
  bool sparse = false;
  std::vector<std::string> names;  ///< of features; empty where the source has none
  std::int64_t nonzeros = 0;
  std::vector<FeatureFigures> columns;  ///< one per feature
  Moments label;
  std::map<double, std::int64_t>
      labels;                      ///< counts of the distinct ones, as long as there are no more than most_labels
  bool many_labels = false;        ///< there are more; `labels` is empty then
  NormFigures l1;                  ///< Σ |x_j| of each record
  NormFigures l2;                  ///< √Σ x_j² of each record
  std::int64_t repeated_keys = 0;  ///< records whose `Record::key` stood in one before
  std::vector<std::int64_t> records_of_files;
};

/// Reads sources from their starts to their ends, once, in memory that does not grow with the number of records (but
/// for 8 bytes each where they have keys).
class Describer {
 public:
  /// Adds all records of a source; `tick` is called after each. Throws DataError: for what the reader finds, for more
  /// than Description::most_features, for sources with different numbers of dense features, or that mix dense and
  /// sparse.
  void read(RecordReader& reader, const std::function<void()>& tick);
  /// The figures of everything read. Throws DataError if there was no record or no feature.
  [[nodiscard]] Description finish();

 private:
  void add(const Row& row, double label);
  void add_label(double label);
  void grow(std::size_t features);

  Description result_;
  std::vector<std::uint64_t> keys_;  // hashes
};

}  // namespace starling
