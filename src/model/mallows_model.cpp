#include "model/mallows_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "clippable.hpp"
#include "row_arithmetic.hpp"

namespace starling {

namespace {

/// The largest ‖x̄‖², and the largest ‖Ψ‖², of a record in range.
constexpr double largest_squares = largest_clippable_norm * largest_clippable_norm;

}  // namespace

MallowsModel::MallowsModel(const CurvedLoss& loss, std::size_t features, bool intercept, RowWeights weights)
    : loss_(loss), features_(features), intercept_(intercept), weights_(weights), classifies_(loss.classifies()) {}

double MallowsModel::most_influence() const {
  if (weights_ == RowWeights::none) return std::numeric_limits<double>::infinity();
  return std::numbers::sqrt2 * loss_.most_slope();
}

double MallowsModel::most_curvature() const {
  if (weights_ == RowWeights::none) return std::numeric_limits<double>::infinity();
  return 2 * loss_.most_curvature();
}

[[gnu::always_inline]] inline MallowsModel::Products MallowsModel::products_of(View parameters, const Row& row) const {
  Products products = by_length(
      row,
      [x = row.values.data(), theta = parameters.data()](auto n) {
        return Products{few_dot(x, theta, n), few_dot(x, x, n)};
      },
      [&] {
        return Products{any_dot(row, parameters), any_squares(row)};
      });
  if (intercept_) {
    products.score += parameters[features_];
    products.squares += 1;
  }
  return products;
}

inline double MallowsModel::weight_of(double squares) const {
  return weights_ == RowWeights::mallows && squares > 2 ? 2 / squares : 1;
}

inline Score MallowsModel::tally(double score, double label) const {
  return score_of_record(loss_.value_at(score, label), classifies_ && loss_.correct(View(&score, 1), label));
}

inline bool MallowsModel::is_in_range(double squares, double slope) {
  return squares <= largest_squares && slope * slope * squares <= largest_squares;
}

double MallowsModel::clip_factor(const Row& row, double squares, double slope, const Clip& clip) const {
  double of_row = 0;
  if (clip.kind == ClipKind::l1) {
    of_row = norm1(row.values) + (intercept_ ? 1 : 0);
  } else {
    of_row = upper_norm2(row.values, squares);  // with an intercept never too small
  }
  // For a record in range, both are at most 1e150 in L2, so that no norm overflows.
  const double norm = std::abs(slope) * of_row;
  return norm > clip.bound ? clip.bound / norm : 1;
}

inline void MallowsModel::add(const Row& row, double slope, MutableView gradient) const {
  row_axpy(slope, row, gradient);
  if (intercept_) gradient[features_] += slope;
}

void MallowsModel::add_clipped(Row row, double slope, double squares, const Clip& clip, MutableView gradient) const {
  if (clip.kind != ClipKind::component) return add(row, slope * clip_factor(row, squares, slope, clip), gradient);
  const double bound = clip.bound;
  row_axpy_clipped(slope, row, bound, gradient);
  if (intercept_) gradient[features_] += std::clamp(slope, -bound, bound);
}

Score MallowsModel::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  if (gradient.size() != dimension()) gradient.resize(dimension());
  sized(gradient.size(), [to = gradient.data()](auto n) { std::fill_n(to, n, 0.0); });
  Score total;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Row row = batch.row(i);
    const double label = batch.label(i);
    const auto [score, squares] = products_of(parameters, row);
    const double slope = weight_of(squares) * loss_.slope(score, label);
    if (!is_in_range(squares, slope)) [[unlikely]] {
      ++total.out_of_range;
      continue;
    }
    total += tally(score, label);
    if (clip.kind == ClipKind::none) {
      add(row, slope, gradient);
    } else {
      add_clipped(row, slope, squares, clip, gradient);
    }
  }
  return total;
}

Score MallowsModel::score(View parameters, const Batch& batch) {
  Score total;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    total += tally(products_of(parameters, batch.row(i)).score, batch.label(i));
  }
  return total;
}

void MallowsModel::add_products(const Row& row, double curvature, double squared_slope, MutableView triangles) const {
  const std::size_t order = dimension();
  const std::size_t size = triangle_size(order);
  const std::size_t entries = row.values.size() + (intercept_ ? 1 : 0);
  const auto place = [&](std::size_t j) { return j == row.values.size() ? features_ : row.feature(j); };
  const auto value = [&](std::size_t j) { return j == row.values.size() ? 1.0 : row.values[j]; };
  for (std::size_t j = 0; j < entries; ++j) {
    for (std::size_t k = j; k < entries; ++k) {
      const double product = value(j) * value(k);
      const std::size_t at = triangle_at(place(j), place(k), order);
      triangles[at] += curvature * product;
      triangles[size + at] += squared_slope * product;
    }
  }
}

void MallowsModel::add_record(View parameters, const Row& row, double label, Bend bend, MutableView triangles) const {
  const auto [score, squares] = products_of(parameters, row);
  const double weight = weight_of(squares);
  const double slope = weight * loss_.slope(score, label);
  if (!is_in_range(squares, slope)) return;
  const bool touches = bend == Bend::parabola && score != label;
  const double curvature = touches ? slope / (score - label) : weight * loss_.curvature(score, label);
  add_products(row, curvature, slope * slope, triangles);
}

void MallowsModel::add_person(View parameters, const Batch& batch, Batch::Range records, MutableView triangles) {
  const std::size_t size = triangle_size(dimension());
  mean_.begin(2 * size + dimension());
  for (std::size_t i = records.first; i < records.first + records.count; ++i) {
    const Row row = batch.row(i);
    const auto [score, squares] = products_of(parameters, row);
    const double weight = weight_of(squares);
    const double slope = weight * loss_.slope(score, batch.label(i));
    if (!is_in_range(squares, slope)) continue;
    part_.assign(2 * size + dimension(), 0.0);
    add_products(row, weight * loss_.curvature(score, batch.label(i)), 0, MutableView(part_).first(2 * size));
    add(row, slope, MutableView(part_).subspan(2 * size));
    mean_.add(part_);
  }
  const View mean = mean_.mean();
  const View psi = mean.subspan(2 * size);
  for (std::size_t j = 0, at = 0; j < psi.size(); ++j) {
    for (std::size_t k = j; k < psi.size(); ++k, ++at) {
      triangles[at] += mean[at];
      triangles[size + at] += psi[j] * psi[k];
    }
  }
}

void MallowsModel::curvature(View parameters, const Batch& batch, Vector& triangles, Bend bend) {
  triangles.assign(2 * triangle_size(dimension()), 0.0);
  for (std::size_t k = 0; k < batch.units(); ++k) {
    const Batch::Range records = batch.by_person() ? batch.person(k) : Batch::Range{k, 1};
    if (records.count == 1) {
      add_record(parameters, batch.row(records.first), batch.label(records.first), bend, triangles);
    } else {
      add_person(parameters, batch, records, triangles);
    }
  }
}

}  // namespace starling
