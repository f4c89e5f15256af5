// Memory that processes of one host share. Internal to the net room.
#pragma once

#include <cstddef>
#include <cstdint>

namespace starling {

/// Where other processes of the host find a stretch of shared memory; plain bytes, which travel by MPI.
struct SharedPlace {
  std::int64_t process = -1;  ///< −1: there is none
  std::int64_t file = -1;     ///< of that process
  std::uint64_t bytes = 0;
  std::uint64_t device = 0;  ///< with `node`: which memory it is, whatever else may be found there
  std::uint64_t node = 0;
};

/// A stretch of it, mapped into this process. It has no name: nothing is left behind however a run ends, and no limit
/// of /dev/shm (64 MB in many containers) holds for it.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// Zeros, to be written. All of it is there: no access will fail for want of memory. Throws FailureError.
  [[nodiscard]] static SharedMemory create(std::size_t bytes);
  /// Another process's, to be read only. It stays for as long as it is mapped here, whatever becomes of its owner.
  /// Throws FailureError.
  [[nodiscard]] static SharedMemory attach(const SharedPlace& place);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  /// Begins at a page; null where there is none.
  [[nodiscard]] std::byte* data() const { return data_; }
  /// For others to attach, until close(); nowhere where there is none. Throws FailureError.
  [[nodiscard]] SharedPlace place() const;
  /// Nobody else attaches any more.
  void close();
  /// What lies on whole pages from `begin` on is lost, for all who share it, and the system gets their room back; from
  /// then on an access may fail for want of memory.
  void drop(std::size_t begin);

 private:
  /// Whether it is long enough for some. Whoever reads vectors here and there finds them sooner on huge pages.
  [[nodiscard]] bool has_huge_pages() const;
  void map(int protection);
  void use_huge_pages();
  void swap(SharedMemory& other) noexcept;

  int file_ = -1;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::byte* stretch_ = nullptr;  ///< of addresses, in which the memory lies
  std::size_t stretched_ = 0;
};

}  // namespace starling
