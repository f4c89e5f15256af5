#include "target.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/check.hpp"

namespace starling::fuzz {

namespace {

constexpr double most_seconds = 1;
std::size_t good_answers = 0;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; });
}

/// A message goes to a terminal as one line.
void require_message(const std::string& message) {
  require(!message.empty(), "an error without message");
  require(message.size() <= longest_message,
          fmt::format("an error message of {} bytes, {} at most: {}", message.size(), longest_message, message));
  require(!has_control_characters(message), "control characters in the message " + message);
}

bool answered(const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const UsageError& error) {
    require_message(error.what());
  } catch (const DataError& error) {
    require_message(error.what());
  } catch (const FailureError& error) {
    require_message(error.what());
  }
  return false;
}

const char* folder_in_memory() {
  constexpr const char* shared_memory = "/dev/shm";
  return access(shared_memory, W_OK) == 0 ? shared_memory : "/tmp";
}

bool digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

MemoryFile::MemoryFile(std::string_view bytes) {
  static std::size_t count = 0;  // a path of its own for each: HDF5 knows files by their inodes
  path_ = fmt::format("{}/starling-fuzz-{}-{}", folder_in_memory(), getpid(), count++);
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  require(file >= 0, "cannot create " + path_);
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    require(written > 0, "cannot write to " + path_);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  close(file);
}

MemoryFile::~MemoryFile() {
  unlink(path_.c_str());
}

void require(bool condition, std::string_view what) {
  if (condition) return;
  std::fprintf(stderr, "FINDING: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

bool answers(const std::function<void()>& action) {
  const double began = processor_seconds();
  const bool done = answered(action);
  good_answers += done ? 1 : 0;
  require(processor_seconds() - began <= most_seconds, "more than a second for one input");
  return done;
}

std::size_t answers_without_error() {
  return good_answers;
}

bool small_numbers(std::string_view text, std::size_t digits) {
  std::size_t run = 0;
  bool fraction = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (!digit(text[k])) {
      const bool exponent = (text[k] == 'e' || text[k] == 'E') && run > 0 && k + 1 < text.size();
      if (exponent && (digit(text[k + 1]) || text[k + 1] == '+')) return false;
      fraction = text[k] == '.';
      run = fraction ? run : 0;
    } else if (++run > digits && !fraction) {
      return false;
    }
  }
  return true;
}

bool is_a_word(std::string_view text) {
  constexpr std::size_t longest = 200;
  return text.size() <= longest && !has_control_characters(text);
}

bool is_hdf5(std::string_view bytes) {
  return bytes.find("\x89HDF") != std::string_view::npos;
}

std::size_t choose(std::string_view& bytes, std::size_t count) {
  if (bytes.empty()) return 0;
  const auto first = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  return (first + 256U - '0') % 256U % count;
}

}  // namespace starling::fuzz
