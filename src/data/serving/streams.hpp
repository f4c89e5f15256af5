/// Kinds of streams. Other modules call open_dataset.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "data/generators/synthetic.hpp"
#include "data/serving/person_uses.hpp"
#include "data/stream.hpp"
#include "planned_stream.hpp"
#include "scan.hpp"

namespace starling {

/// Records in order. Records that are left out keep their position without their values.
class StoredRecords {
 public:
  void add(const Record& record);
  /// Shows the records at positions first … first + count − 1 that are not left out. The records must stay in place.
  void show(std::int64_t first, std::int64_t count, Batch& batch) const {
    const std::size_t from = kept_before(static_cast<std::size_t>(first));
    batch.show(records_, from, kept_before(static_cast<std::size_t>(first + count)) - from);
  }
  /// Releases memory in excess of the records.
  void shrink();

 private:
  [[nodiscard]] std::size_t kept_before(std::size_t place) const {
    if (kept_before_.empty()) return place;
    return place < kept_before_.size() ? kept_before_[place] : records_.size();
  }

  Batch records_;
  std::size_t places_ = 0;
  std::vector<std::size_t> kept_before_;  ///< records before each place; empty where none is left out
};

/// A client's records, held in memory as compactly as in the file, served in file order.
class StoredStream final : public PlannedStream {
 public:
  /// `shown` receives a round's records. Clients may share one batch.
  StoredStream(Secret<StoredRecords> records, const Passes& passes, std::shared_ptr<Secret<Batch>> shown)
      : PlannedStream(passes), records_(std::move(records)), shown_(std::move(shown)) {}
  [[nodiscard]] const Secret<Batch>& next(Round t) override;

 private:
  Secret<StoredRecords> records_;
  std::shared_ptr<Secret<Batch>> shown_;
};

class FileStream;

/// Shared state of the streams of one source: the open file and the records read from it, for one client or for many in
/// turn.
struct FileSource {
  FileSource(NumberedReader numbered, DataSettings read_as)
      : reader(std::move(numbered)), settings(std::move(read_as)) {}
  NumberedReader reader;
  DataSettings settings;
  Record record = {};
  FileStream* user = nullptr;  ///< the last stream to read
};

/// A client's records, read from the source as they are needed: any amount of data in the memory of one batch.
class FileStream final : public PlannedStream {
 public:
  /// `batch` receives a round's records. Clients may share one batch.
  FileStream(std::shared_ptr<FileSource> source, Share share, const Passes& passes,
             std::shared_ptr<Secret<Batch>> batch)
      : PlannedStream(passes), source_(std::move(source)), share_(std::move(share)), batch_(std::move(batch)) {}
  ~FileStream() override {
    if (source_->user == this) source_->user = nullptr;
  }
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;
  [[nodiscard]] const Secret<Batch>& next(Round t) override;

 private:
  /// Number in the source of the client's record i.
  [[nodiscard]] std::int64_t number_of(std::int64_t i);
  void take_the_reader();

  std::shared_ptr<FileSource> source_;
  Share share_;
  std::shared_ptr<Secret<Batch>> batch_;
  std::optional<RecordIndex::Entry> place_;  // where the reader stood when another client took it
  std::size_t run_ = 0;                      // where number_of looked last
  std::int64_t before_run_ = 0;              // records of the share in the runs before it
};

/// Records that arrive through a pipe: one pass, without going back. An unreadable row cannot be refused beforehand, as
/// a row of a file is. Such a row is left out and keeps its position, so that others cannot tell this row from any
/// other. The owner is told.
class LiveStream final : public Stream {
 public:
  LiveStream(std::unique_ptr<RecordReader> reader, const DataSettings& settings)
      : reader_(std::move(reader)), settings_(settings) {}
  /// Batches of persons, as PersonSlots says: in `settings.person_rounds` rounds at most each.
  LiveStream(std::unique_ptr<RecordReader> reader, const DataSettings& settings,
             std::shared_ptr<Secret<PersonUses>> uses)
      : LiveStream(std::move(reader), settings) {
    uses_ = std::move(uses);
  }
  [[nodiscard]] const Secret<Batch>& next(Round t) override;
  [[nodiscard]] bool ended(Round t) override;
  void plan(const Batching& batching) override;
  [[nodiscard]] std::optional<std::int64_t> planned(Round t) const override {
    return sizes_ ? std::optional(sizes_->at(t)) : std::nullopt;
  }
  [[nodiscard]] std::int64_t participations() const override { return served_ ? 1 : 0; }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return std::nullopt; }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const override { return std::nullopt; }
  [[nodiscard]] std::optional<Round> rounds() const override { return std::nullopt; }
  [[nodiscard]] std::int64_t uses_of_pass() const override { return uses_ ? settings_.person_rounds.value_or(1) : 1; }

 private:
  /// Takes the records of a round that are not left out.
  template <class Take>
  void read_round(const Take& take);
  /// Waits for the next record. Returns false at the end.
  [[nodiscard]] bool fetch();

  std::unique_ptr<RecordReader> reader_;
  DataSettings settings_;
  std::shared_ptr<const BatchSizes> sizes_;  ///< null where all batches have one
  Record record_;
  bool waiting_ = false;   // record_ has been read and not yet been served
  bool left_out_ = false;  // and is not to be
  bool over_ = false;
  bool served_ = false;
  Round next_ = 0;
  Secret<Batch> batch_;
  std::shared_ptr<Secret<PersonUses>> uses_;  ///< of unit person
  PersonSlots slots_;                         ///< of the round at hand
};

/// Shared state of the streams of one generator, whose records are drawn on request, and the batch of the last request.
struct GeneratedSource {
  std::shared_ptr<const Generator> generator;
  std::function<double(double)> label_map;  ///< may throw DataError
  std::uint64_t seed;
  PassPlan passes;
  Vector values = Vector(generator->features());
  Secret<Batch> batch = Secret<Batch>();
};

/// Generated records of one client. Round t of a pass is drawn from the address (seed, data, client, t + 1), so a
/// second pass gives the same records again. Batches are filled, however records are to be dealt: all clients have as
/// many, and what a round draws depends on its number of records.
class GeneratedStream final : public Stream {
 public:
  GeneratedStream(std::shared_ptr<GeneratedSource> source, Client client)
      : source_(std::move(source)), client_(client) {}
  [[nodiscard]] const Secret<Batch>& next(Round t) override;
  [[nodiscard]] bool ended(Round t) override { return source_->passes.ended(t); }
  [[nodiscard]] std::optional<std::int64_t> planned(Round t) const override { return source_->passes.slice(t).count; }
  void plan(const Batching& batching) override {
    if (batching.sizes) source_ = std::make_shared<GeneratedSource>(*source_);  // those of this client alone
    source_->passes = source_->passes.with({batching.batch, batching.epochs, {}, batching.sizes});
    next_ = 0;
  }
  [[nodiscard]] std::int64_t participations() const override { return source_->passes.participations(next_); }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return source_->passes.records(); }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const override { return source_->passes.rounds_of_pass(); }
  [[nodiscard]] std::optional<Round> rounds() const override { return source_->passes.rounds(); }

 private:
  std::shared_ptr<GeneratedSource> source_;  ///< others' too, where batches are shared
  Client client_;
  Round next_ = 0;
};

}  // namespace starling
