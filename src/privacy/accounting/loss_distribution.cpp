#include "loss_distribution.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "fourier.hpp"

namespace starling {

namespace {

using Real = long double;
using Complex = std::complex<double>;

constexpr Real most_composed = 1e9L;
constexpr std::size_t fewest_points = std::size_t{1} << 12;
constexpr std::size_t most_points = std::size_t{1} << 20;
constexpr std::size_t most_points_of_many = std::size_t{1} << 18;  // from many_classes on
constexpr std::size_t many_classes = 16;
/// The relative error that the lattice may add to ε, if there are points enough: 3e-6 of one class, 1.3e-4 of 128.
Real tolerance(const Losses& losses) {
  return 1e-6L * static_cast<Real>(losses.classes.size() + 2);
}
constexpr double unit = 0x1.0p-53;
constexpr double turn = 2 * std::numbers::pi;

/// The part of the losses' range that is kept, under the tilt all but about e^-32 of them, and θ of the upper bound.
struct Window {
  Real bottom = 0;
  Real top = 0;
  Real theta = 1;
};

Window window_of(const Losses& losses, Real lambda) {
  constexpr Real negligible = 32;  // −ln of what is left out
  const Real moment = losses.log_moment(lambda);
  Window window{-1e300L, 1e300L, 1};
  Real theta = 1e-9L;
  for (int step = 0; step < 217; ++step, theta *= 1.25L) {  // up to 10^12
    const Real top = (losses.log_moment(lambda + theta) - moment + negligible) / theta;
    if (top < window.top) {
      window.top = top;
      window.theta = theta;
    }
    window.bottom = std::max(window.bottom, (moment - losses.log_moment(lambda - theta) - negligible) / theta);
  }
  return window;
}

/// A width that suits the most frequent class, whose extreme losses are ± its size, if that costs little.
double aligned(const Losses& losses, Real width) {
  const LossClass* frequent = nullptr;
  for (const LossClass& one : losses.classes) {
    if (one.kind != LossKind::gaussian && (frequent == nullptr || one.count > frequent->count)) frequent = &one;
  }
  if (frequent == nullptr || static_cast<Real>(frequent->size) < width) return static_cast<double>(width);
  return static_cast<double>(static_cast<Real>(frequent->size) / std::ceil(static_cast<Real>(frequent->size) / width));
}

/// Splitting a loss adds at most h²/4 to its variance, and so α h²/8 to ε.
Lattice lattice_for(const Losses& losses, const Window& window, Real lambda, double epsilon, double delta) {
  Real splits = 0;
  for (const LossClass& one : losses.classes) splits += one.count;
  const Real wanted = std::sqrt(8 * tolerance(losses) * static_cast<Real>(epsilon) / ((lambda + 1) * splits));
  const Real range = window.top - window.bottom;
  const std::size_t most = losses.classes.size() < many_classes ? most_points : most_points_of_many;
  const Real points = std::clamp(range / wanted * 1.3L, static_cast<Real>(fewest_points), static_cast<Real>(most));
  Lattice lattice{.points = std::min(most, std::bit_ceil(static_cast<std::size_t>(points))),
                  .lambda = lambda,
                  .theta = window.theta,
                  .negligible = delta * 1e-9};
  const Real least = range / static_cast<Real>(lattice.points - 4);
  lattice.width = aligned(losses, least * 1.3L);
  if (static_cast<Real>(lattice.width) < least) lattice.width = static_cast<double>(least * (1 + 1e-12L));
  return lattice;
}

/// Transform of the sum's masses, with a bound on its error, for frequencies up to N/2.
class Product {
 public:
  explicit Product(const Fourier& fourier)
      : fourier_(fourier),
        half_(fourier.size() / 2 + 1),
        log_size_(half_, 0.0),
        phase_(half_, 0.0),
        log_bound_(half_, 0.0),
        relative_(half_, 0.0) {}

  /// One more class: `count` releases.
  void multiply(const std::vector<double>& masses, double count) {
    buffer_.assign(masses.begin(), masses.end());
    fourier_.transform(buffer_);
    const double eta = fourier_.error() * (1 + 1e-9);
    for (std::size_t k = 0; k < half_; ++k) {
      if (log_bound_[k] < negligible_) {  // so small that further factors, below 1 + η, need not be known
        relative_[k] = std::max(relative_[k], 4.0);
        continue;
      }
      const double size = std::abs(buffer_[k]);
      const double bound = size + eta;
      const double log_size = std::log(size);  // −∞ at 0, which makes the product 0
      log_size_[k] += count * log_size;
      const double phase = phase_[k] + count * std::arg(buffer_[k]);
      phase_[k] = phase - turn * std::nearbyint(phase / turn);
      const double log_bound = std::log(bound);
      log_bound_[k] += count * log_bound;
      // Beside η: the angle (2 u of at most π), its multiple, whole turns (u of as much each); logarithms likewise.
      relative_[k] += count * (eta / bound + unit * (32 + 16 * std::abs(log_bound)));
    }
    ++classes_;
  }

  struct Masses {
    std::vector<double> values;
    double error = 0;  ///< none is too small by more
  };

