// Seconds that the reader of a table takes for all its records: `read_rate FILE`. predict.py compares.
#include <cstdio>

#include "data/source.hpp"
#include "timing.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::int64_t records = 0;
  const double taken = starling::benchmark::seconds([&] {
    const auto reader = starling::open_reader(argv[1], {});
    starling::Record record;
    while (reader->next(record)) ++records;
  });
  std::printf("%.6f %lld\n", taken, static_cast<long long>(records));
  return 0;
}
