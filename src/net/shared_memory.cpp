#include "shared_memory.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "starling/core/check.hpp"

namespace starling {

SharedMemory SharedMemory::create(std::size_t bytes) {
  // Beyond this limit a signal would end the process.
  rlimit most{};
  check<FailureError>(::getrlimit(RLIMIT_FSIZE, &most) != 0 || bytes <= most.rlim_cur,
                      "the system does not give {} bytes of shared memory (ulimit -f allows {})", bytes, most.rlim_cur);
  SharedMemory memory;
  memory.bytes_ = bytes;
  memory.file_ = ::memfd_create("starling", MFD_CLOEXEC);
  check<FailureError>(memory.file_ >= 0, "the system gives no shared memory ({})", std::strerror(errno));
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(memory.file_, 0, static_cast<off_t>(bytes));
  check<FailureError>(error == 0, "the system does not give {} bytes of shared memory ({})", bytes,
                      std::strerror(error));
  memory.map(PROT_READ | PROT_WRITE);
  return memory;
}

SharedMemory SharedMemory::attach(const SharedPlace& place) {
  SharedMemory memory;
  memory.bytes_ = place.bytes;
  const std::string path = fmt::format("/proc/{}/fd/{}", place.process, place.file);
  memory.file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check<FailureError>(memory.file_ >= 0, "the shared memory of another rank, {}, cannot be opened ({})", path,
                      std::strerror(errno));
  const SharedPlace found = memory.place();
  check<FailureError>(found.device == place.device && found.node == place.node,
                      "{} is not the shared memory of another rank (processes have other numbers there)", path);
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
  if (data_ != nullptr) ::munmap(data_, bytes_);
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

void SharedMemory::map(int protection) {
  void* const memory = ::mmap(nullptr, bytes_, protection, MAP_SHARED, file_, 0);
  check<FailureError>(memory != MAP_FAILED, "{} bytes of shared memory cannot be mapped ({})", bytes_,
                      std::strerror(errno));
  data_ = static_cast<std::byte*>(memory);
}

void SharedMemory::swap(SharedMemory& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
}

}  // namespace starling
