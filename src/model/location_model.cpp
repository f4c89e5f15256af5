#include <algorithm>
#include <cmath>

#include "clippable.hpp"
#include "core/numerics/kernels.hpp"
#include "model/linear_model.hpp"

namespace starling {

namespace {

/// Nearer than this is no distance: 1/r must stay finite.
constexpr double least_distance = 1e-290;

/// ‖v‖₂ without loss of digits where squares would be too small or too large.
double safe_norm2(View v) {
  const double squares = dot(v, v);
  if (squares > 1e-280 && squares < 1e300) return std::sqrt(squares);
  double largest = 0;
  for (const double entry : v) largest = std::max(largest, std::abs(entry));
  if (!(largest > 0 && std::isfinite(largest))) return std::isnan(squares) ? squares : largest;
  return largest * std::sqrt(lane_sum(v.size(), [&](std::size_t i) {
           const double part = v[i] / largest;
           return part * part;
         }));
}

}  // namespace

LocationModel::LocationModel(const Loss& loss, std::size_t features) : loss_(loss), difference_(features) {
  check(!loss.classifies() && loss.link() != Link::log,
        "--model location with a loss of classes or of logarithms of means: a distance is neither. Choose a --loss for "
        "any label: squared, absolute, huber.");
}

double LocationModel::compare(View parameters, const Row& row) {
  std::copy(parameters.begin(), parameters.end(), difference_.begin());
  if (row.sparse()) {
    axpy(-1, row.values, row.index, difference_);
  } else {
    axpy(-1, row.values, difference_);
  }
  return safe_norm2(difference_);
}

bool LocationModel::add_clipped(double distance, const Clip& clip, MutableView gradient) const {
  if (!(distance <= largest_clippable_norm)) return false;
  double slope = 0;
  loss_.derivative(View(&distance, 1), 0, MutableView(&slope, 1));
  if (!(std::abs(slope) <= largest_clippable_norm)) return false;
  if (distance < least_distance) return true;
  double factor = slope / distance;  // exactly 1 for the squared loss
  if (clip.kind == ClipKind::component) {
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      gradient[j] += std::clamp(factor * difference_[j], -clip.bound, clip.bound);
    }
    return true;
  }
  if (clip.kind != ClipKind::none) {
    const double norm = clip.kind == ClipKind::l1 ? std::abs(factor) * norm1(difference_) : std::abs(slope);
    if (!(norm <= largest_clippable_norm)) return false;
    if (norm > clip.bound) factor *= clip.bound / norm;
  }
  axpy(factor, difference_, gradient);
  return true;
}

Score LocationModel::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  gradient.assign(dimension(), 0.0);
  Score total;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const double distance = compare(parameters, batch.row(i));
    const bool in_range = add_clipped(distance, clip, gradient);
    total += in_range ? score_of_record(loss_.value(View(&distance, 1), 0), false) : Score{0, 0, 0, 1};
  }
  return total;
}

Score LocationModel::score(View parameters, const Batch& batch) {
  Score total;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const double distance = compare(parameters, batch.row(i));
    total += score_of_record(loss_.value(View(&distance, 1), 0), false);
  }
  return total;
}

}  // namespace starling
