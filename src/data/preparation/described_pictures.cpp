// Pictures described by features. The features of a picture depend on this picture alone.
#include <utility>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/formats/readers.hpp"
#include "data/forwarding_reader.hpp"
#include "gradient_histogram.hpp"

namespace starling {

namespace {

class DescribedReader final : public ForwardingReader {
 public:
  DescribedReader(std::unique_ptr<RecordReader> reader, GradientHistogram histogram)
      : ForwardingReader(std::move(reader)), histogram_(std::move(histogram)) {}

  bool next(Record& record) override {
    if (!reader_->next(record)) return false;
    if (record.sparse) fill_in(record);
    if (!histogram_.describe(record.values, features_)) {
      fail<RecordError>(
          "{}: differences of its pixels are beyond the range of double precision: --features hog is made of them. "
          "Give a smaller --scale.",
          where());
    }
    std::swap(record.values, features_);
    return true;
  }

  [[nodiscard]] std::size_t features() const override { return GradientHistogram::features; }
  [[nodiscard]] bool sparse() const override { return false; }
  [[nodiscard]] std::vector<std::string> names() const override { return histogram_.names(); }
  [[nodiscard]] PublicConstants constants() const override {
    PublicConstants constants = reader_->constants();
    constants.description = ReadSettings::Features::hog;
    return constants;
  }

 private:
  /// Makes a sparse record dense.
  void fill_in(Record& record) {
    features_.assign(histogram_.pixels(), 0);
    const Row row = record.row();
    for (std::size_t j = 0; j < row.values.size(); ++j) features_[row.feature(j)] = row.values[j];
    std::swap(record.values, features_);
    record.index.clear();
    record.sparse = false;
  }

  GradientHistogram histogram_;
  Vector features_;  // of the record at hand; its storage is reused
};

}  // namespace

std::unique_ptr<RecordReader> describe_pictures(std::unique_ptr<RecordReader> reader, const ReadSettings& settings) {
  const auto features = settings.constants ? settings.constants->description : settings.features;
  if (features == ReadSettings::Features::raw) return reader;
  check(!settings.scales_columns(),
        "{} with --features hog: differences of pixels that are scaled one by one describe no picture, and what hog "
        "finds is of one size. Leave out one of them.",
        settings.ranges.empty() ? "--standardise" : "--ranges");
  check(
      settings.missing == ReadSettings::Missing::refuse && !settings.makes_features(),
      "--missing and --encode onehot: with --features hog: a picture has all its pixels, and pixels are numbers. Leave "
      "out one of them.");
  check(
      !reader->sparse() || settings.dimension,
      "--features hog with sparse records: how many pixels a picture has cannot be told from them. Give --dimension.");
  if (reader->features() == 0) return reader;  // an empty file, or a pipe that has ended at once
  GradientHistogram histogram(reader->features());
  return std::make_unique<DescribedReader>(std::move(reader), std::move(histogram));
}

}  // namespace starling
