#include "model/curved_model.hpp"

#include <algorithm>
#include <cmath>

#include "clippable.hpp"
#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

/// The label of class k's own problem.
double own_label(double label, std::size_t k) {
  return label == static_cast<double>(k) ? 1 : -1;
}

class OneVsRest final : public Loss {
 public:
  OneVsRest(const CurvedLoss& loss, std::size_t classes)
      : Loss({.scores = classes, .classifies = true}), loss_(loss), classes_(classes) {
    check(loss.classifies(),
          "a loss for any label with {} classes, each against the rest: it tells no classes apart. Choose a --loss of "
          "classes: logistic, dwd.",
          classes);
    check(classes >= 2, "{} classes, each against the rest: it takes 2 or more.", classes);
  }

  [[nodiscard]] double label(double raw) const override {
    if (!is_class(raw, classes_)) {
      throw_label_fault(raw, fmt::format("is outside the set of {} classes: 0 to {}.", classes_, classes_ - 1));
    }
    return raw;
  }
  [[nodiscard]] double value(View scores, double label) const override {
    double total = 0;
    for (std::size_t k = 0; k < classes_; ++k) total += loss_.value(scores.subspan(k, 1), own_label(label, k));
    return total;
  }
  void derivative(View scores, double label, MutableView derivative) const override {
    for (std::size_t k = 0; k < classes_; ++k) {
      loss_.derivative(scores.subspan(k, 1), own_label(label, k), derivative.subspan(k, 1));
    }
  }
  [[nodiscard]] bool correct(View scores, double label) const override {
    return is_highest(scores, static_cast<std::size_t>(label));
  }

 private:
  const CurvedLoss& loss_;
  std::size_t classes_;
};

/// Whether (x, 1) is in range.
bool is_in_range(const Row& row) {
  return std::sqrt(dot(row.values, row.values) + 1) <= largest_clippable_norm;
}

/// Writes (x, 1) into `scaled`, scaled to length `bound` if longer.
void add_scaled(const Row& row, double label, std::size_t features, double bound, Batch& scaled) {
  const double norm = std::sqrt(dot(row.values, row.values) + 1);
  const double factor = norm > bound ? bound / norm : 1;
  Vector values(row.values.begin(), row.values.end());
  values.push_back(1);
  scale(factor, values);
  std::vector<std::int32_t> index(row.index.begin(), row.index.end());
  if (row.sparse()) index.push_back(static_cast<std::int32_t>(features));
  scaled.add({values, index}, label);
}

}  // namespace

std::unique_ptr<Loss> make_one_vs_rest(const CurvedLoss& loss, std::size_t classes) {
  return std::make_unique<OneVsRest>(loss, classes);
}

CurvedModel::CurvedModel(const CurvedLoss& loss, std::size_t features, std::size_t classes, double row_bound)
    : loss_(loss),
      classes_(classes),
      features_(features),
      order_(features + 1),
      row_bound_(row_bound),
      unbounded_(std::isinf(row_bound)),
      one_vs_rest_(classes == 1 ? nullptr : make_one_vs_rest(loss, classes)),
      linear_(one_vs_rest_ ? *one_vs_rest_ : static_cast<const Loss&>(loss), unbounded_ ? features : order_,
              unbounded_) {
  check(row_bound > 0, "rows scaled to length {}: it must be positive.", row_bound);
}

const Batch& CurvedModel::in_range(const Batch& batch) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) count += is_in_range(batch.row(i)) ? 1 : 0;
  if (unbounded_ && count == batch.size()) return batch;
  used_.clear();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Row row = batch.row(i);
    if (!is_in_range(row)) continue;
    if (unbounded_) {
      used_.add(row, batch.label(i));
    } else {
      add_scaled(row, batch.label(i), features_, row_bound_, used_);
    }
  }
  return used_;
}

Score CurvedModel::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  const Batch& used = in_range(batch);
  Score score = linear_.evaluate(parameters, used, clip, gradient);
  score.out_of_range += static_cast<std::int64_t>(batch.size() - used.size());
  return score;
}

Score CurvedModel::score(View parameters, const Batch& batch) {
  const Batch& used = in_range(batch);
  Score score = linear_.score(parameters, used);
  score.out_of_range += static_cast<std::int64_t>(batch.size() - used.size());
  return score;
}

double CurvedModel::score_of(View weights, const Row& row) const {
  const View slopes = unbounded_ ? weights.first(features_) : weights;
  const double product = row.sparse() ? dot(row.values, row.index, slopes) : dot(row.values, slopes);
  return unbounded_ ? product + weights[features_] : product;
}

double CurvedModel::label_of(double label, std::size_t k) const {
  return one_vs_rest_ ? own_label(label, k) : label;
}

double CurvedModel::weight_of(double score, double label, Weight weight) const {
  if (weight == Weight::curvature) return loss_.curvature(score, label);
  if (weight == Weight::majoriser) return loss_.most_curvature();
  double slope = 0;
  loss_.derivative(View(&score, 1), label, MutableView(&slope, 1));
  return slope * slope;
}

void CurvedModel::make_dense(const Batch& batch) {
  rows_.assign(batch.size() * order_, 0.0);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Row row = batch.row(i);
    const MutableView dense = MutableView(rows_).subspan(i * order_, order_);
    for (std::size_t j = 0; j < row.values.size(); ++j) dense[row.feature(j)] = row.values[j];
    if (unbounded_) dense[features_] = 1;
  }
}

std::size_t CurvedModel::gram_of_records(View parameters, const Batch& batch, Weight weight, Vector& triangles) {
  const Batch& used = in_range(batch);
  make_dense(used);
  const std::size_t size = triangle_size(order_);
  triangles.assign(classes_ * size, 0.0);
  weights_.resize(used.size());
  for (std::size_t k = 0; k < classes_; ++k) {
    const View own = parameters.subspan(k * order_, order_);
    for (std::size_t i = 0; i < used.size(); ++i) {
      const double w = weight_of(score_of(own, used.row(i)), label_of(used.label(i), k), weight);
      weights_[i] = w <= largest_clippable_norm ? w : 0;  // not where the score is out of range
    }
    add_weighted_gram(rows_, used.size(), order_, weights_, MutableView(triangles).subspan(k * size, size));
  }
  return used.size();
}

void CurvedModel::average_gram(View parameters, const Batch& batch, Batch::Range records, Weight weight) {
  mean_.begin(triangles());
  for (std::size_t i = records.first; i < records.first + records.count; ++i) {
    own_.show(batch, i, 1);
    if (gram_of_records(parameters, own_, weight, part_) == 1) mean_.add(part_);
  }
}

void CurvedModel::gram(View parameters, const Batch& batch, Weight weight, Vector& triangles) {
  if (!batch.by_person()) {
    gram_of_records(parameters, batch, weight, triangles);
    return;
  }
  triangles.assign(this->triangles(), 0.0);
  for (std::size_t k = 0; k < batch.units();) {
    const std::size_t first = k;
    while (k < batch.units() && batch.person(k).count == 1) ++k;  // these are summed as records are
    if (k > first) {
      own_.show(batch, batch.person(first).first, k - first);
      gram_of_records(parameters, own_, weight, part_);
      axpy(1, part_, triangles);
    } else {
      average_gram(parameters, batch, batch.person(k++), weight);
      axpy(1, mean_.mean(), triangles);
    }
  }
}

double CurvedModel::loss_at_zero() const {
  const double score = 0;
  return loss_.value(View(&score, 1), 1);
}

}  // namespace starling
