// Vectors between ranks of one host that their receivers read where the sender has written them. Internal to the net
// room.
#pragma once

#include "net/host/shared_memory.hpp"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/net/world.hpp"

namespace starling {

/// Every rank of a host has two blocks of vectors, a column per client, that all others there can read. Exchanges take
/// turns: those of an even number go through one block, those of an odd number through the other. Where some rank's
/// is long, which takes much longer to be mixed than two ranks take to meet, each has one for all turns. A rank says
/// how far it is by counters, and nobody waits for anybody but
/// * for a block to be written: a reader waits for the writer's turn;
/// * for a block to be read: a writer waits until those who have read it the last time have finished that turn.
/// Whoever is furthest behind waits for nobody for long, so that there is no deadlock on any graph.
class Windows {
 public:
  /// **Collective.** For vectors of `length` doubles. Throws nothing for want of memory: see problem().
  Windows(World& world, const Layout& layout, std::size_t length);

  /// Why this rank does not share memory with all others of its host; empty where it does. To be asked before others
  /// use this rank's; if there is a problem anywhere, no rank may go on with its windows.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// All ranks have what they need: nobody attaches any more.
  void close() { own_.close(); }

  /// Whether there is any other rank on this host: alone a rank takes no memory, and its door is one of messages.
  [[nodiscard]] bool shares() const { return !others_.empty(); }
  /// Whether that rank's vectors lie in a window here, and this rank's in one there.
  [[nodiscard]] bool shares_with(int rank) const { return progress_[static_cast<std::size_t>(rank)] != nullptr; }
  /// Blocks of each rank.
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
  /// Where that rank writes this column in turns of that block.
  [[nodiscard]] const double* vector(int rank, std::size_t column, std::size_t block) const;

  /// Begins a turn: what the turns before have brought is no longer read.
  void begin();
  [[nodiscard]] bool is_begun() const { return begun_; }
  /// From 1; 0 before the first.
  [[nodiscard]] std::uint64_t turn() const { return turn_; }
  /// Number of the block that serves a turn.
  [[nodiscard]] std::size_t block_of(std::uint64_t turn) const { return turn % blocks(); }
  /// This rank's block of the turn; to be written once all who have read it the last time have finished.
  [[nodiscard]] Released<Columns>& block() { return blocks_[block_of(turn_)]; }
  /// Where the others read it.
  [[nodiscard]] MutableView place() const { return places_[block_of(turn_)]; }
  /// The block has been written: others may read it.
  void publish();
  /// Whether that rank has published the block of this turn.
  [[nodiscard]] bool has_published(int writer);
  /// What this turn has brought, once all of it has been published, is no longer read.
  void finish();
  /// Whether that rank has finished with what this rank's block held the last time.
  [[nodiscard]] bool has_finished(int reader);
  /// Once nobody reads them: the system gets the memory of this rank's blocks, whose vectors are lost.
  void give_back_room();

  /// Between two looks at the counters of others: a moment's pause at first, then the processor is left to who may have
  /// something to do on it.
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
  std::vector<std::uint64_t> published_;   ///< by rank: what this one has seen of it
  std::vector<Released<Columns>> blocks_;  ///< of this rank, in its memory
  std::vector<MutableView> places_;        ///< their storage
  std::uint64_t turn_ = 0;
  std::uint64_t finished_ = 0;  ///< the last turn that this rank has said to have finished
  bool begun_ = false;
};

/// **Collective.** Windows for all ranks together, nothing for those that share their host with none; or nothing for
/// all, and why not, the same on all ranks.
[[nodiscard]] std::unique_ptr<Windows> open_windows(World& world, const Layout& layout, std::size_t length,
                                                    std::string& why_not);

}  // namespace starling
