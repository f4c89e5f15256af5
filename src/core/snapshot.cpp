#include "starling/core/snapshot.hpp"

#include <cstring>

#include "starling/core/check.hpp"

namespace starling {

Snapshot::Snapshot(Secret<std::string> content) : content_(std::move(content)), reading_(true) {
  content_.update([this](const std::string& text) { size_ = text.size(); });
}

void Snapshot::refuse(const std::string& what) const {
  throw DataError(fmt::format("byte {}: {} (it was written by another build, or is damaged)", at_, what));
}

std::string Snapshot::of_another_length(std::size_t found, std::size_t expected) {
  return fmt::format("{} of what there are {} here", found, expected);
}

void Snapshot::require_end() const {
  if (at_ != size_) refuse(fmt::format("{} bytes are left that nothing belongs to", size_ - at_));
}

void Snapshot::part(const std::string& name) {
  std::string found = name;
  item(found);
  if (found != name) refuse(fmt::format("part '{}' where '{}' was expected", found, name));
}

void Snapshot::item(bool& flag) {
  unsigned char byte = flag ? 1 : 0;
  bytes(&byte, 1);
  if (byte > 1) refuse(fmt::format("{} for yes or no", byte));
  flag = byte == 1;
}

void Snapshot::item(std::string& text) {
  const std::size_t count = length(text.size(), 1);
  if (reading_) text.resize(count);
  bytes(text.data(), count);
}

void Snapshot::item(Columns& columns) {
  std::size_t rows = columns.rows();
  std::size_t count = columns.size();
  bytes(&rows, sizeof rows);
  bytes(&count, sizeof count);
  if (reading_) {
    const std::size_t room = (size_ - at_) / sizeof(double);
    if (count > 0 && rows > room / count) refuse(fmt::format("{} x {} numbers", rows, count));
    columns = Columns(rows, count);
  }
  bytes(columns.flat().data(), rows * count * sizeof(double));
}

std::size_t Snapshot::length(std::size_t size, std::size_t least) {
  std::uint64_t count = size;
  bytes(&count, sizeof count);
  if (reading_ && count > (size_ - at_) / least) refuse(fmt::format("a length of {}", count));
  return static_cast<std::size_t>(count);
}

void Snapshot::bytes(void* data, std::size_t size) {
  if (size == 0) return;
  if (!reading_) {
    content_.update([&](std::string& text) { text.append(static_cast<const char*>(data), size); });
    return;
  }
  if (size > size_ - at_) refuse(fmt::format("it ends before {} more bytes", size));
  content_.update([&](const std::string& text) { std::memcpy(data, text.data() + at_, size); });
  at_ += size;
}

}  // namespace starling
