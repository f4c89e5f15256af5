/// A second thread for a pass over blocks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace starling {

/// A thread that works on blocks in their order, while the caller fills the next ones. The blocks are a ring: memory
/// does not grow with their number.
template <class Block>
class BlockWorker {
 public:
  /// `blocks` is the size of the ring, 2 or more. `work` runs on the thread, and refers to objects that outlive the
  /// worker.
  BlockWorker(std::size_t blocks, std::function<void(Block& block)> work)
      : ring_(blocks), work_(std::move(work)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

  /// The block to fill next, with the content of its last use. Waits until one is free. Throws what `work` has thrown.
  [[nodiscard]] Block& free_block() {
    wait([this] { return filled_ < done_ + ring_.size(); });
    return ring_[filled_ % ring_.size()];
  }
  /// Hands over the block that `free_block` gave.
  void hand_over() {
    const std::scoped_lock lock(mutex_);
    ++filled_;
    changed_.notify_all();
  }
  /// Waits for the work on all blocks that were handed over. Throws what `work` has thrown.
  void finish() {
    wait([this] { return done_ == filled_; });
  }

 private:
  template <class Condition>
  void wait(const Condition& holds) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ || holds(); });
    if (error_) std::rethrow_exception(error_);
  }

  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return done_ < filled_; })) {
      lock.unlock();
      std::exception_ptr error;
      try {
        work_(ring_[done_ % ring_.size()]);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      error_ = error;
      ++done_;
      changed_.notify_all();
      if (error_) return;
    }
  }

  std::vector<Block> ring_;
  std::function<void(Block& block)> work_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t filled_ = 0;    ///< number of blocks that were handed over
  std::size_t done_ = 0;      ///< number of blocks that the thread has worked on; only the thread changes it
  std::exception_ptr error_;  ///< with which the thread has ended
  std::jthread thread_;       ///< the last member: its destructor waits for the thread
};

}  // namespace starling
