/// Profile of the columns of a table of text, for its owner, who must choose public constants. It is computed from
/// private records and not protected.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "data/cells/number.hpp"
#include "data/description/description.hpp"
#include "data/settings.hpp"
#include "data/tables/delimited.hpp"

namespace starling {

/// Uniform sample of a stream of numbers, of bounded size (algorithm R: Vitter 1985). Equal streams give equal samples.
class Sample {
 public:
  explicit Sample(std::size_t most) : most_(most) {}
  void add(double value);
  /// The p-quantile of the sample, by linear interpolation; 0 before the first number.
  [[nodiscard]] double quantile(double p) const;
  [[nodiscard]] bool whole() const { return count_ <= most_; }

 private:
  std::size_t most_;
  std::uint64_t count_ = 0;
  std::mt19937_64 random_{1};
  std::vector<double> values_;
};

/// Statistics of a column.
struct ColumnProfile {
  static constexpr std::size_t most_distinct = 1000;
  static constexpr std::size_t longest_text = 200;  ///< bytes of a text that is kept
  static constexpr std::size_t most_few = 6;        ///< of `few_texts`

  enum class Use { feature, label, none };

  ColumnProfile(std::string column, Use what_for, std::size_t sampled)
      : name(std::move(column)), use(what_for), sample(sampled) {}

  std::string name;  ///< or the number from 0 in the file
  Use use;
  std::int64_t missing = 0;                     ///< fields that are empty, NA, NaN, …
  std::int64_t numbers = 0;                     ///< fields that are finite numbers
  std::int64_t not_finite = 0;                  ///< fields that are infinite, or beyond double precision
  std::int64_t texts = 0;                       ///< all other fields
  std::set<std::string> few_texts;              ///< the first of these others
  std::set<std::string, std::less<>> distinct;  ///< texts of the fields that are not missing
  bool many = false;                            ///< whether there are more; `distinct` is then empty
  Moments moments;                              ///< of the numbers
  Sample sample;                                ///< of the numbers

  void add(std::string_view field, const NumberRules& rules, const MissingMarks& marks);
  /// Whether the column needs categories.
  [[nodiscard]] bool is_text() const { return texts > 0; }
  /// Whether the column has numbers, and a few texts that may stand for missing values.
  [[nodiscard]] bool has_texts_among_numbers() const {
    return numbers > texts && is_text() && few_texts.size() < most_few;
  }
  /// Whether the first texts are dates.
  [[nodiscard]] bool has_dates() const;
};

/// Statistics of a table.
struct TableProfile {
  std::int64_t records = 0;
  std::int64_t keys = 0;  ///< different texts of the column `key`, where it is given
  bool has_names = false;
  std::vector<ColumnProfile> columns;
  std::vector<std::string> notes;  ///< on the layout, where it is read otherwise than it stands there
};

/// Reads a table once, and calls `tick` after each record. Memory does not grow with the number of records, but for
/// the texts of a `key`. The first line names the columns unless all of its fields are numbers or `settings.header`
/// says otherwise. Takes `label`, `id`, `drop`, `key`, `delimiter`, `decimal` and `header` of the settings. Throws
/// DataError for a row of another number of fields and for a table without records, and UsageError for missing columns.
[[nodiscard]] TableProfile profile_table(const std::string& path, const ReadSettings& settings,
                                         const std::function<void()>& tick);

/// Whether the numbers of a table have decimal commas, as read_head tells by its first rows.
[[nodiscard]] bool has_decimal_commas(const std::string& path, ReadSettings settings);

/// A constant of a column, for a draft: six significant digits, or as many more as leave an error of at most 1/200 of
/// the column's deviation, which is above 0.
[[nodiscard]] std::string text_of_constant(double value, double deviation);

/// A file of constants that a profile proposes.
struct DraftTable {
  std::string file;    ///< name without a folder
  std::string option;  ///< that takes it
  std::string text;
};

/// Drafts of the tables for --ranges, --standardise, --missing constant: and --encode onehot:. Ranges are rounded
/// outwards to two digits of their ends, or of their width where that is finer. Columns of text with categories are in
/// the last alone; of dates, and of a few texts among numbers, there is no draft. A label has lines if it is a text, or
/// a number with more than 20 values. Tables without lines are left out.
[[nodiscard]] std::vector<DraftTable> draft_tables(const TableProfile& profile);

/// Whether a column of text has so many texts that it is left out of the drafts: more than 20, and one for ten records
/// or fewer, as names of persons and of their visits are.
[[nodiscard]] bool has_too_many_texts(const TableProfile& profile, const ColumnProfile& column);

}  // namespace starling
