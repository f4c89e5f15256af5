/// What every pair of mirror map and domain must keep: all pairs that can be made are tested.
#include "mirror/examples.hpp"
#include "support/testing.hpp"
#include <functional>
#include <map>

namespace starling {
namespace {

using testing_support::domain_examples;
using testing_support::DomainExample;
using testing_support::message_of;
using testing_support::random_mass;
using testing_support::random_normal;

/// ∇R at a state. A new mirror map needs an entry.
const std::map<std::string, std::function<Vector(View)>>& gradients_of_r() {
  const auto entropic = [](View x) {
    Vector result(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = std::log(x[i]) + 1;
    return result;
  };
  static const std::map<std::string, std::function<Vector(View)>> gradients{
      {"euclidean", [](View x) { return Vector(x.begin(), x.end()); }},
      {"entropic", entropic},
      {"entropic-signed", entropic},
  };
  return gradients;
}

struct Pair {
  std::string mirror;
  DomainExample domain;
};

void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.mirror << " on " << pair.domain.spec;
}

/// Whether the tables make this pair.
bool works(const Pair& pair) {
  const auto domain = domain_table().make(pair.domain.spec);
  try {
    static_cast<void>(mirror_table().make(pair.mirror, *domain));
  } catch (const UsageError&) {
    return false;
  }
  return true;
}

std::vector<Pair> working_pairs() {
  std::vector<Pair> pairs;
  for (const auto& row : mirror_table().rows()) {
    for (const DomainExample& domain : domain_examples()) {
      const Pair pair{row.name, domain};
      if (works(pair)) pairs.push_back(pair);
    }
  }
  return pairs;
}

class AnyMirrorMap : public testing::TestWithParam<Pair> {
 protected:
  std::unique_ptr<Domain> domain_ = domain_table().make(GetParam().domain.spec);
  std::unique_ptr<MirrorMap> mirror_ = mirror_table().make(GetParam().mirror, *domain_);
  AddressedRandom random_{70, Purpose::experiment, 0, 0};

  [[nodiscard]] bool doubled() const { return mirror_->state_size(1) == 2; }

