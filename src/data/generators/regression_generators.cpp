#include <cmath>
#include <numbers>

#include "core/check.hpp"
#include "data/generators/generators.hpp"

namespace starling {

namespace {

/// Label of a record with the mean 1 + Σ x_j; draws more from `normal`, or from `random` behind it.
using Label = std::function<double(double mean, NormalPairs& normal, AddressedRandom& random, Round t, Client client)>;

/// Records with x ~ N(0, Σ), or t-distributed with that covariance; the first feature may be a flag in its place. All
/// slopes are alike.
std::unique_ptr<Generator> make_regression(const Spec& spec, const Label& label) {
  const std::size_t features = features_of(spec, "p", 3);
  const std::int64_t records = records_of(spec);
  const double correlation = number_within(spec, "correlation", 0, -0.999, 0.999);
  const double innovation = std::sqrt((1 - correlation) * (1 + correlation));  // of x_j, given x_{j−1}
  const double slope = number_within(spec, "slope", 1, -1e6, 1e6);
  const double intercept = number_within(spec, "intercept", 1, -1e6, 1e6);
  const double flag = number_within(spec, "flag", 0, 0, 1);
  const auto freedom = static_cast<int>(spec.integer("freedom", 0));
  check(freedom == 0 || (freedom >= 3 && freedom <= 1000),
        "'{}': freedom={}: between 3, below which there is no variance, and 1000; or 0 for normal features.",
        spec.text(), freedom);
  const auto draw = [=](Round t, Client client, AddressedRandom& random, MutableView values) {
    NormalPairs normal(random);
    double before = normal();
    values[0] = before;
    for (std::size_t j = 1; j < values.size(); ++j) {
      before = correlation * before + innovation * normal();
      values[j] = before;
    }
    if (freedom > 0) {
      double squares = 0;
      for (int i = 0; i < freedom; ++i) squares += std::pow(normal(), 2);
      for (double& value : values) value *= std::sqrt((freedom - 2) / squares);
    }
    if (flag > 0) values[0] = random.uniform() < flag ? 1 : 0;
    double mean = intercept;
    for (const double value : values) mean += slope * value;
    return label(mean, normal, random, t, client);
  };
  std::vector<double> coefficients(features, slope);
  coefficients.push_back(intercept);
  return std::make_unique<Generator>(features, records, draw, std::move(coefficients));
}

/// Intercepts of clients that differ: 1 + `apart` s_u, where s_u lies evenly between −1 and 1. Their mean is 1.
struct Intercepts {
  double apart = 0;
  Audience audience = {};
  /// Intercept of the client of record t, less 1.
  [[nodiscard]] double of(Round t, Client client) const {
    const Client clients = audience.test_of > 0 ? audience.test_of : audience.clients;
    if (clients < 2) return 0;
    const Client u = audience.test_of > 0 ? static_cast<Client>((t - 1) % clients) : client;
    return apart * (2 * static_cast<double>(u) / static_cast<double>(clients - 1) - 1);
  }
};

/// y = mean + sd Z − shift.
Label linear_label(double sd, double shift, const Intercepts& intercepts = {}) {
  return [=](double mean, NormalPairs& normal, AddressedRandom&, Round t, Client u) {
    return mean + (sd * normal() - shift) + intercepts.of(t, u);
  };
}

/// The count with this mean whose distribution function first exceeds `uniform`.
double poisson_count(double mean, double uniform) {
  constexpr double most = 1e6;  // what rounding leaves of the sum of probabilities never reaches 1
  double count = 0;
  double probability = std::exp(-mean);
  while (uniform >= probability && count < most) {
    uniform -= probability;
    probability *= mean / ++count;
    if (probability == 0 && count > mean) break;
  }
  return count;
}

double deviation_of(const Spec& spec) {
  return number_within(spec, "sd", 0.5, 0, 1e6);
}

/// E (sd Z − a)₊.
double gaussian_excess(double sd, double a) {
  const double u = a / sd;
  const double density = std::exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi);
  return sd * density - a * std::erfc(u / std::numbers::sqrt2) / 2;
}

/// E ψ(sd Z − m) by partial moments: τ E min(U₊, c) − (1 − τ) E min(U₋, c), U = sd Z − m.
double mean_slope(double sd, double tau, double c, double m) {
  const double above = gaussian_excess(sd, m) - gaussian_excess(sd, m + c);
  const double beneath = gaussian_excess(sd, -m) - gaussian_excess(sd, -m + c);
  return tau * above - (1 - tau) * beneath;
}

}  // namespace

double gaussian_expectile(double sd, double tau, double c) {
  if (sd == 0) return 0;
  double low = -sd;
  double high = sd;
  while (mean_slope(sd, tau, c, low) < 0) low *= 2;
  while (mean_slope(sd, tau, c, high) > 0) high *= 2;
  while (high - low > 1e-14 * sd) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (mean_slope(sd, tau, c, middle) > 0 ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

double NormalPairs::operator()() {
  if (waits_) {
    waits_ = false;
    return second_;
  }
  const double radius = std::sqrt(-2 * std::log(random_.positive_uniform()));
  const double angle = 2 * std::numbers::pi * random_.uniform();
  second_ = radius * std::sin(angle);
  waits_ = true;
  return radius * std::cos(angle);
}

std::unique_ptr<Generator> make_linear(const Spec& spec, const Audience& audience) {
  const Intercepts intercepts{number_within(spec, "apart", 0, 0, 1e6), audience};
  return make_regression(spec, linear_label(deviation_of(spec), 0, intercepts));
}

std::unique_ptr<Generator> make_logistic(const Spec& spec, const Audience&) {
  return make_regression(spec, [](double mean, NormalPairs&, AddressedRandom& random, Round, Client) {
    return random.uniform() * (1 + std::exp(-mean)) < 1 ? 1.0 : 0.0;
  });
}

std::unique_ptr<Generator> make_counts(const Spec& spec, const Audience&) {
  const std::size_t features = features_of(spec, "p", 3);
  constexpr double coefficient = 0.3;
  const auto draw = [](Round, Client, AddressedRandom& random, MutableView values) {
    NormalPairs normal(random);
    double sum = 0;
    for (double& value : values) sum += value = normal();
    return poisson_count(std::exp(coefficient * sum), random.uniform());
  };
  std::vector<double> truth(features + 1, coefficient);
  truth.back() = 0;
  return std::make_unique<Generator>(features, records_of(spec), draw, truth);
}

std::unique_ptr<Generator> make_expectile(const Spec& spec, const Audience&) {
  const double sd = deviation_of(spec);
  const double tau = number_within(spec, "tau", 0.7, 0.001, 0.999);
  const double c = number_within(spec, "c", 1.345, 1e-6, 1e12);
  check(c >= sd / 1000, "'{}': c={}: beside noise of sd {} its slope is a step. Give c at least sd/1000.", spec.text(),
        c, sd);
  return make_regression(spec, linear_label(sd, gaussian_expectile(sd, tau, c)));
}

}  // namespace starling
