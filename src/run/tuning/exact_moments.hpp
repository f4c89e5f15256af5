/// Exact figures of all clients' records, for runs that protect nobody.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/batch.hpp"
#include "core/boundary.hpp"
#include "data/constants.hpp"
#include "data/stream.hpp"
#include "net/agreement.hpp"
#include "privacy/metrics_policy.hpp"

namespace starling {

/// Moments of a client's columns, computed in the manner of Welford: the number of records, then of each column the
/// mean and the sum of squares about it.
[[nodiscard]] constexpr std::size_t moments_of(std::size_t columns) {
  return 1 + 2 * columns;
}

/// Adds the records of a batch, which is dense: these features, then the label. `moments` has
/// moments_of(features.size() + 1) entries.
void add_moments(MutableView moments, const Batch& batch, const std::vector<std::size_t>& features);

/// Moments of these features and of the label, a column for each stream, which is read to its end. Rank-local.
[[nodiscard]] Secret<Columns> client_moments(const std::vector<std::unique_ptr<Stream>>& streams,
                                             const std::vector<std::size_t>& features);

/// Mean and deviation of each column over the records of all clients, the same bits on any layout. The deviation is 0
/// where the values differ by roundings alone. **Collective.**
[[nodiscard]] std::vector<Standardisation> moments_of_all(Agreement& agreement, const Released<Columns>& moments);

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
