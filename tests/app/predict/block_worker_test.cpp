#include "app/predict/block_worker.hpp"

#include <numeric>
#include <semaphore>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace starling::block_worker_test {

TEST(BlockWorker, WorksOnAllBlocksInTheirOrder) {
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  for (const std::size_t size : {2UL, 3UL, 16UL}) {
    std::vector<int> seen;
    BlockWorker<int> worker(size, [&](int& block) { seen.push_back(block); });
    for (const int number : expected) {
      worker.free_block() = number;
      worker.hand_over();
    }
    worker.finish();
    EXPECT_EQ(seen, expected) << "ring of " << size;
  }
}

TEST(BlockWorker, LetsTheCallerFillTheRingWhileItWorks) {
  std::binary_semaphore may_work{0};
  int sum = 0;
  BlockWorker<int> worker(4, [&](int& block) {
    if (block == 1) may_work.acquire();
    sum += block;
  });
  for (int number = 1; number <= 4; ++number) {
    worker.free_block() = number;
    worker.hand_over();
  }
  may_work.release();
  EXPECT_EQ(worker.free_block(), 1);  // the first block again, once its work is done
  worker.finish();
  EXPECT_EQ(sum, 10);
}

TEST(BlockWorker, CarriesAnErrorToTheCallerAndEndsThere) {
  int last = 0;
  BlockWorker<int> worker(2, [&](int& block) {
    last = block;
    if (block == 5) throw std::runtime_error("fifth");
  });
  const auto fill = [&] {
    for (int number = 1; number <= 100; ++number) {
      worker.free_block() = number;
      worker.hand_over();
    }
  };
  EXPECT_THROW(fill(), std::runtime_error);
  EXPECT_THROW(worker.finish(), std::runtime_error);
  EXPECT_THROW(static_cast<void>(worker.free_block()), std::runtime_error);
  EXPECT_EQ(last, 5);
}

TEST(BlockWorker, EndsWithoutABlock) {
  BlockWorker<std::string> worker(2, [](std::string& /*block*/) { FAIL(); });
  EXPECT_EQ(worker.free_block(), "");
  worker.finish();
}

}  // namespace starling::block_worker_test