  /// Back to masses.
  [[nodiscard]] Masses masses() {
    const std::size_t size = fourier_.size();
    double errors = 0;
    double total = 0;
    buffer_.resize(size);
    for (std::size_t k = 0; k < half_; ++k) {
      // conj(F) at k: the forward transform then takes the place of the inverse.
      const Complex value = std::polar(std::exp(log_size_[k]), -phase_[k]);
      const double both = k == 0 || k == size / 2 ? 1 : 2;
      const double rounding = relative_[k] + 64 * unit * classes_ * (1 + std::abs(log_bound_[k]));
      errors += both * std::exp(log_bound_[k]) * rounding;
      total += both * std::abs(value);
      buffer_[k] = value;
      if (both == 2) buffer_[size - k] = std::conj(value);
    }
    fourier_.transform(buffer_);
    const auto count = static_cast<double>(size);
    Masses result{std::vector<double>(size), 1.01 * (errors + fourier_.error() * total) / count};
    for (std::size_t i = 0; i < size; ++i) result.values[i] = std::max(0.0, buffer_[i].real() / count);
    return result;
  }

 private:
  static constexpr double negligible_ = -100;

  const Fourier& fourier_;
  std::size_t half_;
  std::vector<double> log_size_;
  std::vector<double> phase_;
  std::vector<double> log_bound_;
  std::vector<double> relative_;
  std::vector<Complex> buffer_;
  double classes_ = 0;
};

/// The sum of all losses, tilted, in the window from `bottom` on.
struct Sum {
  Product::Masses masses;
  Real log_moment = 0;
  Real log_further = 0;
  Real largest = 0;  ///< index of the largest sum
  Real infinite = 0;
  Real releases = 0;
  Real rounding = 0;  ///< of all losses together
};

Sum sum_of(const Losses& losses, const Lattice& lattice) {
  const Fourier fourier(lattice.points);
  Product product(fourier);
  Sum sum;
  for (const LossClass& one : losses.classes) {
    const LatticeLoss loss = on_lattice(one, lattice);
    product.multiply(loss.masses, static_cast<double>(one.count));
    sum.log_moment += one.count * loss.log_moment;
    sum.log_further += one.count * loss.log_further;
    sum.largest += one.count * static_cast<Real>(loss.largest);
    sum.infinite += one.count * static_cast<Real>(loss.infinite);
    sum.releases += one.count;
    sum.rounding += one.count * static_cast<Real>(loss_error) * (std::abs(static_cast<Real>(loss.largest)) + 1) *
                    static_cast<Real>(lattice.width);
  }
  sum.masses = product.masses();
  return sum;
}

/// Goes down from the top of the window until δ is reached. With P_s the masses, D_i = Σ_(s>i) P_s (1 − e^(−(s−i)h)) is
/// δ at ε = ih, B_i = Σ_(s>i) P_s e^(−(s−i)h), and D_(i−1) = D_i + (1 − e^(−h)) (B_i + P_i): no term is negative.
/// Masses are relative to e^(−λ·reference)·M(λ) = δ, so that δ is reached at 1.
Real epsilon_of(const Sum& sum, const Lattice& lattice, Real bottom, double delta) {
  const Real width = static_cast<Real>(lattice.width);
  const Real log_delta = std::log(static_cast<Real>(delta));
  const Real reference = (sum.log_moment - log_delta) / lattice.lambda;
  const auto first = static_cast<long long>(std::floor(bottom / width));
  const long long end = first + static_cast<long long>(lattice.points);  // the first point above the window
  const Real top = static_cast<Real>(end) * width;
  const Real log_tail = sum.log_further - (lattice.lambda + lattice.theta) * top - log_delta;
  Real reached = sum.largest < static_cast<Real>(end) ? 0 : std::exp(log_tail);
  reached += sum.infinite / static_cast<Real>(delta) + 1e-200L;
  const Real target = std::exp(-sum.releases * (static_cast<Real>(mass_error) + 0x1.0p-41L)) * (1 - 1e-9L);
  if (!(reached < target))
    return std::numeric_limits<Real>::infinity();  // the window lies wrong: the caller has other figures
  const Real drop = -std::expm1(-width);
  Real beyond = 0;  // B
  for (long long i = end - 1; i >= std::max(first, 0LL); --i) {
    const double tilted = sum.masses.values[static_cast<std::size_t>(i) & (lattice.points - 1)] + sum.masses.error;
    const Real here =
        beyond + static_cast<Real>(tilted) * std::exp(-lattice.lambda * (static_cast<Real>(i) * width - reference));
    const Real next = reached + drop * here;  // at i − 1
    if (next > target) return static_cast<Real>(i) * width + std::log1p(-(target - reached) / here);
    reached = next;
    beyond = std::exp(-width) * here;
  }
  return std::max(Real{0}, static_cast<Real>(std::max(first, 0LL) - 1) * width);
}

}  // namespace

std::optional<double> distribution_epsilon(const Losses& losses, double delta, long double lambda, double epsilon) {
  if (losses.releases > most_composed || losses.classes.empty()) return std::nullopt;
  const Real tilt = std::clamp(lambda, Real{0.01L}, std::max(Real{1}, 1e4L / static_cast<Real>(epsilon)));
  const Window window = window_of(losses, tilt);
  const Lattice lattice = lattice_for(losses, window, tilt, epsilon, delta);
  const Sum sum = sum_of(losses, lattice);
  const Real found = epsilon_of(sum, lattice, window.bottom - static_cast<Real>(lattice.width), delta);
  if (!std::isfinite(found)) return std::nullopt;
  return static_cast<double>((std::max(Real{0}, found) + sum.rounding) * (1 + 1e-14L));
}

}  // namespace starling
