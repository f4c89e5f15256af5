#include "model/network/noise_norm.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/numerics/kernels.hpp"
#include "core/random.hpp"

namespace starling {

namespace {

constexpr std::size_t records_tried = 16;
constexpr std::size_t most_draws = 8;          ///< of noise; small networks differ much from one to the next
constexpr std::size_t most_noise = 1U << 20U;  ///< numbers of all draws, but for the first
constexpr double most_doublings = 24;          ///< deviations from 2^-24 to 2^24
constexpr int halvings = 12;                   ///< of their logarithms, to 1 % of the deviation

Vector standard_normals(std::size_t count, std::uint64_t seed, std::uint64_t index) {
  AddressedRandom random(seed, Purpose::experiment, index, 0);
  Vector values(count);
  for (double& value : values) value = random.normal();
  return values;
}

/// Records of this norm in random directions, row after row.
Vector random_records(std::size_t features, double norm, std::uint64_t seed) {
  Vector records;
  for (std::size_t i = 0; i < records_tried; ++i) {
    Vector row = standard_normals(features, seed, i);
    scale(norm / norm2(row), row);
    records.insert(records.end(), row.begin(), row.end());
  }
  return records;
}

}  // namespace

double noise_norm(const Architecture& architecture, double norm, double shift, std::uint64_t seed) {
  Network<double> network(architecture);
  const Vector records = random_records(network.inputs(), norm, seed);
  const Vector start = network.initial(seed);
  std::vector<Vector> noises(std::clamp<std::size_t>(most_noise / start.size(), 1, most_draws));
  for (std::size_t i = 0; i < noises.size(); ++i) noises[i] = standard_normals(start.size(), seed, records_tried + i);
  const std::span<const double> at_start = network.forward(start, records);
  const Vector scores(at_start.begin(), at_start.end());
  const auto shift_by = [&](double deviation) {
    double squares = 0;
    for (const Vector& noise : noises) {
      Vector parameters = start;
      axpy(deviation, noise, parameters);
      const std::span<const double> moved = network.forward(parameters, records);
      for (std::size_t i = 0; i < scores.size(); ++i) squares += std::pow(moved[i] - scores[i], 2);
    }
    return std::sqrt(squares / static_cast<double>(noises.size() * scores.size()));
  };
  double least = -most_doublings;
  double most = most_doublings;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (least + most) / 2;
    (shift_by(std::exp2(middle)) < shift ? least : most) = middle;
  }
  return shift / std::exp2((least + most) / 2);
}

}  // namespace starling
