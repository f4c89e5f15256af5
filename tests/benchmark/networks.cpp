/// How long steps of networks take: forward, backward, gradient and a step of gradient descent, on one thread.
///
///   networks            prints the median over 41 repetitions of each case
///   networks --serve    makes a repetition for each line "CASE REPEATS" on standard input and prints its seconds:
///                       networks.py interleaves it so with PyTorch
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "core/random.hpp"
#include "loss/loss.hpp"
#include "model/network/network_model.hpp"
#include "timing.hpp"

namespace {

using starling::Architecture;

std::vector<double> random_numbers(std::size_t count, std::uint64_t client) {
  starling::AddressedRandom random(1, starling::Purpose::experiment, client, 0);
  std::vector<double> values(count);
  for (double& value : values) value = random.normal();
  return values;
}

/// The network by itself: squared error against random targets.
template <class T>
std::function<void()> network_step(const Architecture& architecture, std::size_t records) {
  struct State {
    starling::Network<T> network;
    std::vector<T> parameters;
    std::vector<T> inputs;
    std::vector<T> targets;
    std::vector<T> gradient;
    std::vector<T> d_outputs;
  };
  starling::Network<T> network(architecture);
  const auto start = network.initial(1);
  const auto inputs = random_numbers(records * network.inputs(), 1);
  const auto targets = random_numbers(records * network.outputs(), 2);
  auto state = std::make_shared<State>(State{std::move(network),
                                             {start.begin(), start.end()},
                                             {inputs.begin(), inputs.end()},
                                             {targets.begin(), targets.end()},
                                             std::vector<T>(start.size()),
                                             std::vector<T>(targets.size())});
  return [state] {
    State& s = *state;
    const auto outputs = s.network.forward(s.parameters, s.inputs);
    const T scale = T(2) / static_cast<T>(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) s.d_outputs[i] = scale * (outputs[i] - s.targets[i]);
    s.network.backward(s.d_outputs);
    s.network.gradient(s.gradient);
    for (std::size_t j = 0; j < s.gradient.size(); ++j) s.parameters[j] -= T(1e-4) * s.gradient[j];
  };
}

/// As a client of `starling omd` does it: parameters and sum in double, softmax over 10 classes.
std::function<void()> model_step(const Architecture& architecture, std::size_t records, const starling::Clip& clip) {
  struct State {
    std::unique_ptr<starling::Loss> loss = starling::loss_table().make("softmax:10");
    std::unique_ptr<starling::Model> model;
    starling::Vector parameters;
    starling::Vector gradient;
    starling::Batch batch;
  };
  auto state = std::make_shared<State>();
  state->model = std::make_unique<starling::NetworkModel<float>>(*state->loss, architecture);
  state->parameters = *state->model->initial(1);
  for (std::size_t i = 0; i < records; ++i) {
    state->batch.add({random_numbers(architecture.input.size(), i), {}}, static_cast<double>(i % 10));
  }
  return [state, clip] {
    state->model->evaluate(state->parameters, state->batch, clip, state->gradient);
    for (std::size_t j = 0; j < state->gradient.size(); ++j) state->parameters[j] -= 1e-5 * state->gradient[j];
  };
}

std::map<std::string, std::function<void()>> cases() {
  const Architecture receiver = starling::perceptron({102, 128, 256, 64, 16});
  const Architecture images = starling::convolutional(784, {32, 64, 512}, 10);
  return {{"receiver-float", network_step<float>(receiver, 20)},
          {"receiver-double", network_step<double>(receiver, 20)},
          {"cnn-float", network_step<float>(images, 128)},
          {"cnn-model", model_step(images, 128, {})},
          {"cnn-model-clipped", model_step(images, 128, {starling::ClipKind::l2, 1})}};
}

double repetition(const std::function<void()>& step, std::size_t repeats) {
  return starling::benchmark::seconds([&] {
    for (std::size_t i = 0; i < repeats; ++i) step();
  });
}

}  // namespace

int main(int argc, char** argv) {
  const auto steps = cases();
  if (argc == 2 && std::strcmp(argv[1], "--serve") == 0) {
    char name[64];
    std::size_t repeats = 0;
    while (std::scanf("%63s %zu", name, &repeats) == 2) {
      std::printf("%.9f\n", repetition(steps.at(name), repeats));
      std::fflush(stdout);
    }
    return 0;
  }
  for (const auto& [name, step] : steps) {
    const std::size_t repeats = name.starts_with("receiver") ? 100 : 1;
    std::vector<double> times;
    step();
    for (int i = 0; i < 41; ++i) times.push_back(repetition(step, repeats) / static_cast<double>(repeats) * 1e3);
    std::printf("%s: median %.3f ms, 10 %% quantile %.3f ms\n", name.c_str(), starling::benchmark::median(times),
                starling::benchmark::quantile(times, 0.1));
  }
  return 0;
}
