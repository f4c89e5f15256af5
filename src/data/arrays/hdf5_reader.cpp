#include <algorithm>
#include <optional>
#include <utility>

#include "array_reader.hpp"
#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/cells/keys.hpp"
#include "hdf5/file.hpp"

namespace starling {

namespace {

using hdf5::NumberRows;

/// The rows of a dataset, of which a slab is in memory. Slabs begin small where the reader has been sent elsewhere and
/// grow to about 1 MB while it reads on; they are whole chunks unless chunks are much larger than that.
class SlabReader {
 public:
  explicit SlabReader(NumberRows rows) : rows_(std::move(rows)) { rows_.require_values(); }

  [[nodiscard]] const NumberRows& rows() const { return rows_; }

  /// The values of row i. The view holds until the next call. Throws DataError.
  [[nodiscard]] View row(hsize_t i) {
    if (i < first_ || i >= first_ + count_) load(i);
    const auto width = static_cast<std::size_t>(rows_.width());
    return View(values_).subspan(static_cast<std::size_t>(i - first_) * width, width);
  }

 private:
  static constexpr hsize_t small = hsize_t{1} << 13;  // values
  static constexpr hsize_t large = hsize_t{1} << 17;

  void load(hsize_t i) {
    const bool goes_on = count_ > 0 && i == first_ + count_;
    wanted_ = goes_on ? std::min(2 * wanted_, large) : small;
    hsize_t from = i;
    hsize_t to = i + std::max<hsize_t>(wanted_ / rows_.width(), 1);
    const hsize_t chunk = rows_.rows_of_chunk();
    if (chunk * rows_.width() <= 4 * large) {
      from -= from % chunk;
      to += chunk - 1 - (to - 1) % chunk;
    }
    to = std::min(to, rows_.rows());
    count_ = 0;  // nothing, should reading fail
    values_.resize(static_cast<std::size_t>((to - from) * rows_.width()));
    rows_.read(from, to - from, values_.data());
    first_ = from;
    count_ = to - from;
  }

  NumberRows rows_;
  Vector values_;
  hsize_t first_ = 0;  // of the slab
  hsize_t count_ = 0;
  hsize_t wanted_ = small;
};

/// The keys in one column of a dataset, of which some are in memory.
class KeySlab {
 public:
  /// Key of row i, as RecordReader has them: none where the type may have made one key of two. Throws DataError.
  [[nodiscard]] std::optional<std::string> key(SlabReader& rows, hsize_t i, hsize_t column) {
    const NumberRows& numbers = rows.rows();
    if (numbers.digits()) return key_of_number(rows.row(i)[static_cast<std::size_t>(column)], *numbers.digits());
    if (i < first_ || i >= first_ + keys_.size()) load(numbers, i, column);
    const std::int64_t key = keys_[static_cast<std::size_t>(i - first_)];
    return numbers.is_unsigned() ? fmt::format("{}", static_cast<std::uint64_t>(key)) : fmt::format("{}", key);
  }

 private:
  static constexpr hsize_t at_once = hsize_t{1} << 13;

  void load(const NumberRows& numbers, hsize_t i, hsize_t column) {
    const hsize_t count = std::min(at_once, numbers.rows() - i);
    keys_.clear();  // nothing, should reading fail
    std::vector<std::int64_t> keys(static_cast<std::size_t>(count));
    numbers.read_whole(i, count, column, keys.data());
    keys_ = std::move(keys);
    first_ = i;
  }

  std::vector<std::int64_t> keys_;
  hsize_t first_ = 0;
};

class Hdf5Arrays final : public NumberArrays {
 public:
  Hdf5Arrays(const std::string& path, const ReadSettings& settings, Part part) : input_(path) {
    columns.path = input_.path();
    missing = missing_rule(settings);
    x_name = "/x";
    y_name = "/y";
    has_x = part != Part::labels;
    if (has_x) open_features(settings, part);
    if (part == Part::labels || roles.labels_beside) open_labels();
    if (!x_) records = static_cast<std::int64_t>(y_->rows().rows());
  }

  [[nodiscard]] View row_of_x(std::uint64_t i) override { return x_->row(i); }
  [[nodiscard]] double value_of_y(std::uint64_t i) override { return y_->row(i)[0]; }
  [[nodiscard]] std::optional<std::string> key_of_x(std::uint64_t i, std::size_t column) override {
    return keys_.key(*x_, i, column);
  }

 private:
  void open_features(const ReadSettings& settings, Part part) {
    check<DataError>(input_.has("/x"), "{}: no dataset /x: the file holds {}. Store the features as /x.", input_.path(),
                     input_.contents());
    NumberRows rows(input_, "/x");
    check<DataError>(rows.sizes().size() == 2, "{}: /x has {} dimensions: it must have 2, records and features. {}.",
                     input_.path(), rows.sizes().size(), "Reshape it");
    check<DataError>(rows.width() > 0, "{}: /x has no column: a record needs a feature. Check the file.",
                     input_.path());
    columns = {input_.path(), static_cast<std::size_t>(rows.width()), rows.texts("names")};
    const bool beside = part == Part::records && input_.has("/y");
    roles = choose_columns(columns, settings, beside ? DefaultLabel::beside : DefaultLabel::none);
    check_dense_dimension(input_.path(), settings, roles.features.size());
    records = static_cast<std::int64_t>(rows.rows());
    x_.emplace(std::move(rows));
    const bool needed = part != Part::features && needs_labels(settings);
    check<DataError>(!needed || roles.label || roles.labels_beside,
                     "{}: no dataset /y: the file holds {}. Store the labels as /y, or name a column of /x by --label.",
                     input_.path(), input_.contents());
  }

  void open_labels() {
    check<DataError>(input_.has("/y"), "{}: no dataset /y: the file holds {}. Store the labels as /y.", input_.path(),
                     input_.contents());
    NumberRows rows(input_, "/y");
    check<DataError>(rows.sizes().size() <= 2 && rows.width() == 1,
                     "{}: /y has {} dimensions and {} values per record: a record has one label. Reshape it.",
                     input_.path(), rows.sizes().size(), rows.width());
    check<DataError>(!x_ || rows.rows() == x_->rows().rows(), "{}: {} rows of /x and {} of /y: {}. Check the file.",
                     input_.path(), records, rows.rows(), "each record has one label");
    y_.emplace(std::move(rows));
    has_y = true;
  }

  hdf5::Input input_;
  std::optional<SlabReader> x_;
  std::optional<SlabReader> y_;
  KeySlab keys_;
};

}  // namespace

std::unique_ptr<RecordReader> open_hdf5(const std::string& path, const ReadSettings& settings, Part part) {
  if (part == Part::records) refuse_text_options(path, settings);
  return std::make_unique<ArrayReader>(std::make_unique<Hdf5Arrays>(path, settings, part));
}

}  // namespace starling
