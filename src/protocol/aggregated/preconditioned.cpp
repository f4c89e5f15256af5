#include "protocol/aggregated/preconditioned.hpp"

#include <algorithm>
#include <numbers>

#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

constexpr double longest = 1e150;  ///< of a record, whose square is still finite

}  // namespace

PreconditionedModel::PreconditionedModel(Model& model, const Preconditioner& preconditioner, std::size_t features)
    : ModelDecorator(model), preconditioner_(preconditioner), image_(features), coordinates_(model.dimension()) {}

void PreconditionedModel::precondition(View parameters, const Batch& batch) {
  preconditioned_.clear();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    preconditioner_.features(batch.row(i).values, image_);
    preconditioned_.add({image_, {}}, batch.label(i));
  }
  preconditioner_.coordinates(parameters, coordinates_);
}

Score PreconditionedModel::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  precondition(parameters, batch);
  return inner().evaluate(coordinates_, preconditioned_, clip, gradient);
}

void PreconditionedModel::curvature(MallowsModel& curved, View parameters, const Batch& batch, Vector& triangles) {
  precondition(parameters, batch);
  curved.curvature(coordinates_, preconditioned_, triangles);
}

void PreconditionedReleases::release(const ReleaseAddress& address, double price, const NoiseKey& key,
                                     const Secret<Vector>& sum, Released<Vector>& noisy_mean) {
  inner().release(address, price, key, sum, noisy_mean);
  noisy_mean.update([this](Vector& direction) { preconditioner_.to_parameters(direction); });
}

std::size_t MomentSums::size() const {
  return triangle_size(z_.size());
}

void MomentSums::add(const Batch& batch, Vector& sum) {
  batch_.assign(size(), 0.0);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const View row = batch.row(i).values;
    std::copy(row.begin(), row.end(), z_.begin());
    z_[features_] = 1;
    if (label_) z_[features_ + 1] = batch.label(i);
    const double squares = dot(z_, z_);
    if (!(squares < longest * longest)) continue;
    const double weight = std::min(1.0, bound() / squares) / bound();
    std::size_t at = 0;
    for (std::size_t j = 0; j < z_.size(); ++j) {
      for (std::size_t k = j; k < z_.size(); ++k) batch_[at++] += weight * z_[j] * z_[k];
    }
  }
  scale_off_diagonal(batch_, z_.size(), std::numbers::sqrt2);
  axpy(1, batch_, sum);
}

NoisyMoments MomentSums::moments(View means, double deviation) const {
  NoisyMoments result{Vector(means.begin(), means.end()), deviation * bound(), label_};
  scale(bound(), result.triangle);
  scale_off_diagonal(result.triangle, z_.size(), 1 / std::numbers::sqrt2);
  return result;
}

}  // namespace starling
