// Vectors between ranks of one host in shared memory: receivers read them where the sender has written them. Internal
// to the net module.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "net/host/shared_memory.hpp"
#include "net/world.hpp"

namespace starling {

/// Shared-memory windows of a host. Each rank has two blocks of vectors, a column per client, that all other ranks of
/// the host can read. Exchanges take turns: exchanges of even number use one block, exchanges of odd number the other.
/// If the block of some rank is long, each rank has one block for all turns: mixing a long block takes much longer than
/// two ranks take to meet. A rank publishes its progress by counters. A rank waits for another rank only
/// * for a block to be written: a reader waits for the writer's turn;
/// * for a block to be read: a writer waits until those who have read it the last time have finished that turn.
/// The rank furthest behind does not wait for long, so no graph can deadlock.
class Windows {
 public:
  /// **Collective.** For vectors of `length` doubles. Throws nothing for want of memory: see problem().
  Windows(World& world, const Layout& layout, std::size_t length);

  /// Reason why this rank does not share memory with all others of its host; empty if it does. To be checked before the
  /// first use of another rank's memory. If any rank has a problem, no rank may continue with its windows.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Ends attaching by other ranks, once all ranks have attached.
  void close() { own_.close(); }

  /// Whether another rank is on this host. A lone rank takes no memory and sends only messages.
  [[nodiscard]] bool shares() const { return !others_.empty(); }
  /// Whether this rank can read that rank's vectors in a window, and that rank this rank's.
  [[nodiscard]] bool shares_with(int rank) const { return progress_[static_cast<std::size_t>(rank)] != nullptr; }
  /// Number of blocks of each rank.
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
  /// Address of this column of that rank, in turns of that block.
  [[nodiscard]] const double* vector(int rank, std::size_t column, std::size_t block) const;

  /// Begins a turn. The vectors of earlier turns are no longer read.
  void begin();
  [[nodiscard]] bool is_begun() const { return begun_; }
  /// Number of the turn, from 1; 0 before the first.
  [[nodiscard]] std::uint64_t turn() const { return turn_; }
  /// Number of the block that serves a turn.
  [[nodiscard]] std::size_t block_of(std::uint64_t turn) const { return turn % blocks(); }
  /// This rank's block of the turn; may be written once all its readers of the last time have finished.
  [[nodiscard]] Released<Columns>& block() { return blocks_[block_of(turn_)]; }
  /// Address at which the other ranks read the block.
  [[nodiscard]] MutableView place() const { return places_[block_of(turn_)]; }
  /// Declares that the block has been written: others may read it.
  void publish();
  /// Whether that rank has published the block of this turn.
  [[nodiscard]] bool has_published(int writer);
  /// Declares that the vectors of this turn are no longer read. All of them must have been published before.
  void finish();
  /// Whether that rank has finished with what this rank's block held the last time.
  [[nodiscard]] bool has_finished(int reader);
  /// Returns the memory of this rank's blocks to the system; their vectors are lost. To be called once no rank reads
  /// them.
  void give_back_room();

  /// Pause between two looks at the counters of others: a short pause at first, later the processor is left to other
  /// threads and processes.
  void idle(unsigned looks) const;

 private:
  struct Progress;
  void share(int rank, const SharedPlace& place);

  Layout layout_;
  std::size_t length_;
  bool spins_;
  std::string problem_;
  SharedMemory own_;
  std::vector<SharedMemory> others_;
  std::vector<const std::byte*> memory_;   ///< by rank; null where nothing is shared
  std::vector<const Progress*> progress_;  ///< likewise
  std::vector<std::uint64_t> published_;   ///< by rank: the last turn that this rank has seen published
  std::vector<Released<Columns>> blocks_;  ///< of this rank, in its memory
  std::vector<MutableView> places_;        ///< their storage
  std::uint64_t turn_ = 0;
  std::uint64_t finished_ = 0;  ///< last turn that this rank has declared finished
  bool begun_ = false;
};

/// **Collective.** Windows for all ranks together; null for ranks that share their host with no other. If windows are
/// impossible on any rank, null for all, and the reason in `why_not`, the same on all ranks.
[[nodiscard]] std::unique_ptr<Windows> open_windows(World& world, const Layout& layout, std::size_t length,
                                                    std::string& why_not);

}  // namespace starling
