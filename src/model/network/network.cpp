#include "model/network/network.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/random.hpp"
#include "layer_arithmetic.hpp"
#include "layers.hpp"

namespace starling {

namespace {

constexpr std::size_t most_parameters = 200'000'000;

template <class T>
struct LayerMaker {
  const ImageShape& inputs;
  std::unique_ptr<Layer<T>> operator()(const DenseLayer& spec) const {
    return make_dense<T>(inputs.size(), spec.outputs);
  }
  std::unique_ptr<Layer<T>> operator()(const ConvolutionLayer& spec) const { return make_convolution<T>(inputs, spec); }
  std::unique_ptr<Layer<T>> operator()(const MaxPoolLayer&) const { return make_max_pool<T>(inputs); }
  std::unique_ptr<Layer<T>> operator()(const ReluLayer&) const { return make_relu<T>(inputs); }
};

}  // namespace

template <class T>
Network<T>::Network(const Architecture& architecture) : inputs_(architecture.input.size()) {
  ImageShape shape = architecture.input;
  for (const LayerSpec& spec : architecture.layers) {
    Stage stage{std::visit(LayerMaker<T>{shape}, spec), dimension_, {}, {}};
    shape = stage.layer->facts().outputs;
    dimension_ += stage.layer->facts().parameters;
    check(dimension_ <= most_parameters,
          "a network of {} parameters or more: at most {} fit into a message. Use smaller layers.", dimension_,
          most_parameters);
    stages_.push_back(std::move(stage));
  }
  check(dimension_ > 0, "a network without parameters: there would be nothing to learn. Give it a layer with some.");
  outputs_ = shape.size();
}

template <class T>
Network<T>::~Network() = default;
template <class T>
Network<T>::Network(Network&&) noexcept = default;
template <class T>
Network<T>& Network<T>::operator=(Network&&) noexcept = default;

template <class T>
std::vector<ParameterBlock> Network<T>::blocks() const {
  std::vector<ParameterBlock> blocks;
  std::size_t number = 0;
  for (const Stage& stage : stages_) {
    const LayerFacts& facts = stage.layer->facts();
    if (facts.parameters == 0) continue;
    const std::string name = fmt::format("{}-{}", ++number, facts.name.substr(0, facts.name.find(' ')));
    const std::size_t outputs = facts.parameters / (facts.fan_in + 1);
    blocks.push_back({name + "/weights", facts.fan_in, outputs, stage.offset, outputs});
    blocks.push_back({name + "/bias", 1, outputs, stage.offset + facts.fan_in * outputs, outputs});
  }
  return blocks;
}

std::vector<ParameterBlock> parameter_blocks(const Architecture& architecture) {
  return Network<double>(architecture).blocks();
}

template <class T>
std::span<const T> Network<T>::inputs_of(std::size_t stage) const {
  return stage == 0 ? batch_ : std::span<const T>(stages_[stage - 1].outputs);
}

template <class T>
std::span<const T> Network<T>::forward(std::span<const T> parameters, std::span<const T> inputs) {
  parameters_ = parameters;
  batch_ = inputs;
  records_ = inputs.size() / inputs_;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    Stage& stage = stages_[s];
    stage.outputs.resize(records_ * stage.layer->outputs());
    stage.layer->forward(parameters.data() + stage.offset, records_, inputs_of(s).data(), stage.outputs.data());
  }
  return stages_.back().outputs;
}

template <class T>
void Network<T>::backward(std::span<const T> d_outputs, Reach reach) {
  stages_.back().d_outputs.assign(d_outputs.begin(), d_outputs.end());
  for (std::size_t s = stages_.size(); s-- > 0;) {
    if (s == 0 && reach == Reach::parameters) return;
    Stage& stage = stages_[s];
    std::vector<T>& before = s == 0 ? d_inputs_ : stages_[s - 1].d_outputs;
    before.resize(records_ * stage.layer->inputs());
    stage.layer->backward(parameters_.data() + stage.offset, records_, inputs_of(s).data(), stage.outputs.data(),
                          stage.d_outputs.data(), before.data());
  }
}

template <class T>
std::span<const T> Network<T>::d_inputs() const {
  return d_inputs_;
}

template <class T>
void Network<T>::gradient(std::span<T> sum) {
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    Stage& stage = stages_[s];
    stage.layer->gradient(records_, inputs_of(s).data(), stage.d_outputs.data(), sum.data() + stage.offset);
  }
}

template <class T>
void Network<T>::record_gradient(std::size_t i, std::span<T> gradient) {
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    Layer<T>& layer = *stages_[s].layer;
    layer.gradient(1, inputs_of(s).data() + i * layer.inputs(), stages_[s].d_outputs.data() + i * layer.outputs(),
                   gradient.data() + stages_[s].offset);
  }
}

template <class T>
void Network<T>::record_norms(Norm norm, std::span<double> norms) {
  std::fill(norms.begin(), norms.end(), 0.0);
  sums_.assign(records_, 0.0);
  norms_.resize(records_);
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    Stage& stage = stages_[s];
    if (stage.layer->facts().parameters == 0) continue;
    stage.layer->record_norms(records_, inputs_of(s).data(), stage.d_outputs.data(), norm, norms_);
    for (std::size_t i = 0; i < records_; ++i) {
      norms[i] += norm == Norm::l1 ? norms_[i] : norms_[i] * norms_[i];
      sums_[i] += norms_[i];
    }
  }
  if (norm == Norm::l1) return;
  for (std::size_t i = 0; i < records_; ++i) {
    norms[i] = norms[i] >= smallest_sum_of_squares ? std::sqrt(norms[i]) : sums_[i];
  }
}

template <class T>
void Network<T>::weighted_gradient(std::span<const double> factors, std::span<T> sum) {
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    Stage& stage = stages_[s];
    stage.layer->weighted_gradient(factors, inputs_of(s).data(), stage.d_outputs.data(), sum.data() + stage.offset);
  }
}

template <class T>
std::vector<double> Network<T>::initial(std::uint64_t seed, std::uint64_t block) const {
  std::vector<double> values(dimension_);
  for (const Stage& stage : stages_) {
    const LayerFacts& facts = stage.layer->facts();
    const double bound = 1 / std::sqrt(static_cast<double>(facts.fan_in));
    for (std::size_t j = stage.offset; j < stage.offset + facts.parameters; ++j) {
      values[j] = bound * (2 * AddressedRandom(seed, Purpose::start_values, block, j).uniform() - 1);
    }
  }
  return values;
}

template class Network<float>;
template class Network<double>;

}  // namespace starling
