/// The printed scales, and noise that has them.
#include "privacy/mechanism/paper_perturbation.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/check.hpp"

namespace starling::paper_perturbation_test {

ReleaseSettings settings(std::size_t dimension) {
  return {.dimension = dimension, .run_id = "paper"};
}

TEST(PaperPerturbation, GaussianScaleIsThePrintedOne) {
  const PaperTerms terms{.epsilon = 0.8, .delta = 1e-5};
  // Δ1 = 2, √(2 ln 10^5) = 4.79853, √(2 ln 10^5 + 0.8) = 4.88116.
  EXPECT_NEAR(PaperPerturbation(settings(3), terms).noise_scale(0, 200), 2 * (4.798526 + 4.881168) / 0.8, 1e-4);
}

TEST(PaperPerturbation, LaplaceScaleIsThePrintedOne) {
  const PaperTerms terms{.noise = PaperTerms::Noise::laplace,
                         .epsilon = 0.8,
                         .c1 = 3,
                         .c2 = 2,
                         .cp = 0.5,
                         .curvature = 4.5,
                         .lambda = 0.1,
                         .rho = 1};
  const PaperPerturbation paper(settings(3), terms);
  const double t1 = 6 + 2 * 4.5 * 3 * 2 * 0.5 / 20;
  const double t2 = 2 * std::log(1 + 4.5 * 4 / (60 + 1));
  EXPECT_NEAR(paper.noise_scale(400, 600), t1 / (0.8 - t2), 1e-12 * t1 / (0.8 - t2));
  EXPECT_DOUBLE_EQ(paper.determinant_term(600), t2);
  // In the first batch N_{b−1} counts as 1.
  EXPECT_DOUBLE_EQ(paper.noise_scale(0, 600), paper.noise_scale(1, 600));
}

TEST(PaperPerturbation, ConditionTwo) {
  const PaperTerms terms{.epsilon = 0.8, .lambda = 0.1};
  const PaperPerturbation paper(settings(3), terms);
  EXPECT_TRUE(paper.condition_2(200));   // 2 ln 1.2 = 0.365
  EXPECT_FALSE(paper.condition_2(150));  // 2 ln 1.267 = 0.473
}

TEST(PaperPerturbation, LaplaceWithoutRoomForNoiseIsRefused) {
  PaperTerms terms{.noise = PaperTerms::Noise::laplace, .epsilon = 0.1, .lambda = 0.1};
  EXPECT_THROW((void)PaperPerturbation(settings(3), terms).noise_scale(0, 200), UsageError);
  terms.lambda = 0;
  EXPECT_THROW((void)PaperPerturbation(settings(3), terms).noise_scale(0, 200), UsageError);
}

TEST(PaperPerturbation, TermsOutOfRangeAreRefused) {
  for (const auto& spoil : std::vector<void (*)(PaperTerms&)>{
           [](PaperTerms& t) { t.epsilon = 0; }, [](PaperTerms& t) { t.delta = 0; }, [](PaperTerms& t) { t.c1 = 0; },
           [](PaperTerms& t) { t.c2 = -1; }, [](PaperTerms& t) { t.cp = -1; }, [](PaperTerms& t) { t.rho = NAN; }}) {
    PaperTerms terms;
    spoil(terms);
    EXPECT_THROW(PaperPerturbation(settings(3), terms), UsageError);
  }
}

/// Opens what a test may see.
class Opened : protected Release {
 public:
  static const Vector& of(const Secret<Vector>& secret) { return open(secret); }
};

/// Second and fourth moments in scales of 20000 draws; each within five standard errors (two-sided error below 1e-6
/// each).
void expect_moments(const PaperTerms& terms, double second, double fourth, double eighth) {
  constexpr std::size_t draws = 20'000;
  PaperPerturbation paper(settings(draws), terms);
  const double scale = paper.noise_scale(100, 1e6);
  const Secret<Vector> noise = paper.noise({ReleasePath::by_itself, 0, 3, 0}, NoiseKey::from_seed(1, 0), 100, 1e6);
  double m2 = 0;
  double m4 = 0;
  for (const double xi : Opened::of(noise)) {
    m2 += std::pow(xi / scale, 2) / draws;
    m4 += std::pow(xi / scale, 4) / draws;
  }
  EXPECT_NEAR(m2, second, 5 * std::sqrt((fourth - second * second) / draws));
  EXPECT_NEAR(m4, fourth, 5 * std::sqrt((eighth - fourth * fourth) / draws));
}

TEST(PaperPerturbation, NoiseHasItsScale) {
  PaperTerms terms;
  terms.lambda = 0.1;
  expect_moments(terms, 1, 3, 105);
  terms.noise = PaperTerms::Noise::laplace;
  expect_moments(terms, 2, 24, 40320);
}

TEST(PaperPerturbation, NoiseBelongsToItsAddress) {
  const PaperTerms terms;
  PaperPerturbation paper(settings(4), terms);
  const NoiseKey key = NoiseKey::from_seed(1, 0);
  const Vector first = Opened::of(paper.noise({ReleasePath::by_itself, 0, 0, 0}, key, 0, 10));
  EXPECT_EQ(first, Opened::of(paper.noise({ReleasePath::by_itself, 0, 0, 0}, key, 0, 10)));
  EXPECT_NE(first, Opened::of(paper.noise({ReleasePath::by_itself, 0, 1, 0}, key, 0, 10)));
}

TEST(PaperPerturbation, NothingFiniteIsCharged) {
  EXPECT_EQ(PaperPerturbation(settings(4), PaperTerms()).charge(1), Charge::unbounded());
}

}  // namespace starling::paper_perturbation_test
