#include "starling/record/model_file/scorer.hpp"

#include <algorithm>
#include <cmath>

#include "starling/core/check.hpp"
#include "starling/core/numerics/kernels.hpp"

namespace starling {

namespace {

double product(const Row& row, View weights) {
  return row.sparse() ? dot(row.values, row.index, weights) : dot(row.values, weights);
}

/// Copies a row into `dense`, with zeros for what a sparse row leaves out.
void fill(const Row& row, MutableView dense) {
  if (!row.sparse()) {
    std::copy(row.values.begin(), row.values.end(), dense.begin());
    return;
  }
  std::fill(dense.begin(), dense.end(), 0.0);
  for (std::size_t j = 0; j < row.values.size(); ++j) dense[static_cast<std::size_t>(row.index[j])] = row.values[j];
}

}  // namespace

Scorer::Scorer(const SavedModel& model) : model_(model) {
  std::size_t needed = 0;
  for (const ParameterBlock& block : model.blocks()) needed += block.rows * block.columns;
  check<DataError>(needed == model.parameters.size(), "{} parameters, where the architecture has {}",
                   model.parameters.size(), needed);
  if (model.kind == SavedModel::Kind::network) {
    network_ = make_network_block(model.architecture, model.precision);
    check<DataError>(network_->inputs() == model.features && network_->outputs() == model.scores,
                     "a network of {} inputs and {} outputs, where the model has {} features and {} scores",
                     network_->inputs(), network_->outputs(), model.features, model.scores);
  }
}

void Scorer::score(const Batch& batch, Vector& scores) {
  if (network_) {
    score_network(batch, scores);
    return;
  }
  scores.resize(batch.size() * model_.scores);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (model_.kind == SavedModel::Kind::location) {
      scores[i] = distance(batch.row(i));
    } else {
      score_linear(batch.row(i), MutableView(scores).subspan(i * model_.scores, model_.scores));
    }
  }
}

void Scorer::score_linear(const Row& row, MutableView scores) const {
  const std::size_t stride = model_.features + (model_.intercept ? 1 : 0);
  for (std::size_t k = 0; k < scores.size(); ++k) {
    const View weights = View(model_.parameters).subspan(k * stride, stride);
    scores[k] = product(row, weights.first(model_.features)) + (model_.intercept ? weights.back() : 0);
  }
  if (std::isinf(model_.row_bound)) return;
  const double length = std::sqrt(dot(row.values, row.values) + (model_.intercept ? 1 : 0));
  if (!(length > model_.row_bound)) return;
  for (double& score : scores) score *= model_.row_bound / length;
}

double Scorer::distance(const Row& row) {
  dense_.resize(model_.features);
  fill(row, dense_);
  for (std::size_t j = 0; j < dense_.size(); ++j) dense_[j] -= model_.parameters[j];
  return std::sqrt(dot(dense_, dense_));
}

void Scorer::score_network(const Batch& batch, Vector& scores) {
  dense_.resize(batch.size() * model_.features);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    fill(batch.row(i), MutableView(dense_).subspan(i * model_.features, model_.features));
  }
  const View outputs = network_->forward(model_.parameters, dense_);
  scores.assign(outputs.begin(), outputs.end());
}

}  // namespace starling
