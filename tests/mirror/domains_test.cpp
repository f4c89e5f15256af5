/// What every domain must keep: instantiated from the table's rows through their examples.
#include <limits>

#include "examples.hpp"
#include "support/testing.hpp"

namespace starling::domains_test {

using namespace testing_support;

const std::vector<std::size_t> dimensions{1, 2, 3, 8, 21};

class AnyDomain : public testing::TestWithParam<DomainExample> {
 protected:
  std::unique_ptr<Domain> domain_ = domain_table().make(GetParam().spec);
  AddressedRandom random_{60, Purpose::experiment, 0, 0};

  Vector projected(Vector x) {
    domain_->project(x);
    return x;
  }
};

TEST(DomainTable, EveryRowHasAnExample) {
  for (const auto& row : domain_table().rows()) {
    bool found = false;
    for (const DomainExample& example : domain_examples()) found = found || example.spec.starts_with(row.name);
    EXPECT_TRUE(found) << "give domain '" << row.name << "' an example and a sampler in tests/mirror/examples.hpp";
  }
}

TEST_P(AnyDomain, HoldsItsOwnPoints) {
  for (const std::size_t d : dimensions) {
    for (int trial = 0; trial < 100; ++trial) {
      const Vector x = GetParam().point(d, random_);
      EXPECT_LE(domain_->violation(x), 1e-12);
      EXPECT_LE(squared_distance(projected(x), x), 1e-24);
    }
  }
}

TEST_P(AnyDomain, ViolationSeesPointsOutside) {
  if (GetParam().spec == "free") return;
  for (const std::size_t d : dimensions) {
    if (GetParam().spec != "orthant") {
      EXPECT_GE(domain_->violation(Vector(d, 5.0)), 1) << d;
    }
    EXPECT_GE(domain_->violation(Vector(d, -5.0)), 1) << d;
  }
}

TEST_P(AnyDomain, ProjectsIntoItselfAndOnce) {
  for (const std::size_t d : dimensions) {
    for (const double size : {0.5, 3.0, 1e4, 1e9}) {
      const Vector once = projected(random_normal(d, size, random_));
      EXPECT_LE(domain_->violation(once), 1e-9) << size;
      EXPECT_LE(squared_distance(projected(once), once), 1e-24 * (1 + dot(once, once))) << size;
    }
  }
}

// p is nearest to x exactly if ⟨x − p, y − p⟩ ≤ 0 for all y of the domain.
TEST_P(AnyDomain, ProjectsOntoTheNearestPoint) {
  for (const std::size_t d : dimensions) {
    for (const double size : {0.5, 3.0, 30.0}) {
      for (int trial = 0; trial < 20; ++trial) {
        const Vector x = random_normal(d, size, random_);
        const Vector p = projected(x);
        for (int other = 0; other < 40; ++other) {
          const Vector y = GetParam().point(d, random_);
          double angle = 0;
          for (std::size_t i = 0; i < d; ++i) angle += (x[i] - p[i]) * (y[i] - p[i]);
          EXPECT_LE(angle, 1e-9) << "from size " << size;
          EXPECT_LE(squared_distance(x, p), squared_distance(x, y) + 1e-9);
        }
      }
    }
  }
}

// h(g) = max over the domain of ⟨g, s⟩: no point of the domain exceeds it, and one far along g projects to where it is
// attained.
TEST_P(AnyDomain, SupportIsTheLargestProduct) {
  for (const std::size_t d : dimensions) {
    for (int trial = 0; trial < 50; ++trial) {
      const Vector g = random_normal(d, 1, random_);
      const double support = domain_->support(g);
      const bool rises = std::ranges::any_of(g, [](double entry) { return entry > 0; });
      EXPECT_EQ(std::isinf(support), GetParam().spec == "free" || (GetParam().spec == "orthant" && rises));
      if (std::isinf(support)) continue;
      for (int other = 0; other < 20; ++other) {
        EXPECT_LE(dot(g, GetParam().point(d, random_)), support + 1e-12);
      }
      Vector far = g;
      scale(1e6, far);
      EXPECT_NEAR(dot(g, projected(far)), support, 1e-4);
    }
  }
}

// Beyond 2^53 a coordinate less the mass is the coordinate; beyond 1e154 squares overflow.
TEST_P(AnyDomain, ProjectsHugePoints) {
  for (const double size : {1e15, 1e17, 1e40, 1e160, 1e308}) {
    for (const Vector& x : {Vector{size, 0, -size, 1}, Vector{size, size, size / 2, 0}, Vector{-size, -size, -size, -1},
                            Vector{0, -size, 3, -2}}) {
      const Vector p = projected(x);
      EXPECT_LE(domain_->violation(p), 1e-9) << size << ": " << testing::PrintToString(x);
      // A larger coordinate stays the larger one.
      for (std::size_t i = 0; i + 1 < x.size(); ++i) {
        EXPECT_TRUE(x[i] >= x[i + 1] ? p[i] >= p[i + 1] : p[i] <= p[i + 1])
            << size << ": " << testing::PrintToString(p);
      }
      EXPECT_TRUE(GetParam().spec == "free" || GetParam().spec.starts_with("box") || GetParam().spec == "orthant" ||
                  std::abs(norm2(p)) > 1e-3)
          << "the nearest point to " << testing::PrintToString(x) << " is not the middle";
    }
  }
}

// All coordinates may have the size of the room at once, with any signs, and none may be larger in all places.
TEST_P(AnyDomain, HasRoomForAllSigns) {
  for (const std::size_t d : dimensions) {
    const double room = domain_->room(d);
    if (domain_->is_everything()) {
      EXPECT_EQ(room, std::numeric_limits<double>::infinity());
      continue;
    }
    bool holds_more = true;
    for (int trial = 0; trial < 60; ++trial) {
      Vector x(d);
      for (double& value : x) value = random_.below(2) == 0 ? 1 : -1;
      if (trial < 2) x.assign(d, trial == 0 ? 1 : -1);
      if (room > 0) {
        scale(room, x);
        EXPECT_LE(domain_->violation(x), 1e-12) << d;
      }
      scale(room > 0 ? 1.01 : 0.01, x);
      holds_more = holds_more && domain_->violation(x) <= 0;
    }
    EXPECT_FALSE(holds_more) << d;
  }
}

TEST_P(AnyDomain, HasItsCentreInside) {
  for (const std::size_t d : dimensions) {
    Vector centre(d, std::nan(""));
    domain_->centre(centre);
    EXPECT_LE(domain_->violation(centre), 1e-12);
    for (const double value : centre) EXPECT_EQ(value, centre[0]);
    if (domain_->simplex_mass() > 0) continue;
    // Else it is the point nearest to zero.
    EXPECT_EQ(centre, projected(Vector(d)));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, AnyDomain, testing::ValuesIn(domain_examples()),
                         [](const auto& row) { return test_name(row.param.spec); });

Vector projection(const char* spec, Vector x) {
  domain_table().make(spec)->project(x);
  return x;
}

TEST(Simplex, HasItsKnownProjections) {
  EXPECT_EQ(projection("simplex", {0.25, 0.75}), (Vector{0.25, 0.75}));
  EXPECT_EQ(projection("simplex", {2, 0}), (Vector{1, 0}));
  EXPECT_EQ(projection("simplex", {1, 1}), (Vector{0.5, 0.5}));
  EXPECT_EQ(projection("simplex", {0.75, 0.75, -1}), (Vector{0.5, 0.5, 0}));
  EXPECT_EQ(projection("simplex", {-3, -3, -3, -3}), (Vector{0.25, 0.25, 0.25, 0.25}));
  EXPECT_EQ(projection("simplex", {-7}), Vector{1});
  EXPECT_EQ(projection("simplex:4", {3, 5, 0}), (Vector{1, 3, 0}));
  EXPECT_EQ(projection("simplex", {1e17, 0, 0}), (Vector{1, 0, 0}));
}

TEST(L1Ball, HasItsKnownProjections) {
  EXPECT_EQ(projection("l1ball:2", {0.5, -1}), (Vector{0.5, -1}));
  EXPECT_EQ(projection("l1ball:2", {3, -3}), (Vector{1, -1}));
  EXPECT_EQ(projection("l1ball:2", {-5, 1}), (Vector{-2, 0}));
}

TEST(Ball, HasItsKnownProjections) {
  EXPECT_EQ(projection("ball:5", {3, -4}), (Vector{3, -4}));
  EXPECT_EQ(projection("ball:5", {30, -40}), (Vector{3, -4}));
}

TEST(DomainTable, RefusesEmptySets) {
  for (const char* spec : {"ball", "ball:0", "ball:-1", "ball:inf", "ball:nan", "box", "box:1", "box:1,1", "box:2,1",
                           "box:nan,1", "simplex:0", "simplex:-1", "l1ball", "l1ball:0", "free:1", "cube:1"}) {
    EXPECT_THROW(static_cast<void>(domain_table().make(spec)), UsageError) << spec;
  }
}

}  // namespace starling::domains_test
