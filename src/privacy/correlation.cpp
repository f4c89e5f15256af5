#include "privacy/correlation.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <system_error>

#include "core/check.hpp"
#include "correlation_weights.hpp"

namespace starling {

namespace {

constexpr std::size_t buffers = NoiseCorrelation::buffers;
constexpr std::int64_t most_uses = std::int64_t{1} << 30;
constexpr Round most_rounds_between_uses = Round{1} << 40;

/// The figures below are sums of products of numbers that are not negative. With roundings by factors within 1 ± u,
/// u = 2^-64, a coefficient c_t errs by a factor within (1 ± u)^{5t}, and the mean of t over a sum's terms is at most
/// 64/P, as terms fall by λ_2 <= 1 − P and the sums stop at 2^-50.
using Precise = long double;
static_assert(std::numeric_limits<Precise>::digits >= 64);

/// A factor that outweighs all roundings, and the ends of sums that are left out.
double inflation(double gap) {
  return 1 + 0x1p-40 + 0x1p-54 / gap;
}

double just_above(Precise value) {
  return std::nextafter(static_cast<double>(value), std::numeric_limits<double>::infinity());
}

/// ω and θ as real numbers, in the search not yet rounded.
struct RealWeights {
  std::array<Precise, buffers> omega;
  std::array<Precise, buffers> theta;
  [[nodiscard]] Precise gap() const {
    return (1 - theta[0]) * (1 - theta[1]) - omega[0] * (1 - theta[1]) - omega[1] * (1 - theta[0]);
  }
};

RealWeights real_weights(const NoiseCorrelation& correlation) {
  return {{correlation.omega[0], correlation.omega[1]}, {correlation.theta[0], correlation.theta[1]}};
}

/// A 2 × 2 matrix of numbers that are not negative.
using Square = std::array<Precise, 4>;
using Pair = std::array<Precise, 2>;

Square product(const Square& a, const Square& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
}

Square transposed(const Square& a) {
  return {a[0], a[2], a[1], a[3]};
}

Pair product(const Square& a, const Pair& v) {
  return {a[0] * v[0] + a[1] * v[1], a[2] * v[0] + a[3] * v[1]};
}

/// A: the buffers' response to an impulse is A^{t−1} (1, 1) in round t >= 1, and c_t = ω · A^{t−1} (1, 1).
Square step_of(const RealWeights& weights) {
  return {weights.theta[0] + weights.omega[0], weights.omega[1], weights.omega[0], weights.theta[1] + weights.omega[1]};
}

Square power(Square base, std::uint64_t exponent) {
  Square result{1, 0, 0, 1};
  for (; exponent != 0; exponent /= 2) {
    if (exponent % 2 != 0) result = product(result, base);
    base = product(base, base);
  }
  return result;
}

/// Σ_n (Aᵀ)^n ω ωᵀ A^n, by doubling the number of terms. 2^47 of them: what is left out is less than a share of
/// (1 − 2^-40)^(2^48), as P >= 2^-40.
Square gram(const RealWeights& weights) {
  const Pair& w = weights.omega;
  Square sum{w[0] * w[0], w[0] * w[1], w[1] * w[0], w[1] * w[1]};
  Square base = step_of(weights);
  for (int doubling = 0; doubling < 47; ++doubling) {
    const Square more = product(transposed(base), product(sum, base));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
    base = product(base, base);
  }
  return sum;
}

/// g(0) + 2 Σ_{0<h<k} (1 − h/k) g(hb). What is left out of a long sum is at most 2 g(hb)/P < 2^-49.
Precise column_square(const RealWeights& weights, std::int64_t uses, Round apart) {
  const Square sums = gram(weights);
  const Pair of_impulse{sums[0] + sums[1], sums[2] + sums[3]};
  Precise total = 1 + of_impulse[0] + of_impulse[1];
  if (uses == 1) return total;
  const Precise negligible = weights.gap() * 0x1p-50L;
  const Square between = power(step_of(weights), static_cast<std::uint64_t>(apart));
  Pair response = product(power(step_of(weights), static_cast<std::uint64_t>(apart - 1)), Pair{1, 1});
  for (std::int64_t h = 1; h < uses; ++h) {
    const Pair later = product(step_of(weights), response);
    const Precise common = weights.omega[0] * response[0] + weights.omega[1] * response[1] + of_impulse[0] * later[0] +
                           of_impulse[1] * later[1];
    total += 2 * common * static_cast<Precise>(uses - h) / static_cast<Precise>(uses);
    if (common < negligible) break;
    response = product(between, response);
  }
  return total;
}

/// Σ_{i<T} (1 − i/T) r^i, 0 <= r <= 1 − 2^-20: to a relative 2^-30 or better.
double weighted_sum(double short_of_one, double rounds) {
  if (short_of_one == 0) return (rounds + 1) / 2;
  const double ratio = 1 - short_of_one;
  const double last = ratio == 0 ? 1 : -std::expm1(rounds * std::log1p(-short_of_one));
  return (1 - ratio * last / (rounds * short_of_one)) / short_of_one;
}

/// The mean over T rounds of ‖row t of (prefix sums) C⁻¹‖² = Σ_{i<=t} h_i², h_i = 1 − W(1) + Σ_j ω_j/(1 − θ_j) θ_j^i.
double prefix_square(const RealWeights& weights, Round rounds) {
  const auto count = static_cast<double>(rounds);
  std::array<double, buffers + 1> share{1};
  std::array<double, buffers + 1> ratio{1};
  for (std::size_t j = 0; j < buffers; ++j) {
    share[j + 1] = static_cast<double>(weights.omega[j] / (1 - weights.theta[j]));
    ratio[j + 1] = static_cast<double>(weights.theta[j]);
    share[0] -= share[j + 1];
  }
  double total = 0;
  for (std::size_t i = 0; i < share.size(); ++i) {
    for (std::size_t j = 0; j < share.size(); ++j) {
      total += share[i] * share[j] * weighted_sum(1 - ratio[i] * ratio[j], count);
    }
  }
  return total;
}

// The search.

/// Logits of θ_1, θ_2, W(1), and the share of ω_1/(1 − θ_1) in W(1): every point stands for a correlation.
using Point = std::array<double, 4>;

RealWeights weights_at(const Point& point) {
  // No nearer to 0 and 1 than this, so that there are weights >= 2^-20 for each θ.
  const auto between = [](double logit) { return 0x1p-16L + (1 - 0x1p-15L) / (1 + std::exp(Precise{-logit})); };
  RealWeights weights{{}, {between(point[0]), between(point[1])}};
  const Precise sum = between(point[2]);
  const Precise share = between(point[3]);
  weights.omega = {sum * share * (1 - weights.theta[0]), sum * (1 - share) * (1 - weights.theta[1])};
  return weights;
}

/// Nelder and Mead's simplex search (1965) with its usual coefficients 1, 2, ½, ½.
template <class Objective>
class SimplexSearch {
 public:
  SimplexSearch(const Objective& objective, const Point& start) : objective_(objective) {
    for (std::size_t i = 0; i < corners_.size(); ++i) {
      Point corner = start;
      if (i > 0) corner[i - 1] += 0.5;
      corners_[i] = {objective_(corner), corner};
    }
  }

