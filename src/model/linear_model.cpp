#include "model/linear_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "clippable.hpp"
#include "row_arithmetic.hpp"

namespace starling {

namespace {

/// Features of the records that are evaluated together: they are still in the nearest cache when their gradients are
/// added.
constexpr std::size_t features_at_once = 2048;
constexpr std::size_t most_at_once = 64;

/// The norm that gradients are clipped by, of a record's derivatives: nearly always one.
inline double norm_of_derivative(View v, ClipKind kind) {
  if (v.size() == 1) return std::abs(v[0]);
  return kind == ClipKind::l1 ? norm1(v) : upper_norm2(v, dot(v, v));
}

}  // namespace

LinearModel::LinearModel(const Loss& loss, std::size_t features, bool intercept)
    : loss_(loss),
      features_(features),
      intercept_(intercept),
      stride_(features + (intercept ? 1 : 0)),
      per_record_(loss.scores()),
      at_once_(std::clamp<std::size_t>(features_at_once / std::max<std::size_t>(features, 1), 1, most_at_once)),
      scores_(at_once_ * per_record_),
      derivatives_(at_once_ * per_record_),
      norms_(at_once_),
      factors_(at_once_),
      terms_(at_once_) {}

std::optional<Vector> LinearModel::constant(View scores) const {
  if (!intercept_) return std::nullopt;
  Vector parameters(dimension());
  for (std::size_t k = 0; k < scores.size(); ++k) parameters[k * stride_ + features_] = scores[k];
  return parameters;
}

/// Scores of a row from the `from`-th on.
void LinearModel::compute_scores(View parameters, const Row& row, std::size_t from, MutableView scores) const {
  for (std::size_t k = from; k < scores.size(); ++k) {
    const View weights = parameters.subspan(k * stride_, stride_);
    scores[k] = row_dot(row, weights.first(features_)) + intercept_of(weights);
  }
}

/// Scores of the next rows, and the norms that their gradients are clipped by.
void LinearModel::look_at_rows(View parameters, const Batch& batch, std::size_t first, ClipKind kind) {
  const bool intercept = intercept_;
  if (kind == ClipKind::l1) {
    look_at_rows(parameters, batch, first, Magnitude(),
                 [intercept](const Row&, double sum) { return sum + (intercept ? 1 : 0); });
  } else if (kind == ClipKind::l2) {
    look_at_rows(parameters, batch, first, Square(), [intercept](const Row& row, double squares) {
      return intercept ? std::sqrt(squares + 1) : upper_norm2(row.values, squares);
    });
  } else {
    for (std::size_t i = 0; i < count_; ++i) {
      compute_scores(parameters, batch.row(first + i), 0, MutableView(scores_).subspan(i * per_record_, per_record_));
    }
  }
}

template <class Of, class NormOf>
void LinearModel::look_at_rows(View parameters, const Batch& batch, std::size_t first, Of of, NormOf norm_of) {
  const bool few = per_record_ == 1 && !batch.sparse();
  sized(few ? features_ : 0, [&](auto n) {
    if constexpr (std::is_same_v<decltype(n), std::size_t>) {
      look_at_any_rows(parameters, batch, first, of, norm_of);
    } else {
      look_at_rows_of(n, parameters, batch, first, of, norm_of);
    }
  });
}

template <class Of, class NormOf>
void LinearModel::look_at_any_rows(View parameters, const Batch& batch, std::size_t first, Of of, NormOf norm_of) {
  const View weights = parameters.first(features_);
  const double intercept = intercept_of(parameters);
  for (std::size_t i = 0; i < count_; ++i) {
    const Row row = batch.row(first + i);
    const MutableView scores = MutableView(scores_).subspan(i * per_record_, per_record_);
    const DotAndSum sums = row_dot_and_sum(row, weights, of);
    scores[0] = sums.dot + intercept;
    norms_[i] = norm_of(row, sums.sum);
    compute_scores(parameters, row, 1, scores);
  }
}

/// Examines dense rows with one score and n features, n known to the compiler: four rows side by side.
template <class Size, class Of, class NormOf>
void LinearModel::look_at_rows_of(Size n, View parameters, const Batch& batch, std::size_t first, Of of,
                                  NormOf norm_of) {
  constexpr std::size_t four = FourLanes::lanes;
  std::array<double, n> weights;
  std::copy_n(parameters.begin(), n, weights.begin());
  const double intercept = intercept_of(parameters);
  const double* const rows = batch.values_from(first);
  double* const scores = scores_.data();
  double* const sums = norms_.data();
  const std::size_t whole = count_ / four * four;
  for (std::size_t i = 0; i < whole; i += four) {
    const double* const x = rows + i * n;
    FourLanes::Number entries[n];
    for (std::size_t j = 0; j < n; ++j) entries[j] = FourLanes::Number{x[j], x[n + j], x[2 * n + j], x[3 * n + j]};
    FourLanes::store(&scores[i], few_sum(n, [&](std::size_t j) { return entries[j] * weights[j]; }) + intercept);
    FourLanes::store(&sums[i], few_sum(n, [&](std::size_t j) { return of(entries[j]); }));
  }
  for (std::size_t i = whole; i < count_; ++i) {
    const double* const x = rows + i * n;
    scores[i] = few_dot(x, weights.data(), n) + intercept;
    sums[i] = few_sum(n, [x, of](std::size_t j) { return of(x[j]); });
  }
  for (std::size_t i = 0; i < count_; ++i) sums[i] = norm_of(Row{View(rows + i * n, n), {}}, sums[i]);
}

template <class Norm>
bool LinearModel::find_factors_by(double bound, Norm norm_of_derivative) {
  int refused = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const double norm = norm_of_derivative(i) * norms_[i];
    const bool in_range = norm <= largest_clippable_norm && norms_[i] <= largest_clippable_norm;
    refused |= in_range ? 0 : 1;
    factors_[i] = !in_range ? 0 : norm > bound ? bound / norm : 1;
  }
  return refused == 0;
}

