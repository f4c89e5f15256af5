/// Opens the streams of shares of a source.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

#include "core/check.hpp"
#include "data/fingerprint.hpp"
#include "data/formats/gz_file.hpp"
#include "data/serving/partition.hpp"
#include "persons.hpp"
#include "scan.hpp"
#include "streams.hpp"

namespace starling {

/// Half of the files that this process may open, and no more than their buffers are worth, some 200 kB each. Ranks need
/// not agree: streams give the same records either way.
inline std::size_t usual_readers() {
  constexpr rlim_t most = 1024;
  rlimit files{most, most};
  static_cast<void>(getrlimit(RLIMIT_NOFILE, &files));
  return static_cast<std::size_t>(std::clamp<rlim_t>(files.rlim_cur / 2, 1, most));
}

inline Passes make_passes(const DataSettings& settings, std::int64_t records) {
  return {records, settings.batching()};
}

/// The streams of some clients of one source, kept in memory or not.
class ShareOpener {
 public:
  ShareOpener(std::string source, const DataSettings& settings, const Scan& scan)
      : source_(std::move(source)), settings_(settings), scan_(scan) {}

  /// Fingerprint of the records of each share as they were read on opening.
  [[nodiscard]] std::vector<std::uint64_t> contents(const std::vector<Share>& shares,
                                                    const std::shared_ptr<const Persons>& persons) const {
    std::vector<std::uint64_t> contents;
    for (const Share& share : shares) {
      Fingerprint fingerprint;
      const Share records = persons ? records_of(share, *persons) : share;
      for (const Share::Run& run : records.runs()) {
        for (std::int64_t i = run.first; i < run.first + run.count; ++i) fingerprint.add(scan_.index->digests().at(i));
      }
      contents.push_back(fingerprint.value());
    }
    return contents;
  }

  /// Reads the shares once, so that unfit records are found on opening.
  [[nodiscard]] std::vector<std::unique_ptr<Stream>> open(const std::vector<Share>& shares) const {
    std::vector<std::unique_ptr<Stream>> streams;
    streams.reserve(shares.size());
    std::shared_ptr<Secret<Batch>> batch;
    const auto room = [&] {
      if (!batch || settings_.batches == DataSettings::Batches::own) batch = std::make_shared<Secret<Batch>>();
      return batch;
    };
    if (fit_in_memory(shares)) {
      for (Secret<StoredRecords>& records : read(shares)) {
        const Passes passes = make_passes(settings_, shares[streams.size()].size());
        streams.push_back(std::make_unique<StoredStream>(std::move(records), passes, room()));
      }
      return streams;
    }
    const bool own_readers = shares.size() <= settings_.readers.value_or(usual_readers());
    if (!own_readers) refuse_to_share_gzip(shares.size());
    if (scan_.index->direct())
      read_through(shares, [](std::size_t, const Record&, std::int64_t) {});  // else the scan has read all
    std::shared_ptr<FileSource> source;
    for (const Share& share : shares) {
      if (!source || own_readers) source = std::make_shared<FileSource>(reader(), settings_);
      streams.push_back(std::make_unique<FileStream>(source, share, make_passes(settings_, share.size()), room()));
    }
    return streams;
  }

  /// The same for shares of persons. Records that do not fit into memory are read by number, client by client.
  [[nodiscard]] std::vector<std::unique_ptr<Stream>> open(const std::vector<Share>& shares,
                                                          const std::shared_ptr<const Persons>& persons) const {
    std::vector<Share> of_records;
    for (const Share& share : shares) of_records.push_back(records_of(share, *persons));
    // How many records persons have is private, so that no refusal may depend on it.
    const bool stored = is_one_gzipped_file() || fit_in_memory(of_records);
    std::vector<std::shared_ptr<StoredPersonRecords>> kept(shares.size());
    for (auto& each : kept) each = std::make_shared<StoredPersonRecords>();
    if (stored || scan_.index->direct()) {
      read_through(of_records, [&](std::size_t k, const Record& record, std::int64_t number) {
        if (stored) kept[k]->keep(number, record);
      });
    }
    std::shared_ptr<PersonRecords> from_file;
    if (!stored) from_file = std::make_shared<FilePersonRecords>(reader(), settings_);
    const auto batch = std::make_shared<Secret<Batch>>();
    std::vector<std::unique_ptr<Stream>> streams;
    for (std::size_t k = 0; k < shares.size(); ++k) {
      const bool own = settings_.batches == DataSettings::Batches::own;
      streams.push_back(std::make_unique<PersonStream>(persons, shares[k], stored ? kept[k] : from_file,
                                                       make_passes(settings_, shares[k].size()),
                                                       own ? std::make_shared<Secret<Batch>>() : batch));
    }
    return streams;
  }

