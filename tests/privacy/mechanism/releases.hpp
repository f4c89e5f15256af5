/// Releases of mechanisms in tests.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "privacy/audit/numbered_keys.hpp"
#include "privacy/histograms/noisy_counts.hpp"

namespace starling::testing_support {

/// The noisy mean that a mechanism releases.
inline Vector released(Mechanism& mechanism, const ReleaseAddress& address, double price, const Vector& sum,
                       const NoiseKey& key = NoiseKey::from_seed(1, 1)) {
  Released<Vector> mean(declare_public(Vector()));
  mechanism.release(address, price, key, Secret<Vector>(sum), mean);
  return mean.value();
}

/// The noisy counts of a histogram.
inline Vector released(NoisyCounts& histogram, const Counts& counts, const NoiseKey& key, Client client = 0) {
  Released<Vector> noisy(declare_public(Vector()));
  histogram.release({ReleasePath::by_itself, client}, "test", key, Secret<Counts>(counts), noisy);
  return noisy.value();
}

/// A histogram as an observer of all its counts sees it; each side has counts of its own.
inline AuditSubject histogram_subject(NoisyCounts& histogram, const std::string& name,
                                      const std::array<Counts, 2>& counts) {
  AuditSubject subject;
  subject.name = name;
  subject.length = histogram.length();
  for (std::size_t side = 0; side < 2; ++side) subject.centres[side].assign(counts[side].begin(), counts[side].end());
  subject.observe = [&histogram, counts](int side, std::int64_t sample, MutableView seen) {
    const NoiseKey key = numbered_audit_keys(5)(side, sample);
    std::ranges::copy(released(histogram, counts[static_cast<std::size_t>(side)], key), seen.begin());
  };
  return subject;
}

}  // namespace starling::testing_support
