// Readers of sources that are arrays of numbers: HDF5, NumPy, memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/column_roles.hpp"
#include "data/formats/readers.hpp"

namespace starling {

/// Reader of a row of X for each record, with the label in y or in a column of X. A derived class finds the arrays and
/// gives their values.
class ArrayReader : public RecordReader {
 public:
  bool next(Record& record) final;
  bool next_label(Record& record) final;
  [[nodiscard]] std::size_t features() const final { return arrays_.roles.features.size(); }
  [[nodiscard]] std::vector<std::string> names() const final { return feature_names(arrays_.columns, arrays_.roles); }
  [[nodiscard]] std::string label_name() const final;
  [[nodiscard]] std::string where() const final;
  [[nodiscard]] Mark mark() const final { return {static_cast<std::uint64_t>(position_), position_}; }
  void seek(const Mark& mark) final { position_ = static_cast<std::int64_t>(mark.offset); }
  [[nodiscard]] std::optional<std::int64_t> records() const final { return arrays_.records; }

 protected:
  struct Arrays {
    ColumnNames columns;  ///< of X
    ColumnRoles roles;
    ReadSettings::Missing missing = ReadSettings::Missing::refuse;
    const char* x = "X";  ///< names in messages
    const char* y = "y";
    bool has_x = true;
    bool has_y = false;
    std::int64_t records = 0;
  };
  ArrayReader() = default;
  explicit ArrayReader(Arrays arrays) : arrays_(std::move(arrays)) {}

  /// Row i of X. The view holds until the next call.
  [[nodiscard]] virtual View row_of_x(std::uint64_t i) = 0;
  [[nodiscard]] virtual double value_of_y(std::uint64_t i) = 0;
  /// Key in a column of row i of X; none where the type of the numbers may have made one key of two (data/keys.hpp).
  [[nodiscard]] virtual std::optional<std::string> key_of_x(std::uint64_t i, std::size_t column) = 0;

  Arrays arrays_;

 private:
  void take_row(View row, Record& record) const;
  void take_key(std::uint64_t i, Record& record);
  /// A finite value. Throws RecordError.
  [[nodiscard]] double number(double value, std::size_t column, const char* array) const;

  std::int64_t position_ = 0;  ///< of the record that next reads, from 0; that of the last one, from 1
};

}  // namespace starling
