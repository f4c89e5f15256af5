#include "zip_file.hpp"

#include <algorithm>
#include <string_view>

#include <zlib.h>

#include "core/check.hpp"

namespace starling {

namespace {

// Sizes and signatures: PKWARE, APPNOTE.TXT 6.3, sections 4.3.7, 4.3.12 and 4.3.16.
constexpr std::size_t local_size = 30;
constexpr std::size_t member_size = 46;
constexpr std::size_t end_size = 22;
constexpr std::size_t longest_comment = 65535;
constexpr std::string_view local_signature = "PK\x03\x04";
constexpr std::string_view member_signature = "PK\x01\x02";
constexpr std::string_view end_signature = "PK\x05\x06";
constexpr std::uint32_t elsewhere = 0xFFFFFFFF;  // the number is in a zip64 field
constexpr unsigned stored = 0;
constexpr unsigned deflated = 8;

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Inflates a raw deflate stream that must have `size` bytes.
class Inflation {
 public:
  explicit Inflation(const std::string& where) : where_(where) { good_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK; }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
  ~Inflation() { inflateEnd(&stream_); }

  std::vector<char> run(ByteSource& file, std::uint64_t first, std::uint64_t packed, std::uint64_t size) {
    constexpr std::uint64_t piece = std::uint64_t{1} << 16;
    std::vector<char> result;
    std::vector<char> out(piece);
    int code = good_ ? Z_OK : Z_MEM_ERROR;
    for (std::uint64_t taken = 0; code == Z_OK && taken < packed;) {
      const auto count = static_cast<std::size_t>(std::min(piece, packed - taken));
      std::string in = file.text(first + taken, count);
      taken += count;
      stream_.next_in = reinterpret_cast<Bytef*>(in.data());
      stream_.avail_in = static_cast<uInt>(count);
      code = drain(out, result, size);
    }
    check<DataError>(code == Z_STREAM_END && result.size() == size,
                     "{}: it is damaged. Write it again with numpy.savez.", where_);
    return result;
  }

 private:
  /// Inflates all of the input at hand.
  int drain(std::vector<char>& out, std::vector<char>& result, std::uint64_t size) {
    int code = Z_OK;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = static_cast<uInt>(out.size());
      code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_BUF_ERROR) return Z_OK;  // more input is needed
      result.insert(result.end(), out.begin(), out.end() - static_cast<std::ptrdiff_t>(stream_.avail_out));
    } while (code == Z_OK && result.size() <= size && (stream_.avail_in > 0 || stream_.avail_out == 0));
    return result.size() > size ? Z_DATA_ERROR : code;
  }

  const std::string& where_;
  z_stream stream_{};
  bool good_ = false;
};

std::uint32_t checksum_of(const std::vector<char>& bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<z_size_t>(bytes.size())));
}

}  // namespace

ZipFile::ZipFile(std::string path) : path_(std::move(path)) {
  FileBytes file(path_);
  read_members(file);
}

void ZipFile::read_members(ByteSource& file) {
  const auto require = [&](bool good) {
    check<DataError>(good, "{}: it is no zip archive, or damaged. Write it again with numpy.savez.", path_);
  };
  const auto tail_size = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), end_size + longest_comment));
  const std::string tail = file.text(file.size() - tail_size, tail_size);
  const auto end = tail.rfind(end_signature);
  require(end != std::string::npos && tail.size() - end >= end_size);
  const std::uint32_t count = number_at(tail, end + 10, 2);
  const std::uint32_t bytes = number_at(tail, end + 12, 4);
  const std::uint32_t first = number_at(tail, end + 16, 4);
  check<DataError>(first != elsewhere && bytes != elsewhere, "{}: larger than 4 GB. Save each array with numpy.save.",
                   path_);
  require(first <= file.size() && bytes <= file.size() - first);
  const std::string table = file.text(first, bytes);
  std::size_t at = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    require(at <= table.size() && table.size() - at >= member_size && table.compare(at, 4, member_signature) == 0);
    const std::size_t name = number_at(table, at + 28, 2);
    const std::size_t others = number_at(table, at + 30, 2) + number_at(table, at + 32, 2);
    require(table.size() - at - member_size >= name + others);
    const Member member{table.substr(at + member_size, name), number_at(table, at + 8, 2),
                        number_at(table, at + 10, 2),         number_at(table, at + 16, 4),
                        number_at(table, at + 20, 4),         number_at(table, at + 24, 4),
                        number_at(table, at + 42, 4)};
    check<DataError>(member.packed != elsewhere && member.size != elsewhere && member.offset != elsewhere,
                     "{}: larger than 4 GB. Save each array with numpy.save.", path_);
    members_.push_back(member);
    at += member_size + name + others;
  }
}

std::vector<std::string> ZipFile::names() const {
  std::vector<std::string> names;
  for (const Member& member : members_) names.push_back(member.name);
  return names;
}

bool ZipFile::has(const std::string& name) const {
  return std::ranges::any_of(members_, [&](const Member& member) { return member.name == name; });
}

std::unique_ptr<ByteSource> ZipFile::open(const std::string& name) const {
  const auto found = std::ranges::find_if(members_, [&](const Member& member) { return member.name == name; });
  check<DataError>(found != members_.end(), "{}: no member '{}'. Write it with numpy.savez.", path_, name);
  const Member& member = *found;
  const std::string where = path_ + ": " + name;
  check<DataError>((member.flags & 1U) == 0, "{}: encrypted. Write it with numpy.savez.", where);
  check<DataError>(member.method == stored || member.method == deflated,
                   "{}: compressed by method {}: read are stored and deflated. Write it with numpy.savez.", where,
                   member.method);
  FileBytes file(path_);
  const auto damaged = [&](bool good) {
    check<DataError>(good, "{}: it is damaged. Write it again with numpy.savez.", where);
  };
  damaged(member.offset <= file.size() && file.size() - member.offset >= local_size);
  const std::string head = file.text(member.offset, local_size);
  damaged(head.starts_with(local_signature));
  const std::uint64_t first = member.offset + local_size + number_at(head, 26, 2) + number_at(head, 28, 2);
  damaged(first <= file.size() && member.packed <= file.size() - first);
  if (member.method == stored) {
    damaged(member.packed == member.size);
    return std::make_unique<FileBytes>(path_, first, member.size);
  }
  std::vector<char> bytes = Inflation(where).run(file, first, member.packed, member.size);
  damaged(checksum_of(bytes) == member.checksum);
  return std::make_unique<MemoryBytes>(std::move(bytes));
}

}  // namespace starling
