/// The pass over a source before the first round.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/serving/dataset.hpp"
#include "data/serving/partition.hpp"
#include "data/source.hpp"

namespace starling {

/// Digests of records as they were read first, by which a changed record is noticed when it is read again. A change
/// goes unnoticed with probability 2^-32. A record takes four bytes, in blocks, so that a rank needs room for its own
/// share.
class RecordDigests {
 public:
  /// Notes the fingerprint of a record that is read first. Returns whether it is that of the first reading.
  [[nodiscard]] bool same(std::int64_t record, std::uint64_t fingerprint) {
    const std::uint32_t digest = std::max(static_cast<std::uint32_t>(fingerprint >> 32), std::uint32_t{1});
    std::uint32_t& known = at(record);
    if (known == 0) known = digest;
    return known == digest;
  }
  /// The digest of a record that was read; 0 of another.
  [[nodiscard]] std::uint32_t& at(std::int64_t record) {
    const auto block = static_cast<std::size_t>(record / size);
    if (block >= blocks_.size()) blocks_.resize(block + 1);
    if (!blocks_[block]) blocks_[block] = std::make_unique<Block>();
    return (*blocks_[block])[static_cast<std::size_t>(record % size)];
  }

 private:
  static constexpr std::int64_t size = 1024;
  using Block = std::array<std::uint32_t, size>;
  std::vector<std::unique_ptr<Block>> blocks_;
};

/// Marks of every k-th record, so that any record is found again without reading all records before it; and what tells
/// whether it is still the same.
class RecordIndex {
 public:
  struct Entry {
    std::int64_t record = 0;
    Mark mark;
  };
  /// Index of a source whose records are found by number.
  RecordIndex() = default;
  /// Index of a source whose marks must be noted.
  explicit RecordIndex(Mark first) : direct_(false), marks_{first} {}
  /// Notes the mark of `record`, which comes after all records noted before.
  void note(std::int64_t record, const Mark& mark) {
    if (!direct_ && record == static_cast<std::int64_t>(marks_.size()) * stride) marks_.push_back(mark);
  }
  [[nodiscard]] RecordDigests& digests() { return digests_; }
  [[nodiscard]] bool direct() const { return direct_; }
  [[nodiscard]] bool due(std::int64_t record) const { return !direct_ && record % stride == 0; }
  /// Last known mark at or before a record.
  [[nodiscard]] Entry before(std::int64_t record) const {
    if (direct_) return {record, Mark{static_cast<std::uint64_t>(record), record}};
    const std::size_t k = std::min(static_cast<std::size_t>(record / stride), marks_.size() - 1);
    return {static_cast<std::int64_t>(k) * stride, marks_[k]};
  }

 private:
  static constexpr std::int64_t stride = 1024;
  RecordDigests digests_;
  bool direct_ = true;
  std::vector<Mark> marks_;
};

/// Reads records by number, in any order, fastest in ascending order.
class NumberedReader {
 public:
  NumberedReader(std::unique_ptr<RecordReader> reader, std::shared_ptr<RecordIndex> index)
      : reader_(std::move(reader)), index_(std::move(index)) {}
  /// Throws DataError, also if the source has become shorter, or the record is another than when it was read before.
  void read(std::int64_t number, Record& record);
  /// Current position, for a return after others have used the reader.
  [[nodiscard]] RecordIndex::Entry place() const { return {next_, reader_->mark()}; }
  void go_to(const RecordIndex::Entry& place);
  [[nodiscard]] const RecordReader& reader() const { return *reader_; }

 private:
  std::unique_ptr<RecordReader> reader_;
  std::shared_ptr<RecordIndex> index_;
  std::int64_t next_ = 0;
};

/// Results of the pass.
struct Scan {
  Found found;
  std::size_t features = 0;
  bool sparse = false;
  std::vector<std::string> names;  ///< of the features; empty if the source has none
  PublicConstants constants;
  std::int64_t entries = 0;  ///< stored values of all records
  std::shared_ptr<RecordIndex> index;
  /// Fingerprint of all records that were read, which distinguishes sources. Where not all records were read, the
  /// fingerprint of their number, their width and the first record.
  std::string fingerprint;
};

/// Reads all records, unless the format gives their number and `look` needs no more. Throws DataError, also for a
/// source without records or without features.
[[nodiscard]] Scan scan(const std::string& source, const DataSettings& settings, Partition::Look look);

/// Replaces the label of the record that `reader` has just read by the loss's own form. Throws DataError, naming the
/// place, for a label that does not fit the loss.
void map_label(const DataSettings& settings, const RecordReader& reader, Record& record);

}  // namespace starling
