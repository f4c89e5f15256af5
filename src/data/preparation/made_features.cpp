// Missing values, and the features that columns become: numbers, categories of 0 and 1, and indicators.
#include <algorithm>
#include <cmath>
#include <utility>

#include "column_table.hpp"
#include "core/check.hpp"
#include "data/formats/readers.hpp"
#include "data/forwarding_reader.hpp"

namespace starling {

namespace {

using Missing = ReadSettings::Missing;

const ColumnTableForm& missing_form() {
  static const ColumnTableForm form{"--missing constant:FILE",
                                    {"value"},
                                    "a value stands for what is missing",
                                    [](const std::string&, const ColumnLine&) {},
                                    "a missing label is always refused"};
  return form;
}

/// Puts constants in the places of missing values.
class FilledReader final : public ForwardingReader {
 public:
  FilledReader(std::unique_ptr<RecordReader> reader, std::vector<double> fill)
      : ForwardingReader(std::move(reader)), fill_(std::move(fill)) {}

  bool next(Record& record) override {
    if (!reader_->next(record)) return false;
    for (std::size_t j = 0; j < fill_.size(); ++j) {
      if (std::isnan(record.values[j])) record.values[j] = fill_[j];
    }
    return true;
  }

  [[nodiscard]] PublicConstants constants() const override {
    PublicConstants constants = reader_->constants();
    constants.missing = Missing::constant;
    constants.fill = fill_;
    return constants;
  }

 private:
  std::vector<double> fill_;
};

/// Makes the features of scaled columns.
class MadeReader final : public ForwardingReader {
 public:
  MadeReader(std::unique_ptr<RecordReader> reader, PublicConstants constants, bool shows_missing)
      : ForwardingReader(std::move(reader)),
        constants_(std::move(constants)),
        made_(constants_.made_features()),
        shows_missing_(shows_missing) {}

  bool next(Record& record) override {
    if (!reader_->next(record)) return false;
    features_.clear();
    for (const ColumnFeature& feature : made_) features_.push_back(value_of(feature, record.values[feature.column]));
    std::swap(record.values, features_);
    return true;
  }

  [[nodiscard]] std::size_t features() const override { return made_.size(); }
  [[nodiscard]] std::vector<std::string> names() const override { return constants_.feature_names(); }
  [[nodiscard]] PublicConstants constants() const override { return constants_; }

 private:
  [[nodiscard]] double value_of(const ColumnFeature& feature, double value) const {
    using Kind = ColumnFeature::Kind;
    if (feature.kind == Kind::missing) return std::isnan(value) ? 1 : 0;
    if (feature.kind == Kind::category) return value == static_cast<double>(feature.category) ? 1 : 0;
    return std::isnan(value) && !shows_missing_ ? 0 : value;
  }

  PublicConstants constants_;
  std::vector<ColumnFeature> made_;
  bool shows_missing_;
  Vector features_;  // of the record at hand; its storage is reused
};

std::vector<double> fill_of(const RecordReader& reader, const ReadSettings& settings) {
  if (settings.constants) return settings.constants->fill;
  std::vector<double> fill;
  const ColumnTable table = read_column_table(settings.missing_constants, missing_form(), reader);
  for (const auto& line : table.features) fill.push_back(line ? line->last : 0);
  return fill;
}

}  // namespace

Missing missing_rule(const ReadSettings& settings) {
  return settings.constants ? settings.constants->missing : settings.missing;
}

std::unique_ptr<RecordReader> fill_missing(std::unique_ptr<RecordReader> reader, const ReadSettings& settings) {
  const Missing missing = missing_rule(settings);
  check(
      missing == Missing::refuse || !reader->sparse(),
      "--missing with sparse records: they have no missing values, since what is not there is 0. Leave --missing out.");
  if (missing != Missing::constant) return reader;
  auto fill = fill_of(*reader, settings);
  return std::make_unique<FilledReader>(std::move(reader), std::move(fill));
}

std::unique_ptr<RecordReader> make_features(std::unique_ptr<RecordReader> reader, const ReadSettings& settings) {
  PublicConstants constants = reader->constants();
  const Missing missing = missing_rule(settings);
  const bool fills_zeros = missing == Missing::zero || missing == Missing::indicator;
  const bool one_hot =
      std::ranges::any_of(constants.categories, [](const auto& each) { return each.one_hot.has_value(); });
  if (!fills_zeros && !one_hot) return reader;
  constants.missing = missing;
  return std::make_unique<MadeReader>(std::move(reader), std::move(constants), settings.shows_missing);
}

}  // namespace starling