bool LinearModel::find_factors(const Clip& clip, ClipKind measured) {
  const double* const derivatives = derivatives_.data();
  if (measured == ClipKind::none || measured == ClipKind::component) {
    int refused = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const View own = View(derivatives_).subspan(i * per_record_, per_record_);
      const bool finite = std::all_of(own.begin(), own.end(), [](double v) { return std::isfinite(v); });
      refused |= finite ? 0 : 1;
      factors_[i] = finite ? 1 : 0;
    }
    return refused == 0;
  }
  const double bound = clip.kind == ClipKind::none ? std::numeric_limits<double>::infinity() : clip.bound;
  if (per_record_ == 1) return find_factors_by(bound, [=](std::size_t i) { return std::abs(derivatives[i]); });
  return find_factors_by(bound, [&](std::size_t i) {
    return norm_of_derivative(View(derivatives_).subspan(i * per_record_, per_record_), measured);
  });
}

inline void LinearModel::add_gradient(const Row& row, View derivative, double factor, MutableView gradient) const {
  for (std::size_t k = 0; k < derivative.size(); ++k) {
    const double slope = factor * derivative[k];
    const MutableView part = gradient.subspan(k * stride_, stride_);
    row_axpy(slope, row, part);
    if (intercept_) part[features_] += slope;
  }
}

void LinearModel::add_component_clipped(const Row& row, View derivative, double bound, MutableView gradient) const {
  for (std::size_t k = 0; k < derivative.size(); ++k) {
    const MutableView part = gradient.subspan(k * stride_, stride_);
    row_axpy_clipped(derivative[k], row, bound, part);
    if (intercept_) part[features_] += std::clamp(derivative[k], -bound, bound);
  }
}

void LinearModel::add_gradients(const Batch& batch, std::size_t first, const Clip& clip, MutableView gradient) {
  if (per_record_ == 1 && clip.kind != ClipKind::component && !batch.sparse()) {
    return add_dense_gradients(batch, first, gradient);
  }
  for (std::size_t i = 0; i < count_; ++i) {
    if (factors_[i] == 0) continue;
    const Row row = batch.row(first + i);
    const View derivative = View(derivatives_).subspan(i * per_record_, per_record_);
    if (clip.kind == ClipKind::component) {
      add_component_clipped(row, derivative, clip.bound, gradient);
    } else {
      add_gradient(row, derivative, factors_[i], gradient);
    }
  }
}

/// To the bit the same for dense rows and one score, in one pass over the gradient.
void LinearModel::add_dense_gradients(const Batch& batch, std::size_t first, MutableView gradient) {
  const double* x = batch.values_from(first);
  std::size_t terms = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (factors_[i] != 0) terms_[terms++] = {factors_[i] * derivatives_[i], x + i * features_};
  }
  add_weighted(std::span(terms_).first(terms), features_, gradient.data());
  if (!intercept_) return;
  for (std::size_t i = 0; i < terms; ++i) gradient[features_] += terms_[i].weight;
}

/// Scores of the current records, one by one, without records whose loss is not finite or whose factor is 0.
void LinearModel::tally_in_range(View labels, LossTally& tally, std::int64_t& out_of_range) {
  for (std::size_t i = 0; i < count_; ++i) {
    const View scores = View(scores_).subspan(i * per_record_, per_record_);
    const double loss = loss_.value(scores, labels[i]);
    if (factors_[i] == 0 || !std::isfinite(loss)) {
      ++out_of_range;
      continue;
    }
    tally.value += loss;
    if (loss_.classifies() && loss_.correct(scores, labels[i])) ++tally.correct;
  }
}

Score LinearModel::add_up(View parameters, const Batch& batch, const Clip& clip, ClipKind measured, Vector& gradient) {
  gradient.assign(dimension(), 0.0);
  LossTally tally;
  std::int64_t out_of_range = 0;
  for (std::size_t first = 0; first < batch.size(); first += at_once_) {
    count_ = std::min(at_once_, batch.size() - first);
    const View labels = batch.labels().subspan(first, count_);
    const LossTally before = tally;
    look_at_rows(parameters, batch, first, measured);
    loss_.evaluate(View(scores_).first(count_ * per_record_), labels, derivatives_, tally);
    const bool in_range = find_factors(clip, measured);
    if (!in_range || !std::isfinite(tally.value)) {
      tally = before;
      tally_in_range(labels, tally, out_of_range);
    }
    add_gradients(batch, first, clip, gradient);
  }
  return {tally.value, tally.correct, static_cast<std::int64_t>(batch.size()) - out_of_range, out_of_range};
}

// Unclipped gradients are measured only where their sum is not finite.
Score LinearModel::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  const Score score = add_up(parameters, batch, clip, clip.kind, gradient);
  if (clip.kind != ClipKind::none || all_finite(gradient)) return score;
  return add_up(parameters, batch, clip, ClipKind::l2, gradient);
}

Score LinearModel::score(View parameters, const Batch& batch) {
  Score total;
  const MutableView scores = MutableView(scores_).first(per_record_);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const double label = batch.label(i);
    compute_scores(parameters, batch.row(i), 0, scores);
    total += score_of_record(loss_.value(scores, label), loss_.correct(scores, label));
  }
  return total;
}

}  // namespace starling
