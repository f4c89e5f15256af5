// Readers of .npy and .npz.
#include <optional>
#include <utility>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "data/arrays/array_reader.hpp"
#include "data/cells/number.hpp"
#include "npy_array.hpp"
#include "zip_file.hpp"

namespace starling {

namespace {

/// Arrays of a source: columns, and labels of their own where they are no column.
struct NumpySource {
  std::string path;
  std::optional<NpyArray> x;
  std::optional<NpyArray> y;
  std::vector<std::string> names;  // of the columns, or none
};

class NumpyArrays final : public NumberArrays {
 public:
  NumpyArrays(NumpySource source, ColumnRoles column_roles, ReadSettings::Missing missing_rule)
      : x_(std::move(source.x)), y_(std::move(source.y)) {
    columns = {std::move(source.path), source.names.size(), std::move(source.names)};
    roles = std::move(column_roles);
    missing = missing_rule;
    has_x = x_.has_value();
    has_y = y_.has_value();
    records = static_cast<std::int64_t>((x_ ? x_ : y_)->rows());
  }

  [[nodiscard]] View row_of_x(std::uint64_t i) override { return x_->row(i); }
  [[nodiscard]] double value_of_y(std::uint64_t i) override { return y_->row(i)[0]; }
  [[nodiscard]] std::optional<std::string> key_of_x(std::uint64_t i, std::size_t column) override {
    return x_->key(i, column);
  }

 private:
  std::optional<NpyArray> x_;
  std::optional<NpyArray> y_;
};

void require_numbers(const NpyArray& array, const std::string& where) {
  check<DataError>(!array.is_text(), "{}: an array of texts. Save numbers.", where);
}

std::unique_ptr<RecordReader> open_labels(NumpySource source) {
  check<DataError>(source.y->width() == 1,
                   "{}: {} values per record: the second file of a pair has one, the label. Give the array of labels.",
                   source.path, source.y->width());
  return std::make_unique<ArrayReader>(
      std::make_unique<NumpyArrays>(std::move(source), ColumnRoles{}, ReadSettings::Missing::refuse));
}

ColumnRoles roles_of(const NumpySource& source, const ReadSettings& settings, DefaultLabel label) {
  return choose_columns({source.path, source.x->width(), source.names}, settings, label);
}

std::unique_ptr<RecordReader> open_columns(NumpySource source, const ReadSettings& settings, ColumnRoles roles) {
  check_dense_dimension(source.path, settings, roles.features.size());
  return std::make_unique<ArrayReader>(
      std::make_unique<NumpyArrays>(std::move(source), std::move(roles), missing_rule(settings)));
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
  const bool alone = settings.labels == ReadSettings::Labels::alone;
  if (part == Part::labels || (alone && array.dimensions() == 1))
    return open_labels({path, std::nullopt, std::move(array), {}});
  const bool needs_label = part == Part::records && settings.labels == ReadSettings::Labels::required;
  check<DataError>(array.dimensions() == 2 && (array.width() > 1 || alone || !needs_label),
                   "{}: one column: a record needs a label and at least one feature. Save them side by side, or give a "
                   "second file of labels: FEATURES,LABELS.",
                   path);
  NumpySource source{path, std::move(array), std::nullopt, {}};
  ColumnRoles roles =
      roles_of(source, settings, part == Part::records ? DefaultLabel::named_or_last : DefaultLabel::none);
  return open_columns(std::move(source), settings, std::move(roles));
}

std::unique_ptr<RecordReader> open_npz(const std::string& path, const ReadSettings& settings, Part part) {
  if (part == Part::records) refuse_text_options(path, settings);
  const ZipFile archive(path);
  const auto open = [&](const std::string& name) {
    check<DataError>(archive.has(name + ".npy"),
                     "{}: no array {}: it has {}. Write it by numpy.savez(FILE, X=features, y=labels).", path, name,
                     excerpt(fmt::format("{}", fmt::join(archive.names(), ", "))));
    NpyArray array(archive.open(name + ".npy"), path + ": " + name);
    require_numbers(array, path + ": " + name);
    return array;
  };
  if (part == Part::labels) return open_labels({path, std::nullopt, open("y"), {}});
  NumpySource source{path, open("X"), std::nullopt, {}};
  check<DataError>(source.x->dimensions() == 2, "{}: X has one dimension: records and columns are two. Reshape it.",
                   path);
  source.names = names_in(archive, path, source.x->width());
  const bool beside = part == Part::records && archive.has("y.npy");
  ColumnRoles roles = roles_of(source, settings, beside ? DefaultLabel::beside : DefaultLabel::none);
  if (part == Part::records && needs_labels(settings) && !roles.label) {
    source.y = open("y");
    check<DataError>(source.y->width() == 1 && source.y->rows() == source.x->rows(),
                     "{}: {} records of X and {} × {} labels in y. Each record has one label.", path, source.x->rows(),
                     source.y->rows(), source.y->width());
  }
  return open_columns(std::move(source), settings, std::move(roles));
}

}  // namespace starling
