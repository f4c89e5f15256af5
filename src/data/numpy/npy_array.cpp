#include "data/numpy/npy_array.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include <boost/locale/utf.hpp>

#include "core/check.hpp"
#include "core/text/exact_number.hpp"
#include "data/cells/keys.hpp"
#include "data/cells/number.hpp"

namespace starling {

namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they stand in the file");

template <class T>
T value_of(const char* bytes) {
  if constexpr (std::is_same_v<T, bool>) {
    return *bytes != 0;
  } else {
    T value{};
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  }
}

template <class T>
double number_of(const char* bytes) {
  return static_cast<double>(value_of<T>(bytes));
}

template <class T>
std::optional<std::string> key_of(const char* bytes) {
  if constexpr (std::is_floating_point_v<T>) {
    return key_of_number(number_of<T>(bytes), std::numeric_limits<T>::digits);
  } else {
    return fmt::format("{}", +value_of<T>(bytes));
  }
}

constexpr std::uint64_t most_values_of_array = std::uint64_t{1} << 48;

struct NumberType {
  std::string_view name;
  double (*number)(const char* bytes);
  std::optional<std::string> (*key)(const char* bytes);
  std::size_t size;
};

template <class T>
constexpr NumberType type_of(std::string_view name) {
  return {name, number_of<T>, key_of<T>, sizeof(T)};
}

constexpr std::array number_types{
    type_of<float>("<f4"),         type_of<double>("<f8"),        type_of<std::int8_t>("|i1"),
    type_of<std::int16_t>("<i2"),  type_of<std::int32_t>("<i4"),  type_of<std::int64_t>("<i8"),
    type_of<std::uint8_t>("|u1"),  type_of<std::uint16_t>("<u2"), type_of<std::uint32_t>("<u4"),
    type_of<std::uint64_t>("<u8"), type_of<bool>("|b1"),
};

/// Parser of the header's text: a Python dictionary of a text, a truth value and a tuple of whole numbers.
class Dictionary {
 public:
  Dictionary(const std::string& where, std::string_view text) : where_(where), text_(text) {}

  void read(NpyHeader& header) {
    take('{');
    while (!skip('}')) {
      const std::string key = text();
      take(':');
      if (key == "descr") {
        type(header);
      } else if (key == "fortran_order") {
        header.fortran = truth();
      } else if (key == "shape") {
        shape(header);
      } else {
        throw_damaged();
      }
      seen_ |= key == "descr" ? 1U : key == "shape" ? 2U : 4U;
      if (!skip(',')) {
        take('}');
        break;
      }
    }
    if (seen_ != 7U) throw_damaged();
  }

 private:
  [[noreturn]] void throw_damaged() const {
    throw DataError(
        fmt::format("{}: its header is no NumPy header (damaged). Write it again with numpy.save.", where_));
  }

  void skip_blanks() {
    const auto end = text_.find_first_not_of(" \t\n");
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end);
  }
  [[nodiscard]] bool skip(char wanted) {
    skip_blanks();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  void take(char wanted) {
    if (!skip(wanted)) throw_damaged();
  }

  std::string text() {
    skip_blanks();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) throw_damaged();
    const auto end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) throw_damaged();
    std::string found(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return found;
  }

  bool truth() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return word == "True";
    }
    throw_damaged();
  }

  std::uint64_t whole() {
    skip_blanks();
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) throw_damaged();
    text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
    return value;
  }

  void shape(NpyHeader& header) {
    take('(');
    header.shape.clear();
    while (!skip(')')) {
      header.shape.push_back(whole());
      if (!skip(',')) {
        take(')');
        break;
      }
    }
  }

  void type(NpyHeader& header) {
    skip_blanks();
    check<DataError>(
        text_.empty() || text_.front() != '[',
        "{}: an array of structures. Save a plain array: numpy.lib.recfunctions.structured_to_unstructured.", where_);
    const std::string name = text();
    for (const NumberType& each : number_types) {
      if (each.name != name) continue;
      header.number = each.number;
      header.key = each.key;
      header.size = each.size;
      return;
    }
    if (name.starts_with("<U") || name.starts_with("|S")) {
      header.number = nullptr;
      header.utf32 = name[0] == '<';
      header.size = length_of(name) * (header.utf32 ? 4 : 1);
      return;
    }
    throw DataError(
        fmt::format("{}: values of type '{}': read are whole numbers of 1 to 8 bytes, <f4, <f8 and |b1, and <U and |S "
                    "of names. Save numbers as array.astype('float64'), and names as array.astype('U').",
                    where_, excerpt(name)));
  }

  [[nodiscard]] std::size_t length_of(const std::string& type) const {
    constexpr std::size_t longest = 10'000;
    const auto length = exact_number<std::size_t>(std::string_view(type).substr(2));
    if (!length || *length > longest) throw_damaged();
    return *length;
  }

  const std::string& where_;
  std::string_view text_;
  unsigned seen_ = 0;
};

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

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

std::uint64_t NpyHeader::values() const {
  std::uint64_t count = 1;
  for (const std::uint64_t each : shape) count *= each;
  return count;
}

NpyHeader read_npy_header(const std::string& where, std::string_view head) {
  const auto require = [&](bool there) {
    check<DataError>(there, "{}: it ends inside its header, or is no .npy file. Fetch or write it again.", where);
  };
  require(head.size() >= 10 && head.starts_with(npy_magic));
  const unsigned version = byte_at(head, 6);
  check<DataError>(version >= 1 && version <= 3, "{}: version {} of .npy: read are 1 to 3. Save it with numpy.save.",
                   where, version);
  const std::size_t start = version == 1 ? 10 : 12;
  require(head.size() >= start);
  std::size_t length = byte_at(head, 8) | byte_at(head, 9) << 8U;
  if (version > 1) length |= std::size_t{byte_at(head, 10)} << 16U | std::size_t{byte_at(head, 11)} << 24U;
  require(head.size() - start >= length);
  NpyHeader header;
  Dictionary(where, head.substr(start, length)).read(header);
  header.length = start + length;
  std::uint64_t most = most_values_of_array;
  for (const std::uint64_t each : header.shape) {
    check<DataError>(each <= most, "{}: more than 2^48 values: its shape says so: the header is damaged.", where);
    most = each == 0 ? most : most / each;
  }
  return header;
}

NpyArray::NpyArray(std::unique_ptr<ByteSource> bytes, std::string where)
    : bytes_(std::move(bytes)), where_(std::move(where)) {
  const auto head = static_cast<std::size_t>(std::min<std::uint64_t>(bytes_->size(), most_npy_header));
  header_ = read_npy_header(where_, bytes_->text(0, head));
  check<DataError>(dimensions() == 1 || dimensions() == 2,
                   "{}: {} dimensions: records and columns are two. Save array.reshape(len(array), -1).", where_,
                   dimensions());
  constexpr std::uint64_t most_width = std::uint64_t{1} << 24;
  const std::uint64_t width = dimensions() == 2 ? header_.shape[1] : 1;
  check<DataError>(width > 0 && width <= most_width, "{}: {} columns: 1 to {} are read. Save another array.", where_,
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
