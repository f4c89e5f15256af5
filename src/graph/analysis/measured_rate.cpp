#include "measured_rate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.hpp"

namespace starling {

namespace {

using Values = std::vector<double>;
constexpr double far_enough = 1e-9;
constexpr double wanted = 1e-3;

Values mixed(const Topology& topology, std::size_t phase, const Values& x) {
  Values y(x.size());
  for (std::size_t u = 0; u < x.size(); ++u) {
    const Topology::Row row = topology.row(phase, static_cast<Client>(u));
    y[u] = row.own * x[u];
    for (std::size_t k = 0; k < row.in.size(); ++k) {
      y[u] += row.in.weight(k) * x[static_cast<std::size_t>(row.in.peer(k))];
    }
  }
  return y;
}

/// Span of the ratios: largest minus least. The span never rises under push-sum.
double span(const Values& s, const Values& w) {
  double least = s[0] / w[0];
  double most = least;
  for (std::size_t u = 1; u < s.size(); ++u) {
    least = std::min(least, s[u] / w[u]);
    most = std::max(most, s[u] / w[u]);
  }
  return most - least;
}

}  // namespace

MeasuredRate measure_rate(const Topology& topology) {
  Values s;
  for (Client u = 0; u < topology.clients(); ++u) {
    s.push_back(AddressedRandom(1, Purpose::experiment, static_cast<std::uint64_t>(u), 0).uniform());
  }
  Values w(s.size(), 1);
  const double start = span(s, w);
  MeasuredRate rate;
  if (start <= 0) return {0, 1};  // one client
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    s = mixed(topology, phase, s);
    w = mixed(topology, phase, w);
    const double fallen = span(s, w) / start;
    const auto rounds = static_cast<double>(phase + 1);
    if (fallen <= wanted && !rate.rounds_to_1e_3) rate.rounds_to_1e_3 = static_cast<Round>(phase + 1);
    rate.contraction = std::pow(fallen, 1 / rounds);
    if (fallen <= far_enough) break;
  }
  if (!rate.rounds_to_1e_3 && rate.contraction < 1) {
    rate.rounds_to_1e_3 = static_cast<Round>(std::ceil(std::log(wanted) / std::log(rate.contraction)));
  }
  return rate;
}

}  // namespace starling
