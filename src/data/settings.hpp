/// Options of reading a source and of dealing its records to clients.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/boundary.hpp"
#include "data/batching.hpp"

namespace starling {

struct PublicConstants;
class FirstReading;

/// Options of reading a source; the same on every rank.
struct ReadSettings {
  std::string source = "synthetic:drift";
  std::string format = "auto";  ///< auto, or a member of the table of formats
  // A column is given by its name, or by its number from 0 in the file.
  std::string
      label;  ///< empty: beside the columns (HDF5, NumPy, memory), else `y` or `label` in any case, else the last
  bool label_may_be_beside = false;  ///< `label` is a model's: a source with labels beside its columns may lack it
  enum class Labels {
    required,
    optional,  ///< the column `label`, y or label; 0 without such a column
    alone,     ///< required, and there may be no feature
    none,      ///< 0, whatever columns there are
  } labels = Labels::required;
  std::string id;                 ///< column of record identifiers; not a feature
  std::vector<std::string> drop;  ///< columns that are left out
  /// Names of the feature columns of all sources, in the order of the features. A source with names may have them in
  /// any order, and its other columns are left out. Empty: each source has its own.
  std::vector<std::string> columns;
  std::string key;  ///< column that records are dealt or grouped by; not a feature. Its texts are keys (data/keys.hpp)
  std::string key_option = "--partition column:";  ///< option that named `key`, for messages
  bool key_as_written = false;                     ///< texts of `key` that are no keys: those of a table of constants
  /// A record without a value of `key`: one of the group without a name, an error, or left out with a place of its own.
  enum class MissingKey { group, refuse, drop } missing_key = MissingKey::group;
  std::string delimiter = "auto";  ///< auto, comma, semicolon, tab, space, or one character
  /// Character before the decimals of delimited text.
  enum class Decimal { point, comma, automatic } decimal = Decimal::point;
  std::optional<std::chrono::sys_days> first_day;  ///< dates in text are days since then; none: they are no numbers
  std::vector<std::string> missing_values;         ///< texts that say that a feature is missing, beside the usual marks
  enum class Header { automatic, yes, no } header = Header::automatic;
  std::vector<double> positive;  ///< labels that become +1, all others −1; empty: labels stay as they are
  /// Labels of classes. The first of two becomes −1 and the second +1; of more each becomes its place, from 0. Any
  /// other label is an error. Empty: labels stay as they are. Excludes `positive`.
  std::vector<double> class_labels;
  /// Labels of records that are left out. Such a record keeps its place in the stream and adds nothing, so that no
  /// record's label moves another record.
  std::vector<double> ignore;
  std::optional<std::size_t> dimension;  ///< number of features of a sparse format; default: the largest index
  double scale = 1;                      ///< public factor of every feature
  /// File of public constants with the columns `feature,mean,sd`; empty for none. It has a line for every feature,
  /// given by name or by number from 0 among the features. A line for the label (by its column's name, else `label`)
  /// standardises the label too. Or `values:` and a mean/sd for every feature column, in their order, with commas.
  std::string standardise;
  /// File of public constants with the columns `feature,low,high` and the lines of `standardise`; empty for none.
  /// Values are clipped to the range, which is mapped to [−1, 1]. Excludes `standardise`.
  std::string ranges;
  /// Why neither may scale labels, in messages: what labels are; empty if they may.
  std::string labels_stay;
  /// File of public constants with the columns `column,category,value`; empty for none. It has a line for every
  /// category of a column of text, given by name or number. In a pair of files columns are columns of the first.
  std::string encode;
  /// Features of a column of text.
  enum class Encoding {
    numbers,    ///< its category's value
    one_hot,    ///< a feature of 0 and 1 for each category
    reference,  ///< the same for all but the first category of the file
  } encoding = Encoding::numbers;
  /// A missing value of a feature: an error, or 0 after standardising (and 1 in a further feature of the column), or a
  /// public constant in the source's units. A missing label is always an error.
  enum class Missing { refuse, zero, indicator, constant } missing = Missing::refuse;
  bool shows_missing = false;  ///< features that would become 0 stay NaN, for those who count values
  /// File of public constants with the columns `feature,value` for Missing::constant; else empty.
  std::string missing_constants;
  /// Features that models see: the record's own, or the GradientHistogram of the picture whose pixels they are. A
  /// histogram comes from one record alone, after `scale`, by public constants, so it costs no privacy.
  enum class Features { raw, hog } features = Features::raw;
  /// Constants of a saved model, in place of `positive`, `class_labels`, `scale`, `features` and all options with
  /// constants. Feature columns are found by the model's names; other columns are left out. Constants of no features
  /// are of labels and ids alone. Null for the options themselves.
  std::shared_ptr<const PublicConstants> constants;
  /// Keeps what is read first, for readers that are opened later. Null: files are read again.
  std::shared_ptr<FirstReading> first_reading;
  /// Called at opening with the names of the columns that `constants` leave out.
  std::function<void(const std::vector<std::string>&)> note_unused = [](const std::vector<std::string>&) {};
  /// Whether a source may lack a column of `drop`, as another source has it. Called where the column is not there.
  std::function<bool(const std::string&)> may_lack = [](const std::string&) { return false; };
  /// Called repeatedly while a pipe has no data; false ends the stream. May throw.
  std::function<bool()> go_on_waiting = [] { return true; };
  /// Clients that are lost, ascending: their files may be gone, and then they have no records.
  std::vector<std::int32_t> lost;
  /// Clients of the run that have another source, and come before all clients of this one.
  std::int32_t earlier = 0;
  /// Called for each record of a pipe that cannot be read and is left out, with a line for the owner of the data alone.
  std::function<void(const Secret<std::string>&)> note_left_out = [](const Secret<std::string>&) {};

