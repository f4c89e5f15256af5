/// The inner parts of the loss distribution: its transform, its lattice, and the whole against other computations.
#include "privacy/accounting/loss_distribution.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include <gtest/gtest.h>

#include "core/check.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/accounting/fourier.hpp"
#include "privacy/accounting/renyi.hpp"

namespace starling::loss_distribution_test {

using Real = long double;

Losses losses(const std::vector<ChargeGroup>& groups) {
  return losses_of(groups);
}

/// What the distribution alone gives, where `compose` would take another way.
double by_distribution(const Losses& all, double delta) {
  const RenyiLoss renyi = renyi_loss(all, delta);
  return distribution_epsilon(all, delta, renyi.lambda, renyi.epsilon).value();
}

TEST(Fourier, KeepsItsErrorBound) {
  constexpr std::size_t size = 256;
  std::vector<std::complex<double>> values(size);
  Real sum = 0;
  for (std::size_t j = 0; j < size; ++j) {
    values[j] = {std::sin(1.0 + 3.7 * static_cast<double>(j * j % 101)), std::cos(static_cast<double>(5 * j % 37))};
    sum += std::abs(std::complex<Real>(values[j].real(), values[j].imag()));
  }
  auto transformed = values;
  const Fourier fourier(size);
  fourier.transform(transformed);
  Real worst = 0;
  for (std::size_t k = 0; k < size; ++k) {
    std::complex<Real> expected = 0;
    for (std::size_t j = 0; j < size; ++j) {
      const Real angle = -2 * std::numbers::pi_v<Real> * static_cast<Real>(j * k % size) / size;
      expected += std::complex<Real>(values[j].real(), values[j].imag()) * std::polar(Real{1}, angle);
    }
    const std::complex<Real> found(transformed[k].real(), transformed[k].imag());
    worst = std::max(worst, std::abs(found - expected));
  }
  EXPECT_LE(worst, static_cast<Real>(fourier.error()) * sum);
  EXPECT_THROW(Fourier(100), FailureError);
}

Lattice some_lattice(double width, Real lambda) {
  return {.width = width, .points = 1U << 14, .lambda = lambda, .theta = 0.5L, .negligible = 1e-40};
}

/// Moments at λ = 0 and λ = −1 are the whole masses under P and Q, and the split keeps both: E e^(λL) can be looked up
/// at λ → 0 only approximately, so the lattice is asked at two small tilts and compared with the law itself.
TEST(Lattice, KeepsMassesAndNeverLowersMoments) {
  for (const LossClass& one : {LossClass{LossKind::laplace, 0.7, 1}, LossClass{LossKind::laplace, 0.003, 1},
                               LossClass{LossKind::response, 0.7, 1}, LossClass{LossKind::response, 40, 1},
                               LossClass{LossKind::gaussian, 0.7, 1}, LossClass{LossKind::gaussian, 0.001, 1},
                               LossClass{LossKind::gaussian, 6, 1}}) {
    Losses alone;
    alone.classes = {one};
    for (const double width : {0.01, 0.0101, 0.25}) {
      for (const Real lambda : {1e-9L, 0.5L, 3.0L, 20.0L}) {
        const LatticeLoss loss = on_lattice(one, some_lattice(width, lambda));
        const Real exact = alone.log_moment(lambda);
        const Real exact_further = alone.log_moment(lambda + 0.5L);
        EXPECT_GE(loss.log_moment, exact - 1e-13L) << one.size << ' ' << width << ' ' << lambda;
        EXPECT_GE(loss.log_further, exact_further - 1e-13L) << one.size << ' ' << width << ' ' << lambda;
        const auto spread = static_cast<Real>(width * width) / 4;
        EXPECT_LE(loss.log_moment, exact + lambda * (lambda + 1) * spread + 1e-12L)
            << one.size << ' ' << width << ' ' << lambda;
        Real mass = 0;
        for (const double each : loss.masses) mass += static_cast<Real>(each);
        EXPECT_NEAR(static_cast<double>(mass), 1, 1e-12);
      }
    }
  }
}

TEST(Lattice, PutsExtremeLossesOnPointsWhereTheyFit) {
  const LatticeLoss loss = on_lattice({LossKind::laplace, 1, 1}, some_lattice(0.125, 1));
  EXPECT_EQ(loss.largest, 8);
  EXPECT_EQ(on_lattice({LossKind::laplace, 1, 1}, some_lattice(0.3, 1)).largest, 4);
}

/// Two ways to the same figure: the closed form, and the lattice.
TEST(Distribution, OfGaussianNoiseIsTheClosedFormFromAbove) {
  for (const double mu : {0.001, 0.1, 1.0, 5.0, 20.0}) {
    for (const double delta : {0.01, 1e-5, 1e-12, 1e-100, 1e-300}) {
      const Losses all = losses({{Charge::gaussian(mu), 1}});
      const double truth = gaussian_epsilon(mu, delta);
      if (truth == 0) continue;
      const double found = by_distribution(all, delta);
      EXPECT_GE(found, truth * (1 - 1e-12)) << mu << ' ' << delta;
      EXPECT_LE(found, truth * (1 + 1e-4)) << mu << ' ' << delta;
    }
  }
}

/// δ of k releases of randomised response: binomial.
Real response_delta(int k, Real size, Real epsilon) {
  const Real p = 1 / (1 + std::exp(-size));
  Real delta = 0;
  for (int j = 0; j <= k; ++j) {
    const Real loss = size * static_cast<Real>(2 * j - k);
    if (loss <= epsilon) continue;
    const Real log_mass = std::lgamma(Real(k + 1)) - std::lgamma(Real(j + 1)) - std::lgamma(Real(k - j + 1)) +
                          static_cast<Real>(j) * std::log(p) + static_cast<Real>(k - j) * std::log1p(-p);
    delta += std::exp(log_mass) * -std::expm1(epsilon - loss);
  }
  return delta;
}

/// δ of Laplace noise, for any real ε.
Real laplace_delta_1(Real size, Real epsilon) {
  if (epsilon >= size) return 0;
  return epsilon <= -size ? -std::expm1(epsilon) : -std::expm1((epsilon - size) / 2);
}

/// δ of one more release of Laplace noise: the mean of δ(ε − L) over its law, by Simpson's rule between the places
/// where δ or its derivatives jump.
template <class Delta>
Real one_more_laplace(const Delta& delta, Real size, Real epsilon, std::vector<Real> jumps) {
  std::vector<Real> ends{-size, size};
  for (const Real jump : jumps) {
    if (epsilon - jump > -size && epsilon - jump < size) ends.push_back(epsilon - jump);
  }
  std::sort(ends.begin(), ends.end());
  Real total = delta(epsilon - size) / 2 + std::exp(-size) * delta(epsilon + size) / 2;
  const auto f = [&](Real l) { return std::exp(-(size - l) / 2) / 4 * delta(epsilon - l); };
  for (std::size_t piece = 1; piece < ends.size(); ++piece) {
    constexpr int steps = 60;
    const Real step = (ends[piece] - ends[piece - 1]) / steps;
    for (int i = 0; i < steps; ++i) {
      const Real from = ends[piece - 1] + step * static_cast<Real>(i);
      total += step / 6 * (f(from) + 4 * f(from + step / 2) + f(from + step));
    }
  }
  return total;
}

/// The least ε at which a falling δ(·) is reached.
template <class Delta>
double inverse(const Delta& delta, Real target, Real most) {
  Real low = 0;
  Real high = most;
  for (int step = 0; step < 60; ++step) {
    const Real middle = (low + high) / 2;
    (delta(middle) <= target ? high : low) = middle;
  }
  return static_cast<double>(high);
}

TEST(Distribution, OfRandomisedResponseIsBinomial) {
  for (const auto& [k, size] : {std::pair{1, 0.5}, std::pair{10, 1.0}, std::pair{50, 0.1}, std::pair{400, 0.05}}) {
    for (const double delta : {0.01, 1e-5, 1e-10}) {
      const double truth =
          inverse([k = k, size = size](Real epsilon) { return response_delta(k, size, epsilon); }, delta, k * size);
      const double found = by_distribution(losses({{Charge::pure(size), k}}), delta);
      EXPECT_GE(found, truth * (1 - 1e-12)) << k << ' ' << size << ' ' << delta;
      EXPECT_LE(found, truth * (1 + 1e-5) + 1e-9) << k << ' ' << size << ' ' << delta;
    }
  }
}

TEST(Distribution, OfOneToThreeLaplaceReleasesIsTheConvolution) {
  constexpr Real size = 0.8L;
  const auto one = [](Real epsilon) { return laplace_delta_1(size, epsilon); };
  const auto two = [&](Real epsilon) { return one_more_laplace(one, size, epsilon, {-size, size}); };
  const auto three = [&](Real epsilon) { return one_more_laplace(two, size, epsilon, {-2 * size, 0, 2 * size}); };
  const auto expect = [](double truth, int k, double delta) {
    const double found = by_distribution(losses({{Charge::laplace(static_cast<double>(size)), k}}), delta);
    EXPECT_GE(found, truth * (1 - 1e-9)) << k << ' ' << delta;
    EXPECT_LE(found, truth * (1 + 1e-5)) << k << ' ' << delta;
  };
  for (const double delta : {0.1, 1e-2, 1e-4}) {
    expect(inverse(one, delta, size), 1, delta);
    expect(inverse(two, delta, 2 * size), 2, delta);
  }
  expect(inverse(three, 1e-2, 3 * size), 3, 1e-2);
}

TEST(Distribution, OfMixedReleasesLiesBetweenItsPartsAndRenyi) {
  const Losses all = losses({{Charge::laplace(0.2), 30}, {Charge::pure(0.1), 20}, {Charge::gaussian(0.5), 4}});
  for (const double delta : {1e-3, 1e-6, 1e-20}) {
    const double found = by_distribution(all, delta);
    EXPECT_LE(found, renyi_loss(all, delta).epsilon);
    EXPECT_GE(found, by_distribution(losses({{Charge::laplace(0.2), 30}}), delta));
    EXPECT_GE(found, gaussian_epsilon(1, delta));
  }
}

TEST(Distribution, WithATinyPartIsThatWithoutIt) {
  const double alone = gaussian_epsilon(1, 1e-6);
  const double found = by_distribution(losses({{Charge::gaussian(1), 1}, {Charge::pure(1e-9), 1}}), 1e-6);
  EXPECT_GE(found, alone);
  EXPECT_LE(found, alone * (1 + 1e-5));
}

TEST(Distribution, MergingNeverLowersAndKeepsCounts) {
  std::vector<ChargeGroup> groups;
  for (int t = 1; t <= 100; ++t) groups.push_back({Charge::laplace(0.5 / std::sqrt(t)), t % 3 + 1});
  for (int t = 1; t <= 40; ++t) groups.push_back({Charge::pure(0.01 * t), 1});
  groups.push_back({Charge::gaussian(0.3), 7});
  const Losses all = losses(groups);
  EXPECT_EQ(all.classes.size(), 141U);
  const double exact = by_distribution(all, 1e-5);
  double before = exact;
  for (const std::size_t most : {128U, 32U, 8U}) {
    const Losses few = merged(all, most);
    EXPECT_LE(few.classes.size(), most);
    Real count = 0;
    for (const LossClass& one : few.classes) count += one.count;
    EXPECT_EQ(count, 40 + 1 + 200);
    EXPECT_GE(few.pure_sum(), all.pure_sum());
    const double found = by_distribution(few, 1e-5);
    EXPECT_GE(found, before) << most;
    before = found;
  }
  EXPECT_LE(by_distribution(merged(all, 128), 1e-5), exact * 1.01);
}

TEST(Distribution, DeclinesWhatItCannotHold) {
  const Losses many = losses({{Charge::laplace(1e-6), 2'000'000'000}});
  EXPECT_FALSE(distribution_epsilon(many, 1e-5, 1, 1).has_value());
}

}  // namespace starling::loss_distribution_test
