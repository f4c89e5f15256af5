/// Weighted Gram products: their values, and their bits with every kind of instructions that this processor has.
#include "core/numerics/gram.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/random.hpp"
#include "support/allocations.hpp"
#include "support/testing.hpp"

namespace starling::gram_test {

struct Problem {
  std::size_t n;
  std::size_t p;
  Vector rows;
  Vector weights;
  Vector triangle;  ///< what is there before
};

Problem random_problem(std::size_t n, std::size_t p) {
  AddressedRandom random(60, Purpose::experiment, n, p);
  Problem problem{n, p, Vector(n * p), Vector(n), Vector(triangle_size(p))};
  for (double& value : problem.rows) value = random.normal();
  for (double& value : problem.weights) value = random.below(4) == 0 ? 0 : random.uniform();
  for (double& value : problem.triangle) value = random.normal();
  return problem;
}

Vector product(const Problem& problem, GramKernel kernel) {
  Vector triangle = problem.triangle;
  add_weighted_gram(problem.rows, problem.n, problem.p, problem.weights, triangle, kernel);
  return triangle;
}

/// What gram.hpp promises of an entry's bits: chains of fused multiply-adds over 128 rows, added up in order.
Vector promised(const Problem& problem) {
  Vector triangle = problem.triangle;
  const std::size_t p = problem.p;
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = i; j < p; ++j) {
      double& entry = triangle[triangle_at(i, j, p)];
      for (std::size_t start = 0; start < problem.n; start += 128) {
        double chain = 0;
        for (std::size_t r = start; r < std::min(start + 128, problem.n); ++r) {
          const double weighted = problem.weights[r] * problem.rows[r * p + i];
          chain = std::fma(weighted, problem.rows[r * p + j], chain);
        }
        entry += chain;
      }
    }
  }
  return triangle;
}

TEST(Triangles, ArePackedRowByRow) {
  for (const std::size_t order : {1U, 2U, 5U, 9U}) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < order; ++i) {
      for (std::size_t j = i; j < order; ++j) EXPECT_EQ(triangle_at(i, j, order), at++);
    }
    EXPECT_EQ(triangle_size(order), at);
  }
}

// Strips of columns, their ends and their corners; panels of rows and their ends.
TEST(Gram, HasThePromisedBitsWithAnyInstructions) {
  for (const std::size_t n : {0U, 1U, 2U, 7U, 128U, 129U, 301U}) {
    for (std::size_t p = 1; p <= 70; ++p) {
      const Problem problem = random_problem(n, p);
      const Vector expected = promised(problem);
      for (const GramKernel kernel : gram_kernels()) {
        ASSERT_EQ(product(problem, kernel), expected)
            << "n = " << n << ", p = " << p << ", kernel " << static_cast<int>(kernel);
      }
      Vector triangle = problem.triangle;
      add_weighted_gram(problem.rows, n, p, problem.weights, triangle);
      ASSERT_EQ(triangle, expected) << "n = " << n << ", p = " << p;
    }
  }
}

TEST(Gram, PortableInstructionsAreEverywhere) {
  ASSERT_FALSE(gram_kernels().empty());
  EXPECT_EQ(gram_kernels().back(), GramKernel::portable);
}

// Of a chain of 128 products and then of n/128 sums of them: |error| <= (130 + n/128) u Σ |w x y|, u = 2^-53.
TEST(Gram, IsTheSumOfProducts) {
  const Problem problem = random_problem(3000, 37);
  Vector triangle(triangle_size(37));
  add_weighted_gram(problem.rows, 3000, 37, problem.weights, triangle);
  for (std::size_t i = 0; i < 37; ++i) {
    for (std::size_t j = i; j < 37; ++j) {
      long double exact = 0;
      long double size = 0;
      for (std::size_t r = 0; r < 3000; ++r) {
        const long double term = static_cast<long double>(problem.weights[r]) *
                                 static_cast<long double>(problem.rows[r * 37 + i]) *
                                 static_cast<long double>(problem.rows[r * 37 + j]);
        exact += term;
        size += std::abs(term);
      }
      EXPECT_NEAR(triangle[triangle_at(i, j, 37)], static_cast<double>(exact),
                  static_cast<double>((130 + 24) * 0x1p-53L * size));
    }
  }
}

// A model with fewer features has the same curvature in those it has.
TEST(Gram, EntriesDependOnTheirOwnColumnsAlone) {
  const Problem all = random_problem(200, 60);
  const std::vector<std::size_t> kept{0, 3, 4, 11, 17, 18, 19, 31, 32, 40, 58, 59};
  Problem few{200, kept.size(), {}, all.weights, Vector(triangle_size(kept.size()))};
  for (std::size_t r = 0; r < 200; ++r) {
    for (const std::size_t j : kept) few.rows.push_back(all.rows[r * 60 + j]);
  }
  Vector triangle(triangle_size(60));
  add_weighted_gram(all.rows, 200, 60, all.weights, triangle);
  const Vector part = product(few, gram_kernels().front());
  for (std::size_t a = 0; a < kept.size(); ++a) {
    for (std::size_t b = a; b < kept.size(); ++b) {
      EXPECT_EQ(part[triangle_at(a, b, kept.size())], triangle[triangle_at(kept[a], kept[b], 60)]);
    }
  }
}

TEST(Gram, ABadColumnSpoilsItsOwnEntriesAlone) {
  constexpr std::size_t p = 21;
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    Problem problem = random_problem(10, p);
    problem.weights.assign(10, 1);
    problem.rows[3 * p + 5] = bad;
    for (const GramKernel kernel : gram_kernels()) {
      const Vector triangle = product(problem, kernel);
      for (std::size_t i = 0; i < p; ++i) {
        for (std::size_t j = i; j < p; ++j) {
          EXPECT_EQ(std::isfinite(triangle[triangle_at(i, j, p)]), i != 5 && j != 5) << i << ", " << j;
        }
      }
    }
  }
}

TEST(Gram, AllocatesNothingOnceItHasRoom) {
  const Problem problem = random_problem(300, 45);
  Vector triangle = problem.triangle;
  add_weighted_gram(problem.rows, 300, 45, problem.weights, triangle);
  const long before = testing_support::allocations();
  add_weighted_gram(problem.rows, 300, 45, problem.weights, triangle);
  add_weighted_gram(View(problem.rows).first(200 * 31), 200, 31, View(problem.weights).first(200),
                    MutableView(triangle).first(triangle_size(31)));
  EXPECT_EQ(testing_support::allocations(), before);
}

}  // namespace starling::gram_test
