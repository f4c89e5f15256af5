// Readers of sources that are arrays of numbers: HDF5, NumPy, memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/column_roles.hpp"
#include "data/formats/readers.hpp"

namespace starling {

/// The arrays X and y of a source. A derived class finds them and gives their values.
class NumberArrays {
 public:
  virtual ~NumberArrays() = default;
  /// Row i of X. The view holds until the next call.
  [[nodiscard]] virtual View row_of_x(std::uint64_t i) = 0;
  [[nodiscard]] virtual double value_of_y(std::uint64_t i) = 0;
  /// Key in a column of row i of X; none where the type of the numbers may have made one key of two (data/keys.hpp).
  [[nodiscard]] virtual std::optional<std::string> key_of_x(std::uint64_t i, std::size_t column) = 0;

  ColumnNames columns;  ///< of X
  ColumnRoles roles;
  ReadSettings::Missing missing = ReadSettings::Missing::refuse;
  const char* x_name = "X";  ///< in messages
  const char* y_name = "y";
  bool has_x = true;
  bool has_y = false;
  std::int64_t records = 0;
};

/// Reader of a row of X for each record, with the label in y or in a column of X.
class ArrayReader final : public RecordReader {
 public:
  explicit ArrayReader(std::unique_ptr<NumberArrays> arrays) : arrays_(std::move(arrays)) {}

  bool next(Record& record) override;
  bool next_label(Record& record) override;
  [[nodiscard]] std::size_t features() const override { return arrays_->roles.features.size(); }
  [[nodiscard]] std::vector<std::string> names() const override {
    return feature_names(arrays_->columns, arrays_->roles);
  }
  [[nodiscard]] std::string label_name() const override;
  [[nodiscard]] std::string where() const override;
  [[nodiscard]] Mark mark() const override { return {static_cast<std::uint64_t>(position_), position_}; }
  void seek(const Mark& mark) override { position_ = static_cast<std::int64_t>(mark.offset); }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return arrays_->records; }

 private:
  void take_row(View row, Record& record) const;
  void take_key(std::uint64_t i, Record& record);
  /// A finite value. Throws RecordError.
  [[nodiscard]] double number(double value, std::size_t column, const char* array) const;

  std::unique_ptr<NumberArrays> arrays_;
  std::int64_t position_ = 0;  ///< of the record that next reads, from 0; that of the last one, from 1
};

}  // namespace starling
