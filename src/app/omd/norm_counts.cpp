#include "norm_counts.hpp"

#include <cmath>

#include "starling/core/batch.hpp"
#include "starling/core/numerics/kernels.hpp"

namespace starling {

Secret<NormCounts> count_norms(Stream& stream, const NormHistogram& histogram, bool intercept) {
  Secret<NormCounts> counts(NormCounts(histogram.length()));
  const double constant = intercept ? 1 : 0;
  for (Round t = 0; !stream.ended(t); ++t) {
    counts.update(
        [&](NormCounts& all, const Batch& batch) {
          for (std::size_t i = 0; i < batch.size(); ++i) {
            const View row = batch.row(i).values;
            histogram.count({std::sqrt(dot(row, row) + constant), norm1(row) + constant}, all);
          }
        },
        stream.next(t));
  }
  return counts;
}

}  // namespace starling
