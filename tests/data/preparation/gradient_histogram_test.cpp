#include "data/preparation/gradient_histogram.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "core/check.hpp"
#include "data/constants.hpp"

namespace starling::gradient_histogram_test {

constexpr double common = 0.25;

Vector described(const Vector& picture) {
  Vector found;
  EXPECT_TRUE(GradientHistogram(picture.size()).describe(picture, found));
  EXPECT_EQ(found.size(), GradientHistogram::features);
  return found;
}

Vector random_picture(std::size_t side, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> grey(0, 255);
  Vector picture(side * side);
  for (double& pixel : picture) pixel = grey(random) / 255.0;
  return picture;
}

template <class Pixel>
Vector drawn(int side, const Pixel& pixel) {
  Vector picture;
  for (int r = 0; r < side; ++r) {
    for (int c = 0; c < side; ++c) picture.push_back(pixel(r, c));
  }
  return picture;
}

/// The share of a row, or column, of pixels that falls to row `cell` of cells.
double share_of(std::ptrdiff_t pixel, std::ptrdiff_t side, std::ptrdiff_t cell) {
  const double position =
      std::clamp((2.0 * static_cast<double>(pixel) + 1) * 2 / static_cast<double>(side) - 0.5, 0.0, 3.0);
  return std::max(0.0, 1 - std::abs(position - static_cast<double>(cell)));
}

/// The definition by angles: a gradient is what its two votes along the neighbouring directions add up to.
Vector by_angles(const Vector& picture, std::ptrdiff_t side) {
  const auto at = [&](std::ptrdiff_t r, std::ptrdiff_t c) {
    r = std::clamp(r, std::ptrdiff_t{0}, side - 1);
    c = std::clamp(c, std::ptrdiff_t{0}, side - 1);
    return picture[static_cast<std::size_t>(r * side + c)];
  };
  constexpr double eighth = std::numbers::pi / 4;
  std::array<double, 128> histogram{};
  double sum = 0;
  for (std::ptrdiff_t r = 0; r < side; ++r) {
    for (std::ptrdiff_t c = 0; c < side; ++c) {
      const double x = at(r, c + 1) - at(r, c - 1);
      const double y = at(r + 1, c) - at(r - 1, c);
      double angle = std::atan2(y, x);
      if (angle < 0) angle += 2 * std::numbers::pi;
      const auto before = static_cast<std::ptrdiff_t>(angle / eighth);
      const double past = angle - static_cast<double>(before) * eighth;
      const double votes[] = {std::hypot(x, y) * std::sin(eighth - past) / std::sin(eighth),
                              std::hypot(x, y) * std::sin(past) / std::sin(eighth)};
      for (std::ptrdiff_t cell = 0; cell < 16; ++cell) {
        const double share = share_of(r, side, cell / 4) * share_of(c, side, cell % 4);
        for (const int k : {0, 1}) histogram[static_cast<std::size_t>(8 * cell + (before + k) % 8)] += share * votes[k];
      }
      sum += votes[0] + votes[1];
    }
  }
  Vector found;
  for (const double votes : histogram) found.push_back(std::sqrt(std::max(0.0, 16 * votes / sum)) - common);
  found.push_back(1);
  return found;
}

TEST(GradientHistogram, IsWhatItsDefinitionSays) {
  for (const int side : {4, 5, 7, 16, 28, 33}) {
    const Vector picture = random_picture(static_cast<std::size_t>(side), static_cast<unsigned>(side));
    const Vector found = described(picture);
    const Vector expected = by_angles(picture, side);
    for (std::size_t j = 0; j < found.size(); ++j) {
      // A root close to 0 has no more than half the digits.
      EXPECT_NEAR(std::pow(found[j] + common, 2), std::pow(expected[j] + common, 2), 1e-13) << side << ": " << j;
    }
  }
}

// Dark on one side, bright on the other: two lines of pixels in eight cells, and the edge's direction alone.
TEST(GradientHistogram, KnowsDirections) {
  struct Edge {
    double (*pixel)(int, int);
    std::size_t direction;
    bool columns;
  };
  for (const Edge& edge : {Edge{[](int, int c) { return c < 2 ? 0.0 : 1.0; }, 0, true},
                           Edge{[](int, int c) { return c < 2 ? 1.0 : 0.0; }, 4, true},
                           Edge{[](int r, int) { return r < 2 ? 0.0 : 1.0; }, 2, false},
                           Edge{[](int r, int) { return r < 2 ? 1.0 : 0.0; }, 6, false}}) {
    const Vector found = described(drawn(4, edge.pixel));
    for (std::size_t j = 0; j < 128; ++j) {
      const std::size_t line = edge.columns ? j / 8 % 4 : j / 32;
      const bool there = j % 8 == edge.direction && (line == 1 || line == 2);
      EXPECT_EQ(found[j], there ? std::sqrt(2.0) - common : -common) << edge.direction << ": " << j;
    }
    EXPECT_EQ(found[128], 1);
  }
}

TEST(GradientHistogram, KnowsDiagonals) {
  const std::array<std::size_t, 4> directions{1, 3, 5, 7};
  const std::array<Vector, 4> ramps{
      drawn(12, [](int r, int c) { return double(r + c); }), drawn(12, [](int r, int c) { return double(r - c); }),
      drawn(12, [](int r, int c) { return double(-r - c); }), drawn(12, [](int r, int c) { return double(c - r); })};
  for (std::size_t k = 0; k < 4; ++k) {
    const Vector found = described(ramps[k]);
    for (const std::size_t inner : {5U, 6U, 9U, 10U}) {  // cells that do not touch the border
      for (std::size_t j = 0; j < 8; ++j) {
        EXPECT_EQ(found[8 * inner + j] > -common, j == directions[k]) << k << ", " << inner << ": " << j;
      }
    }
  }
}

// Model files say of which version their features are. Who changes these numbers raises `hog_version`.
TEST(GradientHistogram, HasTheVersionOfItsNumbers) {
  const Vector found = described(drawn(6, [](int r, int c) { return double(r * r + 3 * c); }));
  EXPECT_EQ(hog_version, 2U);
  EXPECT_NEAR(found[1], 0.2297152459448884, 1e-12);
  EXPECT_NEAR(found[42], 0.15339083065761056, 1e-12);
  EXPECT_EQ(found[128], 1);
}

TEST(GradientHistogram, SharesVotesBetweenNeighbours) {
  // Inside, the gradient is (4, 2): 2 along (1, 0), and 2 in each component, 2 sqrt 2, along the diagonal.
  const Vector found = described(drawn(16, [](int r, int c) { return 2.0 * c + r; }));
  constexpr std::size_t inner = 40;  // of the cell in row 1 and column 1
  const double axis = std::pow(found[inner] + common, 2);
  const double diagonal = std::pow(found[inner + 1] + common, 2);
  EXPECT_GT(axis, 0);
  EXPECT_NEAR(diagonal / axis, std::sqrt(2.0), 1e-12);
}

// An edge in the middle between two columns of cells, and one in the middle of the second.
TEST(GradientHistogram, SharesVotesBetweenCells) {
  const auto weights = [](int line) {
    const Vector found = described(drawn(24, [=](int, int c) { return c > line ? 1.0 : 0.0; }));
    Vector columns(4);
    for (std::size_t j = 0; j < 128; ++j) columns[j / 8 % 4] += std::pow(found[j] + common, 2);
    return columns;
  };
  // The gradient is in pixels `line` and `line + 1`. Centres of cells lie at 2.5, 8.5, 14.5 and 20.5.
  const Vector between = weights(5);
  EXPECT_NEAR(between[0], 8, 1e-12);
  EXPECT_NEAR(between[1], 8, 1e-12);
  const Vector within = weights(8);
  EXPECT_NEAR(within[0], 16.0 / 24, 1e-12);
  EXPECT_NEAR(within[1], 16 * (1 - 2.0 / 24), 1e-12);
  EXPECT_NEAR(within[2], 16.0 / 24, 1e-12);
}

TEST(GradientHistogram, DoesNotSeeBrightnessAndContrast) {
  const Vector picture = random_picture(28, 1);
  const Vector found = described(picture);
  Vector scaled = picture;
  for (double& pixel : scaled) pixel *= 0.25;
  EXPECT_EQ(described(scaled), found);
  for (double& pixel : scaled) pixel = 3 * pixel + 7;
  const Vector brighter = described(scaled);
  for (std::size_t j = 0; j < found.size(); ++j) EXPECT_NEAR(brighter[j], found[j], 1e-6) << j;
}

TEST(GradientHistogram, OfAnEvenPictureIsTheConstantAlone) {
  Vector expected(128, -common);
  expected.push_back(1);
  EXPECT_EQ(described(Vector(784, 0.5)), expected);
}

// The fewer directions share the votes, the greater it is.
TEST(GradientHistogram, HasABoundedNorm) {
  const auto norm = [](const Vector& found) {
    return std::sqrt(std::inner_product(found.begin(), found.end(), found.begin(), 0.0));
  };
  double most = 0;
  for (unsigned seed = 0; seed < 50; ++seed)
    most = std::max(most, norm(described(random_picture(4 + seed % 30, seed))));
  Vector corner(4096, 0.0);
  corner[0] = 1;
  most = std::max(most, norm(described(corner)));
  EXPECT_LT(most, 4.8);
  EXPECT_GT(most, 4.39);
}

TEST(GradientHistogram, RefusesWhatIsNoSquare) {
  for (const std::size_t pixels : {1U, 4U, 9U, 15U, 17U, 783U, 785U}) {
    EXPECT_THROW(GradientHistogram{pixels}, UsageError) << pixels;
  }
  EXPECT_EQ(GradientHistogram(784).pixels(), 784U);
}

TEST(GradientHistogram, SaysWhenNumbersEnd) {
  Vector found;
  Vector picture(16, 1e308);
  picture[5] = -1e308;
  EXPECT_FALSE(GradientHistogram(16).describe(picture, found));
  for (double& pixel : picture) pixel *= 1e-8;
  EXPECT_TRUE(GradientHistogram(16).describe(picture, found));
}

}  // namespace starling::gradient_histogram_test
