/// Sums of many vectors in one pass. Every entry passes through a register once, where a chain of axpy would write and
/// read the entry for each term. The bits equal the bits of that chain.
#pragma once

#include <cstddef>
#include <span>

#include "core/columns.hpp"

namespace starling {

/// A vector and its weight in a sum.
struct Term {
  double weight = 0;
  const double* x = nullptr;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // about vectors in a build without AVX: these functions are inlined
#endif
/// Four numbers in a register, each with its own arithmetic; in memory at any address of a double. (Left to itself the
/// compiler turns the loops below inside out and gathers entry by entry.)
struct FourLanes {
  using Number [[gnu::vector_size(32)]] = double;
  using InMemory [[gnu::vector_size(32), gnu::aligned(alignof(double)), gnu::may_alias]] = double;
  static constexpr std::size_t lanes = 4;
  static Number load(const double* x) { return *reinterpret_cast<const InMemory*>(x); }
  static void store(double* x, Number value) { *reinterpret_cast<InMemory*>(x) = value; }
};
struct OneLane {
  using Number = double;
  static constexpr std::size_t lanes = 1;
  static Number load(const double* x) { return *x; }
  static void store(double* x, Number value) { *x = value; }
};

/// f.operator()<T, n>(i): n of T for the entries from i on; many at first, then fewer. (Wide tiles are for long
/// vectors: sums of short ones, which lie anywhere in memory, take a quarter less time with the narrower.)
template <class F>
inline void in_tiles(std::size_t begin, std::size_t end, F f) {
  std::size_t i = begin;
  for (; i + 128 <= end; i += 32) f.template operator()<FourLanes, 8>(i);
  for (; i + 16 <= end; i += 16) f.template operator()<FourLanes, 4>(i);
  for (; i + 8 <= end; i += 8) f.template operator()<FourLanes, 2>(i);
  for (; i + 4 <= end; i += 4) f.template operator()<FourLanes, 1>(i);
  for (; i < end; ++i) f.template operator()<OneLane, 1>(i);
}

/// y[i − begin] = (((0 + w_1 x_1[i]) + w_2 x_2[i]) + …) / divisor for begin ≤ i < end, in the order of the terms. y may
/// be the same place in one of their vectors.
inline void weighted_sum(std::span<const Term> terms, std::size_t begin, std::size_t end, double divisor, double* y) {
  in_tiles(begin, end, [&]<class T, std::size_t n>(std::size_t i) {
    typename T::Number sum[n] = {};
    for (const Term& term : terms) {
      for (std::size_t j = 0; j < n; ++j) sum[j] += term.weight * T::load(term.x + i + j * T::lanes);
    }
    for (std::size_t j = 0; j < n; ++j) T::store(y + (i - begin) + j * T::lanes, sum[j] / divisor);
  });
}

/// y[i] = ((y[i] + w_1 x_1[i]) + w_2 x_2[i]) + … for i < n.
inline void add_weighted(std::span<const Term> terms, std::size_t n, double* y) {
  in_tiles(0, n, [&]<class T, std::size_t count>(std::size_t i) {
    typename T::Number sum[count];
    for (std::size_t j = 0; j < count; ++j) sum[j] = T::load(y + i + j * T::lanes);
    for (const Term& term : terms) {
      for (std::size_t j = 0; j < count; ++j) sum[j] += term.weight * T::load(term.x + i + j * T::lanes);
    }
    for (std::size_t j = 0; j < count; ++j) T::store(y + i + j * T::lanes, sum[j]);
  });
}

/// left[i] = ((a z[i] − w_1 x[i]) − w_2 x[i]) − … for i < n: the remainder of a z after shares w_j of x are given away.
inline void what_is_left(double a, const double* z, std::span<const double> shares, const double* x, std::size_t n,
                         double* left) {
  in_tiles(0, n, [&]<class T, std::size_t count>(std::size_t i) {
    typename T::Number rest[count];
    for (std::size_t j = 0; j < count; ++j) rest[j] = a * T::load(z + i + j * T::lanes);
    for (const double share : shares) {
      for (std::size_t j = 0; j < count; ++j) rest[j] -= share * T::load(x + i + j * T::lanes);
    }
    for (std::size_t j = 0; j < count; ++j) T::store(left + i + j * T::lanes, rest[j]);
  });
}

/// given[i] = share (a z[i]), and z[i] = a z[i] − w_1 given[i] − w_2 given[i] − … for i < n, in the order of
/// what_is_left.
inline void give_away(double a, double share, double* z, std::span<const double> shares, std::size_t n, double* given) {
  in_tiles(0, n, [&]<class T, std::size_t count>(std::size_t i) {
    typename T::Number rest[count];
    typename T::Number x[count];
    for (std::size_t j = 0; j < count; ++j) {
      rest[j] = a * T::load(z + i + j * T::lanes);
      x[j] = share * rest[j];
      T::store(given + i + j * T::lanes, x[j]);
    }
    for (const double weight : shares) {
      for (std::size_t j = 0; j < count; ++j) rest[j] -= weight * x[j];
    }
    for (std::size_t j = 0; j < count; ++j) T::store(z + i + j * T::lanes, rest[j]);
  });
}

}  // namespace starling
