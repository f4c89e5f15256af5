// Memory that processes of one host share. Internal to the net module.
#pragma once

#include <cstddef>
#include <cstdint>

namespace starling {

/// Address of a stretch of shared memory for other processes of the host; plain bytes, which travel by MPI.
struct SharedPlace {
  std::int64_t process = -1;  ///< −1: no memory
  std::int64_t file = -1;     ///< file descriptor of that process
  std::uint64_t bytes = 0;
  std::uint64_t device = 0;  ///< with `node`: identity of the memory, to detect another file at the same address
  std::uint64_t node = 0;
};

/// A stretch of shared memory, mapped into this process. The memory has no name: nothing is left behind however a run
/// ends. No limit of /dev/shm (64 MB in many containers) applies.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// Writable memory, filled with zeros. All of it is allocated: no access will fail for want of memory. Throws
  /// FailureError.
  [[nodiscard]] static SharedMemory create(std::size_t bytes);
  /// Memory of another process, read-only. It stays for as long as it is mapped here, even after its owner ends. Throws
  /// FailureError.
  [[nodiscard]] static SharedMemory attach(const SharedPlace& place);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  /// Start of the memory, at a page boundary; null if there is no memory.
  [[nodiscard]] std::byte* data() const { return data_; }
  /// Address for others to attach, until close(); an empty address if there is no memory. Throws FailureError.
  [[nodiscard]] SharedPlace place() const;
  /// Ends attaching by other processes.
  void close();
  /// Discards the whole pages from `begin` on, for all who share them, and returns their memory to the system. Later
  /// accesses may fail for want of memory.
  void drop(std::size_t begin);

 private:
  /// Whether the memory is long enough for huge pages. On huge pages, reading vectors at scattered places is faster.
  [[nodiscard]] bool has_huge_pages() const;
  void map(int protection);
  void use_huge_pages();
  void swap(SharedMemory& other) noexcept;

  int file_ = -1;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::byte* stretch_ = nullptr;  ///< range of addresses that contains the memory
  std::size_t stretched_ = 0;
};

}  // namespace starling
