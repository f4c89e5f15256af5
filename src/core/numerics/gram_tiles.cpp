#include "gram_tiles.hpp"

#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace starling {

namespace {

template <std::size_t Strips>
void multiply_portable(std::size_t rows, const double* a, const double* b, double* out) {
  constexpr std::size_t width = 4;
  double sums[width][Strips * width] = {};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < width; ++i) {
      for (std::size_t j = 0; j < Strips * width; ++j) {
        const double y = b[j / width * gram_strip(width) + r * width + j % width];
        sums[i][j] = std::fma(a[r * width + i], y, sums[i][j]);
      }
    }
  }
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = 0; j < Strips * width; ++j) out[i * Strips * width + j] = sums[i][j];
  }
}

#if defined(__x86_64__)

// Sums stay in registers: the loops over them are unrolled whole, at any level of optimisation.

template <std::size_t Strips>
__attribute__((target("avx2,fma"))) void multiply_avx2(std::size_t rows, const double* a, const double* b,
                                                       double* out) {
  constexpr std::size_t width = 4;
  __m256d sums[width][Strips] = {};
  for (std::size_t r = 0; r < rows; ++r) {
    __m256d y[Strips];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Strips; ++v) y[v] = _mm256_loadu_pd(b + v * gram_strip(width) + r * width);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < width; ++i) {
      const __m256d x = _mm256_broadcast_sd(a + r * width + i);
#pragma GCC unroll 8
      for (std::size_t v = 0; v < Strips; ++v) sums[i][v] = _mm256_fmadd_pd(x, y[v], sums[i][v]);
    }
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < width; ++i) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Strips; ++v) _mm256_storeu_pd(out + (i * Strips + v) * width, sums[i][v]);
  }
}

template <std::size_t Strips>
__attribute__((target("avx512f"))) void multiply_avx512(std::size_t rows, const double* a, const double* b,
                                                        double* out) {
  constexpr std::size_t width = 8;
  __m512d sums[width][Strips] = {};
  for (std::size_t r = 0; r < rows; ++r) {
    __m512d y[Strips];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Strips; ++v) y[v] = _mm512_loadu_pd(b + v * gram_strip(width) + r * width);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < width; ++i) {
      const __m512d x = _mm512_set1_pd(a[r * width + i]);
#pragma GCC unroll 8
      for (std::size_t v = 0; v < Strips; ++v) sums[i][v] = _mm512_fmadd_pd(x, y[v], sums[i][v]);
    }
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < width; ++i) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Strips; ++v) _mm512_storeu_pd(out + (i * Strips + v) * width, sums[i][v]);
  }
}

#endif

constexpr GramTiles portable{4, {multiply_portable<1>, multiply_portable<2>, multiply_portable<3>}};
#if defined(__x86_64__)
constexpr GramTiles avx2{4, {multiply_avx2<1>, multiply_avx2<2>, multiply_avx2<3>}};
constexpr GramTiles avx512{8, {multiply_avx512<1>, multiply_avx512<2>, multiply_avx512<3>}};
#endif

}  // namespace

std::vector<GramKernel> gram_kernels() {
  std::vector<GramKernel> found;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) found.push_back(GramKernel::avx512);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back(GramKernel::avx2);
#endif
  found.push_back(GramKernel::portable);
  return found;
}

const GramTiles& gram_tiles(GramKernel kernel) {
#if defined(__x86_64__)
  if (kernel == GramKernel::avx512) return avx512;
  if (kernel == GramKernel::avx2) return avx2;
#endif
  return portable;
}

}  // namespace starling
