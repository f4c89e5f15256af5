#include "windows.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>
#include <sched.h>

#include "core/check.hpp"
#include "net/agreement.hpp"
#include "net/host/host_limits.hpp"
#include "net/host/mpi_session.hpp"
#include "net/sealed_parts.hpp"
#include "net/state.hpp"

namespace starling {

namespace {

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free, "counters in shared memory must be lock-free");

}  // namespace

/// Counter that a rank publishes at the beginning of its memory.
struct Windows::Progress {
  Counter finished{0};
};

namespace {

constexpr std::size_t page = 4096;
/// Number of looks before the processor is left: some microseconds, less than the time to return to the processor.
constexpr unsigned looks_before_leaving = 100;

/// Bytes of a long block. If any rank has a block of at least this length, each rank has one block.
constexpr std::size_t long_block = std::size_t{4} << 20;

/// Number of blocks of each rank.
std::size_t blocks_of(const Layout& layout, std::size_t length) {
  Client most = 0;
  for (int rank = 0; rank < layout.ranks(); ++rank) most = std::max(most, layout.count(rank));
  return static_cast<std::size_t>(most) * length * sizeof(double) < long_block ? 2 : 1;
}

/// Addresses of a rank's blocks in its memory. Blocks of different ranks begin at different offsets in a page. A
/// receiver reads many of them at once, entry by entry, and the nearest cache keeps only a few lines of the same
/// offset. The last turn in which a block was published follows its last entry, so that a short block arrives with the
/// look that finds it.
struct Places {
  Places(const Layout& layout, int rank, std::size_t length)
      : size(static_cast<std::size_t>(layout.count(rank)) * length * sizeof(double)),
        first(page + static_cast<std::size_t>(rank % 12) * 320),
        apart((size + sizeof(Counter) + page - 1) / page * page) {}
  [[nodiscard]] std::size_t block(std::size_t number) const { return first + number * apart; }
  [[nodiscard]] std::size_t published(std::size_t number) const { return block(number) + size; }
  [[nodiscard]] std::size_t bytes(std::size_t blocks) const { return block(blocks); }
  std::size_t size;
  std::size_t first;
  std::size_t apart;
};

/// A rank as the other ranks of this host see it.
struct Member {
  std::int64_t rank = 0;
  SharedPlace place;
};

/// Request that a rank states before any rank of its host takes memory.
struct Wish {
  std::uint64_t bytes = 0;
  double left = 0;  ///< bytes of usable memory that the rank sees
};

/// The ranks of this host, in order.
class Host {
 public:
  /// **Collective**, as gather() is.
  explicit Host(World& world) : world_(world) {
    const World::State& state = world.state();
    if (state.seal) {  // MPI would find them by messages that nothing seals
      size_ = 0;
      for (int r = 0; r < state.size; ++r) size_ += state.seal->is_on_this_host(r) ? 1 : 0;
      return;
    }
    Agreement(world_).barrier();
    MPI_Comm_split_type(world_.state().agreement, MPI_COMM_TYPE_SHARED, world_.rank(), MPI_INFO_NULL, &ranks_);
    MPI_Comm_size(ranks_, &size_);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() {
    if (ranks_ != MPI_COMM_NULL) MPI_Comm_free(&ranks_);
  }

  [[nodiscard]] int size() const { return size_; }
  template <class T>
  [[nodiscard]] std::vector<T> gather(const T& own) const {
    World::State& state = world_.state();
    if (state.seal) {
      const std::vector<int> everybody = all_ranks(state);
      const auto came = gather_parts(state, std::as_bytes(std::span(&own, 1)), everybody, everybody, "gathering");
      std::vector<T> here;
      for (int r = 0; r < state.size; ++r) {
        if (!state.seal->is_on_this_host(r)) continue;
        check<FailureError>(came[static_cast<std::size_t>(r)].size() == sizeof(T),
                            "{} bytes came from rank {} in place of {}. This is a fault of the program.",
                            came[static_cast<std::size_t>(r)].size(), r, sizeof(T));
        std::memcpy(&here.emplace_back(), came[static_cast<std::size_t>(r)].data(), sizeof(T));
      }
      return here;
    }
    // Ranks may come here at different times: what follows does not hear the control channel, and must not wait.
    Agreement(world_).barrier();
    std::vector<T> all(static_cast<std::size_t>(size_));
    MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, ranks_);
    return all;
  }

