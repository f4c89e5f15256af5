#include "output/dashboards/tensorboard.hpp"

#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>

#include <boost/crc.hpp>

#include "core/check.hpp"
#include "output/directory/owners_file.hpp"

namespace starling {

namespace {

constexpr auto between_writes = std::chrono::milliseconds(200);

/// CRC-32C (Castagnoli).
using Crc = boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>;

template <class T>
std::string little_endian(T value) {
  static_assert(std::endian::native == std::endian::little);
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// A checksum of bytes that may hold checksums themselves: rotated, plus a constant.
std::string masked_crc(const std::string& bytes) {
  Crc crc;
  crc.process_bytes(bytes.data(), bytes.size());
  constexpr std::uint32_t mask = 0xa282ead8;
  return little_endian(std::rotr(static_cast<std::uint32_t>(crc.checksum()), 15) + mask);
}

// Fields of protocol buffers: a key (number · 8 + wire type), then the value.

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>((value & 0x7fU) | 0x80U);
  return bytes + static_cast<char>(value);
}

std::string field(std::uint64_t number, std::uint64_t value) {
  return varint(number << 3U) + varint(value);
}

std::string field(std::uint64_t number, double value) {
  return varint(number << 3U | 1U) + little_endian(value);
}

std::string field(std::uint64_t number, float value) {
  return varint(number << 3U | 5U) + little_endian(value);
}

std::string field(std::uint64_t number, const std::string& bytes) {
  return varint(number << 3U | 2U) + varint(bytes.size()) + bytes;
}

// The messages: Event { wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7 },
// SessionLog { status = 1 }, Summary { value = 1 }, Summary.Value { tag = 1, simple_value = 2 }.

double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string event(Round step, const std::string& content) {
  return tf_record(field(1, now_in_seconds()) + field(2, static_cast<std::uint64_t>(step)) + content);
}

std::string first_events() {
  constexpr std::uint64_t start = 1;
  return event(0, field(3, std::string("brain.Event:2"))) + event(0, field(7, field(1, start)));
}

std::string event_of(const NetworkFigures& figures) {
  std::string values;
  for (const HistoryFigure& each : history_figures) {
    const double value = figures.*each.figure;
    if (std::isnan(value)) continue;
    values += field(1, field(1, std::string(each.column)) + field(2, static_cast<float>(value)));
  }
  return values.empty() ? "" : event(figures.done, field(5, values));
}

/// TensorBoard reads the files of a folder in the order of their names.
std::string path_in(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  check<FailureError>(!error, "--tensorboard: cannot make the folder '{}' ({}). Name another one.", folder,
                      error.message());
  return fmt::format("{}/events.out.tfevents.{:.6f}.starling", folder, now_in_seconds());
}

}  // namespace

std::string tf_record(const std::string& content) {
  const std::string length = little_endian(static_cast<std::uint64_t>(content.size()));
  return length + masked_crc(length) + content + masked_crc(content);
}

void TensorBoardFile::try_folder(const std::string& folder) {
  const int problem = try_file(path_in(folder));
  check<FailureError>(problem == 0, "--tensorboard: cannot write '{}' ({}). Name another folder.", folder,
                      std::strerror(problem));
}

TensorBoardFile::TensorBoardFile(const std::string& folder)
    : HistoryWriter(between_writes),
      path_(path_in(folder)),
      file_(path_, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, readable_by_all),
      waiting_(first_events()) {
  check<FailureError>(file_.get() >= 0, "--tensorboard: cannot write '{}' ({}). Name another folder.", path_,
                      std::strerror(errno));
  write();
}

void TensorBoardFile::take(const NetworkFigures& figures) {
  waiting_ += event_of(figures);
}

void TensorBoardFile::write() {
  const std::string bytes = std::exchange(waiting_, {});
  const int problem = write_all(file_.get(), bytes);
  check<FailureError>(problem == 0, "cannot write '{}' ({}). Free some space, and resume the run.", path_,
                      std::strerror(problem));
}

}  // namespace starling