  /// The lowest value, and its point.
  std::pair<double, Point> lowest() {
    for (int step = 0; step < 400; ++step) {
      std::sort(corners_.begin(), corners_.end());
      if (corners_.back().first - corners_.front().first < 1e-10) break;
      improve();
    }
    return *std::min_element(corners_.begin(), corners_.end());
  }

 private:
  using Corner = std::pair<double, Point>;

  /// The point that divides the way from the worst corner to the centre of the others: at 1 the centre.
  [[nodiscard]] Corner along(double way) const {
    Point point{};
    for (std::size_t j = 0; j < point.size(); ++j) {
      double centre = 0;
      for (std::size_t i = 0; i + 1 < corners_.size(); ++i) centre += corners_[i].second[j];
      centre /= static_cast<double>(point.size());
      point[j] = corners_.back().second[j] + way * (centre - corners_.back().second[j]);
    }
    return {objective_(point), point};
  }

  void improve() {
    const Corner reflected = along(2);
    Corner& worst = corners_.back();
    if (reflected.first < corners_.front().first) {
      const Corner expanded = along(3);
      worst = std::min(reflected, expanded);
    } else if (reflected.first < corners_[corners_.size() - 2].first) {
      worst = reflected;
    } else {
      const Corner contracted = along(reflected.first < worst.first ? 1.5 : 0.5);
      if (contracted.first < std::min(worst.first, reflected.first)) {
        worst = contracted;
      } else {
        shrink();
      }
    }
  }

