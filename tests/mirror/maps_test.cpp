/// What every pair of mirror map and domain must keep: all pairs that can be made are tested.
#include <functional>
#include <map>

#include "examples.hpp"
#include "hypentropy.hpp"
#include "mirror/positive_coordinates.hpp"
#include "support/testing.hpp"

namespace starling::maps_test {

using namespace testing_support;

/// ∇R at a state. A new mirror map needs an entry.
const std::map<std::string, std::function<Vector(View)>>& gradients_of_r() {
  const auto entropic = [](View x) {
    Vector result(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = std::log(x[i]) + 1;
    return result;
  };
  static const std::map<std::string, std::function<Vector(View)>> gradients{
      {"euclidean", [](View x) { return Vector(x.begin(), x.end()); }},
      {"p-norm",
       [](View x) {  // p = 1.5
         double norm = 0;
         for (const double value : x) norm += std::pow(std::abs(value), 1.5);
         Vector result(x.begin(), x.end());
         for (double& value : result) value = std::copysign(std::sqrt(std::abs(value) * std::cbrt(norm * norm)), value);
         return result;
       }},
      {"kl",
       [](View x) {  // a shift of 1
         Vector result(x.begin(), x.end());
         for (double& value : result) value = std::log(value + 1);
         return result;
       }},
      {"entropic", entropic},
      {"entropic-signed", entropic},
      {"hypentropy",
       [](View x) {
         Vector result(x.size());
         for (std::size_t i = 0; i < x.size(); ++i) result[i] = std::asinh(x[i]);
         return result;
       }},
  };
  return gradients;
}

/// The table's mirror maps and one more, which is defined in hypentropy.hpp alone.
const Table<MirrorMap, Domain&>& extended_table() {
  static const Table<MirrorMap, Domain&> table = mirror_table().with(hypentropy_map().row);
  return table;
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
    static_cast<void>(extended_table().make(pair.mirror, *domain));
  } catch (const UsageError&) {
    return false;
  }
  return true;
}

std::vector<Pair> working_pairs() {
  std::vector<Pair> pairs;
  for (const auto& row : extended_table().rows()) {
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
  std::unique_ptr<MirrorMap> mirror_ = extended_table().make(GetParam().mirror, *domain_);
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
    if (doubled()) return point_of_simplex(2 * d, domain_->l1_radius(), random_);
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

// With a penalty r the slope of the smooth part makes up for it: ⟨…, y − z⟩ + η (r(y) − r(z)) ≥ 0.
TEST(Euclidean, StepsOfPenaltiesMeetTheirOptimalityCondition) {
  AddressedRandom random(71, Purpose::experiment, 0, 0);
  constexpr std::size_t d = 5;
  const auto penalty = [](double lambda, double gamma, View x) {
    return lambda * norm1(x) + gamma * (norm2(x.first(2)) + norm2(x.subspan(2, 2)) + norm2(x.subspan(4)));
  };
  std::size_t pairs = 0;
  std::size_t zeros = 0;
  for (const DomainExample& each : domain_examples()) {
    for (const auto& [lambda, gamma] : {std::pair(0.8, 0.0), std::pair(0.0, 0.8), std::pair(0.4, 0.6)}) {
      const Pair pair{fmt::format("euclidean:l1={},group={},size=2", lambda, gamma), each};
      if (!works(pair)) continue;
      ++pairs;
      const auto domain = domain_table().make(each.spec);
      const auto mirror = mirror_table().make(pair.mirror, *domain);
      EXPECT_TRUE(mirror->has_penalty());
      for (int trial = 0; trial < 60; ++trial) {
        const Vector start = each.point(d, random);
        const Vector gradient = random_normal(d, 1, random);
        const double eta = 1.5 * random.uniform();
        const double share = trial % 2 == 0 ? 1 : 0.5;
        mirror->weigh_penalty(share);
        Vector z = start;
        mirror->step(z, eta, gradient);
        zeros += static_cast<std::size_t>(std::ranges::count(z, 0.0));
        EXPECT_LE(domain->violation(z), 1e-9);
        for (int other = 0; other < 40; ++other) {
          const Vector y = each.point(d, random);
          double gain = eta * share * (penalty(lambda, gamma, y) - penalty(lambda, gamma, z));
          for (std::size_t j = 0; j < d; ++j) gain += (eta * gradient[j] + z[j] - start[j]) * (y[j] - z[j]);
          EXPECT_GE(gain, -1e-9) << pair.mirror << " on " << each.spec;
        }
      }
    }
  }
  EXPECT_EQ(pairs, 6U + 2U + 2U);  // l1 beside simplexes; groups on free and ball
  EXPECT_GT(zeros, 200U);
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

// All points that mixing may start from: the model of an embedded model is that model, but for EG± near the border.
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
      const double most = domain_->l1_radius() * (1 - 0x1p-10);
      const double share = doubled() && norm1(x) > most ? most / norm1(x) : 1;
      for (std::size_t i = 0; i < d; ++i) EXPECT_NEAR(model[i], share * x[i], 1e-15 * (1 + std::abs(x[i])) * 4);
      EXPECT_LE(violation(state, d), 1e-12);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, AnyMirrorMap, testing::ValuesIn(working_pairs()),
                         [](const auto& row) { return test_name(row.param.mirror + "_on_" + row.param.domain.spec); });

TEST(MirrorTable, MakesThePairsThatItShould) {
  for (const std::string name : {"euclidean", "p-norm", "kl", "entropic", "entropic-signed"}) {
    for (const DomainExample& domain : domain_examples()) {
      const bool simplex = domain.spec.starts_with("simplex");
      const bool ball = domain.spec.starts_with("l1ball");
      const bool expected = name == "euclidean" || (name == "p-norm" && domain.spec == "free") ||
                            (name == "kl" && (domain.spec == "orthant" || domain.spec == "box:1,2")) ||
                            (name == "entropic" && simplex) || (name == "entropic-signed" && ball);
      EXPECT_EQ(works({name, domain}), expected) << name << " on " << domain.spec;
    }
  }
}

// A short step from the centre along a gradient without a common part moves coordinates by the pace.
TEST(MirrorTable, SaysTheScaleOfItsSteps) {
  constexpr std::size_t d = 4;
  for (const auto& [mirror, domain] : {std::pair("euclidean", "free"), std::pair("p-norm:1.2", "free"),
                                       std::pair("euclidean", "simplex:3"), std::pair("kl:1.5", "box:-0.5,2"),
                                       std::pair("entropic", "simplex:3"), std::pair("entropic-signed", "l1ball:3")}) {
    const std::unique_ptr<Domain> set = domain_table().make(domain);
    const std::unique_ptr<MirrorMap> map = mirror_table().make(mirror, *set);
    Vector centre(d);
    set->centre(centre);
    Vector state(map->state_size(d));
    map->embed(centre, state);
    const Vector gradient{1, -1, 1, -1};
    map->step(state, 1e-6, gradient);
    Vector scratch(d);
    const View x = map->model(state, scratch);
    const MapScale scale = map->scale_of_steps(d);
    for (std::size_t i = 0; i < d; ++i) {
      EXPECT_NEAR((centre[i] - x[i]) / 1e-6, scale.pace * gradient[i], 1e-5) << mirror << " " << domain;
    }
    EXPECT_EQ(scale.in_exponents, std::string(mirror).starts_with("entropic") || std::string(mirror) == "kl:1.5");
  }
}

/// ∇ ½‖X‖_1.5² of the singular values of a matrix of two rows, by the rotation that makes the rows orthogonal.
Vector gradient_of_two_rows(View x) {
  const std::size_t columns = x.size() / 2;
  const View a = x.first(columns);
  const View b = x.subspan(columns);
  const double angle = std::atan2(2 * dot(a, b), dot(a, a) - dot(b, b)) / 2;
  Vector u(columns);
  Vector v(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    u[j] = std::cos(angle) * a[j] + std::sin(angle) * b[j];
    v[j] = std::cos(angle) * b[j] - std::sin(angle) * a[j];
  }
  const double root = std::cbrt(std::pow(norm2(u), 1.5) + std::pow(norm2(v), 1.5));
  scale(root / std::sqrt(norm2(u)), u);
  scale(root / std::sqrt(norm2(v)), v);
  Vector result(x.size());
  for (std::size_t j = 0; j < columns; ++j) {
    result[j] = std::cos(angle) * u[j] - std::sin(angle) * v[j];
    result[columns + j] = std::sin(angle) * u[j] + std::cos(angle) * v[j];
  }
  return result;
}

// On all of R^d the step is ∇R(z) = ∇R(x) − ηg.
TEST(PNorm, OfAMatrixStepsInItsSingularValues) {
  AddressedRandom random(72, Purpose::experiment, 0, 0);
  const auto domain = domain_table().make("free");
  const auto map = mirror_table().make("p-norm:1.5,rows=2", *domain);
  for (const std::size_t d : {4U, 10U, 14U}) {
    for (int trial = 0; trial < 40; ++trial) {
      const Vector start = random_normal(d, 3, random);
      const Vector gradient = random_normal(d, 2, random);
      const double eta = 1.5 * random.uniform();
      Vector z = start;
      map->step(z, eta, gradient);
      Vector slope = gradient_of_two_rows(z);
      axpy(-1, gradient_of_two_rows(start), slope);
      axpy(eta, gradient, slope);
      EXPECT_LE(norm2(slope), 1e-9) << "d = " << d << ", eta = " << eta;
    }
  }
}

// One row, and p = 2, are Euclidean; a step from zero along orthogonal rows moves coordinates by the pace.
TEST(PNorm, OfAMatrixHasKnownCases) {
  const auto domain = domain_table().make("free");
  for (const char* spec : {"p-norm:1.25,rows=1", "p-norm:2,rows=3"}) {
    Vector x{1, -2, 3, 0.5, 0, 2};
    mirror_table().make(spec, *domain)->step(x, 0.5, Vector{2, 0, -2, 1, 1, -4});
    EXPECT_THAT(x, testing::Pointwise(testing::DoubleNear(1e-12), {0.0, -2.0, 4.0, 0.0, -0.5, 4.0})) << spec;
  }
  const auto map = mirror_table().make("p-norm:1.5,rows=2", *domain);
  Vector x(4);
  map->step(x, 1e-3, Vector{1, -1, 1, 1});
  for (const double value : x) EXPECT_NEAR(std::abs(value), 1e-3 * map->scale_of_steps(4).pace, 1e-15);
  Vector huge(4);
  map->step(huge, 1, Vector{1e308, 1e308, -1e308, 0});
  for (const double value : huge) EXPECT_TRUE(std::isfinite(value));
  EXPECT_THAT(message_of<UsageError>([&] { return map->state_size(5); }), HasSubstr("no such rows"));
}

// All gradients have columns that add up to 0, as of softmax: so do all models, also after one of rank 1.
TEST(PNorm, OfAMatrixKeepsDirectionsThatNoGradientHas) {
  const auto domain = domain_table().make("free");
  EXPECT_THAT(message_of<UsageError>([&] { return mirror_table().make("p-norm:1.2,rows=3", *domain); }),
              HasSubstr("Take p=1.25 or more"));
  const auto map = mirror_table().make("p-norm:1.25,rows=3", *domain);
  AddressedRandom random(73, Purpose::experiment, 0, 0);
  Vector x(12);
  map->step(x, 1, Vector{1, 2, -1, 3, -2, -4, 2, -6, 1, 2, -1, 3});
  for (int t = 0; t < 50; ++t) {
    Vector gradient = random_normal(12, 1, random);
    for (std::size_t j = 0; j < 4; ++j) gradient[8 + j] = -gradient[j] - gradient[4 + j];
    map->step(x, 0.3, gradient);
    for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(x[j] + x[4 + j] + x[8 + j], 0, 1e-3 * norm2(x));
  }
}

TEST(MirrorTable, RefusalsNameTheDomainThatIsNeeded) {
  const auto refusal = [](const char* mirror, const char* domain) {
    const auto set = domain_table().make(domain);
    return message_of<UsageError>([&] { return mirror_table().make(mirror, *set); });
  };
  EXPECT_THAT(refusal("entropic", "free"), HasSubstr("--domain simplex"));
  EXPECT_THAT(refusal("entropic-signed", "simplex"), HasSubstr("--domain l1ball:RADIUS"));
  EXPECT_THAT(refusal("kl", "free"), HasSubstr("--domain orthant"));
  EXPECT_THAT(refusal("kl:0", "orthant"), HasSubstr("would never move"));
  EXPECT_THAT(refusal("kl", "box:-1,2.5"), HasSubstr("would never move"));
}

TEST(MirrorTable, DefaultDomainsWorkWhereThereIsOne) {
  EXPECT_EQ(default_domain("euclidean"), "free");
  EXPECT_EQ(default_domain("entropic"), "simplex");
  EXPECT_EQ(default_domain("no-such-map"), "free");
  for (const char* mirror : {"euclidean", "entropic", "kl"}) {
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

// A start at the bound moves, and comes back to it; without a shift coordinates grow by factors alone.
TEST(KullbackLeibler, LeavesItsBoundByTheShift) {
  const auto orthant = domain_table().make("orthant");
  const auto map = mirror_table().make("kl:0.5", *orthant);
  Vector state{0, 2};
  map->step(state, 0.5, Vector{-2, -2});
  EXPECT_NEAR(state[0], 0.5 * std::exp(1) - 0.5, 1e-15);
  EXPECT_NEAR(state[1], 2.5 * std::exp(1) - 0.5, 1e-14);
  map->step(state, 0.5, Vector{3, 3});
  EXPECT_EQ(state[0], 0);

  const auto box = domain_table().make("box:1,2");
  Vector factors{1.5};
  mirror_table().make("kl:0", *box)->step(factors, 0.1, Vector{1});
  EXPECT_NEAR(factors[0], 1.5 * std::exp(-0.1), 1e-15);
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

// A start on the border, at a corner or outside still has mass on both signs, so every coordinate learns. The time that
// takes is ln(2 · 1024) steps of length 1 or so, not ln(2^1022).
TEST(EntropicSigned, LeavesTheBorder) {
  const auto domain = domain_table().make("l1ball:2");
  const auto mirror = mirror_table().make("entropic-signed", *domain);
  for (const Vector& start : {Vector{2, 0, 0}, Vector{1, 1, 0}, Vector{3, -1, 0}}) {
    Vector state(6);
    mirror->embed(start, state);
    for (const double value : state) EXPECT_GE(value, 2 * 0x1p-10 / 6 * 0.999);
    for (int t = 0; t < 10; ++t) mirror->step(state, 1, Vector{1, -0.5, 2});  // the best vertex is (0, 0, -2)
    Vector scratch(3);
    const View model = mirror->model(state, scratch);
    EXPECT_NEAR(model[2], -2, 0.2) << testing::PrintToString(start);
    EXPECT_LE(domain->violation(model), 1e-12);
  }
}

// A hundred losses (0, 1), then nine hundred (1, 0), at a constant step of 8. Logarithms without end would fall to −800
// and need a hundred rounds to come back (mean loss 0.101). The floor 2^-1022 brings them back after 89. A coordinate
// that underflows to zero never comes back (mean loss 0.90).
TEST(Entropic, RecoversFromLossesThatWouldUnderflow) {
  for (const double mass : {1.0, 1e-100, 3.0, 1e100}) {
    const auto domain = domain_table().make(fmt::format("simplex:{}", mass));
    const auto mirror = mirror_table().make("entropic", *domain);
    Vector state{mass / 2, mass / 2};
    double played = 0;
    for (int t = 0; t < 1000; ++t) {
      const Vector loss = t < 100 ? Vector{0, 1} : Vector{1, 0};
      played += dot(loss, state) / mass;
      mirror->step(state, 8, loss);
      for (const double value : state) EXPECT_GE(value, mirror->least_coordinate()) << mass << ", " << t;
    }
    EXPECT_NEAR(state[1] / mass, 1, 1e-15);
    EXPECT_LE(domain->violation(state), 1e-15 * mass);
    EXPECT_LE(played / 1000, 0.1011) << mass;
    EXPECT_GE(played / 1000, 0.06) << mass;
  }
  const auto domain = domain_table().make("simplex");
  const auto mirror = mirror_table().make("entropic", *domain);
  double played = 0;
  Vector state{0.5, 0.5};
  for (int t = 0; t < 1000; ++t) {
    const Vector loss = t < 100 ? Vector{0, 1} : Vector{1, 0};
    played += dot(loss, state);
    mirror->step(state, 8, loss);
  }
  double expected = 0.5;  // the log-odds −800 are cut at ln 2^-1022, and rise by 8 a round
  for (int t = 0; t < 900; ++t) expected += 1 / (1 + std::exp(std::log(0x1p-1022) + 8 * t));
  EXPECT_NEAR(played, expected, 1e-3);  // the first hundred have losses of e^-8 too
}

// No gradient, however large, takes a positive coordinate to zero, and none makes a zero positive.
TEST(Entropic, KeepsTheSupportOfAState) {
  const auto domain = domain_table().make("simplex");
  const auto mirror = mirror_table().make("entropic", *domain);
  AddressedRandom random(71, Purpose::experiment, 0, 0);
  Vector state{0.25, 0, 0.5, 0.25, 0x1p-1022, 0};
  for (int t = 0; t < 300; ++t) {
    mirror->step(state, 1, random_normal(state.size(), t % 3 == 0 ? 1e3 : 1e-2, random));
    for (std::size_t i = 0; i < state.size(); ++i) {
      if (i == 1 || i == 5) {
        EXPECT_EQ(state[i], 0);
      } else {
        EXPECT_GE(state[i], 0x1p-1022);
      }
    }
    EXPECT_LE(domain->violation(state), 1e-15);
  }
}

TEST(MirrorTable, RefusesMassesWhoseLogarithmsAreOutOfRange) {
  for (const char* mass : {"1e-250", "1e250"}) {
    const auto simplex = domain_table().make(fmt::format("simplex:{}", mass));
    EXPECT_THROW(static_cast<void>(mirror_table().make("entropic", *simplex)), UsageError) << mass;
    EXPECT_NO_THROW(static_cast<void>(mirror_table().make("euclidean", *simplex))) << mass;
    const auto ball = domain_table().make(fmt::format("l1ball:{}", mass));
    EXPECT_THROW(static_cast<void>(mirror_table().make("entropic-signed", *ball)), UsageError) << mass;
  }
}

// Mixing adds products of small shares, masses and coordinates: positive coordinates come out positive, zeros of a
// start come out zero unless a neighbour has fed them.
TEST(PositiveCoordinates, OutliveMixing) {
  constexpr double least = 0x1p-1022;
  PositiveCoordinates positive(least);
  Columns states(300, 2);
  for (std::size_t i = 0; i < 300; ++i) states[0][i] = states[1][i] = least;
  states[0][7] = states[0][8] = states[1][290] = states[1][299] = 0;
  positive.note_zeros(states);
  states[0][0] = 0;       // underflow
  states[0][1] = -1e-17;  // a residue of sums
  states[0][2] = 0x1p-1060;
  states[0][3] = 0.5;
  states[0][8] = 0x1p-1070;  // fed
  states[1][290] = -1e-17;
  positive.restore(states);
  for (const std::size_t i : {0, 1, 2, 8}) EXPECT_EQ(states[0][i], least) << i;
  EXPECT_EQ(states[0][3], 0.5);
  EXPECT_EQ(states[0][7], 0);
  EXPECT_EQ(states[1][290], 0);
  EXPECT_EQ(states[1][299], 0);
  EXPECT_EQ(states[1][0], least);
  positive.note_zeros(states);  // the fed one counts as positive from now on
  states[0][8] = 0;
  positive.restore(states);
  EXPECT_EQ(states[0][8], least);

  PositiveCoordinates none(0);
  const Columns before = states;
  none.note_zeros(states);
  none.restore(states);
  EXPECT_TRUE(std::equal(before.flat().begin(), before.flat().end(), states.flat().begin()));
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

}  // namespace starling::maps_test
