/// From `--source`, `--partition` and their options to one stream per client of this rank.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/batch.hpp"
#include "starling/core/boundary.hpp"
#include "starling/data/stream.hpp"

namespace starling {

/// What the options say of how a source is read; the same on every rank.
struct ReadSettings {
  std::string source = "synthetic:drift";
  std::string format = "auto";  ///< auto, or a member of the table of formats
  /// Columns are named, or numbered from 0 as they stand in the file.
  std::string label;  ///< empty: `y` or `label` in any case, else the last
  enum class Labels {
    required,
    optional,  ///< of the column that has the name `label`, or is called y or label; 0 where there is none
    alone,     ///< required, and there need be no feature
  } labels = Labels::required;
  std::string id;                  ///< column that identifies records; not a feature
  std::vector<std::string> drop;   ///< columns that are left out
  std::string key;                 ///< column that `--partition column:` deals by; not a feature
  std::string delimiter = "auto";  ///< auto, comma, semicolon, tab, space, or one character
  enum class Header { automatic, yes, no } header = Header::automatic;
  std::vector<double> positive;  ///< labels that become +1, all others −1; empty: labels stay as they are
  /// Records with one of these labels are left out: they keep their places in the stream and add nothing, so that one
  /// record's label moves no other record.
  std::vector<double> ignore;
  std::optional<std::size_t> dimension;  ///< features of a sparse format; otherwise the largest index seen
  double scale = 1;                      ///< public factor of every feature
  /// File of public constants: a line of names, `feature,mean,sd`, then a line for every feature of the source, told
  /// by its name or its number from 0 among the features, and one for the label, if it shall be standardised too, told
  /// by its column's name or, where it has none, as `label`; empty for none.
  std::string standardise;
  /// File of public constants: a line of names, `column,category,value`, then a line for every category of a column of
  /// text, which is told by its name or its number; empty for none. Of a pair of files, columns are the first one's.
  std::string encode;
  /// What models see of a record: its own features, or those that GradientHistogram finds in it, a picture whose
  /// pixels they are. Made from each record alone, after `scale`, by public constants: no privacy is lost.
  enum class Features { raw, hog } features = Features::raw;
  /// Asked again and again while a pipe has nothing to give; false ends the stream, and it may throw.
  std::function<bool()> go_on_waiting = [] { return true; };
  /// Told of each record of a pipe that cannot be read, and is left out: a line for the owner of the data alone.
  std::function<void(const Secret<std::string>&)> note_left_out = [](const Secret<std::string>&) {};
};

/// And of who gets which record when.
struct DataSettings : ReadSettings {
  std::string partition = "contiguous";
  std::size_t batch = 1;
  std::int64_t epochs = 1;
  std::size_t memory = std::size_t{64} << 20;  ///< bytes of records that a rank keeps; larger shares are read again
  /// Clients of a rank that read one file again by a reader each; more of them share one in turn, unless the file is
  /// gzipped. None: half of the files that the process may open, at most 1,024. Streams give the same records.
  std::optional<std::size_t> readers = std::nullopt;
  std::uint64_t seed = 1;
  /// Whether each stream's batch holds until that stream is asked again, or until any of the data set's is: then all
  /// clients share the room for one, which for many clients is most of what streams take.
  enum class Batches { own, shared } batches = Batches::own;
  /// Maps a label of the source to the loss's own, or throws DataError saying why not (without naming the row).
  std::function<double(double)> label_map = [](double y) { return y; };
};

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
