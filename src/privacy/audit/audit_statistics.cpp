#include "audit_statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/numerics/kernels.hpp"
#include "core/text/limits.hpp"

namespace starling {

namespace {

constexpr std::size_t most_coordinates = 64;
constexpr std::size_t most_with_bits = 8;  ///< coordinates whose low bits are looked at

}  // namespace

/// Mean, variance and repetitions of every coordinate on each side, in one pass (Welford 1962).
struct PilotMoments {
  explicit PilotMoments(std::size_t length) {
    for (const std::size_t side : {0U, 1U}) {
      mean[side].assign(length, 0);
      squares[side].assign(length, 0);
      first[side].assign(length, 0);
      repeated[side].assign(length, 0);
    }
  }

  void add(int side, View seen) {
    const auto s = static_cast<std::size_t>(side);
    if (count[s] == 0) first[s].assign(seen.begin(), seen.end());
    ++count[s];
    for (std::size_t j = 0; j < seen.size(); ++j) {
      const double gap = seen[j] - mean[s][j];
      mean[s][j] += gap / static_cast<double>(count[s]);
      squares[s][j] += gap * (seen[j] - mean[s][j]);
      repeated[s][j] += seen[j] == first[s][j] ? 1 : 0;
    }
  }

  [[nodiscard]] double variance(std::size_t j) const {
    return (squares[0][j] + squares[1][j]) / static_cast<double>(count[0] + count[1]);
  }
  [[nodiscard]] double standard_error(std::size_t j) const {
    return std::sqrt(2 * variance(j) / static_cast<double>(count[0]));
  }
  /// Difference between the two sides of a coordinate, in standard errors; infinite where no noise is seen.
  [[nodiscard]] double tells(std::size_t j) const {
    const double gap = std::abs(mean[0][j] - mean[1][j]);
    if (!(variance(j) > 0)) return gap > 0 ? infinity : 0;
    if (repeated[0][j] > 2 || repeated[1][j] > 2) return infinity;
    const double spread = std::abs(std::log((squares[0][j] + 1e-300) / (squares[1][j] + 1e-300)));
    return std::max(gap / standard_error(j), spread * std::sqrt(static_cast<double>(count[0])) / 4);
  }

  std::array<std::int64_t, 2> count{};
  std::array<Vector, 2> mean, squares, first, repeated;
};

namespace {

PilotMoments look(const AuditSubject& subject, std::int64_t pilot, const AuditTick& tick) {
  PilotMoments moments(subject.length);
  Vector seen(subject.length);
  for (std::int64_t i = 0; i < pilot; ++i) {
    for (const int side : {0, 1}) {
      subject.observe(side, i, seen);
      moments.add(side, seen);
      if (tick) tick();
    }
  }
  return moments;
}

/// All coordinates, the most informative first.
std::vector<std::size_t> ranked(const PilotMoments& pilot, std::size_t length) {
  Vector tells(length);
  for (std::size_t j = 0; j < length; ++j) tells[j] = pilot.tells(j);
  std::vector<std::size_t> order(length);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return tells[a] > tells[b]; });
  return order;
}

/// Exponent of the lowest bit that is set: 0 for 3, 2 for 12, -1 for 0.5.
double lowest_bit(double value) {
  if (value == 0 || !std::isfinite(value)) return 2000;
  int exponent = 0;
  const auto digits = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::abs(value), &exponent), 53));
  return exponent - 53 + std::countr_zero(digits);
}

/// The value in steps modulo 256, or -1 off the lattice; without a step, the last eight bits of the double.
double residue(double value, double step) {
  if (step <= 0) return static_cast<double>(std::bit_cast<std::uint64_t>(value) & 0xFF);
  const double steps = value / step;
  if (!(std::abs(steps) < 0x1p53)) return -2;
  const double whole = std::nearbyint(steps);
  if (std::abs(steps - whole) > 1e-3) return -1;
  return static_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(whole)) & 0xFF);
}

}  // namespace

