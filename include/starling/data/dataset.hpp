/// From `--source`, `--partition` and their options to one stream per client of this rank.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/batch.hpp"
#include "starling/data/stream.hpp"

namespace starling {

/// What the options say of the data; the same on every rank.
struct DataSettings {
  std::string source = "synthetic:drift";
  std::string format = "auto";  ///< auto | csv | svmlight
  std::string label;            ///< CSV: name or 0-based number of a column; empty: `y` or `label`, else the last
  std::optional<std::size_t> dimension;  ///< features of a sparse format; otherwise the largest index seen
  std::string partition = "contiguous";
  std::size_t batch = 1;
  std::int64_t epochs = 1;
  std::uint64_t seed = 1;
  /// Maps a label of the source to the loss's own, or throws DataError saying why not (without naming the row).
  std::function<double(double)> label_map = [](double y) { return y; };
};

/// The data of one rank's block of clients.
struct Dataset {
  std::vector<std::unique_ptr<Stream>> streams;  ///< one per client first … first + count − 1
  std::size_t features = 0;                      ///< without intercept; the same on every rank
  /// Rounds that the longest stream of all clients gives, epochs included; none where streams have no end.
  std::optional<Round> rounds;
  bool is_public = false;  ///< synthetic sources are
  std::string digest;      ///< SHA-256 of a public source's description; empty for private ones
};

/// Opens the source for clients first … first + count − 1 out of `clients`. Reads files twice (scan, then the own
/// share), so that bad input anywhere is found on every rank before the first round. Throws DataError naming file and
/// row, UsageError for bad specs.
[[nodiscard]] Dataset open_dataset(const DataSettings& settings, Client clients, Client first, Client count);

/// All records of a `--test` source, which is public by declaration. `features` is that of the training data: fewer in
/// a sparse file is fine, more is an error; dense data must have as many. Generators need `n=`; record i is drawn as a
/// generator's round i + 1, from addresses that no stream uses. Throws DataError and UsageError.
[[nodiscard]] Batch read_test_set(const std::string& source, const DataSettings& settings, std::size_t features);

}  // namespace starling
