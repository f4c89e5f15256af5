#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/cells/keys.hpp"
#include "data/forwarding_reader.hpp"
#include "data/label_rules.hpp"
#include "readers.hpp"

namespace starling {

namespace {

class PreparedReader final : public ForwardingReader {
 public:
  PreparedReader(std::unique_ptr<RecordReader> reader, LabelRules labels, double scale)
      : ForwardingReader(std::move(reader)), labels_(std::move(labels)), scale_(scale) {}

  bool next(Record& record) override {
    if (!reader_->next(record)) return false;
    take_label(record);
    scale(record);
    return true;
  }
  bool next_label(Record& record) override {
    if (!reader_->next_label(record)) return false;
    take_label(record);
    return true;
  }

  [[nodiscard]] PublicConstants constants() const override {
    PublicConstants constants = reader_->constants();
    constants.scale = scale_;
    constants.positive = labels_.positive();
    constants.class_labels = labels_.classes();
    constants.ignore = labels_.ignored();
    return constants;
  }

 private:
  void take_label(Record& record) const {
    record.left_out = labels_.ignores(record.label);
    if (!record.left_out) record.label = labels_.mapped(record.label, *this);
  }

  void scale(Record& record) const {
    if (scale_ == 1) return;
    bool finite = true;
    for (double& value : record.values) {
      value *= scale_;
      finite = finite && std::isfinite(value);
    }
    if (finite) return;
    throw RecordError(fmt::format(
        "{}: a feature times --scale {} is beyond the range of double precision: too large. Give a smaller --scale.",
        where(), scale_));
  }

  LabelRules labels_;
  double scale_;
};

/// Refuses records without a person, or leaves them out.
class PersonReader final : public ForwardingReader {
 public:
  PersonReader(std::unique_ptr<RecordReader> reader, std::string column, bool drops)
      : ForwardingReader(std::move(reader)), column_(std::move(column)), drops_(drops) {}

  bool next(Record& record) override {
    record.left_out = false;
    if (!reader_->next(record)) return false;
    look_at_person(record);
    return true;
  }
  bool next_label(Record& record) override {
    record.left_out = false;
    if (!reader_->next_label(record)) return false;
    look_at_person(record);
    return true;
  }

 private:
  void look_at_person(Record& record) const {
    if (!is_missing_key(record.key)) return;
    check<RecordError>(drops_,
                       "{}: the person is missing: column '{}' of --person is empty, and nobody knows whose record it "
                       "is. Complete it, or give --missing-person drop.",
                       where(), column_);
    record.left_out = true;
    record.key.clear();
  }

  std::string column_;
  bool drops_;
};

class KeptReader final : public ForwardingReader {
 public:
  using ForwardingReader::ForwardingReader;

  bool next(Record& record) override {
    do {
      if (!reader_->next(record)) return false;
    } while (record.left_out);
    return true;
  }
  bool next_label(Record& record) override { return next(record); }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return std::nullopt; }
};

/// None where nobody needs labels: a record without one has 0.
std::vector<double> class_labels_of(const ReadSettings& settings) {
  using Labels = ReadSettings::Labels;
  if (settings.labels == Labels::optional || settings.labels == Labels::none) return {};
  return settings.constants ? settings.constants->class_labels : settings.class_labels;
}

}  // namespace

std::unique_ptr<RecordReader> without_left_out(std::unique_ptr<RecordReader> reader) {
  return std::make_unique<KeptReader>(std::move(reader));
}

std::unique_ptr<RecordReader> prepare(std::unique_ptr<RecordReader> reader, const ReadSettings& settings) {
  const double scale = settings.constants ? settings.constants->scale : settings.scale;
  check(std::isfinite(scale) && scale != 0,
        "scale={}: must be finite and not 0: every feature is multiplied by it. Give --scale another factor.", scale);
  LabelRules labels(settings.constants ? settings.constants->ignore : settings.ignore,
                    settings.constants ? settings.constants->positive : settings.positive, class_labels_of(settings));
  reader = order_features(std::move(reader), settings);
  reader = fill_missing(std::move(reader), settings);
  reader = scale_columns(std::move(reader), settings);
  reader = make_features(std::move(reader), settings);
  if (!labels.empty() || scale != 1)
    reader = std::make_unique<PreparedReader>(std::move(reader), std::move(labels), scale);
  reader = describe_pictures(std::move(reader), settings);
  if (settings.key.empty() || settings.missing_key == ReadSettings::MissingKey::group) return reader;
  return std::make_unique<PersonReader>(std::move(reader), settings.key,
                                        settings.missing_key == ReadSettings::MissingKey::drop);
}

}  // namespace starling
