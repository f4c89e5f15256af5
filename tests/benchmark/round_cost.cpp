/// What noise and digest add to a client's round: gradients of 32 dense records of a logistic model of 10^4 parameters,
/// clipped and summed, and their release, once with `none` and once with each mechanism that adds noise.
/// Repetitions of all mechanisms alternate, and each round has a batch that is not in the nearer caches.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "core/batch.hpp"
#include "loss/loss.hpp"
#include "model/linear_model.hpp"
#include "privacy/keys/keystream.hpp"
#include "privacy/mechanism.hpp"
#include "timing.hpp"

namespace starling {
namespace {

constexpr std::size_t dimension = 10000;
constexpr std::size_t batch_size = 32;
constexpr std::size_t batches = 8;
constexpr int repetitions = 101;

std::vector<Batch> make_batches() {
  Keystream words(NoiseKey::from_seed(1, 1));
  std::vector<Batch> result(batches);
  Vector row(dimension);
  for (Batch& batch : result) {
    batch.clear();
    for (std::size_t i = 0; i < batch_size; ++i) {
      for (double& value : row) value = floating_laplace(words, 1 / std::sqrt(static_cast<double>(dimension)));
      batch.add({row, {}}, i % 2 == 0 ? 1 : -1);
    }
  }
  return result;
}

/// A round of one mechanism, and the seconds that its parts took in each repetition.
struct Contestant {
  explicit Contestant(const std::string& name) : mechanism(mechanism_table().make(name, settings())) {}

  static ReleaseSettings settings() {
    ReleaseSettings result;
    result.price = PriceRange::of(0.1);
    result.batch = batch_size;
    result.dimension = dimension;
    result.run_id = "benchmark";
    return result;
  }
  void round(LinearModel& model, const Vector& parameters, const Batch& batch, Round t) {
    const double model_time = benchmark::seconds(
        [&] { sum.update([&](Vector& gradient) { model.evaluate(parameters, batch, mechanism->clip(), gradient); }); });
    const double release_time = benchmark::seconds([&] {
      mechanism->release({ReleasePath::by_itself, 1, t, 0}, 0.1, key, sum, released);
    });
    evaluate.push_back(model_time);
    release.push_back(release_time);
    whole.push_back(model_time + release_time);
  }

  std::unique_ptr<Mechanism> mechanism;
  NoiseKey key = NoiseKey::from_seed(1, 2);
  Secret<Vector> sum;
  Released<Vector> released{declare_public(Vector())};
  std::vector<double> evaluate;
  std::vector<double> release;
  std::vector<double> whole;
};

void measure() {
  const std::vector<std::string> names = {"none", "laplace", "gaussian"};
  const std::unique_ptr<Loss> loss = loss_table().make("logistic");
  const std::vector<Batch> data = make_batches();
  LinearModel model(*loss, dimension, false);
  const Vector parameters(dimension, 0.01);
  std::map<std::string, Contestant> contestants;
  for (const std::string& name : names) contestants.emplace(name, name);
  for (int i = -3; i < repetitions; ++i) {
    for (const std::string& name : names) {
      Contestant& contestant = contestants.at(name);
      if (i == 0) contestant.evaluate = contestant.release = contestant.whole = {};  // warmed up
      for (std::size_t b = 0; b < batches; ++b) contestant.round(model, parameters, data[b], 1000 + i);
    }
  }
  const double plain = benchmark::median(contestants.at("none").whole);
  std::printf("one client's round, d = %zu, batch %zu, medians of %zu rounds in microseconds\n", dimension, batch_size,
              contestants.at("none").whole.size());
  std::printf("%-10s %12s %10s %10s %18s\n", "mechanism", "gradients", "release", "together", "against none");
  for (const std::string& name : names) {
    const Contestant& contestant = contestants.at(name);
    const double whole = benchmark::median(contestant.whole);
    std::printf("%-10s %12.1f %10.1f %10.1f %17.2fx\n", name.c_str(), 1e6 * benchmark::median(contestant.evaluate),
                1e6 * benchmark::median(contestant.release), 1e6 * whole, whole / plain);
  }
}

}  // namespace
}  // namespace starling

int main() {
  starling::measure();
  return 0;
}
