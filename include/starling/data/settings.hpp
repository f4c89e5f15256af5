/// How a source is read, and how its records are dealt to clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/boundary.hpp"

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

}  // namespace starling
