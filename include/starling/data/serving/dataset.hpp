/// From `--source`, `--partition` and their options to one stream per client of this rank.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/batch.hpp"
#include "starling/data/settings.hpp"
#include "starling/data/stream.hpp"

namespace starling {

/// What must be known of all clients' data before a model can be made.
struct DataShape {
  std::size_t features = 0;  ///< without intercept
  bool sparse = false;       ///< sparse data have as many features as the largest index of any client
  /// Rounds that the longest stream gives, epochs included; none where streams have no known end.
  std::optional<Round> rounds = std::nullopt;
  bool empty = false;  ///< a rank without clients, or whose pipes have ended at once: it has nothing to say
  std::vector<std::string> names = {};  ///< of the features, where the source has them
  Client clients = 1;                   ///< on all ranks together

  /// Of two ranks' data together. Throws DataError for dense data of different width or with other names.
  [[nodiscard]] DataShape joined(const DataShape& other) const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static DataShape parse(const std::string& text);
};

/// The data of one rank's block of clients.
struct Dataset {
  std::vector<std::unique_ptr<Stream>> streams;  ///< one per client first … first + count − 1
  /// What this rank can tell. With one file per client ranks see different files, and agree by `DataShape::joined`.
  DataShape shape;
  bool is_public = false;   ///< synthetic sources are
  bool replayable = true;   ///< whether open_dataset would give the same records again; pipes do not
  std::string digest;       ///< SHA-256 of a public source's description; empty for private ones
  std::string fingerprint;  ///< of what this rank has read and of who gets what; empty for generators and pipes
  bool common = false;      ///< whether all ranks must come to the same fingerprint: they read one source
};

/// Opens the source for clients first … first + count − 1 out of `clients`: generators, one file or pair of files that
/// is dealt out (`settings.partition`), one file or pipe per client, standard input.
///
/// A file is read through before the first round, so that bad input is found in time; of formats that find records by
/// number (HDF5, IDX) each rank reads its own clients' records alone. Up to `settings.memory` bytes of records are
/// kept, beyond that streams read them again as they are needed. Throws DataError naming file and row, UsageError for
/// bad specs and for a gzipped file that too many clients would read again.
[[nodiscard]] Dataset open_dataset(const DataSettings& settings, Client clients, Client first, Client count);

/// Throws UsageError where `save_partition` would: for sources that are not dealt out, and a file that exists.
void check_saves_partition(const DataSettings& settings, const std::string& path);

/// Writes who gets which record of a file, for `--partition file:`. Replaces nothing. Throws DataError and
/// FailureError.
void save_partition(const DataSettings& settings, Client clients, const std::string& path);

/// All records of a `--test` source, which is public by declaration. Of `training` data that are sparse it may have
/// fewer features, but not more; dense data must have as many, and no other names. Generators need `n=`; record i is
/// drawn as a generator's round i + 1, from addresses that no stream uses; where clients differ, it is of the kind of
/// client i mod training.clients. Throws DataError and UsageError.
[[nodiscard]] Batch read_test_set(const std::string& source, const DataSettings& settings, const DataShape& training);

}  // namespace starling
