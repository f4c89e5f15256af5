#include "clippable.hpp"
#include "row_arithmetic.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "starling/model/model.hpp"

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
      slopes_(at_once_),
      terms_(at_once_) {}

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

/// Of dense rows of n features, n being known to the compiler, and one score: four rows side by side.
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

inline double LinearModel::clip_factor(double of_row, View derivative, const Clip& clip) {
  if (clip.kind == ClipKind::none) return 1;
  const double of_derivative = norm_of_derivative(derivative, clip.kind);
  const double norm = of_derivative * of_row;
  // Beyond this a clip factor could underflow and the sum overflow: refused, not clipped to something (method 6).
  check<DataError>(
      norm <= largest_clippable_norm && of_row <= largest_clippable_norm,
      "a record's gradient has norm {} and its features {} (not finite, or too large to be clipped exactly) scale the "
      "features, or keep the model in a bounded --domain",
      norm, of_row);
  return norm > clip.bound ? clip.bound / norm : 1;
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
    for (std::size_t j = 0; j < row.values.size(); ++j) {
      const std::size_t at = row.sparse() ? static_cast<std::size_t>(row.index[j]) : j;
      part[at] += std::clamp(derivative[k] * row.values[j], -bound, bound);
    }
    if (intercept_) part[features_] += std::clamp(derivative[k], -bound, bound);
  }
}

void LinearModel::add_gradients(const Batch& batch, std::size_t first, const Clip& clip, MutableView gradient) {
  if (per_record_ == 1 && clip.kind != ClipKind::component && !batch.sparse()) {
    return add_dense_gradients(batch, first, clip, gradient);
  }
  for (std::size_t i = 0; i < count_; ++i) {
    const Row row = batch.row(first + i);
    const View derivative = View(derivatives_).subspan(i * per_record_, per_record_);
    if (clip.kind == ClipKind::component) {
      add_component_clipped(row, derivative, clip.bound, gradient);
    } else {
      add_gradient(row, derivative, clip_factor(norms_[i], derivative, clip), gradient);
    }
  }
}

/// To the bit the same for dense rows and one score, in one pass over the gradient.
void LinearModel::add_dense_gradients(const Batch& batch, std::size_t first, const Clip& clip, MutableView gradient) {
  find_slopes(clip);
  const double* x = batch.values_from(first);
  for (std::size_t i = 0; i < count_; ++i) terms_[i] = {slopes_[i], x + i * features_};
  add_weighted(std::span(terms_).first(count_), features_, gradient.data());
  if (!intercept_) return;
  for (std::size_t i = 0; i < count_; ++i) gradient[features_] += slopes_[i];
}

/// Derivatives times their clip factors, several at a time.
void LinearModel::find_slopes(const Clip& clip) {
  const double* const derivatives = derivatives_.data();
  const double* const norms = norms_.data();
  double* const slopes = slopes_.data();
  if (clip.kind == ClipKind::none) {
    std::copy_n(derivatives, count_, slopes);
    return;
  }
  int refused = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const double norm = std::abs(derivatives[i]) * norms[i];
    refused |= norm <= largest_clippable_norm && norms[i] <= largest_clippable_norm ? 0 : 1;
    slopes[i] = (norm > clip.bound ? clip.bound / norm : 1) * derivatives[i];
  }
  for (std::size_t i = 0; refused != 0 && i < count_; ++i) {
    static_cast<void>(clip_factor(norms[i], View(&derivatives[i], 1), clip));  // says which
  }
}

Score LinearModel::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  gradient.assign(dimension(), 0.0);
  LossTally tally;
  for (std::size_t first = 0; first < batch.size(); first += at_once_) {
    count_ = std::min(at_once_, batch.size() - first);
    look_at_rows(parameters, batch, first, clip.kind);
    loss_.evaluate(View(scores_).first(count_ * per_record_), batch.labels().subspan(first, count_), derivatives_,
                   tally);
    add_gradients(batch, first, clip, gradient);
  }
  return {tally.value, tally.correct, static_cast<std::int64_t>(batch.size())};
}

Score LinearModel::score(View parameters, const Batch& batch) {
  Score total;
  const MutableView scores = MutableView(scores_).first(per_record_);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const double label = batch.label(i);
    compute_scores(parameters, batch.row(i), 0, scores);
    total += {loss_.value(scores, label), loss_.correct(scores, label) ? 1 : 0, 1};
  }
  return total;
}

}  // namespace starling
