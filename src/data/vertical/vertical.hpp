/// Records whose columns are split among parties (docs/methods/vertical.md), as one rank sees them, from `--source`,
/// `--columns`, `--labels` and their options.
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

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "core/links.hpp"
#include "data/constants.hpp"
#include "data/settings.hpp"

namespace starling {

struct VerticalShape;

/// Target of a record that `--ignore` leaves out. The record keeps its place in its batch, with features of 0.
inline constexpr double no_target = std::numeric_limits<double>::quiet_NaN();
[[nodiscard]] inline bool is_left_out(View targets) {
  return std::isnan(targets[0]);
}

/// Records split by columns among parties, as one rank sees them: the columns of its own parties, and the targets if it
/// knows them. All ranks see the same records in the same round.
class VerticalStream {
 public:
  virtual ~VerticalStream() = default;

  /// Loads the records of round t, for the functions below. Rounds ascend from 0; a resumed run skips rounds. After the
  /// last round there are no records. Throws FailureError for a round that is over, and if records have ids and `align`
  /// has not been called.
  virtual void load(Round t) = 0;
  /// Number M of records to learn from, which come first; fewer at the end of a pass, 0 after the last pass.
  [[nodiscard]] std::size_t learning() const { return learning_; }
  /// Number of further records that are only scored; 0 for tables, which score each record before learning from it.
  [[nodiscard]] std::size_t testing() const { return testing_; }
  /// Features of the k-th hosted party: (learning + testing) × columns, row after row.
  [[nodiscard]] const Secret<Vector>& inputs(std::size_t k) const { return inputs_[k]; }
  /// Targets: (learning + testing) × targets, row after row; empty if this rank does not know them.
  [[nodiscard]] const Secret<Vector>& targets() const { return targets_; }

  /// Where records are grouped by persons: the number of records of each person of the round. Every person has
  /// `places` rows, of which the first ones hold its records and the others nothing (features 0, `no_target`). Empty
  /// without persons.
  [[nodiscard]] std::span<const std::size_t> records_of_persons() const { return records_of_persons_; }

  /// Most participations of one record so far; skipped rounds count, as for Stream.
  [[nodiscard]] virtual std::int64_t participations() const = 0;
  /// Sorts the hosted parties' records and the targets into the order of the label source, whose ids are `order`
  /// (`VerticalDataset::ids` of a rank that knows the targets). Called before the first round. An empty order means
  /// that records are matched by position. Throws DataError for another number of records, and for ids that do not
  /// match, naming the file and the first such id.
  virtual void align(std::span<const std::uint64_t> order) = 0;
  /// Tells a rank that has read no file the number of records, by the joined shape of all ranks. Called before the
  /// first round; otherwise such a rank has rounds without records.
  virtual void settle(const VerticalShape& joined) = 0;
  /// Groups the records of a table by persons, who come in the order of their first records; a round then has the rows
  /// of `batch` persons. `persons` has the number of each record's person, in the common order; −1 − n takes the places
  /// of person n and leaves them empty. Records of a person beyond `places` are left out. Called after `align`, before
  /// the first round. Returns the number of persons. Throws DataError for another number of records, and where records
  /// are no table's.
  virtual std::int64_t group(std::span<const std::int64_t> persons, std::size_t places);

  // Matching in private (`VerticalSettings::matched_in_private`), in place of `align`: tables alone have it.
  /// The ids of the k-th hosted party's records, in the order of its file.
  [[nodiscard]] virtual const std::vector<std::string>& ids(std::size_t k) const;
  /// Takes these rows of each hosted party's file as the records, in this order; those of a label source that is the
  /// file of the hosted party `labels_of` likewise. Returns the rounds of all passes. Called before the first round.
  virtual std::optional<Round> match(std::vector<std::vector<std::size_t>> rows, std::optional<std::size_t> labels_of);
  /// All targets in the common order, on a rank that has read them; then, on one that has not: the targets that it got.
  [[nodiscard]] virtual Secret<Vector> matched_targets() const;
  virtual void take_targets(const Secret<Vector>& targets);