  /// A state inside: entropic states have no zeros.
  Vector interior_state(std::size_t d) {
    if (doubled()) return random_mass(2 * d, domain_->l1_radius(), random_);
    Vector x = domain_->simplex_mass() > 0 ? random_mass(d, domain_->simplex_mass(), random_)
                                           : GetParam().domain.point(d, random_);
    return x;
  }
  /// Any state of the set that the step is over: for EG± the simplex of 2d coordinates.
  Vector any_state(std::size_t d) {
    if (doubled()) return testing_support::point_of_simplex(2 * d, domain_->l1_radius(), random_);
    return GetParam().domain.point(d, random_);
  }
  [[nodiscard]] double violation(const Vector& state, std::size_t d) const {
    Vector scratch(d);
    const double worst = domain_->violation(mirror_->model(state, scratch));
    if (!doubled()) return worst;
    return std::max(worst, domain_table().make(fmt::format("simplex:{}", domain_->l1_radius()))->violation(state));
  }
  /// The gradient as the state sees it.
  [[nodiscard]] Vector of_state(Vector gradient) const {
    if (!doubled()) return gradient;
    const std::size_t d = gradient.size();
    for (std::size_t i = 0; i < d; ++i) gradient.push_back(-gradient[i]);
    return gradient;
  }
};

// z minimises ⟨ηg, x⟩ + B_R(x ‖ x_t) over X exactly if ⟨ηg + ∇R(z) − ∇R(x_t), y − z⟩ ≥ 0 for all y of X.
TEST_P(AnyMirrorMap, StepMeetsItsOptimalityCondition) {
  ASSERT_TRUE(gradients_of_r().contains(GetParam().mirror))
      << "give mirror map '" << GetParam().mirror << "' its gradient of R in this file";
  const auto& grad_r = gradients_of_r().at(GetParam().mirror);
  for (const std::size_t d : {1U, 2U, 5U, 16U}) {
    for (int trial = 0; trial < 60; ++trial) {
      const Vector start = interior_state(d);
      const Vector gradient = random_normal(d, 2, random_);
      const double eta = trial % 10 == 0 ? 0 : 1.5 * random_.uniform();
      Vector z = start;
      mirror_->step(z, eta, gradient);
      EXPECT_LE(violation(z, d), 1e-9);
      Vector slope = grad_r(z);
      axpy(-1, grad_r(start), slope);
      axpy(eta, of_state(gradient), slope);
      for (int other = 0; other < 40; ++other) {
        Vector direction = any_state(d);
        axpy(-1, z, direction);
        EXPECT_GE(dot(slope, direction), -1e-9) << "d = " << d << ", eta = " << eta;
      }
    }
  }
}

TEST_P(AnyMirrorMap, HugeStepsStayInTheDomain) {
  constexpr std::size_t d = 4;
  const std::vector<Vector> gradients{{1e4, -1e4, 0, 1},        {1e4, 1e4, 1e4, 1e4},      {-1e4, -1e4, -1e4, -1e4},
                                      {1e17, -3, 1e17, 0},      {-1e17, 2e17, 0, 5},       {1e308, -1e308, 0, 1},
                                      {1e308, 1e308, 1e308, 0}, {-1e308, -1e308, 1e308, 2}};
  for (const Vector& gradient : gradients) {
    Vector state = interior_state(d);
    mirror_->step(state, 1, gradient);
    for (const double value : state) EXPECT_TRUE(std::isfinite(value)) << testing::PrintToString(gradient);
    EXPECT_LE(violation(state, d), 1e-9) << testing::PrintToString(gradient);
  }
}

// Many small steps there and back must not drift out.
TEST_P(AnyMirrorMap, ManyStepsStayInTheDomain) {
  constexpr std::size_t d = 6;
  Vector state = interior_state(d);
  for (int t = 0; t < 2000; ++t) mirror_->step(state, 0.3, random_normal(d, 1, random_));
  EXPECT_LE(violation(state, d), 1e-9);
}

// All points that mixing may start from: the model of an embedded model is that model.
TEST_P(AnyMirrorMap, EmbeddingRoundTrips) {
  for (const std::size_t d : {1U, 3U, 10U}) {
    for (int trial = 0; trial < 100; ++trial) {
      const Vector x = GetParam().domain.point(d, random_);
      Vector state(mirror_->state_size(d), std::nan(""));
      mirror_->embed(x, state);
      if (state.size() == d) {
        EXPECT_EQ(state, x) << "models are taken for their states where these are as long";
      }
      Vector scratch(d);
      const View model = mirror_->model(state, scratch);
      ASSERT_EQ(model.size(), d);
      for (std::size_t i = 0; i < d; ++i) EXPECT_NEAR(model[i], x[i], 1e-15 * (1 + std::abs(x[i])) * 4);
      EXPECT_LE(violation(state, d), 1e-12);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, AnyMirrorMap, testing::ValuesIn(working_pairs()), [](const auto& row) {
  return testing_support::test_name(row.param.mirror + "_on_" + row.param.domain.spec);
});

TEST(MirrorTable, MakesThePairsThatItShould) {
  for (const auto& row : mirror_table().rows()) {
    for (const DomainExample& domain : domain_examples()) {
      const bool simplex = domain.spec.starts_with("simplex");
      const bool ball = domain.spec.starts_with("l1ball");
      const bool expected =
          row.name == "euclidean" || (row.name == "entropic" && simplex) || (row.name == "entropic-signed" && ball);
      EXPECT_EQ(works({row.name, domain}), expected) << row.name << " on " << domain.spec;
    }
  }
}

TEST(MirrorTable, RefusalsNameTheDomainThatIsNeeded) {
  const auto refusal = [](const char* mirror, const char* domain) {
    const auto set = domain_table().make(domain);
    return message_of<UsageError>([&] { static_cast<void>(mirror_table().make(mirror, *set)); });
  };
  EXPECT_NE(refusal("entropic", "free").find("--domain simplex"), std::string::npos);
  EXPECT_NE(refusal("entropic-signed", "simplex").find("--domain l1ball:RADIUS"), std::string::npos);
}

TEST(MirrorTable, DefaultDomainsWorkWhereThereIsOne) {
  EXPECT_EQ(default_domain("euclidean"), "free");
  EXPECT_EQ(default_domain("entropic"), "simplex");
  for (const char* mirror : {"euclidean", "entropic"}) {
    const auto domain = domain_table().make(default_domain(mirror));
    EXPECT_NO_THROW(static_cast<void>(mirror_table().make(mirror, *domain))) << mirror;
  }
  // EG± needs a radius, which has no default: its refusal says so.
  const auto domain = domain_table().make(default_domain("entropic-signed"));
  EXPECT_THROW(static_cast<void>(mirror_table().make("entropic-signed", *domain)), UsageError);
}

TEST(Entropic, AZeroCoordinateStaysZero) {
  const auto domain = domain_table().make("simplex");
  const auto mirror = mirror_table().make("entropic", *domain);
  Vector state{0, 0.5, 0, 0.5};
  for (int t = 0; t < 50; ++t) mirror->step(state, 1, Vector{-1e3, 0.1, -5, -0.1});
  EXPECT_EQ(state[0], 0);
  EXPECT_EQ(state[2], 0);
  EXPECT_NEAR(state[1] + state[3], 1, 1e-15);
  EXPECT_GT(state[3], state[1]);
}

// The first step from the uniform start in closed form.
TEST(Entropic, IsExponentiatedGradient) {
  const auto domain = domain_table().make("simplex:2");
  const auto mirror = mirror_table().make("entropic", *domain);
  Vector state{1, 1};
  mirror->step(state, 0.5, Vector{-1, 1});
  EXPECT_NEAR(state[0], 2 * std::exp(0.5) / (std::exp(0.5) + std::exp(-0.5)), 1e-15);
}

// A start inside the ball leaves mass on both sides of every coordinate, so that each can change its sign.
TEST(EntropicSigned, EmbedsInteriorModelsWithoutZeros) {
  const auto domain = domain_table().make("l1ball:2");
  const auto mirror = mirror_table().make("entropic-signed", *domain);
  Vector state(4);
  mirror->embed(Vector{0.5, -0.5}, state);
  EXPECT_EQ(state, (Vector{0.75, 0.25, 0.25, 0.75}));
}

// Coordinates with hardly any mass win if the gradient wants them enough.
TEST(Entropic, ReachesCoordinatesOfTinyMass) {
  const auto domain = domain_table().make("simplex");
  const auto mirror = mirror_table().make("entropic", *domain);
  Vector state{1, 1e-300};
  mirror->step(state, 1, Vector{2000, 0});
  EXPECT_NEAR(state[1], 1, 1e-15);
  EXPECT_LE(domain->violation(state), 1e-15);
}

}  // namespace
}  // namespace starling
