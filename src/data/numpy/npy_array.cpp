#include "npy_array.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include <boost/locale/utf.hpp>

#include "core/check.hpp"

namespace starling {

namespace {

/// Appends a character; `?` for a code that stands for none.
void append_utf8(std::string& text, std::uint32_t code) {
  namespace utf = boost::locale::utf;
  utf::utf_traits<char>::encode(utf::is_valid_codepoint(code) ? code : U'?', std::back_inserter(text));
}

/// A text of fixed length; zeros fill it up.
std::string text_of(bool utf32, std::string_view bytes) {
  std::string text;
  if (!utf32) {
    for (const char byte : bytes.substr(0, bytes.find('\0')))
      append_utf8(text, byte < 0 ? U'?' : static_cast<char32_t>(byte));
    return text;
  }
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t code = 0;
    std::memcpy(&code, bytes.data() + at, sizeof(code));
    if (code == 0) break;
    append_utf8(text, code);
  }
  return text;
}

}  // namespace

NpyArray::NpyArray(std::unique_ptr<ByteSource> bytes, std::string where)
    : bytes_(std::move(bytes)), where_(std::move(where)) {
  const auto head = static_cast<std::size_t>(std::min<std::uint64_t>(bytes_->size(), most_npy_header));
  header_ = read_npy_header(where_, bytes_->text(0, head));
  check<DataError>(dimensions() == 1 || dimensions() == 2,
                   "{}: {} dimensions (records and columns are two). Save array.reshape(len(array), -1).", where_,
                   dimensions());
  constexpr std::uint64_t most_width = std::uint64_t{1} << 24;
  const std::uint64_t width = dimensions() == 2 ? header_.shape[1] : 1;
  check<DataError>(width > 0 && width <= most_width, "{}: {} columns (1 to {} are read). Save another array.", where_,
                   width, most_width);
  width_ = static_cast<std::size_t>(width);
  const std::uint64_t expected = header_.length + header_.values() * header_.size;
  check<DataError>(bytes_->size() == expected,
                   "{}: {} bytes, where its header promises {}: it is truncated or damaged. Fetch or write it again.",
                   where_, bytes_->size(), expected);
}

void NpyArray::load(std::uint64_t i) {
  constexpr std::uint64_t wanted = std::uint64_t{1} << 20;
  const std::uint64_t row_bytes = width_ * header_.size;
  const bool whole = header_.fortran && width_ > 1;
  first_ = whole ? 0 : i;
  count_ = 0;  // nothing, should reading fail
  const std::uint64_t count = whole ? rows() : std::min(rows() - i, std::max<std::uint64_t>(wanted / row_bytes, 1));
  slab_.resize(static_cast<std::size_t>(count * row_bytes));
  bytes_->read(header_.length + first_ * row_bytes, slab_.size(), slab_.data());
  count_ = count;
}

const char* NpyArray::bytes_of(std::uint64_t i, std::size_t column) {
  if (i < first_ || i >= first_ + count_) load(i);
  const bool by_column = header_.fortran && width_ > 1;
  const auto row = static_cast<std::size_t>(i - first_);
  const std::size_t place = by_column ? row + column * static_cast<std::size_t>(rows()) : row * width_ + column;
  return slab_.data() + place * header_.size;
}

View NpyArray::row(std::uint64_t i) {
  values_.resize(width_);
  const char* bytes = bytes_of(i, 0);
  const std::size_t step = header_.size * (header_.fortran && width_ > 1 ? static_cast<std::size_t>(rows()) : 1);
  for (double& value : values_) {
    value = header_.number(bytes);
    bytes += step;
  }
  return values_;
}

std::optional<std::string> NpyArray::key(std::uint64_t i, std::size_t column) {
  return header_.key(bytes_of(i, column));
}

std::vector<std::string> NpyArray::texts() {
  const std::string all = bytes_->text(header_.length, static_cast<std::size_t>(header_.values() * header_.size));
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < rows(); ++i) {
    texts.push_back(text_of(header_.utf32, std::string_view(all).substr(i * header_.size, header_.size)));
  }
  return texts;
}

}  // namespace starling