 protected:
  std::size_t learning_ = 0;
  std::size_t testing_ = 0;
  std::vector<Secret<Vector>> inputs_;
  Secret<Vector> targets_;
  std::vector<std::size_t> records_of_persons_;
};

/// Options of a source for vertical learning. `partition` and `memory` have no meaning, since tables stay in memory.
struct VerticalSettings : DataSettings {
  /// One file per party, in the parties' order. If empty, `source` is a spectrum, one table, or a name with `{client}`
  /// for one file per party, where party k, from 1, is client k.
  std::vector<std::string> files;
  /// Columns of each party in one table, such as `0-9/10-22` (see `parse_column_groups`). Not with files.
  std::string columns;
  /// With one file per party: the file of the labels, whose order of records counts; empty for the first party's file.
  std::string label_source;
  /// With one file per party: constants of a saved model's parties, as `ReadSettings::constants`; null for parties of
  /// other ranks. The member `constants` is then that of the labels. Empty without a model.
  std::vector<std::shared_ptr<const PublicConstants>> constants_of_parties;
  /// Whether one table may lack the columns of `drop`, as files of parties may.
  bool may_lack_drops = false;
  /// With one file per party and `id`: nobody shows ids to others. The number of records is then unknown until records
  /// are matched (`VerticalStream::match`).
  bool matched_in_private = false;

  /// Whether each party has a file.
  [[nodiscard]] bool has_party_files() const;
  /// The party whose file has the labels, from 0, out of so many; none if they are in a file of their own.
  [[nodiscard]] std::optional<std::size_t> party_with_labels(std::size_t parties) const;
};

/// Properties of all parties' data that networks depend on.
struct VerticalShape {
  std::vector<std::size_t> columns;  ///< number of columns of each party 0 … K − 1; 0 if unknown to a rank
  std::size_t targets = 1;           ///< numbers that a record's label is made of
  /// Records to learn from in one pass; none for a source without end, and for a rank that has read no file.
  std::optional<std::int64_t> records = std::nullopt;
  std::optional<Round> rounds = std::nullopt;     ///< of all passes; none as for `records`
  std::string counted_in = {};                    ///< the file in which `records` were counted, for messages
  std::vector<std::vector<std::string>> names{};  ///< of each party's columns; empty if they have none
  /// For each column of `drop`, whether a file that the rank has read has it; empty without one file per party.
  std::vector<bool> dropped{};

