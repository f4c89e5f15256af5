#include "protocol/curvature/block_curvature.hpp"

#include <cmath>
#include <gmock/gmock.h>

#include "core/check.hpp"
#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "protocol/curvature/safeguarded_newton.hpp"
#include "support/testing.hpp"

namespace starling::block_curvature_test {

Vector normals(std::size_t size, std::uint64_t stream) {
  AddressedRandom random(5, Purpose::experiment, stream, 0);
  Vector x(size);
  for (double& entry : x) entry = random.normal();
  return x;
}

/// Σ of `n` outer products of normal vectors, packed.
Vector gram_of_normals(std::size_t order, std::size_t n, std::uint64_t stream) {
  Vector triangle(triangle_size(order));
  for (std::size_t i = 0; i < n; ++i) {
    const Vector x = normals(order, 100 * stream + i);
    for (std::size_t a = 0; a < order; ++a) {
      for (std::size_t b = a; b < order; ++b) triangle[triangle_at(a, b, order)] += x[a] * x[b];
    }
  }
  return triangle;
}

TEST(BlockCurvature, SolvesEachBlock) {
  const std::size_t order = 6;
  BlockCurvature j(2, order);
  Vector triangles = gram_of_normals(order, 20, 1);
  const Vector second = gram_of_normals(order, 20, 2);
  triangles.insert(triangles.end(), second.begin(), second.end());
  j.add(triangles);
  j.add_identity(0.3);
  j.add_slopes(0.5);
  const Vector x = normals(2 * order, 7);
  const Vector solved = j.solve(x, "test");
  for (std::size_t i = 0; i < x.size(); ++i) {  // J times the solution
    const std::size_t block = i / order;
    const View triangle = View(triangles).subspan(block * triangle_size(order), triangle_size(order));
    double back = (0.3 + ((i + 1) % order != 0 ? 0.5 : 0)) * solved[i];
    for (std::size_t b = 0; b < order; ++b) {
      const std::size_t a = i % order;
      back += triangle[triangle_at(std::min(a, b), std::max(a, b), order)] * solved[block * order + b];
    }
    EXPECT_NEAR(back, x[i], 1e-12);
  }
  const Vector again = j.times(solved);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(again[i], x[i], 1e-12);
  // (J⁻¹)_ii by solving for unit vectors.
  const Vector diagonal = j.inverse_diagonal("test");
  for (std::size_t i = 0; i < x.size(); ++i) {
    Vector unit(x.size());
    unit[i] = 1;
    EXPECT_NEAR(diagonal[i], j.solve(unit, "test")[i], 1e-13);
  }
}

TEST(BlockCurvature, MultiplesOfTheIdentityAreDivisions) {
  BlockCurvature j(1, 3);
  j.add_identity(4);
  EXPECT_EQ(j.solve(Vector{4, 8, 12}, "test"), (Vector{1, 2, 3}));
  j.scale(0.5);
  EXPECT_EQ(j.solve(Vector{4, 8, 12}, "test"), (Vector{2, 4, 6}));
}

TEST(BlockCurvature, ASingularMatrixIsRefusedByName) {
  const std::size_t order = 4;
  Vector triangle = gram_of_normals(order, 20, 3);
  for (std::size_t a = 0; a < order; ++a)
    triangle[triangle_at(std::min<std::size_t>(a, 2), std::max<std::size_t>(a, 2), order)] = 0;
  BlockCurvature j(1, order);
  j.add(triangle);
  try {
    (void)j.solve(Vector(order, 1.0), "batch 3");
    FAIL() << "solved";
  } catch (const UndeterminedFeature& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("batch 3"));
    EXPECT_THAT(error.what(), testing::HasSubstr("feature 2"));
    EXPECT_THAT(error.named({"a", "b", "age"}).what(), testing::HasSubstr("; feature 'age' is constant, or"));
    EXPECT_STREQ(error.named({}).what(), error.what());
    EXPECT_THAT(error.what(), testing::HasSubstr("eigenvalues"));
  }
  EXPECT_THROW((void)BlockCurvature(1, 2).solve(Vector(2, 1.0), "batch 1"), DataError);
}