AuditStatistics::AuditStatistics(const AuditSubject& subject, std::int64_t pilot, const AuditTick& tick)
    : step_(subject.step), names_(subject.names) {
  const PilotMoments moments = look(subject, pilot, tick);
  find_direction(subject, moments);
  const std::vector<std::size_t> order = ranked(moments, subject.length);
  for (std::size_t k = 0; k < std::min(order.size(), most_coordinates); ++k) {
    list_.push_back({Kind::coordinate, order[k]});
  }
  for (std::size_t k = 0; k < std::min(order.size(), most_with_bits); ++k) {
    list_.push_back({Kind::lowest_bit, order[k]});
    list_.push_back({Kind::residue, order[k]});
  }
  if (subject.length == 1) return;  // the others would be functions of the coordinate, and say no more than it
  for (const Kind kind : {Kind::projection, Kind::distances, Kind::sum, Kind::norm1, Kind::largest}) {
    list_.push_back({kind});
  }
}

void AuditStatistics::find_direction(const AuditSubject& subject, const PilotMoments& pilot) {
  const std::size_t length = subject.length;
  const bool known = subject.centres[0].size() == length && subject.centres[1].size() == length;
  centres_ = known ? subject.centres : pilot.mean;
  direction_.assign(length, 0);
  weights_.assign(length, 0);
  for (std::size_t j = 0; j < length; ++j) {
    const double gap = centres_[1][j] - centres_[0][j];
    if (!(pilot.variance(j) > 0)) continue;
    if (!known && std::abs(gap) < 3 * pilot.standard_error(j)) continue;
    direction_[j] = gap / pilot.variance(j);
    weights_[j] = 1 / std::sqrt(pilot.variance(j));
  }
}

double AuditStatistics::value(const Statistic& statistic, View seen) const {
  const std::size_t j = statistic.coordinate;
  switch (statistic.kind) {
    case Kind::coordinate:
      return seen[j];
    case Kind::projection:
      return dot(direction_, seen);
    case Kind::distances:
      return lane_sum(seen.size(), [&](std::size_t i) {
        return weights_[i] * (std::abs(seen[i] - centres_[0][i]) - std::abs(seen[i] - centres_[1][i]));
      });
    case Kind::sum:
      return sum(seen);
    case Kind::norm1:
      return norm1(seen);
    case Kind::largest:
      return std::accumulate(seen.begin(), seen.end(), 0.0,
                             [](double most, double x) { return std::max(most, std::abs(x)); });
    case Kind::lowest_bit:
      return lowest_bit(seen[j]);
    case Kind::residue:
      return residue(seen[j], step_);
  }
  return 0;
}

void AuditStatistics::compute(View seen, MutableView values) const {
  for (std::size_t k = 0; k < list_.size(); ++k) {
    values[k] = value(list_[k], seen);
    if (std::isnan(values[k])) values[k] = infinity;
  }
}

std::string AuditStatistics::coordinate(std::size_t j) const {
  return names_.empty() ? fmt::format("coordinate {}", j) : names_[j];
}

std::string AuditStatistics::name(std::size_t statistic) const {
  const std::size_t j = list_[statistic].coordinate;
  switch (list_[statistic].kind) {
    case Kind::coordinate:
      return coordinate(j);
    case Kind::projection:
      return "projection on the difference";
    case Kind::distances:
      return "L1 distance to side 0 less that to side 1";
    case Kind::sum:
      return "sum";
    case Kind::norm1:
      return "L1 norm";
    case Kind::largest:
      return "largest magnitude";
    case Kind::lowest_bit:
      return "exponent of the lowest bit of " + coordinate(j);
    case Kind::residue:
      return step_ > 0 ? coordinate(j) + " in steps, modulo 256," : "the last eight bits of " + coordinate(j);
  }
  return "";
}

}  // namespace starling
