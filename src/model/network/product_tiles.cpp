#include "product_tiles.hpp"

#include <cmath>
#include <cstring>

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

/// Rows of B for all tiles of a column, `step` apart.
template <class T>
struct TileRows {
  const T* data;
  std::size_t step;
};

/// The rows of B for a tile column. They are first packed side by side where they are to be kept.
template <std::size_t Width, class T>
TileRows<T> tile_rows(const TileColumn<T>& tiles) {
  if (tiles.keep == nullptr) return {tiles.b, tiles.step};
  for (std::size_t p = 0; p < tiles.depth; ++p) {
    std::memcpy(tiles.keep + p * Width, tiles.b + p * tiles.step, Width * sizeof(T));
  }
  return {tiles.keep, Width};
}

template <class T>
struct Portable {
  static constexpr std::size_t vectors = 8;
  template <std::size_t Rows>
  static void multiply(const TileColumn<T>& tiles) {
    const auto [b, step] = tile_rows<vectors>(tiles);
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
#define STARLING_AVX512 __attribute__((target("avx512f")))
#define STARLING_AVX512_INLINE __attribute__((target("avx512f"), always_inline)) inline

STARLING_AVX2_INLINE __m256 load_avx2(const float* at) {
  return _mm256_loadu_ps(at);
}
STARLING_AVX2_INLINE __m256 spread_avx2(float value) {
  return _mm256_set1_ps(value);
}
STARLING_AVX2_INLINE __m256 multiply_add(__m256 x, __m256 y, __m256 z) {
  return _mm256_fmadd_ps(x, y, z);
}
STARLING_AVX2_INLINE void store(float* at, __m256 x) {
  _mm256_storeu_ps(at, x);
}
STARLING_AVX2_INLINE __m256d load_avx2(const double* at) {
  return _mm256_loadu_pd(at);
}
STARLING_AVX2_INLINE __m256d spread_avx2(double value) {
  return _mm256_set1_pd(value);
}
STARLING_AVX2_INLINE __m256d multiply_add(__m256d x, __m256d y, __m256d z) {
  return _mm256_fmadd_pd(x, y, z);
}
STARLING_AVX2_INLINE void store(double* at, __m256d x) {
  _mm256_storeu_pd(at, x);
}
STARLING_AVX512_INLINE __m512 load_avx512(const float* at) {
  return _mm512_loadu_ps(at);
}
STARLING_AVX512_INLINE __m512 spread_avx512(float value) {
  return _mm512_set1_ps(value);
}
STARLING_AVX512_INLINE __m512 multiply_add(__m512 x, __m512 y, __m512 z) {
  return _mm512_fmadd_ps(x, y, z);
}
STARLING_AVX512_INLINE void store(float* at, __m512 x) {
  _mm512_storeu_ps(at, x);
}
STARLING_AVX512_INLINE __m512d load_avx512(const double* at) {
  return _mm512_loadu_pd(at);
}
STARLING_AVX512_INLINE __m512d spread_avx512(double value) {
  return _mm512_set1_pd(value);
}
STARLING_AVX512_INLINE __m512d multiply_add(__m512d x, __m512d y, __m512d z) {
  return _mm512_fmadd_pd(x, y, z);
}
STARLING_AVX512_INLINE void store(double* at, __m512d x) {
  _mm512_storeu_pd(at, x);
}

/// Two packets wide; sums stay in registers.
template <class T, std::size_t Rows>
STARLING_AVX2 void multiply_avx2(const TileColumn<T>& tiles) {
  using Packet = decltype(load_avx2(tiles.a));
  constexpr std::size_t lanes = sizeof(Packet) / sizeof(T);
  const auto [rows, step] = tile_rows<2 * lanes>(tiles);
  T* c = tiles.c;
  for (std::size_t i = 0; i < tiles.count; ++i, c += Rows * tiles.stride) {
    Packet sums[Rows][2] = {};
    if (tiles.add) {
#pragma GCC unroll 8
      for (std::size_t r = 0; r < Rows; ++r) {
        sums[r][0] = load_avx2(c + r * tiles.stride);
        sums[r][1] = load_avx2(c + r * tiles.stride + lanes);
      }
    }
    const T* a = tiles.a + i * tiles.next;
    const T* b = rows;
    for (std::size_t p = 0; p < tiles.depth; ++p, a += tiles.column, b += step) {
      const Packet left = load_avx2(b);
      const Packet right = load_avx2(b + lanes);
#pragma GCC unroll 8
      for (std::size_t r = 0; r < Rows; ++r) {
        const Packet x = spread_avx2(a[r * tiles.row]);
        sums[r][0] = multiply_add(x, left, sums[r][0]);
        sums[r][1] = multiply_add(x, right, sums[r][1]);
      }
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Rows; ++r) {
      store(c + r * tiles.stride, sums[r][0]);
      store(c + r * tiles.stride + lanes, sums[r][1]);
    }
  }
}

/// The same with AVX-512. A target belongs to a function, and no template can have two, so the loops stand here again.
template <class T, std::size_t Rows>
STARLING_AVX512 void multiply_avx512(const TileColumn<T>& tiles) {
  using Packet = decltype(load_avx512(tiles.a));
  constexpr std::size_t lanes = sizeof(Packet) / sizeof(T);
  const auto [rows, step] = tile_rows<2 * lanes>(tiles);
  T* c = tiles.c;
  for (std::size_t i = 0; i < tiles.count; ++i, c += Rows * tiles.stride) {
    Packet sums[Rows][2] = {};
    if (tiles.add) {
#pragma GCC unroll 8
      for (std::size_t r = 0; r < Rows; ++r) {
        sums[r][0] = load_avx512(c + r * tiles.stride);
        sums[r][1] = load_avx512(c + r * tiles.stride + lanes);
      }
    }
    const T* a = tiles.a + i * tiles.next;
    const T* b = rows;
    for (std::size_t p = 0; p < tiles.depth; ++p, a += tiles.column, b += step) {
      const Packet left = load_avx512(b);
      const Packet right = load_avx512(b + lanes);
#pragma GCC unroll 8
      for (std::size_t r = 0; r < Rows; ++r) {
        const Packet x = spread_avx512(a[r * tiles.row]);
        sums[r][0] = multiply_add(x, left, sums[r][0]);
        sums[r][1] = multiply_add(x, right, sums[r][1]);
      }
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Rows; ++r) {
      store(c + r * tiles.stride, sums[r][0]);
      store(c + r * tiles.stride + lanes, sums[r][1]);
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

/// `Width` columns.
template <class T, std::size_t Width>
STARLING_AVX2 void turn_avx2(const T* columns, std::size_t stride, std::size_t k, T* rows) {
  constexpr std::size_t lanes = sizeof(__m256) / sizeof(T);
  constexpr std::size_t depth = lanes / 2;
  std::size_t p = 0;
  for (; p + depth <= k; p += depth) {
    for (std::size_t q = 0; q < Width; q += lanes) {
      turn_block(columns + p + q * stride, stride, rows + p * Width + q, Width);
    }
  }
  turn_rows<Width>(columns, stride, p, k, rows);
}

template <class T>
constexpr ProductTiles<T> avx2{2 * sizeof(__m256) / sizeof(T),
                               {multiply_avx2<T, 1>, multiply_avx2<T, 2>, multiply_avx2<T, 3>, multiply_avx2<T, 4>,
                                multiply_avx2<T, 5>, multiply_avx2<T, 6>},
                               turn_avx2<T, 2 * sizeof(__m256) / sizeof(T)>};

template <class T>
constexpr ProductTiles<T> avx512{2 * sizeof(__m512) / sizeof(T),
                                 {multiply_avx512<T, 1>, multiply_avx512<T, 2>, multiply_avx512<T, 3>,
                                  multiply_avx512<T, 4>, multiply_avx512<T, 5>, multiply_avx512<T, 6>},
                                 turn_avx2<T, 2 * sizeof(__m512) / sizeof(T)>};

#endif

}  // namespace

template <class T>
std::vector<const ProductTiles<T>*> known_product_tiles() {
  std::vector<const ProductTiles<T>*> known;
#if defined(__x86_64__)
  const bool vectors = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (vectors && __builtin_cpu_supports("avx512f")) known.push_back(&avx512<T>);
  if (vectors) known.push_back(&avx2<T>);
#endif
  known.push_back(&portable<T>);
  return known;
}

template <class T>
const ProductTiles<T>& product_tiles() {
  static const ProductTiles<T>& fastest = *known_product_tiles<T>().front();
  return fastest;
}

template std::vector<const ProductTiles<float>*> known_product_tiles();
template std::vector<const ProductTiles<double>*> known_product_tiles();
template const ProductTiles<float>& product_tiles<float>();
template const ProductTiles<double>& product_tiles<double>();

}  // namespace starling
