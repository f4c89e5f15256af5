#include <limits>
#include <map>
#include <utility>

#include "array_reader.hpp"
#include "core/check.hpp"
#include "core/digest.hpp"
#include "data/cells/keys.hpp"
#include "data/memory_records.hpp"

namespace starling {

namespace {

constexpr std::string_view memory_prefix = "memory:";

std::map<std::string, MemoryRecords>& offered_records() {
  static std::map<std::string, MemoryRecords> sources;
  return sources;
}

class ArraysInMemory final : public NumberArrays {
 public:
  ArraysInMemory(const std::string& source, const ReadSettings& settings) : all_(records_in_memory(source)) {
    columns = {source, all_.columns, all_.names};
    const DefaultLabel of_column = all_.names.empty() ? DefaultLabel::none : DefaultLabel::named_or_last;
    roles = choose_columns(columns, settings, all_.y != nullptr ? DefaultLabel::beside : of_column);
    missing = missing_rule(settings);
    records = static_cast<std::int64_t>(all_.records);
    check_dense_dimension(source, settings, roles.features.size());
    if (roles.label) return;
    check<DataError>(!needs_labels(settings) || all_.y != nullptr,
                     "{}: there are no labels: each record has one. Give them, or name a column by --label.", source);
    has_y = all_.y != nullptr;
  }

  [[nodiscard]] View row_of_x(std::uint64_t i) override {
    all_.copy(i, row_);
    return row_;
  }
  [[nodiscard]] std::optional<std::string> key_of_x(std::uint64_t i, std::size_t column) override {
    constexpr int of_double = std::numeric_limits<double>::digits;
    const std::ptrdiff_t place = all_.place(i, column);
    if (const auto* const* numbers = std::get_if<const double*>(&all_.x))
      return key_of_number((*numbers)[place], all_.digits.empty() ? of_double : all_.digits[column]);
    return std::visit([&](const auto* numbers) { return fmt::format("{}", numbers[place]); }, all_.x);
  }
  [[nodiscard]] double value_of_y(std::uint64_t i) override { return all_.label(i); }

 private:
  const MemoryRecords& all_;
  Vector row_;
};

}  // namespace

OfferedRecords::OfferedRecords(std::string name, MemoryRecords records) : name_(std::move(name)) {
  check(!name_.empty() && name_.find_first_of(",{}") == std::string::npos,
        "records '{}': a name has no commas and braces. Choose another.", name_);
  check(records.columns > 0 || !records.table.empty(),
        "records '{}': there is no column: a record needs a feature. Look at the array.", name_);
  const bool has_numbers = std::visit([](const auto* numbers) { return numbers != nullptr; }, records.x);
  check(has_numbers || records.records == 0 || !records.table.empty(),
        "records '{}': {} records, and no array of their features. Give x.", name_, records.records);
  check(records.names.empty() || records.names.size() == records.columns || !records.table.empty(),
        "records '{}': {} names for {} columns. Give each column a name, or none.", name_, records.names.size(),
        records.columns);
  check(offered_records().emplace(name_, std::move(records)).second,
        "records '{}': there are some of this name. Choose another.", name_);
}

OfferedRecords::~OfferedRecords() {
  offered_records().erase(name_);
}

bool is_in_memory(std::string_view source) {
  return source.starts_with(memory_prefix);
}

const MemoryRecords& records_in_memory(const std::string& source) {
  const auto found = offered_records().find(source.substr(memory_prefix.size()));
  check(found != offered_records().end(),
        "'{}': no such records: these live in a process that embeds starling, as Python does. Name a file.", source);
  return found->second;
}

std::string path_in_memory(const std::string& source) {
  return is_in_memory(source) ? records_in_memory(source).table : source;
}

std::string digest_of_memory(const std::string& source) {
  const MemoryRecords& records = records_in_memory(source);
  if (!records.table.empty()) return sha256_of_file(records.table);
  Sha256 digest;
  Vector row;
  for (std::size_t i = 0; i < records.records; ++i) {
    records.copy(i, row);
    if (records.y != nullptr) row.push_back(records.label(i));
    digest.add({reinterpret_cast<const char*>(row.data()), row.size() * sizeof(double)});
  }
  for (const std::string& name : records.names) digest.add({name.c_str(), name.size() + 1});
  return digest.digest();
}

std::unique_ptr<RecordReader> open_memory(const std::string& source, const ReadSettings& settings) {
  refuse_text_options(source, settings);
  return std::make_unique<ArrayReader>(std::make_unique<ArraysInMemory>(source, settings));
}

}  // namespace starling
