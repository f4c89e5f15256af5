// Readers of .npy and .npz.
#include "data/arrays/array_reader.hpp"
#include "data/number.hpp"
#include "npy_array.hpp"
#include "zip_file.hpp"
#include <optional>
#include <utility>

#include <fmt/ranges.h>

#include "starling/core/check.hpp"

namespace starling {

namespace {

/// Arrays of a source: columns, and labels of their own where they are no column.
struct NumpySource {
  std::string path;
  std::optional<NpyArray> x;
  std::optional<NpyArray> y;
  std::vector<std::string> names;  // of the columns, or none
};

class NumpyReader final : public ArrayReader {
 public:
  NumpyReader(NumpySource source, ColumnRoles roles, ReadSettings::Missing missing)
      : x_(std::move(source.x)), y_(std::move(source.y)) {
    arrays_.columns = {std::move(source.path), source.names.size(), std::move(source.names)};
    arrays_.roles = std::move(roles);
    arrays_.missing = missing;
    arrays_.has_x = x_.has_value();
    arrays_.has_y = y_.has_value();
    arrays_.records = static_cast<std::int64_t>((x_ ? x_ : y_)->rows());
  }

 private:
  [[nodiscard]] View row_of_x(std::uint64_t i) override { return x_->row(i); }
  [[nodiscard]] double value_of_y(std::uint64_t i) override { return y_->row(i)[0]; }

  std::optional<NpyArray> x_;
  std::optional<NpyArray> y_;
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
  if (roles.label || !needs_labels(settings)) source.y.reset();
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
  const bool label_is_column = !settings.label.empty() && needs_labels(settings);
  if (part == Part::records && !label_is_column && needs_labels(settings)) {
    source.y = open("y");
    check<DataError>(source.y->width() == 1 && source.y->rows() == source.x->rows(),
                     "{}: {} records of X and {} × {} labels in y. Each record has one label.", path, source.x->rows(),
                     source.y->rows(), source.y->width());
  }
  return open_columns(std::move(source), settings, DefaultLabel::none);
}

}  // namespace starling
