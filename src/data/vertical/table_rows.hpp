/// Reading of a table's rows, for the two kinds of tables whose columns parties share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/source.hpp"
#include "data/vertical/vertical.hpp"

namespace starling {

/// The ids of a file's records, as they come.
class Ids {
 public:
  /// Throws DataError for an id that is missing, and for one that has been there.
  void add(const RecordReader& reader, const std::string& id);
  [[nodiscard]] std::vector<std::string> texts() && { return std::move(texts_); }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;  // of records, from 1
  std::vector<std::string> texts_;
};

/// The persons of a file's records, as they come.
class PersonNumbers {
 public:
  /// Appends the number of the record's person, from 0 in the order of first records. A record that is left out because
  /// it has no person has a number of its own: n stands as −1 − n.
  void add(const std::string& person, std::vector<std::int64_t>& numbers);

 private:
  std::unordered_map<std::string, std::int64_t> numbers_;
  std::int64_t next_ = 0;
};

/// Sets `values` to the values of some columns of a record, in their order.
void pick(const Record& record, const std::vector<std::size_t>& columns, Vector& values);
void append(Secret<Vector>& values, View added);
/// Features of all records: of sparse ones that do not say so, after a pass over them.
[[nodiscard]] std::size_t count_features(const std::function<std::unique_ptr<RecordReader>()>& open);
/// 0, 1, …, features − 1.
[[nodiscard]] std::vector<std::size_t> all_columns(std::size_t features);
/// The names of some columns; none where `names` are none.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<std::string>& names,
                                                const std::vector<std::size_t>& columns);
/// The constants of some features of a source, without those of its labels.
[[nodiscard]] PublicConstants party_part(PublicConstants constants, const std::vector<std::size_t>& features);
/// The constants of a source's labels alone.
[[nodiscard]] PublicConstants label_part(PublicConstants constants);
/// Throws DataError for a file without records.
void check_records(const std::string& file, std::int64_t records);
/// Rounds of all passes over so many records.
[[nodiscard]] std::optional<Round> rounds_of_table(const VerticalSettings& settings, std::int64_t records);

}  // namespace starling