 private:
  World& world_;
  MPI_Comm ranks_ = MPI_COMM_NULL;
  int size_ = 1;
};

/// Check of the memory that a control group leaves. Beyond such a limit the kernel does not refuse shared memory but
/// ends the process. The run later takes about as much again, so half of the remaining memory must stay free. Throws
/// FailureError, on all ranks of a host alike.
void require_memory(const std::vector<Wish>& wishes) {
  double bytes = 0;
  double left = std::numeric_limits<double>::infinity();
  for (const Wish& wish : wishes) {
    bytes += static_cast<double>(wish.bytes);
    left = std::min(left, wish.left);
  }
  check<FailureError>(bytes <= left / 2,
                      "the system has {:.0f} bytes of memory left, and the ranks of this host want {:.0f} to share: "
                      "half is to stay for the rest of the run.",
                      left, bytes);
}

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Windows::Windows(World& world, const Layout& layout, std::size_t length)
    : layout_(layout),
      length_(length),
      spins_(!oversubscribed()),
      memory_(static_cast<std::size_t>(world.size()), nullptr),
      progress_(static_cast<std::size_t>(world.size()), nullptr),
      published_(static_cast<std::size_t>(world.size()), 0),
      blocks_(blocks_of(layout, length), Released<Columns>(declare_public(Columns()))),
      places_(blocks_.size()) {
  const Places places(layout_, world.rank(), length_);
  const Host host(world);
  const std::vector<Wish> wishes = host.gather(Wish{places.bytes(blocks()), usable_memory()});
  SharedPlace place;
  if (host.size() > 1) {
    try {
      require_memory(wishes);
      own_ = SharedMemory::create(places.bytes(blocks()));
      new (own_.data()) Progress;
      place = own_.place();
    } catch (const FailureError& error) {
      problem_ = error.what();
    }
  }
  for (const Member& member : host.gather(Member{world.rank(), place})) {
    const auto rank = static_cast<int>(member.rank);
    if (rank != world.rank()) share(rank, member.place);
  }
  if (!problem_.empty() || !shares()) return;
  memory_[static_cast<std::size_t>(world.rank())] = own_.data();
  const auto count = static_cast<std::size_t>(layout_.count(world.rank()));
  for (std::size_t i = 0; i < blocks(); ++i) {
    places_[i] = {reinterpret_cast<double*>(own_.data() + places.block(i)), count * length_};
    blocks_[i].update([&](Columns& columns) { columns = Columns(length_, count, places_[i].data()); });
    new (own_.data() + places.published(i)) Counter(0);
  }
}

void Windows::share(int rank, const SharedPlace& place) {
  if (!problem_.empty() || place.process < 0) return;  // who has nothing to share says so itself
  try {
    others_.push_back(SharedMemory::attach(place));
  } catch (const FailureError& error) {
    problem_ = error.what();
    return;
  }
  const std::byte* const memory = others_.back().data();
  memory_[static_cast<std::size_t>(rank)] = memory;
  progress_[static_cast<std::size_t>(rank)] = std::launder(reinterpret_cast<const Progress*>(memory));
}

const double* Windows::vector(int rank, std::size_t column, std::size_t block) const {
  const std::size_t begin = Places(layout_, rank, length_).block(block);
  return reinterpret_cast<const double*>(memory_[static_cast<std::size_t>(rank)] + begin) + column * length_;
}

void Windows::begin() {
  finish();
  ++turn_;
  begun_ = true;
}

void Windows::finish() {
  if (finished_ == turn_) return;  // the others would look at the same number again
  finished_ = turn_;
  std::launder(reinterpret_cast<Progress*>(own_.data()))->finished.store(turn_, std::memory_order_release);
}

// A rank that has published a turn had finished the turn before. If this rank has already seen the publication, it need
// not fetch the other counter, which has moved since.
bool Windows::has_finished(int reader) {
  const auto rank = static_cast<std::size_t>(reader);
  if (published_[rank] + blocks() > turn_) return true;
  return progress_[rank]->finished.load(std::memory_order_acquire) + blocks() >= turn_;
}

void Windows::publish() {
  begun_ = false;
  const MutableView block = place();
  std::launder(reinterpret_cast<Counter*>(block.data() + block.size()))->store(turn_, std::memory_order_release);
}

bool Windows::has_published(int writer) {
  const auto rank = static_cast<std::size_t>(writer);
  const std::byte* const counter = memory_[rank] + Places(layout_, writer, length_).published(block_of(turn_));
  published_[rank] = std::launder(reinterpret_cast<const Counter*>(counter))->load(std::memory_order_acquire);
  return published_[rank] >= turn_;
}

void Windows::give_back_room() {
  own_.drop(sizeof(Progress));
}

void Windows::idle(unsigned looks) const {
  if (spins_ && looks < looks_before_leaving) {
    pause();
  } else {
    sched_yield();
  }
}

std::unique_ptr<Windows> open_windows(World& world, const Layout& layout, std::size_t length, std::string& why_not) {
  auto windows = std::make_unique<Windows>(world, layout, length);
  const std::vector<std::string> problems = Agreement(world).all_gather(declare_public(windows->problem()));
  for (std::size_t r = 0; r < problems.size() && why_not.empty(); ++r) {
    if (!problems[r].empty()) why_not = fmt::format("rank {}: {}", r, problems[r]);
  }
  windows->close();
  return why_not.empty() && windows->shares() ? std::move(windows) : nullptr;
}

}  // namespace starling
