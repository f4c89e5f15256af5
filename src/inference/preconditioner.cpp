#include "inference/preconditioner.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/dense.hpp"
#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A mean weight below so many deviations of its noise says nothing.
constexpr double least_weight = 4;
/// Eigenvalues are no smaller than this share of the largest, for roundings.
constexpr double least_share = 1e-12;

}  // namespace

Preconditioner::Preconditioner(std::size_t features, bool intercept)
    : intercept_(intercept),
      mean_(features),
      whitening_(features, features),
      inverse_(features, features),
      start_(features + (intercept ? 1 : 0)),
      hidden_(features),
      scratch_(features) {
  for (std::size_t j = 0; j < features; ++j) whitening_[j][j] = inverse_[j][j] = 1;
}

Preconditioner::Preconditioner(const NoisyMoments& moments, std::size_t features, bool intercept)
    : Preconditioner(features, intercept) {
  const std::size_t order = features + (moments.label ? 2 : 1);
  const MatrixXd all = dense::symmetric(moments.triangle, order);
  const auto p = static_cast<Index>(features);
  const double weight = all(p, p);
  if (p == 0 || !all.allFinite() || weight <= least_weight * moments.noise) return;
  const VectorXd mean = intercept ? VectorXd(all.col(p).head(p) / weight) : VectorXd::Zero(p);
  const dense::SymmetricEigen eigen =
      dense::symmetric_eigen(all.topLeftCorner(p, p) / weight - mean * mean.transpose());
  const double of_noise = moments.noise * std::sqrt(2.0 * static_cast<double>(order)) / weight;
  const double least = std::max(of_noise, least_share * eigen.values[p - 1]);
  if (!(least > 0) || !eigen.found) return;
  found_[0] = 1;
  const VectorXd raised = eigen.values.cwiseMax(least);
  for (Index k = 0; k < p; ++k) {
    const auto direction = eigen.vectors.col(k);
    for (Index j = 0; j < p; ++j) {
      whitening_[static_cast<std::size_t>(k)][static_cast<std::size_t>(j)] = direction[j] / std::sqrt(raised[k]);
      inverse_[static_cast<std::size_t>(j)][static_cast<std::size_t>(k)] = direction[j] * std::sqrt(raised[k]);
    }
    Index largest = 0;
    direction.cwiseAbs().maxCoeff(&largest);
    if (eigen.values[k] < least) hidden_[static_cast<std::size_t>(largest)] = 1;
  }
  std::copy(mean.begin(), mean.end(), mean_.begin());
  if (!moments.label) return;
  const double mean_label = all(p, p + 1) / weight;
  const VectorXd cross = all.col(p + 1).head(p) / weight - mean * (intercept ? mean_label : 0);
  const VectorXd slopes = eigen.vectors * (eigen.vectors.transpose() * cross).cwiseQuotient(raised);
  std::copy(slopes.begin(), slopes.end(), start_.begin());
  if (intercept) start_[features] = mean_label - slopes.dot(mean);
}

Preconditioner Preconditioner::beside(std::size_t features, const std::vector<std::size_t>& left_out) const {
  Preconditioner all(features, intercept_);
  all.found_ = found_;
  std::vector<std::size_t> places;
  for (std::size_t j = 0; j < features; ++j) {
    if (!std::binary_search(left_out.begin(), left_out.end(), j)) places.push_back(j);
  }
  for (std::size_t k = 0; k < places.size(); ++k) {
    all.mean_[places[k]] = mean_[k];
    all.start_[places[k]] = start_[k];
    all.hidden_[places[k]] = hidden_[k];
    for (std::size_t j = 0; j < places.size(); ++j) {
      all.whitening_[places[k]][places[j]] = whitening_[k][j];
      all.inverse_[places[k]][places[j]] = inverse_[k][j];
    }
  }
  if (intercept_) all.start_.back() = start_.back();
  return all;
}

void Preconditioner::features(View x, MutableView image) const {
  for (std::size_t k = 0; k < image.size(); ++k) image[k] = dot(whitening_[k], x) - dot(whitening_[k], mean_);
}

// θ·x + b = θ̃·L(x − m) + b̃ for all x: θ̃ = L⁻ᵀ θ, b̃ = b + θ·m.
void Preconditioner::coordinates(View theta, MutableView image) const {
  const std::size_t p = mean_.size();
  std::fill(image.begin(), image.end(), 0.0);
  for (std::size_t j = 0; j < p; ++j) axpy(theta[j], inverse_[j], image.first(p));
  if (intercept_) image[p] = theta[p] + dot(theta.first(p), mean_);
}

// The inverse of coordinates(), which is linear: θ = Lᵀ θ̃, b = b̃ − θ·m.
void Preconditioner::to_parameters(MutableView direction) {
  const std::size_t p = mean_.size();
  std::fill(scratch_.begin(), scratch_.end(), 0.0);
  for (std::size_t k = 0; k < p; ++k) axpy(direction[k], whitening_[k], scratch_);
  std::copy(scratch_.begin(), scratch_.end(), direction.begin());
  if (intercept_) direction[p] -= dot(scratch_, mean_);
}

std::vector<std::size_t> Preconditioner::hidden() const {
  std::vector<std::size_t> columns;
  for (std::size_t j = 0; j < hidden_.size(); ++j) {
    if (hidden_[j] > 0) columns.push_back(j);
  }
  return columns;
}

Vector Preconditioner::numbers() const {
  Vector all = mean_;
  all.insert(all.end(), start_.begin(), start_.end());
  all.insert(all.end(), hidden_.begin(), hidden_.end());
  all.insert(all.end(), found_.begin(), found_.end());
  for (const Columns* matrix : {&whitening_, &inverse_}) {
    for (std::size_t k = 0; k < mean_.size(); ++k) all.insert(all.end(), (*matrix)[k].begin(), (*matrix)[k].end());
  }
  return all;
}

Preconditioner::Preconditioner(View numbers, std::size_t features, bool intercept)
    : Preconditioner(features, intercept) {
  const auto take = [&numbers](MutableView to) {
    std::copy(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(to.size()), to.begin());
    numbers = numbers.subspan(to.size());
  };
  take(mean_);
  take(start_);
  take(hidden_);
  take(found_);
  for (Columns* matrix : {&whitening_, &inverse_}) {
    for (std::size_t k = 0; k < features; ++k) take((*matrix)[k]);
  }
}

}  // namespace starling
