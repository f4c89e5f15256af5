/// Records whose columns are split among parties (method 5), and their targets: from `--source`, `--columns`,
/// `--labels` and their options to what one rank sees.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/core/columns.hpp"
#include "starling/core/links.hpp"
#include "starling/data/settings.hpp"

namespace starling {

struct VerticalShape;

/// The target of a record that --ignore leaves out. It keeps its place in its batch, with features of 0.
inline constexpr double no_target = std::numeric_limits<double>::quiet_NaN();
[[nodiscard]] inline bool is_left_out(View targets) {
  return std::isnan(targets[0]);
}

/// The records of a run whose columns are split among parties, as one rank sees them: its own parties' columns, and the
/// targets where it knows them. Every rank is in the same round at the same records.
class VerticalStream {
 public:
  virtual ~VerticalStream() = default;

  /// Round t's records become what the others speak of; rounds ascend, from 0 (some may be left out: a resumed run goes
  /// on where it was). After the last round there are none. Throws FailureError for a round that is over, and where
  /// records have ids and `align` is still to be called.
  virtual void load(Round t) = 0;
  /// M: records to learn from, which come first; fewer at the end of a pass, 0 after the last.
  [[nodiscard]] std::size_t learning() const { return learning_; }
  /// Records after them that are only scored: those of a spectrum; 0 for tables, which score a record before they learn
  /// from it.
  [[nodiscard]] std::size_t testing() const { return testing_; }
  /// Of the k-th hosted party: (learning + testing) × columns, row after row.
  [[nodiscard]] const Secret<Vector>& inputs(std::size_t k) const { return inputs_[k]; }
  /// (learning + testing) × targets, row after row; empty where this rank does not know them.
  [[nodiscard]] const Secret<Vector>& targets() const { return targets_; }

  /// Most times that one record has been loaded so far, counting rounds that were left out as Stream does.
  [[nodiscard]] virtual std::int64_t participations() const = 0;
  /// Brings the hosted parties' records, and the targets, into the order of the label source, whose ids are `order`
  /// (`VerticalDataset::ids` of a rank that knows the targets). Before the first round; does nothing where records go
  /// together by their place, which an empty order says. Throws DataError for other numbers of records and for ids that
  /// do not match, naming the file and the first of them.
  virtual void align(std::span<const std::uint64_t> order) = 0;
  /// Tells a rank that has read no file, of a source where others have, how many records there are: the shape is that
  /// of all ranks joined. Before the first round; without it such a rank has rounds of no records.
  virtual void settle(const VerticalShape& joined) = 0;

 protected:
  std::size_t learning_ = 0;
  std::size_t testing_ = 0;
  std::vector<Secret<Vector>> inputs_;
  Secret<Vector> targets_;
};

/// What the options say of a source for vertical learning; `partition` and `memory` have no meaning here, for tables
/// are kept in memory.
struct VerticalSettings : DataSettings {
  /// One file per party, in the parties' order; empty: `source` is a spectrum, one table, or a name with `{client}`,
  /// which stands for one file per party: party k, from 1, is client k.
  std::vector<std::string> files;
  /// Who has which column of one table: groups such as `0-9/10-22` (see `parse_column_groups`). Not with files.
  std::string columns;
  /// Where parties have files: the file that has the labels and whose records' order counts; empty: the first party's.
  std::string label_source;
};

/// What must be known of all parties' data before networks can be made.
struct VerticalShape {
  std::vector<std::size_t> columns;  ///< of each party 0 … K − 1; 0 where a rank does not know them
  std::size_t targets = 1;           ///< numbers that a record's label is made of
  /// Records to learn from of one pass; none for a source without end, and where a rank has read no file.
  std::optional<std::int64_t> records = std::nullopt;
  std::optional<Round> rounds = std::nullopt;     ///< of all passes; none likewise
  std::string counted_in = {};                    ///< the file in which `records` were counted, for messages
  std::vector<std::vector<std::string>> names{};  ///< of each party's columns; empty ones where there are none
  /// Of each column of `drop`, whether a file that a rank has read has it; empty but where parties have files.
  std::vector<bool> dropped{};

