#include "core/snapshot.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "core/check.hpp"

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

std::int64_t Snapshot::length_of(const std::string& path) const {
  const auto found = lengths_.find(std::filesystem::path(path).filename().string());
  if (found == lengths_.end()) refuse(fmt::format("nothing says how long '{}' was", path));
  return found->second;
}

/// Opens a section of any other kind than the one for values that all ranks share, which opens by itself.
void Snapshot::open(SectionKind kind) {
  if (section_ && section_ != SectionKind::same) refuse("a section within another");
  if (reading_) {
    if (section_ && at_ != end_) refuse(fmt::format("{} bytes of a section are left", end_ - at_));
    char found = 0;
    std::uint64_t bytes = 0;
    constexpr std::size_t head = sizeof found + sizeof bytes;
    if (size_ - at_ < head) refuse("it ends before a section");
    content_.update([&](const std::string& text) {
      found = text[at_];
      std::memcpy(&bytes, text.data() + at_ + sizeof found, sizeof bytes);
    });
    if (found != static_cast<char>(kind)) {
      refuse(fmt::format("a section of kind '{}' where '{}' was expected", found, static_cast<char>(kind)));
    }
    at_ += head;
    if (bytes > size_ - at_) refuse(fmt::format("a section of {} bytes", bytes));
    end_ = at_ + static_cast<std::size_t>(bytes);
  } else {
    content_.update([&](std::string& text) {
      text += static_cast<char>(kind);
      text.append(sizeof(std::uint64_t), '\0');
      at_ = text.size();
    });
  }
  begin_ = at_;
  section_ = kind;
}

void Snapshot::close() {
  if (reading_ && at_ != end_) refuse(fmt::format("{} bytes of a section are left", end_ - at_));
  section_.reset();
}

std::size_t Snapshot::count_of_entries(std::size_t count) {
  const std::size_t found = length(count, 1);
  if (found != count && count != 0) refuse(of_another_length(found, count));
  return found;
}

/// The common size stands at the end of the section, or a mark that the sizes of all entries stand before it.
std::vector<char> Snapshot::lost_entries(std::size_t count) {
  if (!reading_ || count == 0 || end_ - at_ < sizeof(std::uint64_t)) return {};
  std::vector<std::uint64_t> sizes(count + 1);
  const std::size_t tail = sizes.size() * sizeof(std::uint64_t);
  content_.update([&](const std::string& text) {
    std::memcpy(&sizes.back(), text.data() + end_ - sizeof(std::uint64_t), sizeof(std::uint64_t));
    if (sizes.back() == sizes_differ && tail <= end_ - at_) std::memcpy(sizes.data(), text.data() + end_ - tail, tail);
  });
  if (sizes.back() == 0) return std::vector<char>(count, 1);
  if (sizes.back() != sizes_differ || tail > end_ - at_) return {};
  std::vector<char> lost(count, 0);
  for (std::size_t k = 0; k < count; ++k) lost[k] = sizes[k] == 0 ? 1 : 0;
  return lost;
}

void Snapshot::rows_of_clients(void* data, std::size_t size, std::size_t count) {
  const std::vector<char> lost = lost_entries(count);
  std::vector<std::uint64_t> sizes(count, size);
  if (lost.empty()) bytes(data, count * size);
  for (std::size_t k = 0; k < lost.size(); ++k) {
    if (lost[k] != 0) sizes[k] = 0;
    bytes(static_cast<char*>(data) + k * size, static_cast<std::size_t>(sizes[k]));
  }
  end_entries(sizes);
}

void Snapshot::end_entries(const std::vector<std::uint64_t>& sizes) {
  const bool alike = std::all_of(sizes.begin(), sizes.end(), [&](std::uint64_t size) { return size == sizes[0]; });
  std::vector<std::uint64_t> tail;
  if (!alike) tail = sizes;
  tail.push_back(!alike ? sizes_differ : sizes.empty() ? 0 : sizes[0]);
  const std::vector<std::uint64_t> written = tail;
  bytes(tail.data(), tail.size() * sizeof(std::uint64_t));
  if (tail != written) refuse("entries of other sizes");
  close();
}

void Snapshot::number(SumKind kind, void* value) {
  char found = static_cast<char>(kind);
  bytes(&found, 1);
  if (found != static_cast<char>(kind)) refuse(fmt::format("a number of kind '{}'", found));
  bytes(value, sizeof(std::uint64_t));
}

void Snapshot::entries(Columns& columns) {
  std::size_t rows = columns.rows();
  item(rows);
  open(SectionKind::clients);
  const std::size_t count = length(columns.size(), 1);
  if (reading_ && (rows != columns.rows() || count != columns.size())) {
    const std::vector<char> lost = lost_entries(count);
    if (!lost.empty() && std::count(lost.begin(), lost.end(), 0) == 0) {  // nothing says how large they should be
      at_ = end_;
      return close();
    }
    const std::size_t whole = lost.empty() ? std::max<std::size_t>(count, 1) : 1;
    if (rows > (end_ - at_) / sizeof(double) / whole) refuse(fmt::format("{} x {} numbers", rows, count));
    columns = Columns(rows, count);
  }
  rows_of_clients(columns.flat().data(), rows * sizeof(double), count);
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
    const std::size_t room = (end_ - at_) / sizeof(double);
    if (count > 0 && rows > room / count) refuse(fmt::format("{} x {} numbers", rows, count));
    columns = Columns(rows, count);
  }
  bytes(columns.flat().data(), rows * count * sizeof(double));
}

std::size_t Snapshot::length(std::size_t size, std::size_t least) {
  std::uint64_t count = size;
  bytes(&count, sizeof count);
  if (reading_ && count > (end_ - at_) / least) refuse(fmt::format("a length of {}", count));
  return static_cast<std::size_t>(count);
}

void Snapshot::bytes(void* data, std::size_t size) {
  if (size == 0) return;
  if (!section_ || (reading_ && section_ == SectionKind::same && at_ == end_)) open(SectionKind::same);
  if (!reading_) {
    content_.update([&](std::string& text) {
      text.append(static_cast<const char*>(data), size);
      at_ = text.size();
      const std::uint64_t bytes = at_ - begin_;
      std::memcpy(text.data() + begin_ - sizeof bytes, &bytes, sizeof bytes);
    });
    return;
  }
  if (size > end_ - at_) refuse(fmt::format("it ends before {} more bytes", size));
  content_.update([&](const std::string& text) { std::memcpy(data, text.data() + at_, size); });
  at_ += size;
}

}  // namespace starling
