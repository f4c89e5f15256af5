#include "readers.hpp"
#include <algorithm>
#include <cmath>
#include <utility>

#include "starling/core/check.hpp"

namespace starling {

namespace {

bool contains(const std::vector<double>& labels, double label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

class PreparedReader final : public RecordReader {
 public:
  PreparedReader(std::unique_ptr<RecordReader> reader, const ReadSettings& settings)
      : reader_(std::move(reader)), ignore_(settings.ignore), positive_(settings.positive), scale_(settings.scale) {}

  bool next(Record& record) override {
    do {
      if (!reader_->next(record)) return false;
    } while (contains(ignore_, record.label));
    map_label(record);
    scale(record);
    return true;
  }
  bool next_label(Record& record) override {
    do {
      if (!reader_->next_label(record)) return false;
    } while (contains(ignore_, record.label));
    map_label(record);
    return true;
  }

  [[nodiscard]] std::size_t features() const override { return reader_->features(); }
  [[nodiscard]] bool sparse() const override { return reader_->sparse(); }
  [[nodiscard]] std::vector<std::string> names() const override { return reader_->names(); }
  [[nodiscard]] std::string where() const override { return reader_->where(); }
  [[nodiscard]] Mark mark() const override { return reader_->mark(); }
  void seek(const Mark& mark) override { reader_->seek(mark); }
  [[nodiscard]] std::optional<std::int64_t> records() const override {
    return ignore_.empty() ? reader_->records() : std::nullopt;
  }

 private:
  void map_label(Record& record) const {
    if (!positive_.empty()) record.label = contains(positive_, record.label) ? 1 : -1;
  }

  void scale(Record& record) const {
    if (scale_ == 1) return;
    bool finite = true;
    for (double& value : record.values) {
      value *= scale_;
      finite = finite && std::isfinite(value);
    }
    if (finite) return;
    throw DataError(
        fmt::format("{}: a feature times --scale {} is beyond the range of double precision (too large) "
                    "give a smaller --scale",
                    where(), scale_));
  }

  std::unique_ptr<RecordReader> reader_;
  std::vector<double> ignore_;
  std::vector<double> positive_;
  double scale_;
};

}  // namespace

std::unique_ptr<RecordReader> prepare(std::unique_ptr<RecordReader> reader, const ReadSettings& settings) {
  check(std::isfinite(settings.scale) && settings.scale != 0,
        "scale={} (must be finite and not 0: every feature is multiplied by it) give --scale another factor",
        settings.scale);
  for (const double label : settings.positive) {
    check(!contains(settings.ignore, label),
          "label {} stands in --positive and in --ignore (it cannot be both) remove one", label);
  }
  if (settings.ignore.empty() && settings.positive.empty() && settings.scale == 1) return reader;
  return std::make_unique<PreparedReader>(std::move(reader), settings);
}

}  // namespace starling