 private:
  /// False of records in memory, which have no file.
  [[nodiscard]] bool is_one_gzipped_file() const {
    const std::vector<std::string> files = files_of(source_);
    return !files.empty() && is_gzipped(files.front());
  }

  static Share records_of(const Share& share, const Persons& persons) {
    std::vector<std::int64_t> numbers;
    for (const Share::Run& run : share.runs()) {
      for (std::int64_t person = run.first; person < run.first + run.count; ++person) {
        const auto own = persons.records(person);
        numbers.insert(numbers.end(), own.begin(), own.end());
      }
    }
    std::sort(numbers.begin(), numbers.end());
    Share records;
    for (const std::int64_t number : numbers) records.add(number);
    return records;
  }

  [[nodiscard]] NumberedReader reader() const { return {open_reader(source_, settings_), scan_.index}; }

  /// Each client's turn would inflate the file anew, up to where its records are.
  void refuse_to_share_gzip(std::size_t clients) const {
    check(!is_one_gzipped_file(),
          "'{}': {} clients of a rank read it again: their records do not fit into --memory; a rank reads a gzipped "
          "file for {} at most, within half of ulimit -n. Unpack it, raise --memory, or use more ranks.",
          files_of(source_).empty() ? source_ : files_of(source_).front(), clients,
          settings_.readers.value_or(usual_readers()));
  }

  /// Values are eight bytes; sparse ones have an index of four; a record has its label and its end.
  [[nodiscard]] bool fit_in_memory(const std::vector<Share>& shares) const {
    std::int64_t own = 0;
    for (const Share& share : shares) own += share.size();
    const double bytes =
        static_cast<double>(scan_.entries) * (scan_.sparse ? 12 : 8) + static_cast<double>(scan_.found.records) * 16;
    return bytes * static_cast<double>(own) / static_cast<double>(scan_.found.records) <=
           static_cast<double>(settings_.memory);
  }

  /// One pass in the source's order, however the records are dealt: `use` gets the number of the share, the record and
  /// its number.
  template <class Use>
  void read_through(const std::vector<Share>& shares, const Use& use) const {
    struct Piece {
      Share::Run run;
      std::size_t share;
    };
    std::vector<Piece> pieces;
    for (std::size_t k = 0; k < shares.size(); ++k) {
      for (const Share::Run& run : shares[k].runs()) pieces.push_back({run, k});
    }
    if (pieces.empty()) return;
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.run.first < b.run.first; });
    NumberedReader records = reader();
    Record record;
    for (const Piece& piece : pieces) {
      for (std::int64_t i = piece.run.first; i < piece.run.first + piece.run.count; ++i) {
        records.read(i, record);
        map_label(settings_, records.reader(), record);
        use(piece.share, record, i);
      }
    }
  }

  [[nodiscard]] std::vector<Secret<StoredRecords>> read(const std::vector<Share>& shares) const {
    std::vector<Secret<StoredRecords>> records(shares.size());
    read_through(shares, [&records](std::size_t k, const Record& record, std::int64_t) {
      records[k].update([&record](StoredRecords& share) { share.add(record); });
    });
    for (Secret<StoredRecords>& share : records) share.update([](StoredRecords& stored) { stored.shrink(); });
    return records;
  }

  std::string source_;
  DataSettings settings_;
  const Scan& scan_;
};

}  // namespace starling
