#include "core/snapshot.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "core/check.hpp"

namespace starling {

namespace {

constexpr std::size_t size_of_sum = 1 + sizeof(std::uint64_t);

template <class T>
void append_number(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_text(std::string& text, std::string_view more) {
  append_number(text, std::uint64_t{more.size()});
  text += more;
}

/// Takes numbers and texts off a content.
class Content {
 public:
  explicit Content(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  T number() {
    T value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(number<std::uint64_t>()); }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view take(std::uint64_t size) {
    check<DataError>(size <= bytes_.size(), "{} bytes of a snapshot, of {}: it is damaged. Restore the file.",
                     bytes_.size(), size);
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::string_view bytes_;
};

template <class T>
void add(char* sum, const char* more) {
  T here{};
  T there{};
  std::memcpy(&here, sum, sizeof here);
  std::memcpy(&there, more, sizeof there);
  if constexpr (std::is_unsigned_v<T>) {
    here |= there;
  } else if constexpr (std::is_integral_v<T>) {
    here = static_cast<T>(static_cast<std::uint64_t>(here) + static_cast<std::uint64_t>(there));
  } else {
    here += there;
  }
  std::memcpy(sum, &here, sizeof here);
}

/// Adds `more` to the sums, which begin as 0.
void add_sums(std::string& sums, std::string_view more) {
  check<DataError>(sums.size() == more.size() && sums.size() % size_of_sum == 0, "sums of different numbers");
  for (std::size_t at = 0; at < sums.size(); at += size_of_sum) {
    char* const sum = sums.data() + at + 1;
    const char* const number = more.data() + at + 1;
    if (more[at] == 'r') {
      add<double>(sum, number);
    } else if (more[at] == 'i') {
      add<std::int64_t>(sum, number);
    } else {
      add<std::uint64_t>(sum, number);
    }
  }
}

}  // namespace

Snapshot::Snapshot(const Secret<std::string>& content) : reading_(true) {
  const auto take = [this](const std::string& all) {
    Content rest(all);
    const auto stream = [&rest] {
      const std::string_view text = rest.text();
      return Stream{Secret<std::string>(std::string(text)), text.size()};
    };
    group_.first = rest.number<Client>();
    group_.count = rest.number<Client>();
    of_rank_ = stream();
    sums_ = stream();
    while (!rest.at_end()) {
      const auto client = rest.number<Client>();
      if (client < 0 || (!rows_.empty() && client <= rows_.back().client)) refuse("rows that do not ascend");
      rows_.push_back({client, stream()});
    }
  };
  starling::apply(take, content);
}

Secret<std::string> Snapshot::content() const {
  Secret<std::string> content;
  const auto append = [&content](const Stream& stream) {
    content.update([](std::string& all, const std::string& text) { append_text(all, text); }, stream.text);
  };
  content.update([this](std::string& all) {
    append_number(all, group_.first);
    append_number(all, group_.count);
  });
  append(of_rank_);
  append(sums_);
  for (const Row& row : rows_) {
    content.update([&row](std::string& all) { append_number(all, row.client); });
    append(row.bytes);
  }
  return content;
}

Secret<std::string> rows_of(const std::vector<Secret<std::string>>& contents, const ClientGroup& group,
                            const std::vector<Client>& without) {
  check<DataError>(!contents.empty(), "there are no snapshots");
  std::vector<Snapshot> parts(contents.begin(), contents.end());
  for (Client u = group.first; u < group.end(); ++u) {
    const bool is_there = std::ranges::any_of(parts, [u](const Snapshot& part) { return part.group_.has(u); });
    check<DataError>(is_there || std::ranges::binary_search(without, u), "there is no row of client {}", u);
  }
  Snapshot own(group);
  own.of_rank_ = parts.front().of_rank_;
  own.sums_ = parts.front().sums_;
  own.sums_.text.update([](std::string& sums) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = i % size_of_sum == 0 ? sums[i] : '\0';
  });
  for (Snapshot& part : parts) {
    if (part.group_ == group || group.has(part.group_.first)) own.sums_.text.update(add_sums, part.sums_.text);
    for (Snapshot::Row& row : part.rows_) {
      if (group.has(row.client)) own.rows_.push_back(std::move(row));
    }
  }
  return own.content();
}

void Snapshot::refuse(const std::string& what) const {
  const Stream& stream = row_ != nullptr ? *row_ : of_rank_;
  throw DataError(fmt::format("byte {}: {}: it was written by another build, or is damaged.", stream.at, what));
}

void Snapshot::refuse_length(std::size_t found, std::size_t expected) const {
  refuse(fmt::format("{} of what there are {} here", found, expected));
}

void Snapshot::require_end() const {
  std::size_t left = of_rank_.left() + sums_.left();
  for (const Row& row : rows_) left += row.bytes.left();
  if (left > 0) refuse(fmt::format("{} bytes are left that nothing belongs to", left));
}

std::int64_t Snapshot::length_of(const std::string& path) const {
  const auto found = lengths_.find(std::filesystem::path(path).filename().string());
  if (found == lengths_.end()) refuse(fmt::format("nothing says how long '{}' was", path));
  return found->second;
}

std::size_t Snapshot::count_of_entries(std::size_t here) {
  bool any = here > 0;
  item(any);
  if (!any && here > 0) refuse_length(0, here);
  if (!reading_ || here > 0 || !any) return here;
  return static_cast<std::size_t>(group_.count);
}

void Snapshot::begin_field() {
  if (row_ != nullptr) refuse("entries of clients within another entry");
  ++field_;
}

std::size_t Snapshot::find_row(Client client) const {
  const auto near = static_cast<std::size_t>(std::max(0, client - group_.first));  // where no row before is missing
  if (near < rows_.size() && rows_[near].client == client) return near;
  const auto found = std::ranges::lower_bound(rows_, client, {}, &Row::client);
  return static_cast<std::size_t>(found - rows_.begin());
}

bool Snapshot::open_row(Client client) {
  const std::size_t at = find_row(client);
  const bool is_there = at < rows_.size() && rows_[at].client == client;
  if (reading_ && !is_there) return false;
  if (!is_there) rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(at), Row{client, {}});
  row_ = &rows_[at].bytes;
  unsigned char found = field_;
  bytes(&found, 1);
  if (found != field_) refuse(fmt::format("field {} of client {} where field {} was expected", found, client, field_));
  return true;
}

bool Snapshot::open_next_entry(std::size_t at) {
  Stream& row = rows_[at].bytes;
  if (row.left() == 0) return false;
  unsigned char next = 0;
  row.text.update([&](const std::string& text) { next = static_cast<unsigned char>(text[row.at]); });
  if (next != field_) return false;
  ++row.at;
  row_ = &row;
  return true;
}

void Snapshot::number(char kind, void* value) {
  char found = kind;
  bytes(sums_, &found, 1);
  if (found != kind) refuse(fmt::format("a number of kind '{}'", found));
  bytes(sums_, value, sizeof(std::uint64_t));
}

std::size_t Snapshot::open_block(bool takes) {
  std::uint64_t size = 0;
  if (!reading_) {
    bytes(&size, sizeof size);
    return stream().size;
  }
  size = length(0, 1);
  if (!takes) stream().at += size;
  return stream().at + (takes ? size : 0);
}

void Snapshot::close_block(std::size_t mark) {
  Stream& block = stream();
  if (reading_) {
    if (block.at != mark) refuse("a block of another length");
    return;
  }
  const std::uint64_t size = block.size - mark;
  block.text.update([&](std::string& text) { std::memcpy(text.data() + mark - sizeof size, &size, sizeof size); });
}

void Snapshot::entries(Columns& columns) {
  std::size_t rows = columns.rows();
  item(rows);
  const std::size_t count = count_of_entries(columns.size());
  if (reading_ && (rows != columns.rows() || count != columns.size())) {
    if (rows_.empty()) {  // nothing says how large they should be
      begin_field();
      return;
    }
    if (rows > rows_.front().bytes.left() / sizeof(double)) refuse(fmt::format("{} x {} numbers", rows, count));
    columns = Columns(rows, count);
  }
  each_client(columns.size(), [&](std::size_t k) { bytes(columns[k].data(), rows * sizeof(double)); });
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

std::size_t Snapshot::length(std::size_t size, std::size_t least) {
  std::uint64_t count = size;
  bytes(&count, sizeof count);
  if (reading_ && count > stream().left() / least) refuse(fmt::format("a length of {}", count));
  return static_cast<std::size_t>(count);
}

void Snapshot::bytes(Stream& stream, void* data, std::size_t size) {
  if (size == 0) return;
  if (!reading_) {
    stream.text.update([&](std::string& text) { text.append(static_cast<const char*>(data), size); });
    stream.size += size;
    return;
  }
  if (size > stream.left()) refuse(fmt::format("it ends before {} more bytes", size));
  stream.text.update([&](const std::string& text) { std::memcpy(data, text.data() + stream.at, size); });
  stream.at += size;
}

}  // namespace starling
