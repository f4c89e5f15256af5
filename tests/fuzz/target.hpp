/// What the fuzz targets share. A target takes any bytes and gives them to one reader: an answer or an error of ours is
/// fine, whatever else happens ends the process, and with it the fuzzer's run or the replay of the corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

/// Defined by each target; called by libFuzzer and by replay.cpp. Returns 0, or −1 for an input that is not worth
/// keeping.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  // NOLINT(readability-*)

namespace starling::fuzz {

/// Bytes as a file in memory, with a path under which every library opens it (HDF5 refuses those of memfd_create).
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Ends the process unless the condition holds.
void require(bool condition, std::string_view what);

/// Runs a reader: UsageError, DataError and FailureError whose messages are one readable line are answers. Every other
/// exception, and more than a second of the processor, ends the process. Whether there was an answer without error.
bool answers(const std::function<void()>& action);

/// How often there was an answer without error, since the process began.
[[nodiscard]] std::size_t answers_without_error();

/// Whether no whole number in the text has more than `digits`: larger ones make sizes that are allowed and slow. How
/// those that are too large are refused is tested elsewhere.
[[nodiscard]] bool small_numbers(std::string_view text, std::size_t digits = 3);

/// Whether the text could be a word that somebody types: not long, and without control characters.
[[nodiscard]] bool is_a_word(std::string_view text);

/// Whether the HDF5 library would take it on: its targets are others.
[[nodiscard]] bool is_hdf5(std::string_view bytes);

/// Removes the first byte and returns a choice from 0 to below `count` that it stands for; "0" is choice 0, "1" is 1.
[[nodiscard]] std::size_t choose(std::string_view& bytes, std::size_t count);

}  // namespace starling::fuzz
