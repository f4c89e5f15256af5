#include "starling/record/directory/companion.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "starling/core/check.hpp"
#include "starling/files/durable_file.hpp"

namespace starling {

std::string GrowingDigest::of_first(std::int64_t bytes) {
  const Descriptor file(path_, O_RDONLY);
  check<FailureError>(file.get() >= 0, "cannot read '{}' ({})", path_, std::strerror(errno));
  std::string piece(std::size_t{1} << 20, '\0');
  while (bytes_ < bytes) {
    const auto most = static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(piece), bytes - bytes_));
    const ssize_t count = ::pread(file.get(), piece.data(), most, static_cast<off_t>(bytes_));
    if (count < 0 && errno == EINTR) continue;
    check<FailureError>(count >= 0, "cannot read '{}' ({})", path_, std::strerror(errno));
    check<DataError>(count > 0, "'{}' ends at byte {}, of {} when the checkpoint was written", path_, bytes_, bytes);
    sum_.add(std::string_view(piece).substr(0, static_cast<std::size_t>(count)));
    bytes_ += count;
  }
  return sum_.digest();
}

}  // namespace starling
