#include "clippable.hpp"
#include "row_arithmetic.hpp"
#include <algorithm>
#include <cmath>

#include "starling/model/model.hpp"

namespace starling {

namespace {

double upper_norm2(View v) {
  return starling::upper_norm2(v, dot(v, v));
}

}  // namespace

LinearModel::LinearModel(const Loss& loss, std::size_t features, bool intercept)
    : loss_(loss),
      features_(features),
      intercept_(intercept),
      stride_(features + (intercept ? 1 : 0)),
      scores_(loss.scores()),
      derivative_(loss.scores()) {}

void LinearModel::compute_scores(View parameters, const Row& row) {
  for (std::size_t k = 0; k < scores_.size(); ++k) {
    const View weights = parameters.subspan(k * stride_, stride_);
    scores_[k] = row_dot(row, weights.first(features_)) + (intercept_ ? weights[features_] : 0);
  }
}

double LinearModel::clip_factor(const Row& row, const Clip& clip) const {
  if (clip.kind == ClipKind::none) return 1;
  double of_row = 0;
  double of_derivative = 0;
  if (clip.kind == ClipKind::l1) {
    of_row = norm1(row.values) + (intercept_ ? 1 : 0);
    of_derivative = norm1(derivative_);
  } else {
    of_row = intercept_ ? std::sqrt(dot(row.values, row.values) + 1) : upper_norm2(row.values);
    of_derivative = upper_norm2(derivative_);
  }
  const double norm = of_derivative * of_row;
  // Beyond this a clip factor could underflow and the sum overflow: refused, not clipped to something (method 6).
  check<DataError>(
      norm <= largest_clippable_norm && of_row <= largest_clippable_norm,
      "a record's gradient has norm {} and its features {} (not finite, or too large to be clipped exactly) scale the "
      "features, or keep the model in a bounded --domain",
      norm, of_row);
  return norm > clip.bound ? clip.bound / norm : 1;
}

void LinearModel::add_gradient(const Row& row, double factor, MutableView gradient) const {
  for (std::size_t k = 0; k < derivative_.size(); ++k) {
    const double slope = factor * derivative_[k];
    const MutableView part = gradient.subspan(k * stride_, stride_);
    row_axpy(slope, row, part);
    if (intercept_) part[features_] += slope;
  }
}

void LinearModel::add_component_clipped(const Row& row, double bound, MutableView gradient) const {
  for (std::size_t k = 0; k < derivative_.size(); ++k) {
    const MutableView part = gradient.subspan(k * stride_, stride_);
    for (std::size_t j = 0; j < row.values.size(); ++j) {
      const std::size_t at = row.sparse() ? static_cast<std::size_t>(row.index[j]) : j;
      part[at] += std::clamp(derivative_[k] * row.values[j], -bound, bound);
    }
    if (intercept_) part[features_] += std::clamp(derivative_[k], -bound, bound);
  }
}

Score LinearModel::score_of(double label) const {
  return {loss_.value(scores_, label), loss_.correct(scores_, label) ? 1 : 0, 1};
}

Score LinearModel::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  gradient.assign(dimension(), 0.0);
  Score total;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Row row = batch.row(i);
    compute_scores(parameters, row);
    total += score_of(batch.label(i));
    loss_.derivative(scores_, batch.label(i), derivative_);
    if (clip.kind == ClipKind::component) {
      add_component_clipped(row, clip.bound, gradient);
    } else {
      add_gradient(row, clip_factor(row, clip), gradient);
    }
  }
  return total;
}

Score LinearModel::score(View parameters, const Batch& batch) {
  Score total;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    compute_scores(parameters, batch.row(i));
    total += score_of(batch.label(i));
  }
  return total;
}

}  // namespace starling
