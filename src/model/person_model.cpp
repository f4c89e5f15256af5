#include "starling/model/person_model.hpp"

#include "clippable.hpp"
#include "row_arithmetic.hpp"
#include <algorithm>
#include <cmath>

#include "starling/core/numerics/kernels.hpp"

namespace starling {

namespace {

bool has_several(const Batch& batch) {
  for (std::size_t i = 0; i < batch.units(); ++i) {
    if (batch.unit_size(i) > 1) return true;
  }
  return false;
}

/// The norm that a clip bounds; finite where all components are.
double norm_of(View gradient, const Clip& clip) {
  return clip.kind == ClipKind::l1 ? norm1(gradient) : upper_norm2(gradient, dot(gradient, gradient));
}

bool is_in_range(View gradient, const Clip& clip) {
  if (clip.kind == ClipKind::l1 || clip.kind == ClipKind::l2) return norm_of(gradient, clip) <= largest_clippable_norm;
  return std::all_of(gradient.begin(), gradient.end(), [](double entry) { return std::isfinite(entry); });
}

void add_clipped(View gradient, const Clip& clip, MutableView sum) {
  if (clip.kind == ClipKind::component) {
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += std::clamp(gradient[j], -clip.bound, clip.bound);
    return;
  }
  double factor = 1;
  if (clip.kind != ClipKind::none) {
    const double norm = norm_of(gradient, clip);
    if (norm > clip.bound) factor = clip.bound / norm;
  }
  axpy(factor, gradient, sum);
}

}  // namespace

Score PersonModel::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  if (!has_several(batch)) return model_->evaluate(parameters, batch, clip, gradient);
  gradient.assign(dimension(), 0.0);
  Score total;
  for (std::size_t i = 0; i < batch.units(); ++i) {
    if (batch.unit_size(i) == 0) continue;
    records_.show_unit(batch, i);
    total += add_person(parameters, clip, gradient);
  }
  return total;
}

/// Adds the contribution of the person whose records are at hand.
Score PersonModel::add_person(View parameters, const Clip& clip, Vector& gradient) {
  if (records_.size() == 1) {
    const Score score = model_->evaluate(parameters, records_, clip, own_);
    axpy(1, own_, gradient);
    return score;
  }
  const Score score = model_->evaluate(parameters, records_, Clip{}, own_);
  if (score.records == 0) return score;
  if (of_ == PersonGradient::mean) scale(1 / static_cast<double>(score.records), own_);
  if (!is_in_range(own_, clip)) return Score{0, 0, 0, score.records + score.out_of_range};
  add_clipped(own_, clip, gradient);
  return score;
}

}  // namespace starling
