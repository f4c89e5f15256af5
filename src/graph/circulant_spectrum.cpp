// Eigenvalues of graphs that are the same from every client on a circle, from their waves.
#include "spectrum.hpp"
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace starling {

namespace {

/// Whether all clients have the same arcs, counted along a circle from themselves.
bool turns(const Topology& topology, std::size_t phase) {
  const Client n = topology.clients();
  const Topology::Row first = topology.row(phase, 0);
  std::vector<Arc> expected;
  for (Client u = 1; u < n; ++u) {
    const Topology::Row row = topology.row(phase, u);
    if (row.own != first.own || row.in.size() != first.in.size()) return false;
    expected = first.in.arcs();
    for (Arc& arc : expected) arc.peer = static_cast<Client>((std::int64_t{arc.peer} + u) % n);
    std::sort(expected.begin(), expected.end(), [](const Arc& a, const Arc& b) { return a.peer < b.peer; });
    for (std::size_t k = 0; k < expected.size(); ++k) {
      if (expected[k] != Arc{row.in.peer(k), row.in.weight(k)}) return false;
    }
  }
  return true;
}

/// exp(2πi k/n), with the angle reduced in integers.
std::complex<double> root_of_unity(std::int64_t k, std::int64_t n) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n));
}

/// Eigenvalue of a round that belongs to the waves (exp(2πi mu/n))_u.
std::complex<double> eigenvalue_of_wave(const Topology::Row& first, std::int64_t m, std::int64_t n) {
  std::complex<double> sum = first.own;
  for (std::size_t k = 0; k < first.in.size(); ++k) sum += first.in.weight(k) * root_of_unity(m * first.in.peer(k), n);
  return sum;
}

}  // namespace

bool is_circulant(const Topology& topology) {
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    if (!turns(topology, phase)) return false;
  }
  return true;
}

Spectrum circulant_spectrum(const Topology& topology) {
  const std::int64_t n = topology.clients();
  std::vector<Topology::Row> firsts;
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) firsts.push_back(topology.row(phase, 0));
  Spectrum spectrum;
  spectrum.perron.assign(static_cast<std::size_t>(n), 1.0 / static_cast<double>(n));
  const auto period = static_cast<double>(topology.period());
  double slowest = -std::numeric_limits<double>::infinity();  // log of a period's modulus
  for (std::int64_t m = 1; 2 * m <= n; ++m) {                 // the other half are their conjugates
    double log = 0;
    for (std::size_t phase = 0; phase < firsts.size(); ++phase) {
      const double modulus = std::abs(eigenvalue_of_wave(firsts[phase], m, n));
      log += modulus < 1e-12 ? -std::numeric_limits<double>::infinity()
                             : std::log(modulus) * static_cast<double>(topology.phase_rounds(phase));
    }
    slowest = std::max(slowest, log);
  }
  spectrum.second = std::exp(slowest / period);
  if (std::isinf(slowest)) {
    spectrum.exact_after = 1;
    if (firsts.size() > 1) spectrum.rounds = topology.period();
  }
  return spectrum;
}

}  // namespace starling
