#include "norm_counts.hpp"

#include <array>
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
          std::size_t first = 0;
          for (std::size_t i = 0; i < batch.units(); first += batch.unit_size(i++)) {
            const std::size_t records = batch.unit_size(i);
            if (records == 0) continue;
            std::array<double, 2> norms{0, 0};  // a person's are the means of those of its records
            for (std::size_t k = first; k < first + records; ++k) {
              const View row = batch.row(k).values;
              norms[0] += std::sqrt(dot(row, row) + constant);
              norms[1] += norm1(row) + constant;
            }
            for (double& norm : norms) norm /= static_cast<double>(records);
            histogram.count({norms[0], norms[1]}, all);
          }
        },
        stream.next(t));
  }
  return counts;
}

}  // namespace starling
