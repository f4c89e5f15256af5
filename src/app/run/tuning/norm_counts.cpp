#include "norm_counts.hpp"

#include <cmath>

#include "starling/core/batch.hpp"
#include "starling/core/numerics/kernels.hpp"

namespace starling {

namespace {

/// Sums of the norms of these records, and of the magnitudes of their labels.
RowNorms sum_of_norms(const Batch& batch, const Batch::Range& records, double constant) {
  RowNorms sum;
  for (std::size_t i = records.first; i < records.first + records.count; ++i) {
    const View row = batch.row(i).values;
    sum.l2 += std::sqrt(dot(row, row) + constant);
    sum.l1 += norm1(row) + constant;
    sum.label += std::abs(batch.label(i));
  }
  return sum;
}

}  // namespace

Secret<NormCounts> count_norms(Stream& stream, const NormHistogram& histogram, bool intercept, bool person_mean) {
  Secret<NormCounts> counts(NormCounts(histogram.length()));
  const double constant = intercept ? 1 : 0;
  for (Round t = 0; !stream.ended(t); ++t) {
    counts.update(
        [&](NormCounts& all, const Batch& batch) {
          for (std::size_t k = 0; k < batch.units(); ++k) {
            const Batch::Range records = batch.by_person() ? batch.person(k) : Batch::Range{k, 1};
            if (records.count == 0) continue;
            const RowNorms sum = sum_of_norms(batch, records, constant);
            const double share = person_mean ? static_cast<double>(records.count) : 1;
            histogram.count({sum.l2 / share, sum.l1 / share, sum.label / share}, all);
          }
        },
        stream.next(t));
  }
  return counts;
}

}  // namespace starling
