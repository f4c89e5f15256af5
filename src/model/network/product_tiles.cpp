#include "product_tiles.hpp"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace starling {

namespace {

/// Rows first … k − 1 of the result of `turn`.
template <std::size_t Width, class T>
void turn_rows(const T* columns, std::size_t stride, std::size_t first, std::size_t k, T* rows) {
  for (std::size_t p = first; p < k; ++p) {
    for (std::size_t q = 0; q < Width; ++q) rows[p * Width + q] = columns[q * stride + p];
  }
}

template <class T>
struct Portable {
  static constexpr std::size_t vectors = 8;
  template <std::size_t Rows>
  static void multiply(const TileColumn<T>& tiles) {
    const T* b = tiles.b;
    std::size_t step = tiles.step;
    if (tiles.keep != nullptr) {
      for (std::size_t p = 0; p < tiles.depth; ++p) std::copy_n(b + p * step, vectors, tiles.keep + p * vectors);
      b = tiles.keep;
      step = vectors;
    }
    for (std::size_t r = 0; r < tiles.count * Rows; ++r) {
      const T* const a = tiles.a + r / Rows * tiles.next + r % Rows * tiles.row;
      for (std::size_t j = 0; j < vectors; ++j) {
        T& entry = tiles.c[r * tiles.stride + j];
        T sum = tiles.add ? entry : T(0);
        for (std::size_t p = 0; p < tiles.depth; ++p) sum = std::fma(a[p * tiles.column], b[p * step + j], sum);
        entry = sum;
      }
    }
  }
  static void turn(const T* columns, std::size_t stride, std::size_t k, T* rows) {
    turn_rows<vectors>(columns, stride, 0, k, rows);
  }
};

template <class T>
constexpr ProductTiles<T> portable{
    Portable<T>::vectors,
    {Portable<T>::template multiply<1>, Portable<T>::template multiply<2>, Portable<T>::template multiply<3>,
     Portable<T>::template multiply<4>, Portable<T>::template multiply<5>, Portable<T>::template multiply<6>},
    Portable<T>::turn};

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
STARLING_AVX2 void multiply_avx2(const TileColumn<T>& tiles) {
  using Packet = typename PacketOf<T>::type;
  constexpr std::size_t lanes = sizeof(Packet) / sizeof(T);
  const std::size_t row = tiles.row;
  const std::size_t column = tiles.column;
  const std::size_t stride = tiles.stride;
  const T* first = tiles.b;
  std::size_t step = tiles.step;
  T* keep = tiles.keep;
  T* c = tiles.c;
  for (std::size_t i = 0; i < tiles.count; ++i, c += Rows * stride) {
    Packet sums[Rows][2] = {};
    if (tiles.add) {
#pragma GCC unroll 8
      for (std::size_t r = 0; r < Rows; ++r) {
        sums[r][0] = load(c + r * stride);
        sums[r][1] = load(c + r * stride + lanes);
      }
    }
    const T* a = tiles.a + i * tiles.next;
    const T* b = first;
    for (std::size_t p = 0; p < tiles.depth; ++p) {
      const Packet left = load(b);
      const Packet right = load(b + lanes);
      if (keep != nullptr) {
        store(keep, left);
        store(keep + lanes, right);
        keep += 2 * lanes;
      }
#pragma GCC unroll 8
      for (std::size_t r = 0; r < Rows; ++r) {
        const Packet x = broadcast(a + r * row);
        sums[r][0] = multiply_add(x, left, sums[r][0]);
        sums[r][1] = multiply_add(x, right, sums[r][1]);
      }
      a += column;
      b += step;
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Rows; ++r) {
      store(c + r * stride, sums[r][0]);
      store(c + r * stride + lanes, sums[r][1]);
    }
    if (keep != nullptr) {
      first = tiles.keep;
      step = 2 * lanes;
      keep = nullptr;
    }
  }
}

/// Numbers at `low` in the lower half, at `high` in the upper one.
STARLING_AVX2_INLINE __m256 halves(const float* low, const float* high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}
STARLING_AVX2_INLINE __m256d halves(const double* low, const double* high) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(low)), _mm_loadu_pd(high), 1);
}

/// 4 numbers of each of 8 columns, in 4 rows `width` apart.
STARLING_AVX2_INLINE void turn_block(const float* columns, std::size_t stride, float* rows, std::size_t width) {
  __m256 x[4];
#pragma GCC unroll 4
  for (std::size_t q = 0; q < 4; ++q) x[q] = halves(columns + q * stride, columns + (q + 4) * stride);
  const __m256 first = _mm256_unpacklo_ps(x[0], x[1]);
  const __m256 second = _mm256_unpacklo_ps(x[2], x[3]);
  const __m256 third = _mm256_unpackhi_ps(x[0], x[1]);
  const __m256 fourth = _mm256_unpackhi_ps(x[2], x[3]);
  constexpr int lower = 0x44;
  constexpr int upper = 0xEE;
  store(rows, _mm256_shuffle_ps(first, second, lower));
  store(rows + width, _mm256_shuffle_ps(first, second, upper));
  store(rows + 2 * width, _mm256_shuffle_ps(third, fourth, lower));
  store(rows + 3 * width, _mm256_shuffle_ps(third, fourth, upper));
}

/// 2 numbers of each of 4 columns, in 2 rows.
STARLING_AVX2_INLINE void turn_block(const double* columns, std::size_t stride, double* rows, std::size_t width) {
  const __m256d even = halves(columns, columns + 2 * stride);
  const __m256d odd = halves(columns + stride, columns + 3 * stride);
  store(rows, _mm256_unpacklo_pd(even, odd));
  store(rows + width, _mm256_unpackhi_pd(even, odd));
}

template <class T>
STARLING_AVX2 void turn_avx2(const T* columns, std::size_t stride, std::size_t k, T* rows) {
  constexpr std::size_t lanes = sizeof(__m256) / sizeof(T);
  constexpr std::size_t depth = lanes / 2;
  std::size_t p = 0;
  for (; p + depth <= k; p += depth) {
    T* const place = rows + p * 2 * lanes;
    turn_block(columns + p, stride, place, 2 * lanes);
    turn_block(columns + p + lanes * stride, stride, place + lanes, 2 * lanes);
  }
  turn_rows<2 * lanes>(columns, stride, p, k, rows);
}

template <class T>
constexpr ProductTiles<T> avx2{2 * sizeof(__m256) / sizeof(T),
                               {multiply_avx2<T, 1>, multiply_avx2<T, 2>, multiply_avx2<T, 3>, multiply_avx2<T, 4>,
                                multiply_avx2<T, 5>, multiply_avx2<T, 6>},
                               turn_avx2<T>};

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
