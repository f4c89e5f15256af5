// What is dealt adds up to what parties need, and no party's words depend on another's.
#include "privacy/shares/dealing.hpp"

#include "privacy/shares/shared_rows.hpp"
#include "support/testing.hpp"

namespace starling::dealing_test {

SharesShape shape_of(int degree) {
  return {11, {3, 2, 4}, degree};
}

std::vector<NoiseKey> keys_of(std::uint64_t seed) {
  std::vector<NoiseKey> keys;
  for (Client k = 0; k < 3; ++k) keys.push_back(NoiseKey::from_seed(seed, k));
  return keys;
}

/// The degree of the polynomial, and the number of outputs.
class Dealing : public testing::TestWithParam<std::tuple<int, std::size_t>> {};

TEST_P(Dealing, AddsUp) {
  SharesShape shape = shape_of(std::get<0>(GetParam()));
  shape.outputs = std::get<1>(GetParam());
  const std::vector<NoiseKey> keys = keys_of(1);
  const Truncation truncation(100);
  const Dealer dealer(keys, shape, truncation);
  for (const Round t : {Round{0}, Round{5}}) {
    std::vector<DealtStream> streams;
    std::vector<DealtWords> dealt;
    for (std::size_t k = 0; k < 3; ++k) {
      streams.emplace_back(keys[k], shape, k == 2);
      dealt.push_back(streams.back().round(t));
    }
    const std::vector<Word> correction = dealer.correction(t);
    EXPECT_EQ(correction.size(), shape.correction());
    EXPECT_TRUE(dealt[2].powers.empty());
    correct(correction, shape, dealt[2]);
    for (std::size_t i = 0; i < shape.slopes(); ++i) {
      const auto sum_of = [&](auto member) {
        auto sum = (dealt[0].*member)[i];
        sum += (dealt[1].*member)[i];
        sum += (dealt[2].*member)[i];
        return sum;
      };
      const WideWord a = sum_of(&DealtWords::arguments);
      WideWord power = a;
      for (int k = 2; k <= shape.degree; ++k) {
        power *= a;
        const auto place = static_cast<std::size_t>(k - 2);
        EXPECT_TRUE(dealt[0].powers[place][i] + dealt[1].powers[place][i] + dealt[2].powers[place][i] == power);
      }
      const WideWord r = sum_of(&DealtWords::truncation);
      EXPECT_EQ(sum_of(&DealtWords::high), truncation.high(r));
      EXPECT_EQ(sum_of(&DealtWords::top), Truncation::top(r));
    }
    std::vector<Word> b(shape.slopes());
    for (const DealtWords& own : dealt) add_words(own.factors, std::span<Word>(b));
    for (std::size_t k = 0; k < 3; ++k) {
      const std::vector<Word> masks = streams[k].row_masks(shape.columns[k]);
      for (std::size_t at = 0; at < shape.components(k); ++at) {
        const std::size_t c = at / shape.columns[k];
        const std::size_t j = at % shape.columns[k];
        Word product = 0;
        for (std::size_t i = 0; i < shape.records; ++i) {
          product += masks[i * shape.columns[k] + j] * b[c * shape.records + i];
        }
        const std::size_t place = shape.first_component(k) + at;
        EXPECT_EQ(dealt[0].products[place] + dealt[1].products[place] + dealt[2].products[place], product);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Degrees, Dealing, testing::Combine(testing::Values(1, 2, 7), testing::Values(1U, 3U)));

TEST(Dealing, WordsDifferByRoundAndKind) {
  const DealtStream stream(NoiseKey::from_seed(1, 0), shape_of(7), false);
  const DealtWords first = stream.round(0);
  const DealtWords second = stream.round(1);
  EXPECT_TRUE(first.arguments != second.arguments);
  EXPECT_NE(first.factors, second.factors);
  EXPECT_NE(first.high, first.top);
  EXPECT_NE(first.factors, first.high);
  EXPECT_TRUE(first.powers[0] != first.powers[1]);
  EXPECT_EQ(first.factors, stream.round(0).factors);
  EXPECT_ERROR(FailureError, "a correction of 3 words", [&] {
    DealtWords last;
    correct(std::vector<Word>(3), shape_of(7), last);
  }());
}

/// The integers of a row are within the bound, exactly, whatever the row is.
TEST(SharedRows, AreClippedToTheBound) {
  const Vector rows{0.5,   -0.25, 1,  // within 2
                    3,     4,     1,  // 5.1 long
                    1e200, 1,     1, std::numeric_limits<double>::quiet_NaN(), 0, 1};
  const SharedRows shared = shared_rows(rows, 3, true, 2, 20);
  EXPECT_EQ(shared.clipped, 3);
  for (std::size_t i = 0; i < 4; ++i) {
    double squares = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const auto integer = static_cast<std::int64_t>(shared.words[3 * i + j]);
      EXPECT_EQ(shared.numbers[3 * i + j], std::ldexp(static_cast<double>(integer), -20));
      squares += static_cast<double>(integer) * static_cast<double>(integer);
    }
    EXPECT_LE(squares, std::ldexp(4, 40));
  }
  EXPECT_EQ(shared.numbers[0], 0.5);
  EXPECT_EQ(shared.numbers[1], -0.25);
  const double length = std::sqrt(26);
  EXPECT_NEAR(shared.numbers[3], 3 * 2 / length, 1e-5);
  EXPECT_EQ(shared.numbers[6], 0);  // too long for its squares
  EXPECT_EQ(shared.numbers[9], 0);
  // Without a one of its own a row is clipped as (x, 1) is.
  const SharedRows without = shared_rows(Vector{3, 4}, 2, false, 2, 20);
  EXPECT_NEAR(without.numbers[0], 3 * 2 / length, 1e-5);
}

}  // namespace starling::dealing_test
