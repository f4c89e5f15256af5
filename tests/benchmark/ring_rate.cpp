/// How long products of matrices and vectors modulo 2^64 take beside OpenBLAS's dgemv of doubles on one core, where
/// there is one (libopenblas.so.0):
///
///   ring_rate      prints, for each size, the median rate and the ratio of the median times
///
/// Repetitions are interleaved, and the time is the processor's.
#include <cstdio>
#include <dlfcn.h>
#include <random>

#include "core/columns.hpp"
#include "privacy/shares/ring.hpp"
#include "timing.hpp"

namespace {

using starling::Vector;
using starling::Word;

/// cblas_dgemv of row-major data.
using Dgemv = void (*)(int order, int trans, int m, int n, double alpha, const double* a, int lda, const double* x,
                       int incx, double beta, double* y, int incy);
constexpr int row_major = 101;
constexpr int transposed = 112;

Dgemv find_dgemv() {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW);
  if (library == nullptr) return nullptr;
  if (void* threads = dlsym(library, "openblas_set_num_threads")) reinterpret_cast<void (*)(int)>(threads)(1);
  return reinterpret_cast<Dgemv>(dlsym(library, "cblas_dgemv"));
}

void measure(std::size_t n, std::size_t d, Dgemv dgemv) {
  std::mt19937_64 random(1);
  std::vector<Word> matrix(n * d);
  std::vector<Word> factors(n);
  std::vector<Word> product(d);
  for (Word& word : matrix) word = random();
  for (Word& word : factors) word = random();
  const Vector numbers(matrix.begin(), matrix.end());
  const Vector weights(factors.begin(), factors.end());
  Vector sums(d);
  const auto products = static_cast<double>(n * d);
  const auto repeats = static_cast<std::size_t>(1 + 1e7 / products);
  const auto timed = [&](auto action) {
    return starling::benchmark::seconds([&] {
             for (std::size_t i = 0; i < repeats; ++i) action();
           }) /
           static_cast<double>(repeats);
  };
  std::vector<double> own;
  std::vector<double> peer;
  for (int round = 0; round < 41; ++round) {
    own.push_back(timed([&] { starling::add_transposed_product(matrix, factors, product); }));
    if (dgemv == nullptr) continue;
    peer.push_back(timed([&] {
      dgemv(row_major, transposed, static_cast<int>(n), static_cast<int>(d), 1, numbers.data(), static_cast<int>(d),
            weights.data(), 1, 1, sums.data(), 1);
    }));
  }
  const double time = starling::benchmark::median(own);
  std::printf("n = %6zu, d = %3zu:  %.2f G products/s", n, d, products / time / 1e9);
  if (!peer.empty()) std::printf(" (%.2f of dgemv's time)", time / starling::benchmark::median(peer));
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main() {
  const Dgemv dgemv = find_dgemv();
  if (dgemv == nullptr) std::printf("libopenblas.so.0 is not here: nothing to compare with\n");
  for (const std::size_t d : {4U, 13U, 25U, 50U, 200U}) {
    for (const std::size_t n : {1000U, 24000U}) measure(n, d, dgemv);
  }
  return 0;
}
