#include "data/column_roles.hpp"
#include "readers.hpp"
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "starling/core/check.hpp"
#include "starling/core/record_error.hpp"
#include "starling/hdf5/file.hpp"

namespace starling {

namespace {

using hdf5::NumberRows;

/// The rows of a dataset, of which a slab is in memory. Slabs begin small where the reader has been sent elsewhere and
/// grow to about 1 MB while it reads on; they are whole chunks unless chunks are much larger than that.
class SlabReader {
 public:
  explicit SlabReader(NumberRows rows) : rows_(std::move(rows)) {}

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

class Hdf5Reader final : public RecordReader {
 public:
  Hdf5Reader(const std::string& path, const ReadSettings& settings, Part part)
      : input_(path), missing_(missing_rule(settings)) {
    if (part != Part::labels) open_features(settings, part);
    const bool needed = needs_labels(settings);
    if (part == Part::labels || (part == Part::records && !roles_.label && needed)) open_labels();
    if (!x_) records_ = static_cast<std::int64_t>(y_->rows().rows());
  }

  bool next(Record& record) override {
    if (position_ == records_) return false;
    const auto i = static_cast<hsize_t>(position_++);
    record.sparse = false;
    record.index.clear();
    record.values.clear();
    record.label = y_ ? number(y_->row(i), 0, "/y") : 0;
    if (x_) take_row(x_->row(i), record);
    return true;
  }

  bool next_label(Record& record) override {
    if (roles_.label || roles_.key) return next(record);
    if (position_ == records_) return false;
    const auto i = static_cast<hsize_t>(position_++);
    record.label = y_ ? number(y_->row(i), 0, "/y") : 0;
    return true;
  }

  [[nodiscard]] std::size_t features() const override { return roles_.features.size(); }
  [[nodiscard]] std::vector<std::string> names() const override { return feature_names(columns_, roles_); }
  [[nodiscard]] std::string label_name() const override {
    if (!roles_.label) return y_ ? "y" : "";
    return columns_.names.empty() ? "" : columns_.names[*roles_.label];
  }
  [[nodiscard]] std::string where() const override { return fmt::format("{}: record {}", input_.path(), position_); }
  [[nodiscard]] Mark mark() const override { return {static_cast<std::uint64_t>(position_), position_}; }
  void seek(const Mark& mark) override { position_ = static_cast<std::int64_t>(mark.offset); }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return records_; }

 private:
  void open_features(const ReadSettings& settings, Part part) {
    check<DataError>(input_.has("/x"), "{}: no dataset /x (the file holds {}) store the features as /x", input_.path(),
                     input_.contents());
    NumberRows rows(input_, "/x");
    check<DataError>(rows.sizes().size() == 2, "{}: /x has {} dimensions (it must have 2: records and features) {}",
                     input_.path(), rows.sizes().size(), "reshape it");
    check<DataError>(rows.width() > 0, "{}: /x has no column (a record needs a feature) check the file", input_.path());
    columns_ = {input_.path(), static_cast<std::size_t>(rows.width()), rows.texts("names")};
    roles_ = choose_columns(columns_, settings, DefaultLabel::none);
    check_dense_dimension(input_.path(), settings, features());
    records_ = static_cast<std::int64_t>(rows.rows());
    x_.emplace(std::move(rows));
    const bool needed = part != Part::features && needs_labels(settings);
    check<DataError>(!needed || roles_.label || input_.has("/y"),
                     "{}: no dataset /y (the file holds {}) store the labels as /y, or name a column of /x by --label",
                     input_.path(), input_.contents());
  }

  void open_labels() {
    check<DataError>(input_.has("/y"), "{}: no dataset /y (the file holds {}) store the labels as /y", input_.path(),
                     input_.contents());
    NumberRows rows(input_, "/y");
    check<DataError>(rows.sizes().size() <= 2 && rows.width() == 1,
                     "{}: /y has {} dimensions and {} values per record (a record has one label) reshape it",
                     input_.path(), rows.sizes().size(), rows.width());
    check<DataError>(!x_ || rows.rows() == x_->rows().rows(), "{}: {} rows of /x and {} of /y ({}) check the file",
                     input_.path(), records_, rows.rows(), "each record has one label");
    y_.emplace(std::move(rows));
  }

  void take_row(View row, Record& record) const {
    for (const std::size_t column : roles_.features) record.values.push_back(feature(row, column));
    if (roles_.label) record.label = number(row, *roles_.label, "/x");
    if (roles_.key) record.key = fmt::format("{}", row[*roles_.key]);
  }

  /// A feature; NaN where it is missing and --missing fills it in.
  [[nodiscard]] double feature(View row, std::size_t column) const {
    const bool missing = missing_ != ReadSettings::Missing::refuse && std::isnan(row[column]);
    return missing ? row[column] : number(row, column, "/x");
  }

  [[nodiscard]] double number(View row, std::size_t column, const char* dataset) const {
    const double value = row[column];
    if (std::isfinite(value)) return value;
    const auto text = [&](const std::string& shown) {
      return fmt::format(
          "{}: column {} (from 0) of {} is {}; every value must be a finite number) "
          "correct or remove the record{}",
          where(), column, dataset, shown, std::isnan(value) ? ", or let --missing fill in features" : "");
    };
    throw RecordError(text("wrong (not finite"), text(fmt::format("{} (not finite", value)));
  }

  hdf5::Input input_;
  ReadSettings::Missing missing_;
  ColumnNames columns_;  // of /x
  ColumnRoles roles_;
  std::optional<SlabReader> x_;
  std::optional<SlabReader> y_;
  std::int64_t records_ = 0;
  std::int64_t position_ = 0;  // of the record that next reads, from 0; that of the last one, from 1
};

}  // namespace

std::unique_ptr<RecordReader> open_hdf5(const std::string& path, const ReadSettings& settings, Part part) {
  if (part == Part::records) refuse_text_options(path, settings);
  return std::make_unique<Hdf5Reader>(path, settings, part);
}

}  // namespace starling
