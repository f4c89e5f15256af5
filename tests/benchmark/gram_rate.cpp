/// How long weighted Gram products take beside OpenBLAS's dsyrk on one core, where there is one (libopenblas.so.0):
///
///   gram_rate      prints, for each size and kind of instructions, the median rate and the ratio of the median times
///
/// The peer does less: rows scaled by √w beforehand, outside its time, and a result that is not packed. Both add to
/// what is there. Repetitions are interleaved, and the time is the processor's.
#include <cstdio>
#include <dlfcn.h>

#include "core/numerics/gram.hpp"
#include "core/random.hpp"
#include "timing.hpp"

namespace {

using starling::GramKernel;
using starling::Vector;

/// cblas_dsyrk of row-major data.
using Dsyrk = void (*)(int order, int uplo, int trans, int n, int k, double alpha, const double* a, int lda,
                       double beta, double* c, int ldc);
constexpr int row_major = 101;
constexpr int upper = 121;
constexpr int transposed = 112;

Dsyrk find_dsyrk() {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW);
  if (library == nullptr) return nullptr;
  if (void* threads = dlsym(library, "openblas_set_num_threads")) reinterpret_cast<void (*)(int)>(threads)(1);
  if (void* core = dlsym(library, "openblas_get_corename")) {
    std::printf("OpenBLAS's kernels are those of %s\n", reinterpret_cast<const char* (*)()>(core)());
  }
  return reinterpret_cast<Dsyrk>(dlsym(library, "cblas_dsyrk"));
}

const char* name_of(GramKernel kernel) {
  return kernel == GramKernel::avx512 ? "avx512" : kernel == GramKernel::avx2 ? "avx2" : "portable";
}

void measure(std::size_t n, std::size_t p, Dsyrk dsyrk) {
  starling::AddressedRandom random(1, starling::Purpose::experiment, 0, 0);
  Vector rows(n * p);
  Vector weights(n, 0.5);
  for (double& value : rows) value = random.normal();
  Vector triangle(starling::triangle_size(p));
  Vector square(p * p);
  const double flops = static_cast<double>(n * p * (p + 1));
  const auto repeats = static_cast<std::size_t>(1 + 2e7 / flops);
  const auto timed = [&](auto action) {
    return starling::benchmark::seconds([&] {
             for (std::size_t i = 0; i < repeats; ++i) action();
           }) /
           static_cast<double>(repeats);
  };
  const std::vector<GramKernel> kernels = starling::gram_kernels();
  std::vector<std::vector<double>> times(kernels.size());
  std::vector<double> peer;
  for (int round = 0; round < 41; ++round) {
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (kernels[k] == GramKernel::portable && round > 2) continue;
      times[k].push_back(timed([&] { add_weighted_gram(rows, n, p, weights, triangle, kernels[k]); }));
    }
    if (dsyrk == nullptr) continue;
    const int order = static_cast<int>(p);
    peer.push_back(timed([&] {
      dsyrk(row_major, upper, transposed, order, static_cast<int>(n), 1, rows.data(), order, 1, square.data(), order);
    }));
  }
  std::printf("n = %5zu, p = %3zu:", n, p);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const double time = starling::benchmark::median(times[k]);
    std::printf("  %s %.1f Gflop/s", name_of(kernels[k]), flops / time / 1e9);
    if (!peer.empty()) std::printf(" (%.2f of dsyrk's time)", time / starling::benchmark::median(peer));
  }
  if (!peer.empty()) std::printf("  dsyrk %.1f Gflop/s", flops / starling::benchmark::median(peer) / 1e9);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main() {
  const Dsyrk dsyrk = find_dsyrk();
  if (dsyrk == nullptr) std::printf("libopenblas.so.0 is not here: nothing to compare with\n");
  for (const std::size_t p : {11U, 21U, 31U, 50U, 51U, 100U, 101U, 500U, 501U}) {
    for (const std::size_t n : {200U, 1000U, 10000U}) measure(n, p, dsyrk);
  }
  return 0;
}
