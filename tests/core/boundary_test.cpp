/// What the boundary types do at run time; what they forbid is tested in compile_fail.
#include "core/boundary.hpp"

#include "support/testing.hpp"

namespace starling::boundary_test {

/// Smuggles a value out through a capture, which boundary.hpp says that only review can prevent.
template <class T>
T seen(const Secret<T>& secret) {
  T out{};
  starling::apply([&](const T& value) { out = value; }, secret);  // std::apply would take two arguments too
  return out;
}

TEST(Secret, MapsToASecretOfTheResult) {
  const Secret<Vector> secret(Vector{1, 2, 3});
  const Secret<std::size_t> length = secret.map([](const Vector& x) { return x.size(); });
  EXPECT_EQ(seen(length), 3U);
  EXPECT_EQ(seen(secret), (Vector{1, 2, 3}));
}

TEST(Secret, IsUpdatedInPlaceWithOthers) {
  Secret<double> total(1.0);
  const Secret<double> one(10.0);
  const Secret<int> two(100);
  total.update([](double& value, double a, int b) { value += a + b; }, one, two);
  total.update([](double& value) { value *= 2; });
  EXPECT_EQ(seen(total), 222);
  EXPECT_EQ(seen(one), 10);
}

TEST(Secret, ApplyWritesToThoseThatAreNotConst) {
  const Secret<int> from(7);
  Secret<int> to(1);
  Secret<Vector> log;
  apply(
      [](const int& value, int& target, Vector& entries) {
        target += value;
        entries.push_back(value);
      },
      from, to, log);
  EXPECT_EQ(seen(to), 8);
  EXPECT_EQ(seen(log), Vector{7});
}

TEST(Public, HoldsWhatWasDeclared) {
  const Public<std::string> text = declare_public(std::string("start"));
  EXPECT_EQ(text.value(), "start");
  Vector numbers{1, 2};
  EXPECT_EQ(declare_public(numbers).value(), numbers);
  EXPECT_EQ(declare_public(std::move(numbers)).value(), (Vector{1, 2}));
}

TEST(Released, ComesFromPublicAndStaysReleased) {
  Released<double> value = declare_public(2.0);
  const Released<Vector> other = declare_public(Vector{1, 2, 3});
  value.update([](double& x, const Vector& y) { x += y[2]; }, other);
  EXPECT_EQ(value.value(), 5);
}

TEST(Released, PostProcessingTakesSeveralAndDecaysItsResult) {
  const Released<double> a = declare_public(2.0);
  const Released<int> b = declare_public(3);
  const auto product = post_process([](double x, int y) { return x * y; }, a, b);
  static_assert(std::is_same_v<decltype(product), const Released<double>>);
  EXPECT_EQ(product.value(), 6);
  const Released<Vector> vector = declare_public(Vector{4, 5});
  const auto copy = post_process([](const Vector& x) -> const Vector& { return x; }, vector);
  static_assert(std::is_same_v<decltype(copy), const Released<Vector>>);
  EXPECT_EQ(copy.value(), vector.value());
  EXPECT_NE(copy.value().data(), vector.value().data());
}

// No conversion leads from a secret, or from a plain value, to what the doors take; nor from one norm to the other.
static_assert(!std::is_convertible_v<Secret<double>, double>);
static_assert(!std::is_constructible_v<Released<double>, Secret<double>>);
static_assert(!std::is_constructible_v<Public<double>, Secret<double>>);
static_assert(!std::is_constructible_v<Released<Vector>, Vector>);
static_assert(!std::is_constructible_v<Public<Vector>, Vector>);
static_assert(std::is_convertible_v<Public<Vector>, Released<Vector>>);
static_assert(!std::is_convertible_v<Released<Vector>, Public<Vector>>);
static_assert(!std::is_convertible_v<Bound<Norm::l1>, Bound<Norm::l2>>);
static_assert(!std::is_default_constructible_v<OpenKey>);
static_assert(!std::is_default_constructible_v<ReleaseKey>);
static_assert(!std::is_aggregate_v<OpenKey>);
static_assert(!std::is_aggregate_v<ReleaseKey>);

}  // namespace starling::boundary_test
