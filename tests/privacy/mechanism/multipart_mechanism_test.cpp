/// Several releases a round: each is what a mechanism of its own would release, and together they cost what is charged.
#include "privacy/mechanism/multipart_mechanism.hpp"

#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/accounting/spending.hpp"
#include "privacy/clip_rows.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/statistics.hpp"
#include "releases.hpp"
#include "support/testing.hpp"

namespace starling::multipart_mechanism_test {

using namespace testing_support;

const NoiseKey key = NoiseKey::from_seed(1, 1);
constexpr double infinity = std::numeric_limits<double>::infinity();

ReleaseSettings settings_of(double price) {
  return {.price = PriceRange::of(price), .clip = 2, .batch = 4, .dimension = 6, .run_id = "parts"};
}

/// What a mechanism by itself has that pays `price`.
std::unique_ptr<Mechanism> alone(const std::string& name, double price, double clip, std::size_t dimension) {
  ReleaseSettings settings = settings_of(price);
  settings.clip = clip;
  settings.dimension = dimension;
  return mechanism_table().make(name, settings);
}

Vector released(MultipartMechanism& mechanism, std::size_t part, const ReleaseAddress& address, double price,
                const Vector& sum) {
  Released<Vector> mean(declare_public(Vector()));
  mechanism.release(part, address, price, key, Secret<Vector>(sum), mean);
  return mean.value();
}

class Parts : public testing::TestWithParam<std::string> {
 protected:
  static constexpr std::size_t releases = 3;
  double price_ = 0.8;
  bool gaussian_ = GetParam() == "gaussian";
  MultipartMechanism parts_{GetParam(), settings_of(price_), releases};
  std::size_t embedding_ = parts_.add("embedding", 0.5, 12);  // four rows of three numbers
  std::size_t gradient_ = parts_.add("gradient", 2, 6);

