/// Exact figures of all clients' records, for runs that protect nobody.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/batch.hpp"
#include "core/boundary.hpp"
#include "data/stream.hpp"
#include "net/agreement.hpp"
#include "privacy/metrics_policy.hpp"

namespace starling {

/// Moments of a client's columns, computed in the manner of Welford: of each column the number of values that are not
/// missing, their mean, the sum of squares about it, and the number of values other than 0 and 1.
[[nodiscard]] constexpr std::size_t moments_of(std::size_t columns) {
  return 4 * columns;
}

/// Adds the records of a batch, which is dense: these features, then the label. NaN is a missing value. `moments` has
/// moments_of(features.size() + 1) entries.
void add_moments(MutableView moments, const Batch& batch, const std::vector<std::size_t>& features);

/// Moments of these features and of the label, a column for each stream, which is read to its end. Rank-local.
[[nodiscard]] Secret<Columns> client_moments(const std::vector<std::unique_ptr<Stream>>& streams,
                                             const std::vector<std::size_t>& features);

struct ColumnMoments {
  double mean = 0;
  double deviation = 0;  ///< 0 where values differ by roundings alone
  bool is_flag = false;  ///< all values are 0 or 1
};

/// Mean and deviation of each column over the records of all clients, the same bits on any layout.
/// **Collective.**
[[nodiscard]] std::vector<ColumnMoments> moments_of_all(Agreement& agreement, const Released<Columns>& moments);

/// The size of records, and of their labels.
struct ExactSizes {
  double norm = 0;           ///< √(Σ ‖x‖²/N)
  double label = 0;          ///< √(Σ y²/N)
  double largest = 0;        ///< the largest ‖x‖
  double largest_share = 0;  ///< the largest ‖x‖/√N_k, for N_k records of the client
};

/// ‖x‖² of record i of a batch, or what stands in its place; not finite for a record that does not count.
using SquareOf = std::function<double(const Batch& batch, std::size_t i)>;

/// Sizes of the first `most` records of each of these streams, which are read to their end. None under `--metrics
/// local`, and where there are no records. **Collective.**
[[nodiscard]] std::optional<ExactSizes> exact_sizes(Agreement& agreement,
                                                    const std::vector<std::unique_ptr<Stream>>& streams,
                                                    const SquareOf& square_of, std::size_t most,
                                                    const MetricsPolicy& metrics);

}  // namespace starling
