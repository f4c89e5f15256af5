#include "output/model_file/scorer.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "privacy/clip_rows.hpp"
#include "protocol/vertical/vertical_networks.hpp"

namespace starling {

namespace {

double product(const Row& row, View weights) {
  return row.sparse() ? dot(row.values, row.index, weights) : dot(row.values, weights);
}

/// Copies a row into `dense`, with zeros for what a sparse row leaves out.
void fill(const Row& row, MutableView dense) {
  if (!row.sparse()) {
    std::ranges::copy(row.values, dense.begin());
    return;
  }
  std::ranges::fill(dense, 0.0);
  for (std::size_t j = 0; j < row.values.size(); ++j) dense[static_cast<std::size_t>(row.index[j])] = row.values[j];
}

}  // namespace

Embedder::Embedder(const SavedModel& part)
    : part_(part),
      form_(std::get<EmbeddingForm>(part.form)),
      network_(make_network_block(form_.architecture, form_.precision)) {
  check<DataError>(network_->dimension() == part.parameters.size() && network_->inputs() == part.features &&
                       network_->outputs() == part.scores,
                   "the part of party {} has a network of {} inputs and {} outputs for {} features and embeddings of "
                   "{}. Restore the file.",
                   form_.party, network_->inputs(), network_->outputs(), part.features, part.scores);
}

void Embedder::embed(View columns, Vector& embeddings) {
  const View outputs = network_->forward(part_.parameters, columns);
  embeddings.assign(outputs.begin(), outputs.end());
  const Clip clip = std::isinf(form_.bound) ? Clip() : Clip{ClipKind::l2, form_.bound};
  clip_rows(embeddings, part_.scores, clip);
  if (std::isinf(form_.row_bound)) return;
  // A layer without a bend: scaling a row (x, 1) scales its outputs.
  for (std::size_t i = 0; i * width() < embeddings.size(); ++i) {
    const View row = columns.subspan(i * this->columns(), this->columns());
    const double length = std::sqrt(dot(row, row) + 1);
    if (length > form_.row_bound)
      scale(form_.row_bound / length, MutableView(embeddings).subspan(i * width(), width()));
  }
}

Scorer::Scorer(const SavedModel& model)
    : model_(model), linear_(model.as<LinearForm>()), vertical_(model.as<VerticalForm>()) {
  check<DataError>(!model.is_part(),
                   "one part of a vertical model predicts nothing alone. Give all parts, by a file of each party "
                   "(--parties).");
  std::size_t needed = 0;
  for (const ParameterBlock& block : model.blocks()) needed += block.rows * block.columns;
  check<DataError>(needed == model.parameters.size(), "{} parameters, where the architecture has {}",
                   model.parameters.size(), needed);
  if (const auto* const own = model.as<OwnForm>(); own != nullptr && own->model) {
    own_ = std::make_unique<RowModel>(own->model, model.features);
    check<DataError>(own_->dimension() == needed, "{} parameters, where the own model has {} for {} features", needed,
                     own_->dimension(), model.features);
  }
  const auto* const form = model.as<NetworkForm>();
  if (form == nullptr) return;
  network_ = make_network_block(form->architecture, form->precision);
  const std::size_t inputs = vertical_ != nullptr ? open_parties() : model.features;
  check<DataError>(network_->inputs() == inputs && network_->outputs() == model.scores,
                   "a network of {} inputs and {} outputs, where the model has {} features and {} scores",
                   network_->inputs(), network_->outputs(), inputs, model.scores);
}

/// Returns the length of all embeddings.
std::size_t Scorer::open_parties() {
  std::size_t width = 0;
  for (const SavedModel& party : vertical_->parties) {
    const Embedder& added = embedders_.emplace_back(party);
    width += added.width();
    check<DataError>(added.form().places.size() == added.columns(),
                     "party {} has {} columns, and its network takes {}: one table cannot have its records. Give a "
                     "file of each party by --parties.",
                     added.form().party, added.form().places.size(), added.columns());
  }
  return width;
}

void Scorer::score(const Batch& batch, Vector& scores) {
  if (own_) return own_->predict(model_.parameters, batch, scores);
  if (network_) return score_network(batch, scores);
  scores.resize(batch.size() * model_.scores);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (linear_ != nullptr) {
      score_linear(batch.row(i), MutableView(scores).subspan(i * model_.scores, model_.scores));
    } else {
      scores[i] = distance(batch.row(i));
    }
  }
}

void Scorer::score_linear(const Row& row, MutableView scores) const {
  const std::size_t stride = model_.features + (linear_->intercept ? 1 : 0);
  for (std::size_t k = 0; k < scores.size(); ++k) {
    const View weights = View(model_.parameters).subspan(k * stride, stride);
    scores[k] = product(row, weights.first(model_.features)) + (linear_->intercept ? weights.back() : 0);
  }
  if (std::isinf(linear_->row_bound)) return;
  const double length = std::sqrt(dot(row.values, row.values) + (linear_->intercept ? 1 : 0));
  if (!(length > linear_->row_bound)) return;
  for (double& score : scores) score *= linear_->row_bound / length;
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
  if (!embedders_.empty()) embed(batch.size());
  const View outputs = network_->forward(model_.parameters, embedders_.empty() ? dense_ : embeddings_);
  scores.assign(outputs.begin(), outputs.end());
}

void Scorer::embed(std::size_t records) {
  for (std::size_t k = 0; k < embedders_.size(); ++k) {
    columns_.clear();
    for (std::size_t i = 0; i < records; ++i) {
      for (const std::size_t place : embedders_[k].form().places)
        columns_.push_back(dense_[i * model_.features + place]);
    }
    embedders_[k].embed(columns_, embedding_);
    embeddings_.resize(embedders_.size() * embedding_.size());
    put_part(embedding_, embedders_.size(), k, embedders_[k].width(), embeddings_);
  }
}

std::optional<PredictionForm> prediction_form(const SavedModel& model) {
  const auto* const own = model.as<OwnForm>();
  if (model.is<LocationForm>() || (own != nullptr && !(own->model && own->model->predicts()))) return std::nullopt;
  PredictionForm form = PredictionForm::of(*ModelLoss(model));
  form.names_classes = own != nullptr && form.classifies;
  if (!form.predicts()) return std::nullopt;
  return form;
}

TestMetrics metrics_of(const SavedModel& model, const Batch& records) {
  constexpr std::size_t at_once = 512;
  const std::optional<PredictionForm> form = prediction_form(model);
  check<FailureError>(form.has_value(), "metrics of a model that predicts no label: this is a fault of the program.");
  const bool standardised = form->link == Link::identity && model.constants.label_standardisation;
  const Standardisation units = standardised ? *model.constants.label_standardisation : Standardisation();
  const auto own_units = [&](double value) { return value * units.deviation + units.mean; };
  PredictionTally tally(*form);
  Scorer scorer(model);
  Batch part;
  Vector scores;
  for (std::size_t first = 0; first < records.size(); first += at_once) {
    part.show(records, first, std::min(at_once, records.size() - first));
    scorer.score(part, scores);
    if (standardised) std::ranges::transform(scores, scores.begin(), own_units);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const double label = standardised ? own_units(part.label(i)) : part.label(i);
      tally.add(View(scores).subspan(i * model.scores, model.scores), label);
    }
  }
  return tally.metrics();
}

}  // namespace starling
