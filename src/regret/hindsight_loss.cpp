#include "hindsight_loss.hpp"

#include <algorithm>

#include "core/numerics/kernels.hpp"

namespace starling {

double HindsightLoss::evaluate(View x, MutableView gradient) {
  const std::size_t d = x.size();
  const double stop = pass_.interrupted() ? 1 : 0;
  Secret<Columns> parts(Columns(d + 2, pass_.records().clients()));  // ∇F_u, F_u, whether its rank is interrupted
  for (std::size_t k = 0; k < pass_.records().clients(); ++k) {
    add_client(x, k, k, parts);
    parts.update([&](Columns& all) { all[k][d + 1] = stop; });
  }
  Vector total = pass_.total(parts, SharedFigure::hindsight_sums);
  any_interrupted_ = total[d + 1] > 0;
  scale(1 / client_rounds(), total);
  std::copy_n(total.begin(), d, gradient.begin());
  return total[d];
}

std::vector<Secret<double>> HindsightLoss::by_client(View x) {
  std::vector<Secret<double>> values;
  for (std::size_t k = 0; k < pass_.records().clients(); ++k) {
    Secret<Columns> part(Columns(x.size() + 1, 1));
    add_client(x, k, 0, part);
    values.push_back(part.map([&](const Columns& one) { return one[0][x.size()]; }));
  }
  return values;
}

/// Adds F_u of local client k and its gradient to a column.
void HindsightLoss::add_client(View x, std::size_t k, std::size_t column, Secret<Columns>& parts) {
  const ReplayedRecords& records = pass_.records();
  for (std::size_t s = 0; s <= mark_; ++s) {
    const std::size_t rounds = records.first_of(k, s + 1) - records.first_of(k, s);
    if (rounds == 0) continue;
    parts.update([&](Columns& all,
                     const RecordSpan& span) { loss_.add(x, span.records, static_cast<double>(rounds), all[column]); },
                 records.span(k, s));
  }
}

}  // namespace starling
