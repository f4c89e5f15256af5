/// A program that measures how fast a sampler fills arrays:
///
///   NAME_rate            prints the median and the 10 % quantile of the rate over 51 repetitions
///   NAME_rate --serve    makes a repetition for each line "COUNT REPEATS" on standard input (REPEATS arrays of COUNT
///                        draws) and prints its seconds: noise.py interleaves it so with other programs
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "timing.hpp"

namespace starling::benchmark {

/// `draw` makes an array of `count` draws.
inline int measure_rate(int argc, char** argv, const char* name, const std::function<void(std::size_t count)>& draw) {
  const auto repetition = [&](std::size_t count, std::size_t repeats) {
    return seconds([&] {
      for (std::size_t i = 0; i < repeats; ++i) draw(count);
    });
  };
  if (argc == 2 && std::string_view(argv[1]) == "--serve") {
    std::size_t count = 0;
    std::size_t repeats = 0;
    while (std::scanf("%zu %zu", &count, &repeats) == 2) {
      std::printf("%.9f\n", repetition(count, repeats));
      std::fflush(stdout);
    }
    return 0;
  }
  if (argc != 1) {
    std::fprintf(stderr, "usage: %s [--serve]\n", argv[0]);
    return 2;
  }
  for (const std::size_t count : {10000U, 1000000U}) {
    std::vector<double> rates;
    const std::size_t repeats = 2000000 / count;
    repetition(count, 1);
    for (int i = 0; i < 51; ++i) {
      rates.push_back(static_cast<double>(count * repeats) / repetition(count, repeats) / 1e6);
    }
    std::printf("%s: arrays of %zu draws: median %.1f M/s, 10 %% quantile %.1f M/s\n", name, count, median(rates),
                quantile(rates, 0.1));
  }
  return 0;
}

}  // namespace starling::benchmark
