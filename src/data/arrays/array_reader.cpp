#include "array_reader.hpp"

#include <cmath>

#include "core/record_error.hpp"

namespace starling {

bool ArrayReader::next(Record& record) {
  if (position_ == arrays_->records) return false;
  const auto i = static_cast<std::uint64_t>(position_++);
  record.sparse = false;
  record.index.clear();
  record.values.clear();
  record.label = arrays_->has_y ? number(arrays_->value_of_y(i), 0, arrays_->y_name) : 0;
  if (arrays_->has_x) take_row(arrays_->row_of_x(i), record);
  if (arrays_->roles.key) take_key(i, record);
  return true;
}

bool ArrayReader::next_label(Record& record) {
  if (arrays_->roles.label || arrays_->roles.key) return next(record);
  if (position_ == arrays_->records) return false;
  const auto i = static_cast<std::uint64_t>(position_++);
  record.label = arrays_->has_y ? number(arrays_->value_of_y(i), 0, arrays_->y_name) : 0;
  return true;
}

std::string ArrayReader::label_name() const {
  if (!arrays_->roles.label) return arrays_->has_y ? "y" : "";
  return arrays_->columns.names.empty() ? "" : arrays_->columns.names[*arrays_->roles.label];
}

std::string ArrayReader::where() const {
  return fmt::format("{}: record {}", arrays_->columns.path, position_);
}

void ArrayReader::take_row(View row, Record& record) const {
  for (const std::size_t column : arrays_->roles.features) {
    const bool missing = arrays_->missing != ReadSettings::Missing::refuse && std::isnan(row[column]);
    record.values.push_back(missing ? row[column] : number(row[column], column, arrays_->x_name));
  }
  if (arrays_->roles.label) record.label = number(row[*arrays_->roles.label], *arrays_->roles.label, arrays_->x_name);
}

void ArrayReader::take_key(std::uint64_t i, Record& record) {
  const std::size_t column = *arrays_->roles.key;
  auto key = arrays_->key_of_x(i, column);
  check<RecordError>(key.has_value(),
                     "{}: {} of {} is no key: so large a number of floating point is rounded, and two keys may have "
                     "become one. Store whole numbers, or the table as text.",
                     where(), arrays_->columns.place(column), arrays_->x_name);
  record.key = std::move(*key);
}

double ArrayReader::number(double value, std::size_t column, const char* array) const {
  if (std::isfinite(value)) return value;
  const auto text = [&](const std::string& shown) {
    return fmt::format(
        "{}: column {} (from 0) of {} is {}: every value must be a finite number. Correct or remove the record{}.",
        where(), column, array, shown, std::isnan(value) ? ", or let --missing fill in features" : "");
  };
  throw RecordError(text("not finite"), text(fmt::format("{}", value)));
}

}  // namespace starling
