#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <boost/endian/conversion.hpp>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/column_roles.hpp"
#include "gz_file.hpp"
#include "readers.hpp"

namespace starling {

namespace {

/// A value of a type that a file stores in big endian.
template <class T>
double decode(const unsigned char* bytes) {
  return static_cast<double>(boost::endian::endian_load<T, sizeof(T), boost::endian::order::big>(bytes));
}

template <class T>
void decode_all(const std::vector<unsigned char>& bytes, double* values) {
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) *values++ = decode<T>(bytes.data() + i);
}

struct ValueType {
  unsigned char code;
  std::size_t size;  // in bytes
  void (*decode)(const std::vector<unsigned char>&, double*);
};

constexpr std::array value_types{
    ValueType{0x08, 1, decode_all<std::uint8_t>}, ValueType{0x09, 1, decode_all<std::int8_t>},
    ValueType{0x0B, 2, decode_all<std::int16_t>}, ValueType{0x0C, 4, decode_all<std::int32_t>},
    ValueType{0x0D, 4, decode_all<float>},        ValueType{0x0E, 8, decode_all<double>},
};

constexpr std::uint64_t most_values = std::uint64_t{1} << 24;  // of one record

class IdxReader final : public RecordReader {
 public:
  IdxReader(const std::string& path, Part part) : file_(path), part_(part) {
    read_header();
    check_plain_size();
    check<DataError>(part_ != Part::labels || values_ == 1,
                     "{}: {} values per record: the second file of a pair has one, the label. Give the file of labels.",
                     path, values_);
    bytes_.resize(values_ * type_.size);
  }

  bool next(Record& record) override {
    if (position_ == records_) return false;
    const std::size_t got = file_.read(bytes_.data(), bytes_.size());
    ++position_;
    if (got != bytes_.size()) throw_truncated();
    if (position_ == records_) check_end();
    record.sparse = false;
    record.index.clear();
    record.values.resize(features());
    double* values = part_ == Part::labels ? &record.label : record.values.data();
    type_.decode(bytes_, values);
    check_finite(values);
    if (part_ == Part::features) record.label = 0;
    return true;
  }

  /// Leaves out the features of a plain file, which is known to be whole. Faults of a gzipped file show only on
  /// reading.
  bool next_label(Record& record) override {
    if (part_ == Part::labels || !file_.plain() || position_ == records_) return next(record);
    seek({static_cast<std::uint64_t>(position_) + 1, position_ + 1});
    record.label = 0;
    return true;
  }

  [[nodiscard]] std::size_t features() const override {
    return part_ == Part::labels ? 0 : static_cast<std::size_t>(values_);
  }
  [[nodiscard]] std::string where() const override { return fmt::format("{}: record {}", file_.path(), position_); }
  [[nodiscard]] Mark mark() const override { return {static_cast<std::uint64_t>(position_), position_}; }
  void seek(const Mark& mark) override {
    if (mark.row == position_) return;
    file_.seek(header_bytes_ + mark.offset * bytes_.size());
    position_ = mark.row;
  }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return records_; }

 private:
  void read_header() {
    std::array<unsigned char, 4> magic{};
    read_exactly(magic);
    check<DataError>(magic[0] == 0 && magic[1] == 0, "{}: not an IDX file: it does not start with two zero bytes. {}.",
                     file_.path(), "Check the path or --format");
    type_ = find_type(magic[2]);
    check<DataError>(magic[3] > 0,
                     "{}: a single value: rank 0; an IDX file of records has rank 1 or more. Check the file.",
                     file_.path());
    records_ = read_size();
    for (unsigned char axis = 1; axis < magic[3]; ++axis) values_ = multiply(values_, read_size());
    check<DataError>(values_ > 0, "{}: records without values: one of its sizes is 0. Check the file.", file_.path());
    header_bytes_ = 4 + std::uint64_t{4} * magic[3];
  }

  [[nodiscard]] ValueType find_type(unsigned char code) const {
    for (const ValueType& type : value_types) {
      if (type.code == code) return type;
    }
    throw DataError(fmt::format("{}: values of type 0x{:02X}: IDX knows 08, 09, 0B, 0C, 0D and 0E. Check the file.",
                                file_.path(), code));
  }

  /// Both are below 2^32.
  [[nodiscard]] std::uint64_t multiply(std::uint64_t values, std::uint32_t size) const {
    check<DataError>(size == 0 || values <= most_values / size,
                     "{}: more than {} values per record: its sizes say so. The header is damaged.", file_.path(),
                     most_values);
    return values * size;
  }

  [[nodiscard]] std::uint32_t read_size() {
    std::array<unsigned char, 4> bytes{};
    read_exactly(bytes);
    return boost::endian::load_big_u32(bytes.data());
  }

  void read_exactly(std::array<unsigned char, 4>& bytes) {
    const std::size_t got = file_.read(bytes.data(), bytes.size());
    check<DataError>(got == bytes.size(), "{}: the file ends inside its header: it is truncated. Fetch it again.",
                     file_.path());
  }

  /// A plain file's size tells at once what a gzipped one shows at its end.
  void check_plain_size() const {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file_.path(), error);
    if (error || !file_.plain()) return;
    const std::uint64_t expected = header_bytes_ + static_cast<std::uint64_t>(records_) * values_ * type_.size;
    check<DataError>(size >= expected, "{}: {} bytes: {} records need {}: the file is truncated. Fetch it again.",
                     file_.path(), size, records_, expected);
    check<DataError>(size == expected, "{}: {} bytes: {} records end at {}: bytes are left over. Check the file.",
                     file_.path(), size, records_, expected);
  }

  void check_end() {
    char extra = 0;
    check<DataError>(file_.read(&extra, 1) == 0,
                     "{}: bytes are left over: after {} records, as the header promises. {}.", file_.path(), records_,
                     "Check the file");
  }

  void check_finite(const double* values) const {
    const double* end = values + values_;
    const double* bad = std::find_if(values, end, [](double value) { return !std::isfinite(value); });
    if (bad == end) return;
    const auto text = [&](const std::string& shown) {
      return fmt::format(
          "{}: value {} (from 0) is {}: every value must be a finite number. Correct or remove the record.", where(),
          bad - values, shown);
    };
    throw RecordError(text("not finite"), text(fmt::format("{}", *bad)));
  }

  [[noreturn]] void throw_truncated() const {
    throw DataError(
        fmt::format("{}: the file ends inside it: the header promises {} records. Fetch it again.", where(), records_));
  }

  GzFile file_;
  Part part_;
  ValueType type_{};
  std::int64_t records_ = 0;
  std::uint64_t values_ = 1;  // of a record
  std::uint64_t header_bytes_ = 0;
  std::vector<unsigned char> bytes_;  // of a record
  std::int64_t position_ = 0;         // of the record that next reads, from 0; that of the last one, from 1
};

}  // namespace

std::unique_ptr<RecordReader> open_idx(const std::string& path, const ReadSettings& settings, Part part) {
  if (part == Part::records && !needs_labels(settings)) part = Part::features;
  if (part == Part::records && settings.labels == ReadSettings::Labels::alone) part = Part::labels;
  check<DataError>(part != Part::records,
                   "{}: an IDX file alone: it holds features or labels, not both. Give the pair FEATURES,LABELS.",
                   path);
  if (part == Part::features) refuse_column_options(path, settings, "an IDX file has no columns");
  auto reader = std::make_unique<IdxReader>(path, part);
  if (part == Part::features) check_dense_dimension(path, settings, reader->features());
  return reader;
}

}  // namespace starling