  void shrink() {
    for (std::size_t i = 1; i < corners_.size(); ++i) {
      Point& point = corners_[i].second;
      for (std::size_t j = 0; j < point.size(); ++j) point[j] = (point[j] + corners_.front().second[j]) / 2;
      corners_[i].first = objective_(point);
    }
  }

  const Objective& objective_;
  std::array<Corner, 5> corners_;
};

/// The weights rounded to multiples of 2^-20, with W(1) < 1, ascending by θ.
NoiseCorrelation rounded(RealWeights weights) {
  if (weights.theta[0] > weights.theta[1]) {
    std::swap(weights.theta[0], weights.theta[1]);
    std::swap(weights.omega[0], weights.omega[1]);
  }
  constexpr auto one = static_cast<Precise>(CorrelationWeights::one);
  CorrelationWeights integers;
  for (std::size_t j = 0; j < buffers; ++j) {
    const auto most = CorrelationWeights::one - 1;
    integers.theta[j] = std::clamp<std::int64_t>(std::llround(weights.theta[j] * one), 0, most);
    integers.omega[j] = std::clamp<std::int64_t>(std::llround(weights.omega[j] * one), 1, most);
  }
  // It ends: with ω_j = 2^-20 and θ_j <= 1 − 2^-16 the gap is positive.
  while (integers.gap() <= 0) --*std::max_element(integers.omega.begin(), integers.omega.end());
  NoiseCorrelation correlation;
  for (std::size_t j = 0; j < buffers; ++j) {
    correlation.theta[j] = static_cast<double>(integers.theta[j]) / CorrelationWeights::one;
    correlation.omega[j] = static_cast<double>(integers.omega[j]) / CorrelationWeights::one;
  }
  return correlation;
}

/// The rest of `text` behind `name`= and, for a number, behind it and one separator.
class FieldReader {
 public:
  explicit FieldReader(const std::string& text) : all_(text), rest_(text) {}
  void name(std::string_view name) {
    require(rest_.starts_with(name));
    rest_.remove_prefix(name.size());
  }
  template <class Number>
  Number number() {
    Number value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    require(error == std::errc());
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  void end() const { require(rest_.empty()); }

 private:
  void require(bool fine) const {
    check(fine, "'{}' is no correlation of noise: expected omega=A,B theta=A,B uses=N apart=N.", all_);
  }
  const std::string& all_;
  std::string_view rest_;
};

}  // namespace

double CorrelationWeights::gap() const {
  const std::int64_t left = one - theta[0];
  const std::int64_t right = one - theta[1];
  return std::ldexp(static_cast<double>(left * right - omega[0] * right - omega[1] * left), -2 * digits);
}

double CorrelationWeights::column_sum() const {
  const auto left = static_cast<double>(one - theta[0]);
  const auto right = static_cast<double>(one - theta[1]);
  return std::ldexp(left * right, -2 * digits) / gap();
}

CorrelationWeights weights_of(const NoiseCorrelation& correlation) {
  constexpr auto one = static_cast<double>(CorrelationWeights::one);
  CorrelationWeights weights;
  const auto integer = [](double value, double least, const char* name) {
    check(value >= least && value < 1 && value * one == std::floor(value * one),
          "{}={} in a correlation of noise: must be a multiple of 2^-20, at least {} and below 1.", name, value, least);
    return static_cast<std::int64_t>(value * one);
  };
  for (std::size_t j = 0; j < buffers; ++j) {
    weights.omega[j] = integer(correlation.omega[j], 1 / one, "omega");
    weights.theta[j] = integer(correlation.theta[j], 0, "theta");
  }
  check(weights.gap() > 0, "a correlation of noise whose omega/(1 - theta) add up to 1 or more: {}",
        correlation.text());
  check(correlation.uses >= 1 && correlation.uses <= most_uses, "uses={} in a correlation of noise: must be 1 to 2^30.",
        correlation.uses);
  check(correlation.apart <= most_rounds_between_uses && (correlation.uses == 1 || correlation.apart >= 1),
        "apart={} in a correlation of noise: a record's uses must be 1 to 2^40 rounds apart.", correlation.apart);
  return weights;
}

std::string NoiseCorrelation::text() const {
  return fmt::format("omega={},{} theta={},{} uses={} apart={}", omega[0], omega[1], theta[0], theta[1], uses, apart);
}

NoiseCorrelation NoiseCorrelation::parse(const std::string& text) {
  FieldReader reader(text);
  NoiseCorrelation correlation;
  reader.name("omega=");
  correlation.omega[0] = reader.number<double>();
  reader.name(",");
  correlation.omega[1] = reader.number<double>();
  reader.name(" theta=");
  correlation.theta[0] = reader.number<double>();
  reader.name(",");
  correlation.theta[1] = reader.number<double>();
  reader.name(" uses=");
  correlation.uses = reader.number<std::int64_t>();
  reader.name(" apart=");
  correlation.apart = reader.number<Round>();
  reader.end();
  static_cast<void>(weights_of(correlation));
  return correlation;
}

NoiseCorrelation best_correlation(Round rounds_of_pass, std::int64_t passes) {
  check(rounds_of_pass >= 1 && rounds_of_pass <= most_rounds_between_uses && passes >= 1 && passes <= most_uses,
        "noise for {} passes of {} rounds: there must be 1 to 2^30 of 1 to 2^40.", passes, rounds_of_pass);
  constexpr std::int64_t most = std::int64_t{1} << 20;
  const std::int64_t planned_passes = std::min(passes, most);
  const Round planned_rounds = std::min<Round>(rounds_of_pass, most / planned_passes);
  const auto objective = [=](const Point& point) {
    const RealWeights weights = weights_at(point);
    return (std::log(static_cast<double>(column_square(weights, planned_passes, planned_rounds))) +
            std::log(prefix_square(weights, planned_rounds * planned_passes))) /
           2;
  };
  std::pair<double, Point> best{std::numeric_limits<double>::infinity(), {}};
  for (const Point& start : {Point{-0.6, 2.7, 2.6, 1.3}, {-2, 1, 2, 0}, {-4, 5, 0, 1}}) {
    best = std::min(best, SimplexSearch(objective, start).lowest());
  }
  NoiseCorrelation correlation = rounded(weights_at(best.second));
  correlation.uses = passes;
  correlation.apart = rounds_of_pass;
  return correlation;
}

std::vector<double> column_of(const NoiseCorrelation& correlation, std::size_t rounds) {
  static_cast<void>(weights_of(correlation));
  const RealWeights weights = real_weights(correlation);
  std::vector<double> column;
  Pair response{};
  for (std::size_t t = 0; t < rounds; ++t) {
    const Precise value = t == 0 ? 1 : weights.omega[0] * response[0] + weights.omega[1] * response[1];
    for (std::size_t j = 0; j < buffers; ++j) response[j] = weights.theta[j] * response[j] + value;
    column.push_back(static_cast<double>(value));
  }
  return column;
}

double noise_factor(const NoiseCorrelation& correlation) {
  const double gap = weights_of(correlation).gap();
  return just_above(
      std::sqrt(column_square(real_weights(correlation), correlation.uses, correlation.apart) * inflation(gap)));
}

// Row t of C 1 is Σ_{i<=t} c_i, at most Σ c. Where what is missing of that is below 2^-50, and beyond the rounds of a
// chain, all further rows count as so large.
double norm_of_all_rounds(const NoiseCorrelation& correlation, Round rounds) {
  check(rounds >= 1, "the norm of {} rounds of noise: must be at least 1.", rounds);
  const CorrelationWeights integers = weights_of(correlation);
  const RealWeights weights = real_weights(correlation);
  const Precise negligible = weights.gap() * 0x1p-50L;
  Pair response{1, 1};
  Precise sum = 1;
  Precise total = 1;
  for (Round t = 1; t < rounds; ++t) {
    const Precise value = weights.omega[0] * response[0] + weights.omega[1] * response[1];
    if (value < negligible || t >= CorrelationLimits::rounds) {
      const Precise most = integers.column_sum();
      total += static_cast<Precise>(rounds - t) * most * most;
      break;
    }
    sum += value;
    total += sum * sum;
    for (std::size_t j = 0; j < buffers; ++j) response[j] = weights.theta[j] * response[j] + value;
  }
  return just_above(std::sqrt(total * inflation(integers.gap())));
}

double prefix_noise(const std::optional<NoiseCorrelation>& correlation, Round rounds) {
  check(rounds >= 1, "the sum of {} rounds of noise: must be at least 1.", rounds);
  if (!correlation) return std::sqrt((static_cast<double>(rounds) + 1) / 2);
  return noise_factor(*correlation) * std::sqrt(prefix_square(real_weights(*correlation), rounds));
}

// From the last release to the first: `later` is what S_j after a round weighs in the sum.
double noise_of_sum(const std::optional<NoiseCorrelation>& correlation, const std::vector<Round>& rounds,
                    const std::vector<double>& factors) {
  const RealWeights weights = correlation ? real_weights(*correlation) : RealWeights{};
  Pair later{};
  Precise square = 0;
  for (std::size_t i = rounds.size(); i-- > 0;) {
    if (i + 1 < rounds.size()) {
      const auto gap = static_cast<Precise>(rounds[i + 1] - rounds[i] - 1);
      for (std::size_t j = 0; j < buffers; ++j) later[j] *= std::pow(weights.theta[j], gap);
    }
    const Precise factor = factors[i] + later[0] + later[1];
    square += factor * factor;
    for (std::size_t j = 0; j < buffers; ++j) {
      later[j] = weights.theta[j] * later[j] - weights.omega[j] * static_cast<Precise>(factors[i]);
    }
  }
  return static_cast<double>(std::sqrt(square));
}

namespace {

/// ‖C 1‖ over so many releases, in multiples of what they cost by independent noise.
double factor_of_chain(const std::optional<NoiseCorrelation>& correlation, std::int64_t releases) {
  if (!correlation || releases < 1) return 1;
  const double independent = std::sqrt(static_cast<double>(releases));
  const double all = norm_of_all_rounds(*correlation, releases) / (noise_factor(*correlation) * independent);
  return std::max(1.0, all * (1 + 0x1p-50));
}

}  // namespace

// With n releases, of which the first w are one sum, and a chain that costs a times as much as independent noise, the
// square of the loss is ((1 − i − o) a² + i) μ² (n − w) for what is released one by one, i and o being the shares,
// o μ² (n − w)² for what is released once, and w² μ² for the first sum.
double Accumulation::factor(std::int64_t releases) const {
  const std::int64_t all = std::max<std::int64_t>(releases, 1);
  const std::int64_t first = std::min<std::int64_t>(all, first_rounds);
  const double chain = factor_of_chain(correlation, all - first);
  if (independent == 0 && once == 0 && first == 0) return chain;
  const auto together = static_cast<double>(first);
  const auto later = static_cast<double>(all - first);
  const double each = (1 - independent - once) * chain * chain + independent + once * later;
  return std::sqrt((each * later + together * together) / static_cast<double>(all)) * (1 + 0x1p-40);
}

}  // namespace starling
