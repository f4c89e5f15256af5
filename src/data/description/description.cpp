#include "data/description/description.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/check.hpp"
#include "data/cells/keys.hpp"
#include "data/faults.hpp"

namespace starling {

namespace {

void check_features(std::size_t features, const RecordReader& reader) {
  check<DataError>(features <= Description::most_features,
                   "{}: {} features: figures of at most {} fit into memory. Describe a part of them.", reader.where(),
                   features, Description::most_features);
}

/// The Euclidean norm of numbers, whose sum of squares may be beyond the range of doubles.
double euclidean_norm(View values, double squares) {
  if (squares > 1e-280 && squares < 1e300) return std::sqrt(squares);
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  if (largest == 0) return 0;
  double sum = 0;
  for (const double value : values) sum += value / largest * (value / largest);
  return largest * std::sqrt(sum);
}

}  // namespace

void Moments::add(double value) {
  ++count_;
  const double step = value - mean_;
  mean_ += step / static_cast<double>(count_);
  squares_ += step * (value - mean_);
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void Moments::add_zeros(std::int64_t count) {
  if (count == 0) return;
  const auto before = static_cast<double>(count_);
  const auto added = static_cast<double>(count);
  squares_ += mean_ * mean_ * (before * (added / (before + added)));
  mean_ *= before / (before + added);
  count_ += count;
  min_ = std::min(min_, 0.0);
  max_ = std::max(max_, 0.0);
}

double Moments::deviation() const {
  return count_ == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(count_));
}

void LogQuantiles::add(double value) {
  ++total_;
  if (value == 0) {
    ++zeros_;
    return;
  }
  int exponent = std::numeric_limits<double>::max_exponent;
  double fraction = 1 - 0x1p-53;  // infinity counts as the largest number
  if (std::isfinite(value)) fraction = std::frexp(value, &exponent);
  const auto part = static_cast<std::size_t>((2 * fraction - 1) * parts);
  ++counts_[static_cast<std::size_t>(exponent - least) * parts + part];
}

double LogQuantiles::at(double p) const {
  auto left = static_cast<std::int64_t>(std::ceil(p * static_cast<double>(total_))) - zeros_;
  for (std::size_t k = 0; k < counts_.size() && left > 0; ++k) {
    left -= counts_[k];
    if (left > 0) continue;
    const auto exponent = static_cast<int>(k / parts) + least;
    const auto part = static_cast<double>(k % parts) + 0.5;
    return std::ldexp((1 + part / parts) / 2, exponent);
  }
  return 0;
}

void FeatureFigures::add(double value) {
  moments.add(value);
  ascends_ = ascends_ && value > last_ && value == std::floor(value);
  last_ = value;
  if (many) return;
  const auto at = std::lower_bound(values.begin(), values.end(), value);
  if (at != values.end() && *at == value) return;
  if (values.size() < most_distinct) {
    values.insert(at, value);
  } else {
    many = true;
    values = std::vector<double>();  // and its memory
  }
}

void NormFigures::add(double norm) {
  moments.add(norm);
  quantiles.add(norm);
}

void Describer::read(RecordReader& reader, const std::function<void()>& tick) {
  const bool first = result_.records_of_files.empty();
  for (FeatureFigures& column : result_.columns) column.begin_file();
  std::int64_t count = 0;
  Record record;
  Faults faults;
  auto read = Faults::Read::fault;
  while ((read = faults.read(reader, [&] { return reader.next(record); })) != Faults::Read::end) {
    if (read == Faults::Read::fault) continue;
    if (count++ == 0) {
      if (first) result_.sparse = record.sparse;
      check<DataError>(result_.sparse == record.sparse, "{}: dense records after sparse ones, or sparse after dense",
                       reader.where());
      check<DataError>(first || record.sparse || record.values.size() == result_.columns.size(),
                       "{}: {} features: the files before have {}. Give all files the same columns.", reader.where(),
                       record.values.size(), result_.columns.size());
    }
    check_features(record.row().width(), reader);
    if (!is_missing_key(record.key)) keys_.push_back(std::hash<std::string_view>()(record.key));
    add(record.row(), record.label);
    tick();
  }
  faults.throw_all();
  if (first) result_.names = reader.names();
  check_features(reader.features(), reader);
  grow(reader.features());
  result_.records_of_files.push_back(count);
}

void Describer::grow(std::size_t features) {
  if (features > result_.columns.size()) result_.columns.resize(features);
}

void Describer::add(const Row& row, double label) {
  ++result_.records;
  grow(row.width());
  double l1 = 0;
  double squares = 0;
  for (std::size_t k = 0; k < row.values.size(); ++k) {
    const double value = row.values[k];
    result_.columns[row.feature(k)].add(value);
    result_.nonzeros += value != 0 ? 1 : 0;
    l1 += std::abs(value);
    squares += value * value;
  }
  result_.l1.add(l1);
  result_.l2.add(euclidean_norm(row.values, squares));
  add_label(label);
}

void Describer::add_label(double label) {
  result_.label.add(label);
  if (result_.many_labels) return;
  ++result_.labels[label];
  if (result_.labels.size() > Description::most_labels) {
    result_.many_labels = true;
    result_.labels.clear();
  }
}

Description Describer::finish() {
  check<DataError>(result_.records > 0, "no records: there is nothing to describe. Check the source.");
  check<DataError>(!result_.columns.empty(),
                   "no record has a feature: nothing can be learned from it. Check the source.");
  result_.features = result_.columns.size();
  for (FeatureFigures& column : result_.columns) {
    const std::int64_t zeros = result_.records - column.moments.count();
    if (zeros == 0) continue;
    column.add(0);
    column.moments.add_zeros(zeros - 1);
  }
  std::sort(keys_.begin(), keys_.end());
  for (std::size_t i = 1; i < keys_.size(); ++i) result_.repeated_keys += keys_[i] == keys_[i - 1] ? 1 : 0;
  return std::move(result_);
}

}  // namespace starling
