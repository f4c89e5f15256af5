#include "codec/codec.hpp"

#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::codec_test {

using namespace testing_support;

std::size_t at(std::size_t order, std::size_t i, std::size_t j) {
  return i * order - i * (i + 1) / 2 + j;
}

/// Packed X^T X of `rank` random rows whose features have very different sizes; feature 1 is always zero.
Vector gram(std::size_t order, std::size_t rank, std::uint64_t seed) {
  Vector packed(order * (order + 1) / 2);
  for (std::size_t r = 0; r < rank; ++r) {
    AddressedRandom random(seed, Purpose::experiment, r, 0);
    Vector row(order);
    for (std::size_t i = 0; i < order; ++i)
      row[i] = (random.uniform() - 0.5) * std::pow(10.0, static_cast<double>(i % 7) - 3);
    if (order > 1) row[1] = 0;
    for (std::size_t i = 0; i < order; ++i) {
      for (std::size_t j = i; j < order; ++j) packed[at(order, i, j)] += row[i] * row[j];
    }
  }
  return packed;
}

Vector there_and_back(const Codec& codec, const Vector& numbers) {
  std::vector<std::byte> message(codec.bytes(numbers.size()) + 1, std::byte{0xa5});
  codec.encode(numbers, std::span(message).first(message.size() - 1));
  EXPECT_EQ(message.back(), std::byte{0xa5}) << "wrote beyond its bytes";
  Vector result(numbers.size(), -7);
  codec.decode(std::span(message).first(message.size() - 1), result);
  return result;
}

