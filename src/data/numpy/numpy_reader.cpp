// Readers of .npy and .npz.
#include "data/column_roles.hpp"
#include "data/formats/readers.hpp"
#include "data/number.hpp"
#include "npy_array.hpp"
#include "zip_file.hpp"
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/ranges.h>

#include "starling/core/check.hpp"
#include "starling/core/record_error.hpp"

namespace starling {

namespace {

/// Arrays of a source: columns, and labels of their own where they are no column.
struct NumpySource {
  std::string path;
  std::optional<NpyArray> x;
  std::optional<NpyArray> y;
  std::vector<std::string> names;  // of the columns, or none
};

class NumpyReader final : public RecordReader {
 public:
  NumpyReader(NumpySource source, ColumnRoles roles, ReadSettings::Missing missing)
      : source_(std::move(source)), roles_(std::move(roles)), missing_(missing) {
    records_ = static_cast<std::int64_t>((source_.x ? source_.x : source_.y)->rows());
  }

  bool next(Record& record) override {
    if (position_ == records_) return false;
    const auto i = static_cast<std::uint64_t>(position_++);
    record.sparse = false;
    record.index.clear();
    record.values.clear();
    record.label = source_.y ? number(source_.y->row(i), 0, "y") : 0;
    if (source_.x) take_row(source_.x->row(i), record);
    return true;
  }

  bool next_label(Record& record) override {
    if (roles_.label || roles_.key) return next(record);
    if (position_ == records_) return false;
    const auto i = static_cast<std::uint64_t>(position_++);
    record.label = source_.y ? number(source_.y->row(i), 0, "y") : 0;
    return true;
  }

  [[nodiscard]] std::size_t features() const override { return roles_.features.size(); }
  [[nodiscard]] std::vector<std::string> names() const override {
    return feature_names({source_.path, source_.names.size(), source_.names}, roles_);
  }
  [[nodiscard]] std::string label_name() const override {
    if (!roles_.label) return source_.y && source_.x ? "y" : "";
    return source_.names.empty() ? "" : source_.names[*roles_.label];
  }
  [[nodiscard]] std::string where() const override { return fmt::format("{}: record {}", source_.path, position_); }
  [[nodiscard]] Mark mark() const override { return {static_cast<std::uint64_t>(position_), position_}; }
  void seek(const Mark& mark) override { position_ = static_cast<std::int64_t>(mark.offset); }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return records_; }

 private:
  void take_row(View row, Record& record) const {
    for (const std::size_t column : roles_.features) {
      const bool missing = missing_ != ReadSettings::Missing::refuse && std::isnan(row[column]);
      record.values.push_back(missing ? row[column] : number(row, column, "X"));
    }
    if (roles_.label) record.label = number(row, *roles_.label, "X");
    if (roles_.key) record.key = fmt::format("{}", row[*roles_.key]);
  }

  [[nodiscard]] double number(View row, std::size_t column, const char* array) const {
    const double value = row[column];
    if (std::isfinite(value)) return value;
    const auto text = [&](const std::string& shown) {
      return fmt::format(
          "{}: column {} (from 0) of {} is {}; every value must be a finite number) correct or remove the "
          "record{}",
          where(), column, array, shown, std::isnan(value) ? ", or let --missing fill in features" : "");
    };
    throw RecordError(text("wrong (not finite"), text(fmt::format("{} (not finite", value)));
  }

  NumpySource source_;
  ColumnRoles roles_;
  ReadSettings::Missing missing_;
  std::int64_t records_ = 0;
  std::int64_t position_ = 0;  // of the record that next reads, from 0; that of the last one, from 1
};

void require_numbers(const NpyArray& array, const std::string& where) {
  check<DataError>(!array.is_text(), "{}: an array of texts. Save numbers.", where);
}

std::unique_ptr<RecordReader> open_labels(NumpySource source) {
  check<DataError>(source.y->width() == 1,
                   "{}: {} values per record (the second file of a pair has one, the label). Give the array of labels.",
                   source.path, source.y->width());
  return std::make_unique<NumpyReader>(std::move(source), ColumnRoles{}, ReadSettings::Missing::refuse);
}

std::unique_ptr<RecordReader> open_columns(NumpySource source, const ReadSettings& settings, DefaultLabel label) {
  const ColumnNames columns{source.path, source.x->width(), source.names};
  ColumnRoles roles = choose_columns(columns, settings, label);
  if (roles.label || settings.labels == ReadSettings::Labels::optional) source.y.reset();
  check_dense_dimension(source.path, settings, roles.features.size());
  return std::make_unique<NumpyReader>(std::move(source), std::move(roles), missing_rule(settings));
}

/// The names in the archive's array `features`.
std::vector<std::string> names_in(const ZipFile& archive, const std::string& path, std::size_t columns) {
  if (!archive.has("features.npy")) return {};
  NpyArray names(archive.open("features.npy"), path + ": features");
  check<DataError>(names.is_text() && names.dimensions() == 1 && names.rows() == columns,
                   "{}: features must be {} texts, the names of the columns of X. Save them so.", path, columns);
  return names.texts();
}

}  // namespace

std::unique_ptr<RecordReader> open_npy(const std::string& path, const ReadSettings& settings, Part part) {
  if (part == Part::records) refuse_text_options(path, settings);
  NpyArray array(open_bytes(path), path);
  require_numbers(array, path);
  if (part == Part::labels) return open_labels({path, std::nullopt, std::move(array), {}});
  const bool alone = settings.labels == ReadSettings::Labels::alone;
  const bool needs_label = part == Part::records && settings.labels == ReadSettings::Labels::required;
  check<DataError>(
      array.dimensions() == 2 && (array.width() > 1 || alone || !needs_label),
      "{}: one column (a record needs a label and at least one feature). Save them side by side, or give a "
      "second file of labels: FEATURES,LABELS.",
      path);
  return open_columns({path, std::move(array), std::nullopt, {}}, settings,
                      part == Part::records ? DefaultLabel::named_or_last : DefaultLabel::none);
}

std::unique_ptr<RecordReader> open_npz(const std::string& path, const ReadSettings& settings, Part part) {
  if (part == Part::records) refuse_text_options(path, settings);
  const ZipFile archive(path);
  const auto open = [&](const std::string& name) {
    check<DataError>(archive.has(name + ".npy"),
                     "{}: no array {} (it has {}). Write it by numpy.savez(FILE, X=features, y=labels).", path, name,
                     excerpt(fmt::format("{}", fmt::join(archive.names(), ", "))));
    NpyArray array(archive.open(name + ".npy"), path + ": " + name);
    require_numbers(array, path + ": " + name);
    return array;
  };
  if (part == Part::labels) return open_labels({path, std::nullopt, open("y"), {}});
  NumpySource source{path, open("X"), std::nullopt, {}};
  check<DataError>(source.x->dimensions() == 2, "{}: X has one dimension (records and columns are two). Reshape it.",
                   path);
  source.names = names_in(archive, path, source.x->width());
  const bool label_is_column = !settings.label.empty() && settings.labels != ReadSettings::Labels::optional;
  if (part == Part::records && !label_is_column && settings.labels != ReadSettings::Labels::optional) {
    source.y = open("y");
    check<DataError>(source.y->width() == 1 && source.y->rows() == source.x->rows(),
                     "{}: {} records of X and {} × {} labels in y. Each record has one label.", path, source.x->rows(),
                     source.y->rows(), source.y->width());
  }
  return open_columns(std::move(source), settings, DefaultLabel::none);
}

}  // namespace starling