  /// Shape of two ranks' data together. Throws DataError for different numbers of records or of a party's columns.
  [[nodiscard]] VerticalShape joined(const VerticalShape& other) const;
  [[nodiscard]] std::string text() const;
  /// Inverse of `text`. Throws FailureError for other texts.
  [[nodiscard]] static VerticalShape parse(const std::string& text);
};

/// The data of one rank's block of parties.
struct VerticalDataset {
  std::unique_ptr<VerticalStream> stream;
  /// Shape of this rank's data. With one file per party ranks see different files, and agree by
  /// `VerticalShape::joined`.
  VerticalShape shape;
  std::size_t batch = 1;    ///< records of a full round to learn from
  std::size_t testing = 0;  ///< records of a full round that are only scored
  bool is_public = false;   ///< whether records are public: synthetic ones are
  bool replayable = true;   ///< whether open_vertical would give the same records again
  std::string digest;       ///< SHA-256 of a public source's description; empty for private ones
  std::string fingerprint;  ///< of the files read and of the columns of each party; empty for a spectrum
  /// Fingerprint of the label source's ids and labels; empty if this rank has not read it.
  std::string label_fingerprint;
  bool common = false;  ///< whether all ranks read one source, and so must have the same fingerprint
  /// 64-bit digests of the label source's ids, in its order; empty if this rank has not read it, and without `--id`.
  /// Public, since parties that train together have matched their ids before.
  std::vector<std::uint64_t> ids;
  std::vector<std::string> id_texts;  ///< the ids themselves, likewise
  /// Number of the person of each record, in the label source's order, from 0 in the order of first records; empty if
  /// this rank has not read it, and without `person`.
  std::vector<std::int64_t> persons;
  /// After matching in private: the rows of each hosted party's file that are the records, in their order.
  std::vector<std::vector<std::size_t>> matched_rows;
  std::optional<Secret<Vector>> received_targets;  ///< of the matched records, where another rank has read them
  /// Whether each party's features are made of columns of its own. Pictures, and columns that become several features,
  /// are nobody's in one table, whose features are dealt out.
  bool columns_are_features = true;
  /// Constants by which the columns of each hosted party are prepared; empty for a spectrum and without such columns.
  std::vector<PublicConstants> constants;
  /// Constants by which the labels are prepared, with no columns, on a rank that has read the label source.
  PublicConstants label_constants;
  /// For one table without names: the number of its features, and for each hosted party the places of its columns.
  std::size_t table_features = 0;
  std::vector<std::vector<std::size_t>> places;
};

/// 64-bit digest of an id: the first bits of its SHA-256.
[[nodiscard]] std::uint64_t id_digest(const std::string& id);

/// Opens the source for parties first … first + count − 1 out of `parties`. With `targets_known` this rank sees the
/// targets too. There are three kinds of sources:
///
/// - `synthetic:spectrum` (see `spectrum_help`): every rank draws the same scene, in which party k is receiver k.
/// - One table: a file or pair that open_reader reads, or the records of client 0 of another generator with `n=`.
///   `columns` deals the features out.
/// - One file per party (`files`, or `{client}` in the name). A file may have the label's column (`label`, else y or
///   label), which is not a feature. `label` may be a number only for the label source. `drop` leaves a column out of
///   each file that has it (`VerticalShape::dropped`). With `id` records are sorted into the label source's order,
///   otherwise they are matched by position. `standardise` and `encode` may have `{client}` too. Where `labels` are
///   none, the label source gives the order of the records and no targets. `person` is a column of the label source,
///   and no feature of any file that has it.
///
/// A table's round has the next `batch` records; `epochs` passes are made. Tables stay in memory, dense, with eight
/// bytes per hosted value. Throws DataError naming file and row (also for an id that occurs twice), UsageError for bad
/// specs.
[[nodiscard]] VerticalDataset open_vertical(const VerticalSettings& settings, std::size_t parties, std::size_t first,
                                            std::size_t count, bool targets_known);

/// Columns of each party, from a text such as `0-9,12/age,bmi`. `/` or `|` separates groups; a group lists numbers from
/// 0, ranges FIRST-LAST and names, separated by commas. A text that is in `names` is a name first. No party uses
/// columns outside all groups. Throws UsageError for another number of groups than `parties`, an empty group, a column
/// beyond the `features` columns, and a column that is given twice.
[[nodiscard]] std::vector<std::vector<std::size_t>> parse_column_groups(std::string_view text, std::size_t parties,
                                                                        std::size_t features,
                                                                        const std::vector<std::string>& names);

/// Help text with a line for each parameter of the spectrum generator.
[[nodiscard]] std::string spectrum_help();

/// A place in the area of a spectrum source, in metres from its corner.
struct Place {
  double x = 0;
  double y = 0;
};

/// Transmitters, receivers and shadowing of a spectrum source, for pictures (the paper's Figs. 3 and 4).
struct SpectrumScene {
  double side = 500;                      ///< side of the square area, in metres
  std::vector<Place> transmitters;        ///< places in round 0
  std::vector<std::vector<Place>> paths;  ///< place of each receiver in rounds 0 … rounds − 1
  std::size_t cells = 0;                  ///< of a side of the grid
  Vector shadowing;  ///< mean path loss in dB at the centres of cells × cells squares, row after row from y = 0
};

/// The scene that open_vertical draws for this source, seed and number of parties. Throws UsageError, also for another
/// source than a spectrum, and for fewer than one round or cell.
[[nodiscard]] SpectrumScene spectrum_scene(const std::string& source, std::uint64_t seed, std::size_t parties,
                                           Round rounds, std::size_t cells);

}  // namespace starling