  /// Of one part, up to the last digits.
  double part_price() const { return gaussian_ ? price_ / std::sqrt(3.0) : price_ / 3; }
};

TEST_P(Parts, ChargeIsThatOfAllReleasesComposed) {
  const std::vector<ChargeGroup> round{{parts_.charge(price_), 1}};
  const std::vector<ChargeGroup> each{{alone(GetParam(), part_price(), 0.5, 12)->charge(part_price()), 1},
                                      {alone(GetParam(), part_price(), 2, 6)->charge(part_price()), 2}};
  for (const double delta : {0.0, 1e-9, 1e-5, 1e-3, 0.1}) {
    if (delta == 0 && gaussian_) continue;
    const double together = compose(round, delta).epsilon;
    // No less than the parts composed (every rounding of the composition is upwards, by some 1e-3 at most); and of
    // Gaussian noise no more either.
    EXPECT_GE(together * (1 + 1e-3) + 1e-6, compose(each, delta).epsilon) << delta;
    if (gaussian_ || delta == 0) {
      EXPECT_NEAR(together / compose(each, delta).epsilon, 1, 1e-9) << delta;
    }
  }
  const Charge charge = parts_.charge(price_);
  EXPECT_NEAR(gaussian_ ? charge.mu : charge.epsilon, price_, 1e-11);
  EXPECT_LE(gaussian_ ? charge.mu : charge.epsilon, price_);
}

// Squares of parts' μ, and sums of parts' ε, never come to more than the round's, whatever is rounded.
TEST_P(Parts, NeverCostMoreThanTheRound) {
  for (const std::size_t count : {1U, 2U, 3U, 5U, 7U, 64U, 1000U}) {
    for (const double price : {0.1, 1.0 / 3, 0.7, 1.0, 2.6}) {
      MultipartMechanism mechanism(GetParam(), settings_of(price), count);
      const std::size_t part = mechanism.add("part", 1, 2);
      // Back from the noise to what it costs: deviation of the sum is 2C/μ', or √2 2C/ε'.
      const double scale = 2 / (mechanism.deviation(part, price) * 4);
      const auto n = static_cast<double>(count);
      const double together = gaussian_ ? scale * std::sqrt(n) : scale * std::sqrt(2.0) * n;
      EXPECT_NEAR(together / price, 1, 1e-12);
      EXPECT_LE(together, price) << count;
      EXPECT_LE(mechanism.charge(price).epsilon, price);
      EXPECT_LE(mechanism.charge(price).mu, price);
    }
  }
}

TEST_P(Parts, EachIsWhatAMechanismOfItsOwnReleases) {
  const Vector rows(12, 0.125);
  const Vector gradient{0.5, -1, 0.25, 0, 1, -0.125};
  EXPECT_EQ(parts_.clip().bound, alone(GetParam(), part_price(), 2, 6)->clip().bound);
  EXPECT_EQ(parts_.clip(embedding_).bound, alone(GetParam(), part_price(), 0.5, 12)->clip().bound);
  EXPECT_EQ(parts_.clip(gradient_).kind, gaussian_ ? ClipKind::l2 : ClipKind::l1);
  EXPECT_EQ(released(parts_, embedding_, {ReleasePath::by_itself, 3, 7, 0}, price_, rows).size(), 12U);
  EXPECT_EQ(released(parts_, gradient_, {ReleasePath::by_itself, 3, 7, 1}, price_, gradient).size(), 6U);
  EXPECT_EQ(parts_.price_kind(), gaussian_ ? PriceKind::mu : PriceKind::epsilon);
  EXPECT_EQ(parts_.unit(), PrivacyUnit::record);
  EXPECT_EQ(parts_.neighbours(), alone(GetParam(), 1, 1, 1)->neighbours());
  EXPECT_EQ(parts_.accumulation().factor(100), 1);
  // One release a round at the same price, to the last bit, has the same noise.
  MultipartMechanism single(GetParam(), settings_of(price_), 1);
  const std::size_t part = single.add("gradient", 2, 6);
  const double price = price_ * (1 - 0x1p-48);
  EXPECT_EQ(
      released(single, part, {ReleasePath::by_itself, 3, 7, 0}, price_, gradient),
      testing_support::released(*alone(GetParam(), price, 2, 6), {ReleasePath::by_itself, 3, 7, 0}, price, gradient));
}

// Mean square of the noise on n numbers against the square of the deviation: relative standard error √(5/n) for
// Laplace, √(2/n) for Gaussian noise; within 6 of the former, error rate 2e-9 or less each.
TEST_P(Parts, NoiseIsOfTheDeviationThatIsClaimed) {
  double of_rows = 0;
  double of_gradients = 0;
  for (Round t = 0; t < 3000; ++t) {
    const auto noise = [&](std::size_t part, std::uint32_t index, std::size_t dimension) {
      return released(parts_, part, {ReleasePath::by_itself, 1, t, index}, price_, Vector(dimension, 0.0));
    };
    of_rows += mean_square(noise(embedding_, 0, 12)) / 3000;
    of_gradients += mean_square(noise(gradient_, 1, 6)) / 3000;
  }
  const double rows = parts_.deviation(embedding_, price_);
  const double gradients = parts_.deviation(gradient_, price_);
  EXPECT_NEAR(of_rows / (rows * rows), 1, 6 * std::sqrt(5.0 / 36'000));
  EXPECT_NEAR(of_gradients / (gradients * gradients), 1, 6 * std::sqrt(5.0 / 18'000));
  // By hand: 2C/(μ' m), √2 times as much for Laplace noise.
  const double unit = (gaussian_ ? 1 : std::sqrt(2.0)) * 2 / (part_price() * 4);
  EXPECT_NEAR(rows / (0.5 * unit), 1, 1e-9);
  EXPECT_NEAR(gradients / (2 * unit), 1, 1e-9);
}

// Also of what is the same in all but part, index or block. Correlation of n = 20,000 pairs: standard error 1/√n,
// within 6, error rate 2e-9 each (less for Laplace noise, whose products have heavier tails but are as many).
TEST_P(Parts, NoiseIsIndependent) {
  constexpr std::size_t n = 20'000;
  MultipartMechanism even(GetParam(), settings_of(price_), releases);
  const std::size_t one = even.add("one", 2, n);
  const std::size_t two = even.add("two", 2, n);
  const Vector zeros(n, 0.0);
  const std::vector<Vector> noise{released(even, one, {ReleasePath::by_itself, 0, 0, 0}, price_, zeros),
                                  released(even, one, {ReleasePath::by_itself, 0, 0, 1}, price_, zeros),
                                  released(even, one, {ReleasePath::by_itself, 0, 0, 2}, price_, zeros),
                                  released(even, two, {ReleasePath::by_itself, 0, 0, 0}, price_, zeros),
                                  released(even, two, {ReleasePath::by_itself, 0, 0, 1}, price_, zeros),
                                  released(even, one, {ReleasePath::by_itself, 0, 1, 0}, price_, zeros),
                                  released(even, one, {ReleasePath::by_itself, 1, 0, 0}, price_, zeros),
                                  released(even, one, {ReleasePath::by_itself, 0, 0, 0, 1}, price_, zeros)};
  const double variance = even.deviation(one, price_) * even.deviation(one, price_);
  for (std::size_t a = 0; a < noise.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double product = 0;
      for (std::size_t j = 0; j < n; ++j) product += noise[a][j] * noise[b][j];
      EXPECT_LE(std::abs(product / n / variance), 6 / std::sqrt(n)) << a << " " << b;
    }
  }
  EXPECT_EQ(noise[1], released(even, one, {ReleasePath::by_itself, 0, 0, 1}, price_, zeros));  // the same again
}

// Rows that are clipped to the bound are accepted whatever they held, and replacing one moves the sum, up to the noise
// (deviation of an entry far below the clip at this price), by 2C in its own row alone.
TEST_P(Parts, RowsOfRecordsAreASum) {
  constexpr std::size_t m = 4;
  constexpr std::size_t e = 3;
  constexpr double price = 1e4;
  MultipartMechanism precise(GetParam(), settings_of(price), releases);
  const std::size_t part = precise.add("embedding", 0.5, m * e);
  Vector rows{3, 4, 0, 1e100, 0, 0, 0.01, -0.02, 0, -7, 24, 60};
  clip_rows(rows, e, precise.clip(part));
  Vector replaced = rows;
  for (std::size_t j = 0; j < e; ++j) replaced[e + j] *= -1;
  const Vector before = released(precise, part, {ReleasePath::by_itself, 0, 0, 0}, price, rows);
  const Vector after = released(precise, part, {ReleasePath::by_itself, 0, 1, 0}, price, replaced);
  const double deviation = precise.deviation(part, price);
  ASSERT_LT(deviation, 1e-3);
  double moved = 0;
  for (std::size_t j = 0; j < m * e; ++j) {
    const double difference = after[j] - before[j];
    if (j / e == 1) {
      moved += difference * difference;
    } else {
      EXPECT_LE(std::abs(difference), 30 * deviation);  // of Laplace noise, a rate below 1e-17
    }
  }
  EXPECT_NEAR(std::sqrt(moved) * m, 2 * 0.5, 100 * m * deviation);
  EXPECT_NEAR(before[6] * m, 0.01, 30 * m * deviation);
}

TEST_P(Parts, RefusesRowsThatAreNotClipped) {
  const Vector huge(12, 0.5);  // rows of norm 0.866 (L1: 1.5), 1.73 (6) in all: within a limit of 4 · 0.5 but for L1
  EXPECT_THROW(released(parts_, embedding_, {ReleasePath::by_itself, 0, 0, 0}, price_, Vector(12, 0.6)), DataError);
  EXPECT_THROW(released(parts_, embedding_, {ReleasePath::by_itself, 0, 0, 0}, price_, Vector(11, 0.0)), DataError);
  if (!gaussian_) {
    EXPECT_THROW(released(parts_, embedding_, {ReleasePath::by_itself, 0, 0, 0}, price_, huge), DataError);
  }
}

TEST_P(Parts, SaysWhatIsReleased) {
  const std::string text = parts_.description();
  EXPECT_THAT(text, HasSubstr("at most 3 part(s), of the same records and with independent noise, each with "
                              "1/3 of " +
                              std::string(gaussian_ ? "the square of mu" : "epsilon")));
  EXPECT_THAT(text, HasSubstr("embedding (norm at most 0.5, standard deviation " +
                              fmt::format("{:.6g}", parts_.deviation(embedding_, price_)) +
                              "); gradient (norm at most "
                              "2, standard deviation "));
  EXPECT_THAT(text, HasSubstr("clipped to an L"));
  EXPECT_TRUE(text.ends_with('.'));
  EXPECT_EQ(parts_.parameters(), "releases=3 part=embedding clip=0.5 dimension=12 part=gradient clip=2 dimension=6");
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, Parts, testing::Values("laplace", "gaussian"));

TEST(MultipartMechanism, HasEachKindOnce) {
  MultipartMechanism mechanism("gaussian", settings_of(1), 2);
  EXPECT_EQ(mechanism.add("gradient", 2, 100), 0U);
  EXPECT_EQ(mechanism.add("gradient", 2, 200), 1U);
  EXPECT_EQ(mechanism.add("embedding", 2, 100), 2U);
  EXPECT_EQ(mechanism.add("gradient", 1, 100), 3U);
  EXPECT_EQ(mechanism.add("gradient", 2, 200), 1U);
  EXPECT_EQ(mechanism.parts(), 4U);
  EXPECT_EQ(mechanism.releases(), 2U);
  // Networks of two sizes are one kind to a reader, who is told of the bound and the noise.
  const std::string text = mechanism.description();
  const std::size_t first = text.find("gradient (norm at most 2");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("gradient (norm at most 2", first + 1), std::string::npos);
}

// Of E = 2 local steps, a round's price of √3 μ is what --mu says of each of its three releases.
TEST(MultipartMechanism, ARecordPaysOnceARoundForAllParts) {
  const double mu = 0.2;
  MultipartMechanism mechanism("gaussian", settings_of(std::sqrt(3.0) * mu), 3);
  mechanism.add("embedding", 1, 4);
  Spending spending;
  for (int t = 0; t < 50; ++t) spending.add(std::sqrt(3.0) * mu, t / 25);
  const ClientLosses losses = losses_of(spending, mechanism, 1e-5);
  EXPECT_NEAR(*losses.record.mu, std::sqrt(2 * 3.0) * mu, 1e-9);          // two passes of three releases
  EXPECT_NEAR(*losses.one_per_batch.mu, std::sqrt(50 * 3.0) * mu, 1e-9);  // 150 releases
  EXPECT_NEAR(*losses.client.mu, 4 * std::sqrt(50 * 3.0) * mu, 1e-8);     // of four records each
  EXPECT_NEAR(losses.record.epsilon, gaussian_epsilon(std::sqrt(6.0) * mu, 1e-5), 1e-6);
}

TEST(MultipartMechanism, NoneReleasesAllAsItIs) {
  ReleaseSettings settings = settings_of(1);
  settings.clip = infinity;
  MultipartMechanism none("none", settings, 2);
  const std::size_t embedding = none.add("embedding", infinity, 2);
  const std::size_t gradient = none.add("gradient", infinity, 3);
  EXPECT_EQ(released(none, embedding, {ReleasePath::by_itself, 0, 0, 0}, 1, {4, 8}), (Vector{1, 2}));
  EXPECT_EQ(released(none, gradient, {ReleasePath::by_itself, 0, 0, 1}, 1, {4, -6, 1e12}), (Vector{1, -1.5, 2.5e11}));
  EXPECT_EQ(none.charge(1), Charge::unbounded());
  EXPECT_EQ(none.clip(gradient).kind, ClipKind::none);
  EXPECT_EQ(none.clip().kind, ClipKind::none);
  EXPECT_EQ(none.deviation(embedding, 1), 0);
  EXPECT_THAT(none.description(), HasSubstr("No noise is added"));
  EXPECT_THAT(none.description(), HasSubstr("2 part(s): embedding; gradient."));
  EXPECT_THAT(none.description(), Not(HasSubstr("standard deviation")));
}

TEST(MultipartMechanism, RefusesWhatNobodyCanAccountFor) {
  const auto make = [](const std::string& name, std::size_t releases, const ReleaseSettings& settings) {
    return message_of<UsageError>([&] { MultipartMechanism(name, settings, releases); });
  };
  EXPECT_THAT(make("dissertation", 2, settings_of(0.1)), HasSubstr("with several releases a round"));
  EXPECT_THAT(make("gaussian", 0, settings_of(0.1)), HasSubstr("0 releases a round"));
  ReleaseSettings other = settings_of(1);
  other.unit = PrivacyUnit::component;
  EXPECT_THAT(make("laplace", 2, other), HasSubstr("unit component"));
  other = settings_of(1);
  other.replacement = std::sqrt(2.0);
  EXPECT_THAT(make("gaussian", 2, other), HasSubstr("rows of a matrix move by 2"));
  // A part whose sensitivity cannot be proved.
  MultipartMechanism mechanism("laplace", settings_of(1e-9), 2);
  EXPECT_ERROR(UsageError, "cannot be proved", mechanism.add("embedding", 1, 10'000));
}

TEST(MultipartMechanism, RefusesReleasesThatNobodyPaidFor) {
  MultipartMechanism mechanism("gaussian", settings_of(1), 2);
  const std::size_t part = mechanism.add("embedding", 1, 2);
  const Vector sum{0, 0};
  EXPECT_ERROR(FailureError, "release 2 of a round that is charged for 2",
               released(mechanism, part, {ReleasePath::by_itself, 0, 0, 2}, 1, sum));
  EXPECT_ERROR(FailureError, "part 1 of a release",
               released(mechanism, part + 1, {ReleasePath::by_itself, 0, 0, 0}, 1, sum));
  EXPECT_ERROR(FailureError, "price", released(mechanism, part, {ReleasePath::by_itself, 0, 0, 0}, 2, sum));
}

}  // namespace starling::multipart_mechanism_test