TEST(BlockCurvature, AFeatureThatNeverVariesIsBlamedAndNotTheIntercept) {
  const std::size_t order = 4;
  Vector triangle = gram_of_normals(order, 20, 3);
  const double intercept = triangle[triangle_at(3, 3, order)];
  triangle[triangle_at(0, 1, order)] = 7 * triangle[triangle_at(0, 3, order)];  // feature 1 is 7, as 7 intercepts
  triangle[triangle_at(1, 2, order)] = 7 * triangle[triangle_at(2, 3, order)];
  triangle[triangle_at(1, 3, order)] = 7 * intercept;
  triangle[triangle_at(1, 1, order)] = 49 * intercept;
  BlockCurvature j(1, order);
  j.add(triangle);
  try {
    (void)j.solve(Vector(order, 1.0), "batch 1");
    FAIL() << "solved";
  } catch (const UndeterminedFeature& error) {
    EXPECT_THAT(error.named({"a", "age", "b"}).what(), testing::HasSubstr("; feature 'age' is constant, or"));
  }
}

TEST(BlockCurvature, NegativeEigenvaluesCountAsZero) {
  BlockCurvature j(1, 2);
  j.add(Vector{2, 0, -3});
  j.add_identity(0.5);
  const Vector x = j.solve_clipped(Vector{5, 1});
  EXPECT_NEAR(x[0], 2, 1e-14);
  EXPECT_NEAR(x[1], 2, 1e-14);
}

TEST(BlockCurvature, SandwichOfItsOwnIsItsInverse) {
  const std::size_t order = 5;
  const Vector triangle = gram_of_normals(order, 30, 4);
  BlockCurvature j(1, order);
  j.add(triangle);
  const Vector inverse = j.inverse_diagonal("test");
  const Vector sandwich = j.sandwich_diagonal(triangle, "test");
  for (std::size_t i = 0; i < order; ++i) EXPECT_NEAR(sandwich[i], inverse[i], 1e-12);
}

/// Σ_i √(1 + (a_i·x − b_i)²) and its exact curvature, which is next to nothing far from the minimum: Newton's steps
/// overshoot there.
Expansion roots(const Vector& a, const Vector& b, std::size_t order, View x) {
  Expansion result{0, Vector(order), BlockCurvature(1, order)};
  for (std::size_t i = 0; i < b.size(); ++i) {
    const View row = View(a).subspan(i * order, order);
    const double r = dot(row, x) - b[i];
    const double root = std::sqrt(1 + r * r);
    result.value += root;
    axpy(r / root, row, result.gradient);
    Vector triangle(triangle_size(order));
    for (std::size_t j = 0; j < order; ++j) {
      for (std::size_t k = j; k < order; ++k)
        triangle[triangle_at(j, k, order)] = row[j] * row[k] / (root * root * root);
    }
    result.curvature.add(triangle);
  }
  return result;
}

TEST(SafeguardedNewton, ConvergesWhereNewtonAloneFlies) {
  const std::size_t order = 3;
  const std::size_t n = 40;
  const Vector a = normals(n * order, 31);
  const Vector b = normals(n, 32);
  const Vector start{50, -80, 30};
  BlockCurvature majoriser(1, order);
  for (std::size_t i = 0; i < n; ++i) {
    const View row = View(a).subspan(i * order, order);
    Vector triangle(triangle_size(order));
    for (std::size_t j = 0; j < order; ++j) {
      for (std::size_t k = j; k < order; ++k) triangle[triangle_at(j, k, order)] = row[j] * row[k];
    }
    majoriser.add(triangle);
  }
  // One step of Newton alone raises the objective.
  const Expansion at_start = roots(a, b, order, start);
  Vector newton = start;
  axpy(-1, at_start.curvature.solve(at_start.gradient, "test"), newton);
  EXPECT_GT(roots(a, b, order, newton).value, at_start.value);

  SafeguardedNewton search(start, majoriser, "test");
  double before = std::numeric_limits<double>::infinity();
  int questions = 0;
  while (!search.converged() && questions < 300) {
    search.take(roots(a, b, order, search.point()));
    EXPECT_LE(search.value(), before * (1 + 1e-13));
    before = search.value();
    ++questions;
  }
  EXPECT_TRUE(search.converged());
  EXPECT_LT(questions, 60);
  EXPECT_LT(norm2(roots(a, b, order, search.best()).gradient), 1e-9);
}

}  // namespace starling::block_curvature_test
