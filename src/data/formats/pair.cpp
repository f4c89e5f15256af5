#include <utility>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/faults.hpp"
#include "readers.hpp"

namespace starling {

namespace {

Vector read_labels(RecordReader& reader) {
  Vector labels;
  Record record;
  Faults faults;
  auto read = Faults::Read::fault;
  while ((read = faults.read(reader, [&] { return reader.next(record); })) != Faults::Read::end) {
    if (read == Faults::Read::record) labels.push_back(record.label);
  }
  faults.throw_all();
  return labels;
}

/// Marks have the features' offset and, as row, the number of earlier records.
class PairReader final : public RecordReader {
 public:
  PairReader(std::string source, std::unique_ptr<RecordReader> features, Vector labels)
      : source_(std::move(source)),
        features_(std::move(features)),
        labels_(std::move(labels)),
        first_row_(features_->mark().row) {
    if (const auto records = features_->records()) check_lengths(*records);
  }

  bool next(Record& record) override {
    return label(record, counted([&] { return features_->next(record); }));
  }
  bool next_label(Record& record) override {
    return label(record, counted([&] { return features_->next_label(record); }));
  }

  [[nodiscard]] std::size_t features() const override { return features_->features(); }
  [[nodiscard]] std::vector<std::string> names() const override { return features_->names(); }
  [[nodiscard]] PublicConstants constants() const override { return features_->constants(); }
  [[nodiscard]] std::string where() const override { return fmt::format("{}: record {}", source_, position_); }
  [[nodiscard]] Mark mark() const override { return {features_->mark().offset, position_}; }
  void seek(const Mark& mark) override {
    features_->seek({mark.offset, first_row_ + mark.row});
    position_ = mark.row;
  }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return features_->records(); }

 private:
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(labels_.size()); }

  /// What `read` returns. A record that cannot be read has a label too.
  template <class F>
  [[nodiscard]] bool counted(F read) {
    try {
      return read();
    } catch (const RecordError&) {
      ++position_;
      throw;
    }
  }

  /// Adds the label to the record just read, if there is one.
  [[nodiscard]] bool label(Record& record, bool found) {
    if (!found) {
      check_lengths(position_);
      return false;
    }
    if (position_ >= size()) check_lengths(count_on(record));
    record.label = labels_[static_cast<std::size_t>(position_++)];
    return true;
  }

  /// The number of records, one of which has just been read beyond the labels.
  [[nodiscard]] std::int64_t count_on(Record& record) {
    std::int64_t count = position_ + 1;
    while (features_->next(record)) ++count;
    return count;
  }

  void check_lengths(std::int64_t records) const {
    check<DataError>(records == size(), "{}: {} records of features and {} labels: each record has one label. {}.",
                     source_, records, size(), "Give files that belong together");
  }

  std::string source_;
  std::unique_ptr<RecordReader> features_;
  Vector labels_;
  std::int64_t first_row_;  // of the features, before their first record
  std::int64_t position_ = 0;
};

}  // namespace

std::unique_ptr<RecordReader> join_pair(std::string source, std::unique_ptr<RecordReader> features,
                                        RecordReader& labels) {
  return std::make_unique<PairReader>(std::move(source), std::move(features), read_labels(labels));
}

}  // namespace starling