Vector joined(const std::vector<Vector>& parts) {
  Vector all;
  for (const Vector& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(Codec, DoublesArriveAsTheyAre) {
  const Vector numbers{0.1, -0.0, std::numeric_limits<double>::denorm_min(), 1e300};
  EXPECT_EQ(plain_codec().bytes(4), 32U);
  EXPECT_EQ(there_and_back(plain_codec(), numbers), numbers);
  EXPECT_EQ(there_and_back(*make_curvature_codec("double", 1, 2), numbers), numbers);
  EXPECT_EQ(make_curvature_codec("double", 1, 2)->bytes(4), 32U);
}

TEST(Codec, BytesAreThoseOfTheBits) {
  // Three doubles and two triangles of order 5: 15 entries, 10 of them beside the diagonal, and a range of 8 bytes.
  const std::size_t numbers = 3 + 2 * 15;
  EXPECT_EQ(make_curvature_codec("float32", 3, 5)->bytes(numbers), 24U + 2 * 15 * 4);
  EXPECT_EQ(make_curvature_codec("float16", 3, 5)->bytes(numbers), 24U + 2 * 15 * 2);
  EXPECT_EQ(make_curvature_codec("bits:8", 3, 5)->bytes(numbers), 24U + 2 * (5 * 4 + 8 + 10));
  EXPECT_EQ(make_curvature_codec("bits:3", 3, 5)->bytes(numbers), 24U + 2 * (5 * 4 + 8 + 4));
  EXPECT_EQ(make_curvature_codec("hexagonal:12", 3, 5)->bytes(numbers), 24U + 2 * (5 * 4 + 8 + 15));
  EXPECT_EQ(make_curvature_codec("bits:8", 2, 1)->bytes(3), 16U + 4);
  EXPECT_EQ(make_curvature_codec("bits:8", 2, 1)->bytes(2), 16U);
  EXPECT_EQ(make_model_codec("double")->bytes(101), 808U);
  EXPECT_EQ(make_model_codec("float32")->bytes(101), 408U);
  EXPECT_EQ(make_model_codec("bits:8")->bytes(101), 8U + 8 + 100);
}

// The weight of a model is not rounded, and the bytes of a model are whole.
TEST(Codec, WeightsOfModelsStayAsTheyAre) {
  const Vector model{1, -0.3, 0.25, 0.1};
  for (const char* how : {"double", "float32", "float16", "bits:5", "scalar:4", "hexagonal:7"}) {
    const auto codec = make_model_codec(how);
    const Vector came = there_and_back(*codec, model);
    EXPECT_EQ(came.back(), 0.1) << how;
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(came[i], model[i], 0.05) << how;
    if (std::string(how) != "double") {
      EXPECT_ERROR(FailureError, "fault of the program", static_cast<void>(codec->bytes(0)));
    }
  }
}

// Of the row (1e-170, 1), whose first square is 0. A refusal would tell that a record is so small.
TEST(Codec, TakesFeaturesWhoseSquaresUnderflow) {
  const auto codec = make_curvature_codec("bits:8", 0, 2);
  const Vector triangle{0, 1e-170, 1};
  std::vector<std::byte> message(codec->bytes(triangle.size()));
  codec->encode(triangle, message);
  Vector back(triangle.size());
  codec->decode(message, back);
  EXPECT_EQ(back, (Vector{0, 0, 1}));
  EXPECT_THROW(codec->encode(Vector{0, 1e-90, 1}, message), DataError);
}

class Lossy : public testing::TestWithParam<std::string> {};

TEST_P(Lossy, KeepsWhatStandsBeforeAndLeavesTrianglesWithinTheStatedError) {
  constexpr double float_rounding = 6e-8;  // 2^-24
  const std::string how = GetParam();
  const double step = how == "float32" ? 0 : 1 / (std::pow(2.0, std::stod(how.substr(how.find(':') + 1))) - 2);
  for (const std::size_t order : {1U, 2U, 3U, 8U, 33U}) {
    for (const std::size_t rank : {1U, 4U, 60U}) {
      const Vector before{0.1, -1e200};
      const Vector first = gram(order, rank, 5);
      const Vector sent = joined({before, first, gram(order, rank, 6)});
      const Vector came = there_and_back(*make_curvature_codec(how, 2, order), sent);
      EXPECT_EQ(came[0], 0.1);
      EXPECT_EQ(came[1], -1e200);
      const std::size_t triangle = first.size();
      for (std::size_t k = 0; k < 2; ++k) {
        const View h = View(sent).subspan(2 + k * triangle, triangle);
        const View g = View(came).subspan(2 + k * triangle, triangle);
        for (std::size_t i = 0; i < order; ++i) {
          for (std::size_t j = i; j < order; ++j) {
            const double size = std::sqrt(h[at(order, i, i)] * h[at(order, j, j)]);
            const double most = (i == j ? 0 : step * size) + 2 * float_rounding * size;
            EXPECT_LE(std::abs(g[at(order, i, j)] - h[at(order, i, j)]), most) << how << " " << i << " " << j;
            if (i == 1 || j == 1) {
              EXPECT_EQ(g[at(order, i, j)], 0);
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Lossy,
                         testing::Values("float32", "bits:2", "bits:3", "bits:7", "bits:8", "bits:13", "bits:16"),
                         [](const auto& row) { return test_name(row.param); });

// A row of features that all say the same has |H_ij| = √(H_ii H_jj): the last multiple, of either sign.
TEST(Codec, EntriesAtTheirLargestAndSmallestSurvive) {
  const Vector h{4, 4, -4, 4, -4, 4};
  EXPECT_EQ(there_and_back(*make_curvature_codec("bits:2", 0, 3), h), h);
  EXPECT_EQ(there_and_back(*make_curvature_codec("bits:16", 0, 3), h), h);
  const Vector none(6, 0.0);
  EXPECT_EQ(there_and_back(*make_curvature_codec("bits:5", 0, 3), none), none);
}

TEST(Codec, RefusesWhatIsNoNumberButNotBeforeTriangles) {
  const double nan = std::nan("");
  const Vector came = there_and_back(*make_curvature_codec("bits:6", 1, 2), {nan, 1, 0, 2});
  EXPECT_TRUE(std::isnan(came[0]));
  for (const char* how : {"bits:6", "float32"}) {
    for (const Vector& h : {Vector{nan, 0.5, 2}, Vector{1, nan, 2}}) {
      EXPECT_ERROR(DataError, "no number", there_and_back(*make_curvature_codec(how, 0, 2), h));
    }
  }
}

TEST(Codec, RefusesWhatItCannotCarry) {
  const auto codec = make_curvature_codec("bits:6", 0, 2);
  EXPECT_THAT(message_of<DataError>([&] { there_and_back(*codec, {1, 1.4, 2}); }), IsEmpty());
  EXPECT_THAT(message_of<DataError>([&] {
                there_and_back(*codec, {1, 1.5, 1});
              }),
              AllOf(HasSubstr("entry (0, 1) is too large"), HasSubstr("float32")));
  EXPECT_ERROR(DataError, "semi-definite", there_and_back(*codec, {-1, 0, 1}));
  EXPECT_ERROR(DataError, "semi-definite", there_and_back(*codec, {0, 1, 1}));
  EXPECT_ERROR(FailureError, "fault of the program", there_and_back(*codec, {1, 2}));
}

TEST(Codec, RefusesOtherTexts) {
  for (const char* text :
       {"", "dense", "bits", "bits:0", "bits:17", "bits:2.5", "float32:3", "double:8", "bits:bits=8,more=1"}) {
    EXPECT_NE(message_of<UsageError>([&] { return make_curvature_codec(text, 1, 2); }), "") << text;
    EXPECT_NE(message_of<UsageError>([&] { return make_model_codec(text); }), "") << text;
  }
  EXPECT_ERROR(UsageError, "known are float32, float16, double", make_curvature_codec("dense", 1, 2));
}

}  // namespace starling::codec_test
