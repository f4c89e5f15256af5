#include "privacy/noise/grid.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace starling {

namespace {

constexpr double unit_roundoff = 0x1p-53;
constexpr double least_margin = 0x1p-20;
constexpr double most_margin = 0.5;
constexpr double least_clip = 1e-100;
constexpr double most_clip = 1e100;
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

/// The margin that the proof asks for; `rounding` is D, `factor` F. All terms are positive and few, so this computation
/// errs by less than a factor 1 + 2^-40; the last factor more than makes up for it.
double needed_margin(double m, double d, double rounding, double reach, double factor) {
  const double making = factor < 2 ? 2 * gamma(16) + 2 * unit_roundoff * m * (1 + gamma(m)) : 0;
  const double summation = (making + 2 * m * gamma(m) + 2 * unit_roundoff * m * (1 + gamma(m))) / factor;
  const double relative = compound(compound(8 * unit_roundoff, gamma(d + 16)), summation);
  return (relative + (rounding + 1) / (factor * reach)) * (1 + 0x1p-20);
}

const char* price_name(Norm norm) {
  return norm == Norm::l1 ? "epsilon" : "mu";
}

void check_ranges(const ReleaseSettings& settings, Norm norm) {
  for (const double price : {settings.price.least, settings.price.most}) {
    check(price > 0 && std::isfinite(price),
          "{}={}: the privacy loss of a release must be positive and finite. Choose one, or --mechanism none.",
          price_name(norm), price);
  }
  check(settings.clip >= least_clip && settings.clip <= most_clip,
        "clip={}: noise is scaled to it, so it must lie between {} and {}. Choose a bound on a record's gradient.",
        settings.clip, least_clip, most_clip);
  check(settings.batch >= 1 && static_cast<double>(settings.batch) <= most_count, "batch={}: must be 1 to 2^50.",
        settings.batch);
  check(settings.dimension >= 1 && static_cast<double>(settings.dimension) <= most_count,
        "dimension={}: must be 1 to 2^50.", settings.dimension);
  check(!settings.correlation || norm == Norm::l2,
        "correlated noise is Gaussian. Use --mechanism gaussian, or --noise-correlation none.");
  check(!settings.pairs || norm == Norm::l2,
        "noise between pairs is Gaussian. Use --mechanism gaussian, or --trust local.");
  check(settings.replacement == 2 || (norm == Norm::l2 && is_whole(settings.unit) &&
                                      settings.replacement >= std::sqrt(2.0) && settings.replacement < 2),
        "a replaced record that moves the sum by {} clips: in L1, and by component, 2 is proved; in L2 the square root "
        "of 2 or more. Use Gaussian noise.",
        settings.replacement);
}

__extension__ using Wide = unsigned __int128;

std::uint64_t magnitude(std::int64_t q) {
  return static_cast<std::uint64_t>(std::abs(q));
}

// The following take integers of at most 2^62 in magnitude, and a limit below that.

bool all_within(std::span<const std::int64_t> integers, std::uint64_t limit) {
  std::uint64_t most = 0;
  for (const std::int64_t q : integers) most = std::max(most, magnitude(q));
  return most <= limit;
}

bool sum_within(std::span<const std::int64_t> integers, std::uint64_t limit) {
  std::uint64_t sum = 0;
  for (const std::int64_t q : integers) {
    sum += magnitude(q);  // below 2^63
    if (sum > limit) return false;
  }
  return true;
}

bool squares_within(std::span<const std::int64_t> integers, std::uint64_t limit) {
  const Wide most = static_cast<Wide>(limit) * limit;
  Wide sum = 0;
  for (const std::int64_t q : integers) {
    sum += static_cast<Wide>(magnitude(q)) * magnitude(q);  // at most 2^125
    if (sum > most) return false;
  }
  return true;
}

ClipKind clip_kind(Norm norm, PrivacyUnit unit) {
  if (unit == PrivacyUnit::component) return ClipKind::component;
  return norm == Norm::l1 ? ClipKind::l1 : ClipKind::l2;
}

}  // namespace

Grid make_grid(const ReleaseSettings& settings, Norm norm, std::int64_t least, std::int64_t most) {
  check_ranges(settings, norm);
  const auto m = static_cast<double>(settings.batch);
  const double d = is_whole(settings.unit) ? static_cast<double>(settings.dimension) : 1;
  check(least >= 1, "epsilon={}: below 2^-39 the sensitivity is less than one integer. Choose a larger epsilon.",
        settings.price.least);
  check(m * static_cast<double>(most) < most_integer,
        "{}={} with batch={}: the sum of so many records does not fit into 64-bit integers. Choose a smaller batch{}.",
        price_name(norm), settings.price.most, settings.batch, norm == Norm::l1 ? " or a smaller epsilon" : "");
  const double margin = std::max(least_margin, needed_margin(m, d, norm == Norm::l1 ? d : std::sqrt(d),
                                                             static_cast<double>(least), settings.replacement));
  check(margin <= most_margin,
        "{}={} with batch={} and dimension={}: rounding could move the sum by more than half the clip, so its "
        "sensitivity cannot be proved. Choose a larger {}, a smaller batch or a smaller model.",
        price_name(norm), settings.price.least, settings.batch, settings.dimension, price_name(norm));
  return {margin, {clip_kind(norm, settings.unit), settings.clip * (1 - margin)}};
}