  /// Whether columns are scaled one by one.
  [[nodiscard]] bool scales_columns() const { return !standardise.empty() || !ranges.empty(); }
  /// Whether numbers stay in the units of the source, as far as columns are told apart.
  [[nodiscard]] bool keeps_units() const { return features == Features::raw && !scales_columns(); }
  /// Whether missing features become 0.
  [[nodiscard]] bool fills_zeros() const { return missing == Missing::zero || missing == Missing::indicator; }
  /// Whether a column may become several features.
  [[nodiscard]] bool makes_features() const {
    return missing == Missing::indicator || (encoding != Encoding::numbers && !encode.empty());
  }
};

/// An option that names a file of public constants.
struct ConstantsOption {
  std::string_view name;  ///< with its dashes
  std::string ReadSettings::*file;
};

/// All options that name files of public constants.
inline constexpr std::array<ConstantsOption, 4> constants_options{{{"--standardise", &ReadSettings::standardise},
                                                                   {"--encode", &ReadSettings::encode},
                                                                   {"--ranges", &ReadSettings::ranges},
                                                                   {"--missing", &ReadSettings::missing_constants}}};

/// Begins a value of `standardise` that has the constants in itself.
inline constexpr std::string_view values_of_columns = "values:";

/// The files of public constants that the options name.
[[nodiscard]] std::vector<std::string> constants_files(const ReadSettings& settings);
/// Names of `constants_options`, separated by commas.
[[nodiscard]] std::string constants_option_names();

/// Options of reading a source and of dealing its records to clients and rounds.
struct DataSettings : ReadSettings {
  std::string partition = "contiguous";
  /// Column that tells the persons of a client apart; empty: records stand for themselves. With it, partitions deal
  /// persons, and a batch is of persons, in order of first appearance.
  std::string person;
  MissingKey missing_person = MissingKey::refuse;  ///< a record without a value of `person`
  /// Most rounds that use a person whose records come through a pipe. None: 1.
  std::optional<std::int64_t> person_rounds;
  /// Whether pipes may have persons: their caller accounts for each round that uses a person.
  bool persons_in_pipes = false;
  std::size_t batch = 1;
  std::int64_t epochs = 1;
  /// Batches of `batch` records, the last of a pass short.
  [[nodiscard]] Batching batching() const { return {batch, epochs}; }
  /// Most releases that one unit enters in a run over all records.
  [[nodiscard]] std::int64_t uses_of_unit() const { return epochs * person_rounds.value_or(1); }
  std::size_t memory = std::size_t{64} << 20;  ///< bytes of records that a rank keeps in memory; others are read again
  /// Most clients of a rank that have a reader each for one file; more clients share one in turn, unless the file is
  /// gzipped. None: half of the files that the process may open, at most 1,024. Changes no records.
  std::optional<std::size_t> readers = std::nullopt;
  std::uint64_t seed = 1;
  /// Lifetime of a stream's batch: until the next call of the same stream, or of any stream of the data set. In the
  /// second case clients share one batch, which saves most of the memory of many streams.
  enum class Batches { own, shared } batches = Batches::own;
  /// Maps a label of the source to the loss's own label. Throws DataError, without the row, for a label that the loss
  /// refuses.
  std::function<double(double)> label_map = [](double y) { return y; };
};

}  // namespace starling
