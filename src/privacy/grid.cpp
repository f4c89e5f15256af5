#include "starling/privacy/grid.hpp"

#include <cmath>
#include <cstdlib>

#include "starling/core/check.hpp"
#include "starling/privacy/keystream.hpp"

namespace starling {

namespace {

constexpr double unit_roundoff = 0x1p-53;
constexpr double least_margin = 0x1p-20;
constexpr double most_margin = 0.5;
constexpr double least_clip = 1e-150;
constexpr double most_clip = 1e150;
constexpr double most_count = 0x1p50;    // of records or components: far beyond what memory holds
constexpr double most_integer = 0x1p62;  // integers and noise (below 2^60) then add up within int64

/// γ_k of the proof.
double gamma(double k) {
  return k * unit_roundoff / (1 - k * unit_roundoff);
}

/// (1 + x)(1 + y) − 1 without cancellation.
double compound(double x, double y) {
  return x + y + x * y;
}

/// The margin that the proof asks for. All terms are positive and few, so this computation errs by less than a factor
/// 1 + 2^-40; the last factor more than makes up for it.
double needed_margin(double m, double d, double reach) {
  const double summation = m * gamma(m) + unit_roundoff * m * (1 + gamma(m));
  const double relative = compound(compound(8 * unit_roundoff, gamma(d + 16)), summation);
  return (relative + (d + 1) / (2 * reach)) * (1 + 0x1p-20);
}

void check_ranges(const ReleaseSettings& settings) {
  check(settings.epsilon > 0 && std::isfinite(settings.epsilon),
        "epsilon={} (the privacy loss of a release must be positive and finite) choose one, or --mechanism none",
        settings.epsilon);
  check(settings.clip >= least_clip && settings.clip <= most_clip,
        "clip={} (noise is scaled to it, so it must lie between {} and {}) choose a bound on a record's gradient",
        settings.clip, least_clip, most_clip);
  check(settings.batch >= 1 && static_cast<double>(settings.batch) <= most_count, "batch={} (must be 1 to 2^50)",
        settings.batch);
  check(settings.dimension >= 1 && static_cast<double>(settings.dimension) <= most_count,
        "dimension={} (must be 1 to 2^50)", settings.dimension);
}

}  // namespace

Grid make_grid(const ReleaseSettings& settings) {
  check_ranges(settings);
  const bool record = settings.unit == PrivacyUnit::record;
  const auto m = static_cast<double>(settings.batch);
  const double d = record ? static_cast<double>(settings.dimension) : 1;
  const double reach = std::floor(std::ldexp(settings.epsilon, laplace_scale_bits - 1));
  check(reach >= 1, "epsilon={} (below 2^-39 the sensitivity is less than one integer) choose a larger epsilon",
        settings.epsilon);
  check(m * reach < most_integer,
        "epsilon={} with batch={} (their product must stay below 2^23: sums are 64-bit integers) choose a smaller "
        "epsilon "
        "or a smaller batch",
        settings.epsilon, settings.batch);
  const double margin = std::max(least_margin, needed_margin(m, d, reach));
  check(margin <= most_margin,
        "epsilon={} with batch={} and dimension={} (rounding could move the sum by more than half the clip, so its "
        "sensitivity cannot be proved) choose a larger epsilon, a smaller batch or a smaller model",
        settings.epsilon, settings.batch, settings.dimension);
  Grid grid;
  grid.reach = static_cast<std::int64_t>(reach);
  grid.limit = grid.reach * static_cast<std::int64_t>(settings.batch);
  grid.step = settings.clip / reach;
  grid.margin = margin;
  grid.clip = {record ? ClipKind::l1 : ClipKind::component, settings.clip * (1 - margin)};
  return grid;
}

GridMechanism::GridMechanism(const ReleaseSettings& settings)
    : Mechanism(settings), grid_(make_grid(settings)), integers_(settings.dimension) {}

void GridMechanism::release(const ReleaseAddress& address, const NoiseKey& key, const Secret<Vector>& sum,
                            Released<Vector>& noisy_mean) {
  round_to_grid(address, open(sum));
  add_noise(address, key, integers_);
  const double batch = static_cast<double>(settings_.batch);
  noisy_mean.update([&](Vector& mean) {
    mean.resize(integers_.size());
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] = static_cast<double>(integers_[j]) * grid_.step / batch;
  });
}

void GridMechanism::round_to_grid(const ReleaseAddress& address, View sum) {
  check_sum(address, sum);
  for (std::size_t j = 0; j < sum.size(); ++j) {
    const double steps = sum[j] / grid_.step;
    // Beyond the limit by far is beyond the limit: keep the conversion to int64 defined.
    integers_[j] = std::llround(std::min(std::max(steps, -most_integer), most_integer));
  }
  check_limit(address);
}

void GridMechanism::check_limit(const ReleaseAddress& address) const {
  const bool record = settings_.unit == PrivacyUnit::record;
  std::int64_t used = 0;  // no overflow: at most limit < 2^62 before, and at most 2^62 is added
  bool within = true;
  for (const std::int64_t q : integers_) {
    used = record ? used + std::abs(q) : std::abs(q);
    if (used > grid_.limit) {
      within = false;
      break;
    }
  }
  check<DataError>(
      within,
      "the gradient sum of client {} in round {} exceeds what {} clipped records can reach (its sensitivity "
      "would not hold) check that gradients are clipped as the mechanism asks and that no batch is larger",
      address.client, address.round, settings_.batch);
}

}  // namespace starling
