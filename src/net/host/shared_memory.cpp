#include "shared_memory.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "core/check.hpp"
#include "core/memory/huge_pages.hpp"

namespace starling {

namespace {

/// MADV_COLLAPSE (Linux 6.1), which C libraries do not name yet: makes huge pages of small ones, whatever the system's
/// policy for shared memory (which gives none by default). Without it they stay small.
constexpr int collapse = 25;

}  // namespace

SharedMemory SharedMemory::create(std::size_t bytes) {
  // Beyond this limit a signal would end the process.
  rlimit most{};
  check<FailureError>(::getrlimit(RLIMIT_FSIZE, &most) != 0 || bytes <= most.rlim_cur,
                      "the system does not give {} bytes of shared memory: ulimit -f allows {}.", bytes, most.rlim_cur);
  SharedMemory memory;
  memory.bytes_ = bytes;
  memory.file_ = ::memfd_create("starling", MFD_CLOEXEC);
  check<FailureError>(memory.file_ >= 0, "the system gives no shared memory ({})", std::strerror(errno));
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(memory.file_, 0, static_cast<off_t>(bytes));
  check<FailureError>(error == 0, "the system does not give {} bytes of shared memory ({})", bytes,
                      std::strerror(error));
  memory.map(PROT_READ | PROT_WRITE);
  memory.use_huge_pages();
  return memory;
}

SharedMemory SharedMemory::attach(const SharedPlace& place) {
  SharedMemory memory;
  memory.bytes_ = place.bytes;
  const std::string path = fmt::format("/proc/{}/fd/{}", place.process, place.file);
  // Where processes have other numbers this may be anything, a pipe too, which must not hold the run up.
  memory.file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  check<FailureError>(memory.file_ >= 0, "the shared memory of another rank, {}, cannot be opened ({})", path,
                      std::strerror(errno));
  const SharedPlace found = memory.place();
  check<FailureError>(found.device == place.device && found.node == place.node,
                      "{} is not the shared memory of another rank: processes have other numbers there.", path);
  memory.map(PROT_READ);
  memory.close();
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept {
  swap(other);
}
SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  swap(other);
  return *this;
}
SharedMemory::~SharedMemory() {
  close();
  if (stretch_ != nullptr) ::munmap(stretch_, stretched_);
}

SharedPlace SharedMemory::place() const {
  if (file_ < 0) return {};
  struct stat status {};
  check<FailureError>(::fstat(file_, &status) == 0, "shared memory cannot be told from other memory ({})",
                      std::strerror(errno));
  return {::getpid(), file_, bytes_, status.st_dev, status.st_ino};
}

void SharedMemory::close() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

void SharedMemory::drop(std::size_t begin) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t first = (begin + page - 1) / page * page;
  if (first < bytes_) static_cast<void>(::madvise(data_ + first, bytes_ - first, MADV_REMOVE));
}

bool SharedMemory::has_huge_pages() const {
  return bytes_ >= 2 * huge_page;
}

void SharedMemory::map(int protection) {
  // Pages of the file can be huge here only where its first lies at a multiple of their size: a place for it is cut out
  // of a stretch of addresses that is longer.
  const std::size_t alignment = has_huge_pages() ? huge_page : 1;
  stretched_ = bytes_ + alignment - 1;
  void* const stretch = ::mmap(nullptr, stretched_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stretch != MAP_FAILED) {
    stretch_ = static_cast<std::byte*>(stretch);
    std::byte* const place = stretch_ + (0 - reinterpret_cast<std::uintptr_t>(stretch)) % alignment;
    void* const memory = ::mmap(place, bytes_, protection, MAP_SHARED | MAP_FIXED, file_, 0);
    if (memory != MAP_FAILED) data_ = static_cast<std::byte*>(memory);
  }
  check<FailureError>(data_ != nullptr, "{} bytes of shared memory cannot be mapped ({})", bytes_,
                      std::strerror(errno));
}

void SharedMemory::use_huge_pages() {
  if (has_huge_pages()) static_cast<void>(::madvise(data_, bytes_ / huge_page * huge_page, collapse));
}

void SharedMemory::swap(SharedMemory& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(stretch_, other.stretch_);
  std::swap(stretched_, other.stretched_);
}

}  // namespace starling
