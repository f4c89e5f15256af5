/// Files that stay whole in a crash: written, synced, and only then renamed to their final name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

namespace starling {

/// A file descriptor that the destructor closes.
class Descriptor {
 public:
  /// Opens the file. A new file has mode `mode`, by default for its owner alone. On failure errno is set and `get` is
  /// below 0. What is opened to be read does not block, neither now nor in `read`.
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
/// Fills `text` with the file's content from byte `from` on; EIO if the file has fewer bytes.
[[nodiscard]] int read_all(int file, std::string& text, off_t from);
/// Writes all of `text`, and waits until the text is on the disk.
[[nodiscard]] int write_and_sync(int file, std::string_view text);
/// Syncs the folder of `path`. A file's name survives a crash only after this sync.
[[nodiscard]] int sync_folder_of(const std::string& path);
/// Makes a file beside `path`, under a name of its own, and removes it: whether one can be written there.
[[nodiscard]] int try_file(const std::string& path);
/// Replaces the file's content by `content`. At every moment, even in a crash, either the old file or the new one
/// exists, whole. The new file is first written as PATH.part, which a crash may leave behind.
[[nodiscard]] int replace_file(const std::string& path, std::string_view content, mode_t mode = 0600);

// These throw FailureError, with the path and the reason, for such a number other than 0.

void require_read(int error, const std::string& path);
/// `advice` says what to do.
void require_written(int error, const std::string& path, std::string_view advice = "");

/// Throws DataError for a pipe with a name, which might never be written to, and for a device, which might never end.
void refuse_stream(const std::string& path);

/// Content of a file; none if the file cannot be read, with the reason in errno. Standard input, a pipe without a name
/// (as of a shell's `<(…)`) and a character device may give up to 64 MB. Throws DataError for one that gives more, for
/// a pipe with a name, which might never be written to, and for a block device.
[[nodiscard]] std::optional<std::string> read_whole_file(const std::string& path);

}  // namespace starling
