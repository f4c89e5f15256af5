#include "product_tiles.hpp"

#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace starling {

namespace {

template <class T>
struct Portable {
  static constexpr std::size_t vectors = 8;
  template <std::size_t Rows>
  static void multiply(std::size_t k, const T* a, std::size_t row, std::size_t column, const T* b, T* c,
                       std::size_t stride, bool add) {
    for (std::size_t r = 0; r < Rows; ++r) {
      for (std::size_t j = 0; j < vectors; ++j) {
        T sum = add ? c[r * stride + j] : T(0);
        for (std::size_t p = 0; p < k; ++p) sum = std::fma(a[r * row + p * column], b[p * vectors + j], sum);
        c[r * stride + j] = sum;
      }
    }
  }
};

template <class T>
constexpr ProductTiles<T> portable{
    Portable<T>::vectors,
    {Portable<T>::template multiply<1>, Portable<T>::template multiply<2>, Portable<T>::template multiply<3>,
     Portable<T>::template multiply<4>, Portable<T>::template multiply<5>, Portable<T>::template multiply<6>}};

#if defined(__x86_64__)

#define STARLING_AVX2 __attribute__((target("avx2,fma")))
#define STARLING_AVX2_INLINE __attribute__((target("avx2,fma"), always_inline)) inline

STARLING_AVX2_INLINE __m256 load(const float* at) {
  return _mm256_loadu_ps(at);
}
STARLING_AVX2_INLINE __m256d load(const double* at) {
  return _mm256_loadu_pd(at);
}
STARLING_AVX2_INLINE __m256 broadcast(const float* at) {
  return _mm256_broadcast_ss(at);
}
STARLING_AVX2_INLINE __m256d broadcast(const double* at) {
  return _mm256_broadcast_sd(at);
}
STARLING_AVX2_INLINE __m256 multiply_add(__m256 x, __m256 y, __m256 z) {
  return _mm256_fmadd_ps(x, y, z);
}
STARLING_AVX2_INLINE __m256d multiply_add(__m256d x, __m256d y, __m256d z) {
  return _mm256_fmadd_pd(x, y, z);
}
STARLING_AVX2_INLINE void store(float* at, __m256 x) {
  _mm256_storeu_ps(at, x);
}
STARLING_AVX2_INLINE void store(double* at, __m256d x) {
  _mm256_storeu_pd(at, x);
}

template <class T>
struct PacketOf;
template <>
struct PacketOf<float> {
  using type = __m256;
};
template <>
struct PacketOf<double> {
  using type = __m256d;
};

/// Two packets wide; sums stay in registers.
template <class T, std::size_t Rows>
STARLING_AVX2 void multiply_avx2(std::size_t k, const T* a, std::size_t row, std::size_t column, const T* b, T* c,
                                 std::size_t stride, bool add) {
  using Packet = typename PacketOf<T>::type;
  constexpr std::size_t lanes = sizeof(Packet) / sizeof(T);
  Packet sums[Rows][2] = {};
  if (add) {
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Rows; ++r) {
      sums[r][0] = load(c + r * stride);
      sums[r][1] = load(c + r * stride + lanes);
    }
  }
  for (std::size_t p = 0; p < k; ++p) {
    const Packet left = load(b);
    const Packet right = load(b + lanes);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Rows; ++r) {
      const Packet x = broadcast(a + r * row);
      sums[r][0] = multiply_add(x, left, sums[r][0]);
      sums[r][1] = multiply_add(x, right, sums[r][1]);
    }
    a += column;
    b += 2 * lanes;
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < Rows; ++r) {
    store(c + r * stride, sums[r][0]);
    store(c + r * stride + lanes, sums[r][1]);
  }
}

template <class T>
constexpr ProductTiles<T> avx2{2 * sizeof(__m256) / sizeof(T),
                               {multiply_avx2<T, 1>, multiply_avx2<T, 2>, multiply_avx2<T, 3>, multiply_avx2<T, 4>,
                                multiply_avx2<T, 5>, multiply_avx2<T, 6>}};

#endif

}  // namespace

template <class T>
const ProductTiles<T>& portable_product_tiles() {
  return portable<T>;
}

template <class T>
const ProductTiles<T>& product_tiles() {
#if defined(__x86_64__)
  static const bool vectors = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (vectors) return avx2<T>;
#endif
  return portable<T>;
}

template const ProductTiles<float>& portable_product_tiles<float>();
template const ProductTiles<double>& portable_product_tiles<double>();
template const ProductTiles<float>& product_tiles<float>();
template const ProductTiles<double>& product_tiles<double>();

}  // namespace starling
