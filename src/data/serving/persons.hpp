/// The persons of a source, and their streams.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "planned_stream.hpp"
#include "scan.hpp"

namespace starling {

/// The records of each person of a source. Persons are numbered from 0 by first appearance.
class Persons {
 public:
  /// `found` has keys, one for each record.
  explicit Persons(const Found& found);
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
  /// Numbers of the person's records, ascending.
  [[nodiscard]] std::span<const std::int64_t> records(std::int64_t person) const {
    const auto k = static_cast<std::size_t>(person);
    return std::span(numbers_).subspan(starts_[k], starts_[k + 1] - starts_[k]);
  }
  /// What a partition deals: persons in place of records.
  [[nodiscard]] const Found& found() const { return found_; }

 private:
  std::vector<std::int64_t> numbers_;  ///< of records, person by person
  std::vector<std::size_t> starts_;    ///< of each person's numbers, and their end
  Found found_;
};

/// Records of some persons by number: held in memory, or read again.
class PersonRecords {
 public:
  virtual ~PersonRecords() = default;
  /// Adds those of these records that are not left out to `batch`, in this order.
  virtual void add(std::span<const std::int64_t> numbers, Batch& batch) = 0;
};

/// Records in memory. Numbers ascend as they are kept.
class StoredPersonRecords final : public PersonRecords {
 public:
  void keep(std::int64_t number, const Record& record);
  void add(std::span<const std::int64_t> numbers, Batch& batch) override;

 private:
  std::vector<std::int64_t> numbers_;  ///< of the records that are kept; none that is left out
  Batch records_;
};

/// Records that are read when they are needed.
class FilePersonRecords final : public PersonRecords {
 public:
  FilePersonRecords(NumberedReader reader, DataSettings settings)
      : reader_(std::move(reader)), settings_(std::move(settings)) {}
  void add(std::span<const std::int64_t> numbers, Batch& batch) override;

 private:
  NumberedReader reader_;
  DataSettings settings_;
  Record record_;
};

/// A client's persons: a slot of the stream is a person, whose records come together. A batch holds all records of its
/// persons.
class PersonStream final : public PlannedStream {
 public:
  /// `share` has numbers of persons. `batch` receives a round's records.
  PersonStream(std::shared_ptr<const Persons> persons, Share share, std::shared_ptr<PersonRecords> records,
               const Passes& passes, std::shared_ptr<Secret<Batch>> batch)
      : PlannedStream(passes),
        persons_(std::move(persons)),
        share_(std::move(share)),
        records_(std::move(records)),
        batch_(std::move(batch)) {}
  [[nodiscard]] const Secret<Batch>& next(Round t) override;

 private:
  std::shared_ptr<const Persons> persons_;
  Share share_;
  std::shared_ptr<PersonRecords> records_;
  std::shared_ptr<Secret<Batch>> batch_;
};

}  // namespace starling
