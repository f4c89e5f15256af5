/// Files that a crash leaves whole: written, synced, and only then given their name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

namespace starling {

/// A file descriptor that is closed in the end.
class Descriptor {
 public:
  /// Opens; a file that is made has mode `mode`, of its owner alone by default. Leaves errno and a `get` below 0 where
  /// that fails.
  Descriptor(const std::string& path, int flags, mode_t mode = 0600);
  Descriptor(Descriptor&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();
  [[nodiscard]] int get() const { return file_; }

 private:
  int file_;
};

// The following return 0, or the number of the error (errno).

[[nodiscard]] int write_all(int file, std::string_view text);
/// Fills `text` with what stands in the file from byte `from` on; EIO where that is less.
[[nodiscard]] int read_all(int file, std::string& text, off_t from);
/// Writes everything, and waits until it is on the disk.
[[nodiscard]] int write_and_sync(int file, std::string_view text);
/// A file's name survives a crash once its folder was synced.
[[nodiscard]] int sync_folder_of(const std::string& path);
/// Makes `content` what the file holds: at every moment, whatever happens, there is the old file or the new one, whole.
/// By way of PATH.part, which a crash may leave behind.
[[nodiscard]] int replace_file(const std::string& path, std::string_view content, mode_t mode = 0600);

/// The content of a file; none if it cannot be read, with the reason in errno.
[[nodiscard]] std::optional<std::string> read_whole_file(const std::string& path);

/// Ends the process as a loss of power would, if the environment's STARLING_FAULT names this point and how many times
/// it is passed before, as in `rename:3`. For tests of what survives.
void fault_point(std::string_view name);

}  // namespace starling