  /// Of two ranks' data together. Throws DataError for another number of records, or of a party's columns.
  [[nodiscard]] VerticalShape joined(const VerticalShape& other) const;
  [[nodiscard]] std::string text() const;
  /// Of `text`. Throws FailureError for what is none.
  [[nodiscard]] static VerticalShape parse(const std::string& text);
};

/// The data of one rank's block of parties.
struct VerticalDataset {
  std::unique_ptr<VerticalStream> stream;
  /// What this rank can tell. Where parties have files ranks see different ones, and agree by `VerticalShape::joined`.
  VerticalShape shape;
  std::size_t batch = 1;    ///< m: records of a full round that are learned from
  std::size_t testing = 0;  ///< and of those that are only scored
  bool is_public = false;   ///< synthetic sources are
  bool replayable = true;   ///< whether open_vertical would give the same records again
  std::string digest;       ///< SHA-256 of a public source's description; empty for private ones
  std::string fingerprint;  ///< of what this rank has read and of who has which column; empty for a spectrum
  /// Of the label source's ids and labels; empty where this rank has not read it.
  std::string label_fingerprint;
  bool common = false;  ///< whether all ranks must come to the same fingerprint: they read one source
  /// 64 bits that stand for each id of the label source, in its order; empty where this rank has not read it, and
  /// without `--id`. Public: parties that train together have matched their ids before.
  std::vector<std::uint64_t> ids;
};

/// Opens the source for parties first … first + count − 1 out of `parties`; with `targets_known` this rank sees the
/// targets too. Three kinds:
///
/// - `synthetic:spectrum` (see `spectrum_help`): every rank draws the same world; party k is its receiver k.
/// - One table: a file or pair that open_reader reads, or another generator with `n=`, as its client 0's records;
///   `columns` deals its features out.
/// - One file per party (`files`, or `{client}` in the name): a file may have the label's column or not (found by the
///   name that `label` gives, else called y or label); it is left out of the features. `label` may be a number in the
///   label source alone. `drop` leaves a column out of each file that has it (`VerticalShape::dropped`). With `id`
///   records are brought into the label source's order, else they go together by their place. `standardise` and
///   `encode` may have `{client}` too.
///
/// A table's round is the next `batch` records, `epochs` times over all. Tables are kept in memory, dense: eight bytes
/// for each hosted value. Throws DataError naming file and row (also for an id that stands in a file twice), UsageError
/// for bad specs.
[[nodiscard]] VerticalDataset open_vertical(const VerticalSettings& settings, std::size_t parties, std::size_t first,
                                            std::size_t count, bool targets_known);

/// The columns of each party, of a text such as `0-9,12/age,bmi`: groups separated by `/` or `|`, in a group numbers
/// from 0, ranges FIRST-LAST and names, separated by commas; a name that stands in `names` as it is comes before any
/// other reading. Columns of no group are used by nobody. Throws UsageError for another number of groups than
/// `parties`, an empty group, a column that is not there (`features` there are) and one that is given twice.
[[nodiscard]] std::vector<std::vector<std::size_t>> parse_column_groups(std::string_view text, std::size_t parties,
                                                                        std::size_t features,
                                                                        const std::vector<std::string>& names);

/// The spectrum's parameters, as a help text: a line for each.
[[nodiscard]] std::string spectrum_help();

/// A place in the area of a spectrum source, in metres from its corner.
struct Place {
  double x = 0;
  double y = 0;
};

/// The world of a spectrum source, for pictures (the paper's Figs. 3 and 4).
struct SpectrumScene {
  double side = 500;                      ///< of the square area, in metres
  std::vector<Place> transmitters;        ///< they do not move
  std::vector<std::vector<Place>> paths;  ///< of each receiver: its place in rounds 0 … rounds − 1
  std::size_t cells = 0;                  ///< of each side of the grid
  Vector shadowing;  ///< mean loss in dB at the centres of cells × cells, row after row from y = 0
};

/// The same world that open_vertical draws for this source, seed and number of parties. Throws UsageError, also for a
/// source that is no spectrum, and for fewer than one round or cell.
[[nodiscard]] SpectrumScene spectrum_scene(const std::string& source, std::uint64_t seed, std::size_t parties,
                                           Round rounds, std::size_t cells);

}  // namespace starling
