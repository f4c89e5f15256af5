#include "model/network/network_model.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace starling {

template <class T>
NetworkModel<T>::NetworkModel(const Loss& loss, const Architecture& architecture)
    : loss_(loss),
      network_(architecture),
      sum_(network_),
      parameters_(network_.dimension()),
      scores_(loss.scores()),
      derivative_(loss.scores()) {
  check(network_.outputs() == loss.scores(),
        "a network with {} outputs under a loss of {} score{}: each output is a score. Give its last layer {}.",
        network_.outputs(), loss.scores(), loss.scores() == 1 ? "" : "s", loss.scores());
}

template <class T>
void NetworkModel<T>::load_parameters(View parameters) {
  for (std::size_t j = 0; j < parameters_.size(); ++j) parameters_[j] = static_cast<T>(parameters[j]);
}

template <class T>
void NetworkModel<T>::load_inputs(const Batch& batch, std::size_t first, std::size_t count) {
  const std::size_t features = network_.inputs();
  inputs_.assign(count * features, T(0));
  for (std::size_t i = 0; i < count; ++i) {
    const Row row = batch.row(first + i);
    T* const to = &inputs_[i * features];
    for (std::size_t j = 0; j < row.values.size(); ++j) to[row.feature(j)] = static_cast<T>(row.values[j]);
  }
}

template <class T>
void NetworkModel<T>::play(const Batch& batch, std::size_t first, std::size_t count, bool derivatives) {
  load_inputs(batch, first, count);
  const std::span<const T> outputs = network_.forward(parameters_, inputs_);
  const std::size_t k = scores_.size();
  d_scores_.resize(count * k);
  own_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(&outputs[i * k], k, scores_.begin());
    const double label = batch.label(first + i);
    own_[i] = score_of_record(loss_.value(scores_, label), loss_.correct(scores_, label));
    if (!derivatives) continue;
    loss_.derivative(scores_, label, derivative_);
    for (std::size_t j = 0; j < k; ++j) d_scores_[i * k + j] = static_cast<T>(derivative_[j]);
  }
}

template <class T>
Score NetworkModel<T>::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  GradientSum<T>::check_clip(clip);
  gradient.assign(dimension(), 0.0);
  load_parameters(parameters);
  Score total;
  for (std::size_t first = 0; first < batch.size(); first += chunk_records) {
    const std::size_t count = std::min(chunk_records, batch.size() - first);
    play(batch, first, count, true);
    network_.backward(d_scores_);
    out_.assign(count, 0);
    sum_.add(clip, out_, gradient);
    Score chunk;
    for (std::size_t i = 0; i < count; ++i) chunk += out_[i] != 0 ? Score{0, 0, 0, 1} : own_[i];
    total += chunk;
  }
  return total;
}

template <class T>
Score NetworkModel<T>::score(View parameters, const Batch& batch) {
  load_parameters(parameters);
  Score total;
  for (std::size_t first = 0; first < batch.size(); first += chunk_records) {
    play(batch, first, std::min(chunk_records, batch.size() - first), false);
    Score chunk;
    for (const Score& own : own_) chunk += own;
    total += chunk;
  }
  return total;
}

template class NetworkModel<float>;
template class NetworkModel<double>;

}  // namespace starling
