/// The terminal on which a user reads standard error.
#pragma once

#include <cstddef>
#include <optional>

namespace starling {

/// An open terminal. It is closed with this object unless it is standard error itself.
class Terminal {
 public:
  static constexpr std::size_t usual_columns = 80;

  /// The terminal behind standard error. Ranks under mpirun write to a pipe: theirs is the terminal of mpirun's own
  /// standard error, where mpirun runs on this host and is the rank's parent. None where no terminal is known.
  [[nodiscard]] static std::optional<Terminal> of_standard_error();

  ~Terminal();
  Terminal(Terminal&& other) noexcept;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  Terminal& operator=(Terminal&&) = delete;

  /// The present width, which a user may change; usual_columns where it is not known.
  [[nodiscard]] std::size_t columns() const;

 private:
  explicit Terminal(int file) : file_(file) {}
  int file_;
};

}  // namespace starling
