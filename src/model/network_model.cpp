#include "starling/model/network_model.hpp"

#include "layer_arithmetic.hpp"
#include <algorithm>
#include <cmath>
#include <limits>

#include "starling/core/check.hpp"

namespace starling {

namespace {

/// What a network of floats can be clipped to; grids have a limit of their own (privacy/grid.hpp).
constexpr double least_clip_of_floats = 1e-10;

template <class T>
constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;

}  // namespace

template <class T>
NetworkModel<T>::NetworkModel(const Loss& loss, const Architecture& architecture)
    : loss_(loss),
      network_(architecture),
      parameters_(network_.dimension()),
      sum_(network_.dimension()),
      scores_(loss.scores()),
      derivative_(loss.scores()) {
  check(network_.outputs() == loss.scores(),
        "a network with {} outputs under a loss of {} score{} (each output is a score) give its last layer {}",
        network_.outputs(), loss.scores(), loss.scores() == 1 ? "" : "s", loss.scores());
}

template <class T>
double NetworkModel<T>::clip_margin() const {
  constexpr double u = unit_roundoff<T>;
  constexpr auto c = static_cast<double>(chunk_records);
  return c * (c + 3) * u / (1 - (c + 3) * u) + 2 * (static_cast<double>(dimension()) + 64) * 0x1p-53 + 0x1p-29;
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
    for (std::size_t j = 0; j < row.values.size(); ++j) {
      to[row.sparse() ? static_cast<std::size_t>(row.index[j]) : j] = static_cast<T>(row.values[j]);
    }
  }
}

template <class T>
Score NetworkModel<T>::play(const Batch& batch, std::size_t first, std::size_t count, bool derivatives) {
  load_inputs(batch, first, count);
  const std::span<const T> outputs = network_.forward(parameters_, inputs_);
  const std::size_t k = scores_.size();
  d_scores_.resize(count * k);
  Score total;
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(&outputs[i * k], k, scores_.begin());
    const double label = batch.label(first + i);
    total += {loss_.value(scores_, label), loss_.correct(scores_, label) ? 1 : 0, 1};
    if (!derivatives) continue;
    loss_.derivative(scores_, label, derivative_);
    for (std::size_t j = 0; j < k; ++j) d_scores_[i * k + j] = static_cast<T>(derivative_[j]);
  }
  return total;
}

template <class T>
Score NetworkModel<T>::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  check(std::is_same_v<T, double> || clip.kind == ClipKind::none || clip.kind == ClipKind::component ||
            clip.bound >= least_clip_of_floats,
        "clip={} for a network of floats (below {} they may lose too much to underflow) use --precision double",
        clip.bound, least_clip_of_floats);
  gradient.assign(dimension(), 0.0);
  load_parameters(parameters);
  Score total;
  for (std::size_t first = 0; first < batch.size(); first += chunk_records) {
    const std::size_t count = std::min(chunk_records, batch.size() - first);
    total += play(batch, first, count, true);
    network_.backward(d_scores_);
    add_chunk(clip, count, gradient);
  }
  return total;
}

template <class T>
Score NetworkModel<T>::score(View parameters, const Batch& batch) {
  load_parameters(parameters);
  Score total;
  for (std::size_t first = 0; first < batch.size(); first += chunk_records) {
    total += play(batch, first, std::min(chunk_records, batch.size() - first), false);
  }
  return total;
}

template <class T>
void NetworkModel<T>::add_chunk(const Clip& clip, std::size_t count, Vector& gradient) {
  if (clip.kind == ClipKind::component) {
    add_component_clipped(clip.bound, count, gradient);
    return;
  }
  if (clip.kind == ClipKind::none) {
    network_.gradient(sum_);
  } else {
    set_factors(clip, count);
    network_.weighted_gradient(factors_, sum_);
  }
  add_sum(gradient);
}

template <class T>
void NetworkModel<T>::set_factors(const Clip& clip, std::size_t count) {
  const double bound = clip.bound * (1 - clip_margin());
  factors_.resize(count);
  network_.record_norms(clip.kind == ClipKind::l1 ? Norm::l1 : Norm::l2, factors_);
  for (double& factor : factors_) {
    if (!(factor <= largest_norm<T>)) refuse();
    factor = factor > bound ? bound / factor : 1;
  }
}

template <class T>
void NetworkModel<T>::add_sum(Vector& gradient) {
  bool finite = true;
  for (std::size_t j = 0; j < sum_.size(); ++j) {
    finite &= std::abs(sum_[j]) <= std::numeric_limits<T>::max();
    gradient[j] += static_cast<double>(sum_[j]);
  }
  if (!finite) refuse();
}

template <class T>
void NetworkModel<T>::add_component_clipped(double bound, std::size_t count, Vector& gradient) {
  for (std::size_t i = 0; i < count; ++i) {
    network_.record_gradient(i, sum_);
    bool finite = true;
    for (std::size_t j = 0; j < sum_.size(); ++j) {
      finite &= std::abs(sum_[j]) <= std::numeric_limits<T>::max();
      gradient[j] += std::clamp(static_cast<double>(sum_[j]), -bound, bound);
    }
    if (!finite) refuse();
  }
}

template <class T>
void NetworkModel<T>::refuse() const {
  const std::string layer = network_.first_not_finite(sum_);
  check<DataError>(layer.empty(),
                   "the gradient of {} is not finite (steps are too long, or features too large) use a smaller --step, "
                   "or scale the features",
                   layer);
  throw DataError(fmt::format(
      "a record's gradient has a norm above {} or a layer's inputs do (too large to be clipped exactly) scale the "
      "features, or use a smaller --step",
      largest_norm<T>));
}

template class NetworkModel<float>;
template class NetworkModel<double>;

}  // namespace starling
