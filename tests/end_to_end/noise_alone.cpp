// The program with releases that hold noise and no data, under keys and clocks that are the same in every run: what
// test_differential.py compares two data sets with. It is built for tests alone and is never installed.
//
// Noise that is infinitely large would drown every record. Here each release loses its integers instead, before noise
// is added: a release is then the same bytes whatever the records are. Every other byte of a run, its messages and its
// exit code are the production code's. If two data sets make any of these differ, something other than a release
// depends on records.
//
// The linker puts the definitions below in the place of the production ones (--wrap, and symbols of shared libraries).
// No option and no build setting of the program itself can do that.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/time.h>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/program.hpp"
#include "privacy/keys/keys.hpp"

namespace {

std::atomic<std::int64_t> releases{0};

}  // namespace

namespace starling {

#define STARLING_RELEASE_STREAM                                                               \
  "_ZN8starling14release_streamERNS_11ReleaseKeysERKNS_8NoiseKeyESt17basic_string_viewIcSt11" \
  "char_traitsIcEERKNS_14ReleaseAddressES8_ddSt4spanIKlLm18446744073709551615EE"

StreamStart production_stream(ReleaseKeys& keys, const NoiseKey& run_key, std::string_view run_id,
                              const ReleaseAddress& address, std::string_view mechanism, double scale, double step,
                              std::span<const std::int64_t> integers) __asm__("__real_" STARLING_RELEASE_STREAM);
StreamStart stream_without_data(ReleaseKeys& keys, const NoiseKey& run_key, std::string_view run_id,
                                const ReleaseAddress& address, std::string_view mechanism, double scale, double step,
                                std::span<const std::int64_t> integers) __asm__("__wrap_" STARLING_RELEASE_STREAM);

/// Appends a line `path mechanism client round index block scale integers…` for a release to the file that the
/// environment names, if it names one: what the owner of the data could have noted.
void note(const ReleaseAddress& address, std::string_view mechanism, double scale,
          std::span<const std::int64_t> integers) {
  static std::FILE* const file = [] {
    const char* const name = std::getenv("STARLING_NOTED_RELEASES");
    return name == nullptr ? nullptr : std::fopen(name, "ae");
  }();
  if (file == nullptr) return;
  fmt::print(file, "{} {} {} {} {} {} {:.17g} {}\n", name_of(address.path), mechanism, address.client, address.round,
             address.index, address.block, scale, fmt::join(integers, " "));
  std::fflush(file);
}

/// Whether the releases of this path lack noise: a fault that the environment plants, for the tests of the tests.
bool is_bare(ReleasePath path) {
  static const char* const planted = std::getenv("STARLING_BARE_PATH");
  return planted != nullptr && name_of(path) == planted;
}

/// The noise of zeros; and zeros are what it will be added to.
StreamStart stream_without_data(ReleaseKeys& keys, const NoiseKey& run_key, std::string_view run_id,
                                const ReleaseAddress& address, std::string_view mechanism, double scale, double step,
                                std::span<const std::int64_t> integers) {
  ++releases;
  note(address, mechanism, scale, integers);
  const std::vector<std::int64_t> zeros(integers.size());
  if (!is_bare(address.path)) {
    for (const std::int64_t& q : integers) const_cast<std::int64_t&>(q) = 0;
  }
  return production_stream(keys, run_key, run_id, address, mechanism, scale, step, zeros);
}

}  // namespace starling

/// OpenSSL's random bytes: keys, and the run's name. Different at every call and rank, the same in every run.
extern "C" int RAND_priv_bytes(unsigned char* bytes, int count) {
  static std::atomic<std::uint64_t> calls{0};
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  std::uint64_t state = ++calls + (rank == nullptr ? 0 : static_cast<std::uint64_t>(std::atoi(rank)) << 32);
  for (int i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    bytes[i] = static_cast<unsigned char>(state >> 56);
  }
  return 1;
}

constexpr time_t the_time = 1'700'000'000;

extern "C" time_t time(time_t* result) noexcept {
  if (result != nullptr) *result = the_time;
  return the_time;
}

/// What HDF5 dates its objects with.
extern "C" int gettimeofday(timeval* result, void* /*zone*/) noexcept {
  *result = {the_time, 0};
  return 0;
}

/// A microsecond passes with each release: times that a run states are functions of how many it has made.
std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  return time_point(duration(1000 * (releases + 1)));
}

/// With one word of its own beside the program's: `release-paths` lists the paths, a name and `noisy` or `bare` a line.
int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "release-paths") {
    for (const starling::ReleasePathRow& row : starling::release_paths()) {
      fmt::print("{} {}\n", row.name, row.noisy ? "noisy" : "bare");
    }
    return 0;
  }
  return starling::run_program({argv, argv + argc});
}