template <Norm norm>
GridRounding<norm>::GridRounding(const ReleaseSettings& settings, std::int64_t (*reach_of)(double))
    : reach_(reach_of),
      grid_(make_grid(settings, norm, reach_of(settings.price.least), reach_of(settings.price.most))),
      clip_(settings.clip),
      replacement_(settings.replacement),
      batch_(settings.batch),
      unit_(settings.unit),
      steps_(settings.dimension),
      integers_(settings.dimension) {}

template <Norm norm>
Bound<norm> GridRounding<norm>::sensitivity(double price) const {
  const double twice = 2 * static_cast<double>(reach(price));
  if (replacement_ == 2) return {twice};
  // `replacement` may be √2 rounded down.
  return {std::nextafter(std::nextafter(replacement_, 2.0) * static_cast<double>(reach(price)), twice)};
}

template <Norm norm>
std::string GridRounding<norm>::clipping() const {
  if (unit_ == PrivacyUnit::component) {
    return fmt::format("Each component of a record's gradient is clipped to [-{0:g}, {0:g}]", clip_);
  }
  return fmt::format("Each {}'s gradient is clipped to an {} norm of {:g}", summand_of(unit_),
                     norm == Norm::l1 ? "L1" : "L2", clip_);
}

template <Norm norm>
std::span<std::int64_t> GridRounding<norm>::round(const ReleaseAddress& address, double price, View sum) {
  const double size = step(price);
  for (std::size_t j = 0; j < sum.size(); ++j) {
    // Beyond the limit by far is beyond the limit: keep the conversion to int64 defined.
    steps_[j] = std::rint(std::min(std::max(sum[j] / size, -most_integer), most_integer));
  }
  // A loop of its own: the one above is done several at a time.
  for (std::size_t j = 0; j < sum.size(); ++j) integers_[j] = static_cast<std::int64_t>(steps_[j]);
  check<DataError>(
      within(reach(price) * static_cast<std::int64_t>(batch_)),
      "the gradient sum of client {} in round {} exceeds what {} clipped records can reach: its sensitivity would not "
      "hold. Check that gradients are clipped as the mechanism asks and that no batch is larger.",
      address.client, address.round, batch_);
  return integers_;
}

/// Whether ‖q‖ (every |q_j| under unit component) is at most `limit` < 2^62.
template <Norm norm>
bool GridRounding<norm>::within(std::int64_t limit) const {
  const auto most = static_cast<std::uint64_t>(limit);
  if (unit_ == PrivacyUnit::component) return all_within(integers_, most);
  return norm == Norm::l1 ? sum_within(integers_, most) : squares_within(integers_, most);
}

template class GridRounding<Norm::l1>;
template class GridRounding<Norm::l2>;

template <Norm norm>
GridMechanism<norm>::GridMechanism(const ReleaseSettings& settings, std::int64_t (*reach_of)(double))
    : Mechanism(settings), rounding_(settings, reach_of) {}

template <Norm norm>
void GridMechanism<norm>::release(const ReleaseAddress& address, double price, const NoiseKey& key,
                                  const Secret<Vector>& sum, Released<Vector>& noisy_mean) {
  check_price(price);
  check_sum(address, open(sum));
  const std::span<std::int64_t> integers = rounding_.round(address, price, open(sum));
  add_noise(address, price, key, integers);
  const double size = step(price) / static_cast<double>(settings_.batch);
  noisy_mean.update([&](Vector& mean) {
    mean.resize(integers.size());
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] = static_cast<double>(integers[j]) * size;
  });
}

template <Norm norm>
Keystream& GridMechanism<norm>::noise_words(std::string_view mechanism, double scale, const ReleaseAddress& address,
                                            double price, const NoiseKey& key, std::span<const std::int64_t> integers) {
  words_.restart(release_stream(keys_, key, this->settings_.run_id, address, mechanism, scale, step(price), integers));
  return words_;
}

template class GridMechanism<Norm::l1>;
template class GridMechanism<Norm::l2>;

std::int64_t laplace_reach(double epsilon) {
  // Beyond 2^62 the sums do not fit either, and make_grid says so.
  if (!(epsilon > 0)) return 0;
  constexpr double half_scale = static_cast<double>(std::int64_t{1} << (laplace_scale_bits - 1));
  return static_cast<std::int64_t>(std::floor(std::min(epsilon * half_scale, most_integer)));
}

std::int64_t gaussian_reach(double /*mu*/) {
  return std::int64_t{1} << 40;
}

double laplace_epsilon(Bound<Norm::l1> sensitivity) {
  return std::ldexp(sensitivity.value, -laplace_scale_bits);
}

double gaussian_sigma(Bound<Norm::l2> sensitivity, double mu) {
  return std::nextafter(sensitivity.value / mu, std::numeric_limits<double>::infinity());
}

}  // namespace starling
