#include "exact_moments.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

/// A column whose variance is below this share of its squared mean varies by roundings alone.
constexpr double least_variance = 1e-26;

}  // namespace

void add_moments(MutableView moments, const Batch& batch, const std::vector<std::size_t>& features) {
  const auto add = [&](std::size_t column, double value) {
    if (std::isnan(value)) return;
    const MutableView own = moments.subspan(4 * column, 4);
    const double apart = value - own[1];
    own[0] += 1;
    own[1] += apart / own[0];
    own[2] += apart * (value - own[1]);
    if (value != 0 && value != 1) own[3] += 1;
  };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (std::size_t j = 0; j < features.size(); ++j) add(j, batch.row(i).values[features[j]]);
    add(features.size(), batch.label(i));
  }
}

Secret<Columns> client_moments(const std::vector<std::unique_ptr<Stream>>& streams,
                               const std::vector<std::size_t>& features) {
  Secret<Columns> moments(Columns(moments_of(features.size() + 1), streams.size()));
  for (std::size_t k = 0; k < streams.size(); ++k) {
    Stream& stream = *streams[k];
    for (Round t = 0; !stream.ended(t); ++t) {
      moments.update([&](Columns& all, const Batch& batch) { add_moments(all[k], batch, features); }, stream.next(t));
    }
  }
  return moments;
}

std::vector<ColumnMoments> moments_of_all(Agreement& agreement, const Released<Columns>& moments) {
  const auto with_each = [&](const auto& change) {
    return post_process(
        [&](const Columns& all) {
          Columns changed = all;
          for (std::size_t k = 0; k < changed.size(); ++k) change(changed[k]);
          return changed;
        },
        moments);
  };
  Vector means = agreement.ordered_sum(with_each([](MutableView own) {
    for (std::size_t at = 0; at < own.size(); at += 4) own[at + 1] *= own[at];
  }));
  for (std::size_t at = 0; at < means.size(); at += 4) means[at + 1] /= std::max(means[at], 1.0);
  const Vector squares = agreement.ordered_sum(with_each([&](MutableView own) {
    for (std::size_t at = 0; at < own.size(); at += 4) {
      const double apart = own[at + 1] - means[at + 1];
      own[at + 2] += own[at] * apart * apart;
    }
  }));
  std::vector<ColumnMoments> all;
  for (std::size_t at = 0; at < means.size(); at += 4) {
    const double mean = means[at + 1];
    const double variance = squares[at + 2] / std::max(means[at], 1.0);
    all.push_back({mean, variance > least_variance * mean * mean ? std::sqrt(variance) : 0, means[at + 3] == 0});
  }
  return all;
}

std::optional<ExactSizes> exact_sizes(Agreement& agreement, const std::vector<std::unique_ptr<Stream>>& streams,
                                      const SquareOf& square_of, std::size_t most, const MetricsPolicy& metrics) {
  enum At : std::size_t { records, squares, labels, largest, count };
  Secret<Columns> sizes(Columns(count, streams.size()));
  agreement.together([&] {
    for (std::size_t k = 0; k < streams.size(); ++k) {
      Stream& stream = *streams[k];
      for (Round t = 0; !stream.ended(t); ++t) {
        sizes.update(
            [&](Columns& all, const Batch& batch) {
              const MutableView own = all[k];
              for (std::size_t i = 0; i < batch.size() && own[records] < static_cast<double>(most); ++i) {
                const double square = square_of(batch, i);
                if (!std::isfinite(square)) continue;
                own[records] += 1;
                own[squares] += square;
                own[labels] += batch.label(i) * batch.label(i);
                own[largest] = std::max(own[largest], square);
              }
            },
            stream.next(t));
      }
    }
  });
  const std::optional<Released<Columns>> shared = metrics.share(sizes, SharedFigure::record_sizes_of_clients);
  if (!shared) return std::nullopt;
  const Vector sum = agreement.ordered_sum(*shared);
  double square = 0;
  double share = 0;
  for (const Vector& of_rank : agreement.all_gather(post_process(
           [](const Columns& all) {
             Vector found;
             for (std::size_t k = 0; k < all.size(); ++k) {
               found.insert(found.end(), {all[k][largest], all[k][records]});
             }
             return found;
           },
           *shared))) {
    for (std::size_t at = 0; at < of_rank.size(); at += 2) {
      square = std::max(square, of_rank[at]);
      share = std::max(share, of_rank[at] / std::max(of_rank[at + 1], 1.0));
    }
  }
  if (sum.empty() || sum[records] == 0) return std::nullopt;
  return ExactSizes{std::sqrt(sum[squares] / sum[records]), std::sqrt(sum[labels] / sum[records]), std::sqrt(square),
                    std::sqrt(share)};
}

}  // namespace starling
