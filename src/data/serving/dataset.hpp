/// The data of a run: one stream of records per client of this rank, from `--source`, `--partition` and their options.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "data/constants.hpp"
#include "data/settings.hpp"
#include "data/stream.hpp"

namespace starling {

class KeptPersonUses;

/// Properties of all clients' data that a model depends on.
struct DataShape {
  std::size_t features = 0;  ///< without the intercept
  bool sparse = false;       ///< sparse data have as many features as the largest index of any client
  /// Rounds of the longest stream over all epochs; none if streams have no known end.
  std::optional<Round> rounds = std::nullopt;
  bool empty = false;  ///< of a rank without clients, or whose pipes ended at once: the rest has no meaning
  std::vector<std::string> names = {};  ///< of the features; empty if the source has none
  Client clients = 1;                   ///< on all ranks together

  /// Shape of two ranks' data together. Throws DataError for dense data of different widths or names.
  [[nodiscard]] DataShape joined(const DataShape& other) const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static DataShape parse(const std::string& text);
};

/// The data of one rank's block of clients.
struct Dataset {
  std::vector<std::unique_ptr<Stream>> streams;  ///< one per client first … first + count − 1
  /// Shape of this rank's data. With one file per client ranks see different files, and agree by `DataShape::joined`.
  DataShape shape;
  /// Constants of this rank's first source; none on a rank without records.
  std::optional<PublicConstants> constants;
  /// The persons of pipes, in unit person; checkpoints keep them. Null where no pipe has persons.
  std::shared_ptr<KeptPersonUses> person_uses;
  bool is_public = false;   ///< whether records are public: synthetic ones are
  bool replayable = true;   ///< whether open_dataset would give the same records again; pipes do not
  std::string digest;       ///< SHA-256 of a public source's description; empty for private ones
  std::string fingerprint;  ///< of the records read and of the partition; empty for generators and pipes
  std::vector<std::string> fingerprints =
      {};  ///< of the records of each client; empty where all clients share a source
  /// Fingerprints of each client's records as they were read on opening; 0 of a pipe. Empty for generators.
  std::vector<std::uint64_t> contents = {};
  bool common = false;                    ///< whether all ranks read one source, and so must have the same fingerprint
  DataShape of_joined = {.empty = true};  ///< of clients that joined later; their rounds are those of the run
  Round last_joined = 0;                  ///< round in which the last of them began
  std::string joined_fingerprint;         ///< of their sources that all ranks read

  /// The most records that a client of this rank has in a pass; none if a stream has no known end.
  [[nodiscard]] std::optional<std::int64_t> most_records() const;
  /// All streams begin anew, with other batches and passes than those of the settings. `most_records` is that of all
  /// ranks, none without a known end; where `batching` has the rounds of a pass, nobody asks for it.
  void plan(const Batching& batching, std::optional<std::int64_t> most_records = std::nullopt);
  /// Adds the data of clients that join after `round` rounds, whose numbers follow. Their streams begin there.
  void append(Dataset joined, Round round);
};

/// Opens the source for clients first … first + count − 1 out of `clients`, the `settings.earlier` first of which have
/// other sources. A source is a generator, one file or pair
/// of files that `settings.partition` deals out, one file or pipe per client, or standard input.
///
/// A file is read through before the first round, so that bad input is found in time. In HDF5 and IDX files, which find
/// records by number, each rank reads its own clients' records only. Up to `settings.memory` bytes of records stay in
/// memory; streams read the others again when they need them. Throws DataError naming file and row, UsageError for bad
/// specs and for a gzipped file that too many clients would read again.
[[nodiscard]] Dataset open_dataset(const DataSettings& settings, Client clients, Client first, Client count);

/// Throws the UsageErrors of `save_partition`: for a source that is not dealt out, and for a file that exists.
void check_saves_partition(const DataSettings& settings, const std::string& path);

/// Writes the client of each record, for `--partition file:`. Replaces no file. Throws DataError and FailureError.
void save_partition(const DataSettings& settings, Client clients, const std::string& path);

/// All records of a `--test` source, which is public by declaration. Sparse data may have fewer features than
/// `training`; dense data must have as many, with the same names. A generator needs `n=`. Its record i is a record of
/// round i + 1 from random addresses that no stream uses, of the kind of client i mod training.clients. Throws
/// DataError and UsageError.
[[nodiscard]] Batch read_test_set(const std::string& source, const DataSettings& settings, const DataShape& training);

}  // namespace starling
