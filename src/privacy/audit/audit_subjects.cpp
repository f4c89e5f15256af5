#include "privacy/audit/audit_subjects.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/noise/unscaled.hpp"

namespace starling {

namespace {

constexpr double beyond = 4;  ///< how far, in clips, the raw gradients of the records that differ reach

double clip_of(const Protection& mechanism) {
  const double clip = mechanism.settings().clip;
  return std::isfinite(clip) ? clip : 1;
}

/// The pair in which one record is `gradient` or its negative, and the m − 1 others are `rest`.
NeighbouringSums replaced(const Protection& mechanism, const std::string& name, const Vector& gradient,
                          const Vector& rest) {
  NeighbouringSums pair{name, {}};
  Vector others = clipped(rest, mechanism.clip());
  scale(static_cast<double>(mechanism.settings().batch - 1), others);
  for (const std::size_t side : {0U, 1U}) {
    Vector record = gradient;
    if (side == 1) scale(-1, record);
    pair.sums[side] = clipped(std::move(record), mechanism.clip());
    axpy(1, others, pair.sums[side]);
  }
  return pair;
}

/// The dissertation's neighbours: one component of the mean is ½ or −½.
NeighbouringSums mean_component(const Protection& mechanism) {
  const auto m = static_cast<double>(mechanism.settings().batch);
  NeighbouringSums pair{"one component of the mean gradient at 0.5 or at -0.5", {}};
  for (const std::size_t side : {0U, 1U}) {
    pair.sums[side].assign(mechanism.settings().dimension, 0.0);
    pair.sums[side][0] = side == 0 ? m / 2 : -m / 2;
  }
  return pair;
}

/// The lattice step of released sums; 0 where they lie on no lattice.
double lattice_step(const Mechanism& mechanism, double price) {
  if (const auto* l1 = dynamic_cast<const GridMechanism<Norm::l1>*>(&mechanism)) return l1->step(price);
  if (const auto* l2 = dynamic_cast<const GridMechanism<Norm::l2>*>(&mechanism)) return l2->step(price);
  return 0;
}

Vector along(const Protection& mechanism, std::size_t coordinate) {
  Vector gradient(mechanism.settings().dimension, 0.0);
  gradient[coordinate] = beyond * clip_of(mechanism);
  return gradient;
}

}  // namespace

AuditKeys random_audit_keys() {
  return [](int, std::int64_t) { return NoiseKey::random(); };
}

AuditKeys seed_audit_keys(std::uint64_t seed) {
  return [seed](int, std::int64_t) { return NoiseKey::from_seed(seed, 0); };
}

Vector clipped(Vector gradient, const Clip& clip) {
  if (clip.kind == ClipKind::none) return gradient;
  if (clip.kind == ClipKind::component) {
    for (double& entry : gradient) entry = std::clamp(entry, -clip.bound, clip.bound);
    return gradient;
  }
  const double norm = clip.kind == ClipKind::l1 ? norm1(gradient) : norm2(gradient);
  if (norm > clip.bound) scale(clip.bound / norm, gradient);
  return gradient;
}

std::vector<NeighbouringSums> neighbouring_sums(const Protection& mechanism) {
  const std::size_t d = mechanism.settings().dimension;
  const Vector zero(d, 0.0);
  if (dynamic_cast<const Unscaled*>(&mechanism) != nullptr) return {mean_component(mechanism)};
  std::vector<NeighbouringSums> pairs;
  pairs.push_back(replaced(mechanism, "one record at +C or at -C in coordinate 0", along(mechanism, 0), zero));
  if (mechanism.settings().batch > 1) {
    const Vector last = along(mechanism, d - 1);
    pairs.push_back(replaced(
        mechanism, fmt::format("one record at +C or at -C in coordinate {}, the others at +C", d - 1), last, last));
  }
  if (d > 1 && mechanism.unit() == PrivacyUnit::record) {
    Vector spread(d);
    for (std::size_t j = 0; j < d; ++j) spread[j] = (j % 2 == 0 ? beyond : -beyond) * clip_of(mechanism);
    pairs.push_back(replaced(mechanism, "one record at +C or at -C, spread over all coordinates", spread, zero));
  }
  return pairs;
}

AuditSubject release_subject(Mechanism& mechanism, double price, const NeighbouringSums& pair, const AuditKeys& keys) {
  const ReleaseSettings& settings = mechanism.settings();
  const auto m = static_cast<double>(settings.batch);
  auto* unscaled = dynamic_cast<Unscaled*>(&mechanism);
  AuditSubject subject;
  subject.name = pair.name;
  subject.length = settings.dimension;
  subject.step = lattice_step(mechanism, price) / m;
  if (unscaled == nullptr) {
    subject.centres = pair.sums;
    for (Vector& centre : subject.centres) scale(1 / m, centre);
  }
  const std::array<Secret<Vector>, 2> sums{Secret<Vector>(pair.sums[0]), Secret<Vector>(pair.sums[1])};
  auto noisy = std::make_shared<Released<Vector>>(declare_public(Vector(settings.dimension)));
  subject.observe = [&mechanism, unscaled, price, sums, noisy, keys](int side, std::int64_t sample, MutableView seen) {
    const Secret<Vector>& sum = sums[static_cast<std::size_t>(side)];
    const NoiseKey key = keys(side, sample);
    if (unscaled != nullptr) {
      unscaled->release_unscaled({ReleasePath::by_itself, 0, 0, 0}, price, key, sum, *noisy);
    } else {
      mechanism.release({ReleasePath::by_itself, 0, 0, 0}, price, key, sum, *noisy);
    }
    std::copy(noisy->value().begin(), noisy->value().end(), seen.begin());
  };
  return subject;
}

AuditSubject masked_subject(MaskedGaussian& mechanism, double price, const NeighbouringSums& pair,
                            const AuditKeys& keys) {
  const auto clients = static_cast<std::size_t>(mechanism.clients());
  const std::string& run_id = mechanism.settings().run_id;
  std::vector<MaskKey> secret;
  std::vector<MaskKey::Bytes> shown;
  for (std::size_t u = 0; u < clients; ++u) {
    secret.push_back(MaskKey::random());
    shown.push_back(secret.back().public_key());
  }
  const auto maskers = std::make_shared<std::vector<Masker>>();
  for (std::size_t u = 0; u < clients; ++u) maskers->emplace_back(secret[u], static_cast<Client>(u), shown, run_id);
  AuditSubject subject;
  subject.name = pair.name;
  subject.length = mechanism.settings().dimension;
  subject.step = mechanism.step(price);
  subject.centres = pair.sums;
  for (Vector& centre : subject.centres) axpy(static_cast<double>(clients - 1), pair.sums[0], centre);
  const std::array<Secret<Vector>, 2> sums{Secret<Vector>(pair.sums[0]), Secret<Vector>(pair.sums[1])};
  subject.observe = [&mechanism, price, sums, maskers, keys](int side, std::int64_t sample, MutableView seen) {
    const NoiseKey key = keys(side, sample);  // of each client with its number: the noise differs
    std::vector<std::uint64_t> total(seen.size());
    for (std::size_t u = 0; u < maskers->size(); ++u) {
      const Masked share = mechanism.contribute({ReleasePath::by_itself, static_cast<Client>(u), sample, 0}, price, key,
                                                (*maskers)[u], sums[u == 0 ? static_cast<std::size_t>(side) : 0]);
      for (std::size_t j = 0; j < total.size(); ++j) total[j] += share.words()[j];
    }
    const Released<Vector> opened = mechanism.open(price, total);
    std::copy(opened.value().begin(), opened.value().end(), seen.begin());
  };
  return subject;
}

}  // namespace starling
