#include "protocol/person_model.hpp"

#include <algorithm>
#include <limits>

#include "core/numerics/kernels.hpp"
#include "privacy/clip_rows.hpp"

namespace starling {

namespace {

/// Whether no person has more than one record.
bool are_single(const Batch& batch, std::size_t first, std::size_t count) {
  for (std::size_t k = first; k < first + count; ++k) {
    if (batch.person(k).count > 1) return false;
  }
  return true;
}

}  // namespace

Score PersonModel::evaluate_person(View parameters, const Batch& records, const Clip& clip) {
  if (records.size() <= 1) return inner().evaluate(parameters, records, clip, part_);
  const bool by_norm = clip.kind == ClipKind::l1 || clip.kind == ClipKind::l2;
  Clip unclipped{clip.kind, std::numeric_limits<double>::infinity()};  // leaves out what is out of range
  const Score score = inner().evaluate(parameters, records, unclipped, part_);
  if (weighing_ == Weighing::mean && score.records > 1) {
    for (double& entry : part_) entry /= static_cast<double>(score.records);
  }
  const double margin = by_norm ? inner().summing().margin : 0;
  const bool in_range = clip_rows(part_, part_.size(), {clip.kind, clip.bound * (1 - margin)}) == 0;
  return in_range ? score : Score{0, 0, 0, static_cast<std::int64_t>(records.size())};
}

Score PersonModel::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  const std::size_t persons = batch.units();
  const std::size_t at_once = std::min(inner().summing().at_once, persons);
  if (!batch.by_person() || (at_once == persons && are_single(batch, 0, persons))) {
    return inner().evaluate(parameters, batch, clip, gradient);
  }
  gradient.assign(dimension(), 0.0);
  Score total;
  for (std::size_t first = 0; first < persons; first += at_once) {
    const std::size_t count = std::min(at_once, persons - first);
    chunk_.show_persons(batch, first, count);
    if (are_single(batch, first, count)) {
      total += inner().evaluate(parameters, chunk_, clip, part_);
      axpy(1, part_, gradient);
      continue;
    }
    for (std::size_t k = 0; k < count; ++k) {
      const Batch::Range records = chunk_.person(k);
      if (records.count == 0) continue;
      own_.show(chunk_, records.first, records.count);
      total += evaluate_person(parameters, own_, clip);
      axpy(1, part_, gradient);
    }
  }
  return total;
}

}  // namespace starling
