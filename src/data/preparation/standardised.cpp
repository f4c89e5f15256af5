// Features, and a label that is a quantity, standardised or mapped from ranges by public constants.
#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "column_table.hpp"
#include "core/check.hpp"
#include "data/cells/number.hpp"
#include "data/formats/readers.hpp"
#include "data/forwarding_reader.hpp"

namespace starling {

namespace {

/// Scaling constants of a source.
struct ColumnScales {
  std::vector<Standardisation> features;
  std::optional<Standardisation> label;
};

constexpr std::string_view left_out = "drop";    ///< in place of the constants of a column
constexpr std::string_view of_label = "label=";  ///< before those of the label

void check_deviation(const std::string& where, const ColumnLine& line) {
  check<DataError>(line.last > 0, "{}: sd={}: values are divided by it: it must be positive. Correct it.", where,
                   line.last);
}

void check_range(const std::string& where, const ColumnLine& line) {
  check<DataError>(line.last / 2 - line.first / 2 > 0,
                   "{}: low={} and high={}: low must be below high: the range is mapped to -1 … 1. Correct them.",
                   where, line.first, line.last);
}

const ColumnTableForm& standardise_form() {
  static const ColumnTableForm form{
      "--standardise", {"mean", "sd"}, "mean 0 and sd 1 leave one as it is", check_deviation};
  return form;
}

const ColumnTableForm& ranges_form() {
  static const ColumnTableForm form{"--ranges",
                                    {"low", "high"},
                                    "low -1 and high 1 leave values within them as they are, and clip others",
                                    check_range};
  return form;
}

Standardisation scale_of(const ColumnLine& line, bool is_range) {
  if (!is_range) return {line.first, line.last};
  return {line.first / 2 + line.last / 2, line.last / 2 - line.first / 2, 1};
}

/// MEAN/SD or MEAN/SD/CLIP, or the word of a column that is left out.
Standardisation scale_in(const std::string& entry, const std::string& text) {
  if (entry == left_out) return {0, 1, 0};
  Vector numbers;
  std::istringstream parts(entry);
  for (std::string part; std::getline(parts, part, '/');) {
    if (const ParsedNumber number = read_number(part); number.fault == NumberFault::none)
      numbers.push_back(number.value);
  }
  const auto slashes = static_cast<std::size_t>(std::ranges::count(entry, '/'));
  check(numbers.size() == slashes + 1 && slashes >= 1 && slashes <= 2 && numbers[1] > 0 && numbers.back() > 0,
        "--standardise {}: '{}' is neither MEAN/SD nor MEAN/SD/CLIP, of which SD and CLIP are positive, nor '{}'. "
        "Correct it.",
        excerpt(text), excerpt(entry), left_out);
  Standardisation scale{numbers[0], numbers[1]};
  if (slashes == 2) scale.limit = numbers[2];
  return scale;
}

/// The constants of `values:M/S,…`.
ColumnScales scales_in(const std::string& text, const RecordReader& source) {
  ColumnScales scales;
  std::istringstream entries(text.substr(values_of_columns.size()));
  for (std::string entry; std::getline(entries, entry, ',');) {
    if (entry.starts_with(of_label)) {
      scales.label = scale_in(entry.substr(of_label.size()), text);
    } else {
      scales.features.push_back(scale_in(entry, text));
    }
  }
  const PublicConstants constants = source.constants();
  check<DataError>(scales.features.size() == constants.features,
                   "--standardise {}: {} pairs, and the source has {} feature columns: every one needs a pair. Give as "
                   "many, or a file.",
                   excerpt(text), scales.features.size(), constants.features);
  for (std::size_t j = 0; j < scales.features.size(); ++j) {
    check<DataError>(
        constants.one_hot(j) == nullptr || scales.features[j] == Standardisation(),
        "--standardise {}: column {} has a feature of 0 and 1 for each category: --encode onehot:. Give 0/1 there.",
        excerpt(text), shown_column(j, constants.columns));
  }
  return scales;
}

ColumnScales scales_of(const ColumnTable& table, bool is_range) {
  ColumnScales scales;
  for (const auto& line : table.features) {
    scales.features.push_back(line ? scale_of(*line, is_range) : Standardisation());
  }
  if (table.label) scales.label = scale_of(*table.label, is_range);
  return scales;
}

/// Scales the numbers of a record. A missing value is NaN and stays so. The number of a category that becomes a feature
/// stays as it is: its column has mean 0 and deviation 1, and is not clipped.
class ScaledReader final : public ForwardingReader {
 public:
  ScaledReader(std::unique_ptr<RecordReader> reader, ColumnScales scales)
      : ForwardingReader(std::move(reader)), scales_(std::move(scales)) {}

  bool next(Record& record) override {
    if (!reader_->next(record)) return false;
    for (std::size_t j = 0; j < scales_.features.size(); ++j) {
      record.values[j] = scales_.features[j].of(record.values[j]);
    }
    take_label(record);
    return true;
  }
  bool next_label(Record& record) override {
    if (!reader_->next_label(record)) return false;
    take_label(record);
    return true;
  }

  [[nodiscard]] PublicConstants constants() const override {
    PublicConstants constants = reader_->constants();
    constants.standardisation = scales_.features;
    constants.label_standardisation = scales_.label;
    return constants;
  }

 private:
  void take_label(Record& record) const {
    if (scales_.label) record.label = scales_.label->of(record.label);
  }

  ColumnScales scales_;
};

std::unique_ptr<RecordReader> scale_as(std::unique_ptr<RecordReader> reader, const PublicConstants& constants) {
  if (constants.standardisation.empty()) return reader;
  check<DataError>(
      !reader->sparse(),
      "the records are sparse, and the model's are standardised: their zeros would become numbers. Convert "
      "them to .h5 or .csv.");
  return std::make_unique<ScaledReader>(std::move(reader),
                                        ColumnScales{constants.standardisation, constants.label_standardisation});
}

}  // namespace

std::unique_ptr<RecordReader> scale_columns(std::unique_ptr<RecordReader> reader, const ReadSettings& settings) {
  if (settings.constants) return scale_as(std::move(reader), *settings.constants);
  if (!settings.scales_columns()) return reader;
  check(settings.standardise.empty() || settings.ranges.empty(),
        "--ranges and --standardise: either says how columns are scaled. Give one of them.");
  const bool is_range = settings.standardise.empty();
  const ColumnTableForm& form = is_range ? ranges_form() : standardise_form();
  const std::string& path = is_range ? settings.ranges : settings.standardise;
  check(settings.scale == 1,
        "--scale {} and {}: the constants are those of the features as they stand there. Leave --scale out.",
        settings.scale, form.option);
  check(!reader->sparse(),
        "{} with sparse records: their zeros would all become numbers. Convert them to .h5 or .csv first.",
        form.option);
  if (!is_range && path.starts_with(values_of_columns)) {
    ColumnScales scales = scales_in(path, *reader);
    return std::make_unique<ScaledReader>(std::move(reader), std::move(scales));
  }
  const ColumnTable table = read_column_table(path, form, *reader);
  check(!table.label || settings.labels_stay.empty(),
        "{} {} has a line for the label: {}, and scaled ones would be others. Leave the line out.", form.option, path,
        settings.labels_stay);
  check(!table.label || (settings.positive.empty() && settings.class_labels.empty() && settings.ignore.empty()),
        "{} {} has a line for the label: --positive, --class-labels and --ignore speak of labels that are classes. "
        "Leave the line or these options out.",
        form.option, path);
  return std::make_unique<ScaledReader>(std::move(reader), scales_of(table, is_range));
}

}  // namespace starling
