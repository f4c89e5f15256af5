/// Named pipes and standard input.
#pragma once

#include <functional>

#include "gz_file.hpp"

namespace starling {

/// Whether a name is a pipe; `-` is standard input.
[[nodiscard]] bool is_pipe(const std::string& path);

/// Bytes of a pipe, as they arrive. Reading waits for a first writer. Reading ends when the last writer has closed the
/// pipe, or when `go_on_waiting` returns false. `go_on_waiting` is called every few milliseconds without data, and may
/// throw.
class Pipe final : public Bytes {
 public:
  /// Throws DataError.
  Pipe(std::string path, std::function<bool()> go_on_waiting);
  ~Pipe() override;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] std::size_t read(void* buffer, std::size_t room) override;
  void seek(std::uint64_t offset) override;
  [[nodiscard]] bool interrupted() const override { return interrupted_; }
  [[nodiscard]] const std::string& path() const override { return path_; }

 private:
  std::string path_;
  std::function<bool()> go_on_waiting_;
  bool interrupted_ = false;
  int file_;
};

}  // namespace starling
