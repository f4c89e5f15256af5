#include "first_reading.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "core/batch.hpp"
#include "core/digest.hpp"
#include "data/forwarding_reader.hpp"

namespace starling {

/// All records of a source in their order, and what its reader says at the end.
struct FirstReading::Source {
  std::string settings;  ///< settings_of_reading()
  Batch records;
  std::vector<std::int64_t> rows;
  std::vector<std::string> keys;  ///< empty where no column is a key
  std::string place;              ///< in messages, before the number of a row
  std::int64_t first_row = 0;     ///< before the first record
  std::size_t bytes = 0;
  std::size_t features = 0;
  bool sparse = false;
  std::vector<std::string> names;
  std::string label_name;
  PublicConstants constants;
};

namespace {

/// Settings that decide what a reader gives before records are prepared.
std::string settings_of_reading(const ReadSettings& settings) {
  std::vector<std::string> words = settings.drop;
  words.insert(words.end(), {settings.format, settings.label, settings.id, settings.key, settings.delimiter,
                             settings.encode, settings.missing_constants});
  const std::vector<std::size_t> numbers{static_cast<std::size_t>(settings.labels),
                                         static_cast<std::size_t>(settings.decimal),
                                         static_cast<std::size_t>(settings.header),
                                         static_cast<std::size_t>(settings.missing), settings.dimension.value_or(0)};
  return fmt::format("{} {}", fmt::join(numbers, " "), fmt::join(words, "\n"));
}

/// Reads records that were kept, also by marks that the files' own reader has given.
class ReaderFromMemory final : public RecordReader {
 public:
  explicit ReaderFromMemory(std::shared_ptr<const FirstReading::Source> source) : source_(std::move(source)) {}

  bool next(Record& record) override {
    if (at_ == source_->records.size()) return false;
    const Row row = source_->records.row(at_);
    record.values.assign(row.values.begin(), row.values.end());
    record.index.assign(row.index.begin(), row.index.end());
    record.sparse = source_->sparse;
    record.label = source_->records.label(at_);
    if (!source_->keys.empty()) record.key = source_->keys[at_];
    ++at_;
    return true;
  }
  [[nodiscard]] std::size_t features() const override { return source_->features; }
  [[nodiscard]] bool sparse() const override { return source_->sparse; }
  [[nodiscard]] std::vector<std::string> names() const override { return source_->names; }
  [[nodiscard]] std::string label_name() const override { return source_->label_name; }
  [[nodiscard]] PublicConstants constants() const override { return source_->constants; }
  [[nodiscard]] std::string where() const override { return fmt::format("{}{}", source_->place, row()); }
  [[nodiscard]] Mark mark() const override { return {at_, row()}; }
  /// Places of the files' readers have other offsets, and the same rows.
  void seek(const Mark& mark) override {
    at_ = static_cast<std::size_t>(std::ranges::upper_bound(source_->rows, mark.row) - source_->rows.begin());
  }

 private:
  [[nodiscard]] std::int64_t row() const { return at_ == 0 ? source_->first_row : source_->rows[at_ - 1]; }

  std::shared_ptr<const FirstReading::Source> source_;
  std::size_t at_ = 0;
};

}  // namespace

/// Keeps what it reads, unless somebody takes another step than to the next record, or there is no room.
class KeepingReader final : public ForwardingReader {
 public:
  KeepingReader(std::unique_ptr<RecordReader> reader, std::string name, const ReadSettings& settings,
                FirstReading& first)
      : ForwardingReader(std::move(reader)), name_(std::move(name)), first_(first) {
    kept_ = std::make_unique<FirstReading::Source>();
    kept_->settings = settings_of_reading(settings);
    kept_->first_row = reader_->mark().row;
    has_keys_ = !settings.key.empty();
  }

  bool next(Record& record) override {
    std::unique_ptr<FirstReading::Source> kept = std::move(kept_);  // of no use if this throws
    const bool found = reader_->next(record);
    if (kept == nullptr) return found;
    if (!found) {
      keep(std::move(kept));
    } else if (add(*kept, record)) {
      kept_ = std::move(kept);
    } else {
      first_.sources_[name_] = nullptr;
    }
    return found;
  }
  bool next_label(Record& record) override {
    kept_ = nullptr;
    return reader_->next_label(record);
  }
  void seek(const Mark& mark) override {
    kept_ = nullptr;
    reader_->seek(mark);
  }

 private:
  /// False if there is no room for the record.
  bool add(FirstReading::Source& kept, const Record& record) const {
    constexpr std::size_t of_record = 3 * sizeof(double);  // its label, its row, and where its values end
    kept.bytes += record.values.size() * sizeof(double) + record.index.size() * sizeof(std::int32_t) + of_record +
                  (has_keys_ ? sizeof(std::string) + record.key.size() : 0);
    if (kept.bytes > first_.room_) return false;
    if (kept.rows.empty()) kept.place = place();
    kept.records.add(record.row(), record.label);
    kept.rows.push_back(reader_->mark().row);
    if (has_keys_) kept.keys.push_back(record.key);
    return true;
  }

  [[nodiscard]] std::string place() const {
    const std::string where = reader_->where();
    return where.substr(0, where.find_last_of(' ') + 1);
  }

  void keep(std::unique_ptr<FirstReading::Source> kept) const {
    if (kept->rows.empty()) kept->place = place();
    kept->features = reader_->features();
    kept->sparse = reader_->sparse();
    kept->names = reader_->names();
    kept->label_name = reader_->label_name();
    kept->constants = reader_->constants();
    first_.room_ -= std::min(first_.room_, kept->bytes);
    first_.sources_[name_] = std::move(kept);
  }

  std::string name_;
  FirstReading& first_;
  std::unique_ptr<FirstReading::Source> kept_;  ///< null once it is of no use
  bool has_keys_ = false;
};

std::unique_ptr<RecordReader> FirstReading::open(const std::string& source, const ReadSettings& settings,
                                                 const std::function<std::unique_ptr<RecordReader>()>& open) {
  const auto known = sources_.find(source);
  if (known == sources_.end()) {
    std::unique_ptr<RecordReader> reader = open();
    if (reader->records()) {  // read in pieces, by several ranks
      for (const std::string& file : files_of(source)) static_cast<void>(digest(file));
    }
    if (reader->records() || settings.constants || room_ == 0) return reader;
    return std::make_unique<KeepingReader>(std::move(reader), source, settings, *this);
  }
  const bool same = known->second && !settings.constants && known->second->settings == settings_of_reading(settings);
  return same ? std::make_unique<ReaderFromMemory>(known->second) : open();
}

void FirstReading::forget_records() {
  sources_.clear();
  room_ = 0;
}

std::string FirstReading::digest(const std::string& file) {
  if (const auto read = of_bytes_read_.find(file); read != of_bytes_read_.end()) return read->second;
  std::string& known = of_files_[file];
  if (known.empty()) known = sha256_of_file(file);
  return known;
}

bool FirstReading::files_stayed() const {
  return std::ranges::all_of(of_files_, [](const auto& each) { return sha256_of_file(each.first) == each.second; });
}

}  // namespace starling
