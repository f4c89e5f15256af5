#include "data/column_roles.hpp"
#include "readers.hpp"
#include <cmath>
#include <map>
#include <utility>

#include "starling/core/check.hpp"
#include "starling/core/digest.hpp"
#include "starling/core/record_error.hpp"
#include "starling/data/memory_records.hpp"

namespace starling {

namespace {

constexpr std::string_view memory_prefix = "memory:";

std::map<std::string, MemoryRecords>& offered_records() {
  static std::map<std::string, MemoryRecords> sources;
  return sources;
}

class MemoryReader final : public RecordReader {
 public:
  MemoryReader(const std::string& source, const ReadSettings& settings)
      : all_(records_in_memory(source)), columns_{source, all_.columns, all_.names}, missing_(missing_rule(settings)) {
    roles_ = choose_columns(columns_, settings, DefaultLabel::none);
    check_dense_dimension(source, settings, features());
    const bool needed = settings.labels != ReadSettings::Labels::optional;
    check<DataError>(!needed || roles_.label || all_.y != nullptr,
                     "{}: there are no labels (each record has one). Give them, or name a column by --label.", source);
  }

  bool next(Record& record) override {
    if (!next_label(record)) return false;
    record.sparse = false;
    record.index.clear();
    record.values.clear();
    for (const std::size_t column : roles_.features) record.values.push_back(feature(column));
    return true;
  }

  bool next_label(Record& record) override {
    if (position_ == all_.records) return false;
    const std::size_t i = position_++;
    record.label = roles_.label ? number(*roles_.label) : all_.y != nullptr ? finite(all_.label(i), "the label") : 0;
    if (roles_.key) record.key = fmt::format("{}", all_.at(i, *roles_.key));
    return true;
  }

  [[nodiscard]] std::size_t features() const override { return roles_.features.size(); }
  [[nodiscard]] std::vector<std::string> names() const override { return feature_names(columns_, roles_); }
  [[nodiscard]] std::string label_name() const override {
    if (!roles_.label) return all_.y != nullptr ? "y" : "";
    return columns_.names.empty() ? "" : columns_.names[*roles_.label];
  }
  [[nodiscard]] std::string where() const override { return fmt::format("{}: record {}", columns_.path, position_); }
  [[nodiscard]] Mark mark() const override { return {position_, static_cast<std::int64_t>(position_)}; }
  void seek(const Mark& mark) override { position_ = mark.offset; }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return static_cast<std::int64_t>(all_.records); }

 private:
  /// A feature; NaN where it is missing and --missing fills it in.
  [[nodiscard]] double feature(std::size_t column) const {
    const double value = all_.at(position_ - 1, column);
    return missing_ != ReadSettings::Missing::refuse && std::isnan(value) ? value : number(column);
  }
  [[nodiscard]] double number(std::size_t column) const {
    return finite(all_.at(position_ - 1, column), fmt::format("column {} (from 0)", column));
  }
  [[nodiscard]] double finite(double value, const std::string& what) const {
    if (std::isfinite(value)) return value;
    const auto text = [&](const std::string& shown) {
      return fmt::format("{}: {} is {}every value must be a finite number). Correct or remove the record{}.", where(),
                         what, shown, std::isnan(value) ? ", or let --missing fill in features" : "");
    };
    throw RecordError(text("wrong (not finite; "), text(fmt::format("{} (", value)));
  }

  const MemoryRecords& all_;
  ColumnNames columns_;
  ReadSettings::Missing missing_;
  ColumnRoles roles_;
  std::size_t position_ = 0;  ///< of the record that next reads, from 0; that of the last one, from 1
};

}  // namespace

OfferedRecords::OfferedRecords(std::string name, MemoryRecords records) : name_(std::move(name)) {
  check(!name_.empty() && name_.find_first_of(",{}") == std::string::npos,
        "records '{}': a name has no commas and braces. Choose another.", name_);
  check(records.columns > 0, "records '{}': there is no column (a record needs a feature). Look at the array.", name_);
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
        "'{}': no such records (these live in a process that embeds starling, as Python does). Name a file.", source);
  return found->second;
}

std::string digest_of_memory(const std::string& source) {
  const MemoryRecords& records = records_in_memory(source);
  Sha256 digest;
  Vector row;
  for (std::size_t i = 0; i < records.records; ++i) {
    row.clear();
    for (std::size_t j = 0; j < records.columns; ++j) row.push_back(records.at(i, j));
    if (records.y != nullptr) row.push_back(records.label(i));
    digest.add({reinterpret_cast<const char*>(row.data()), row.size() * sizeof(double)});
  }
  for (const std::string& name : records.names) digest.add({name.c_str(), name.size() + 1});
  return digest.digest();
}

std::unique_ptr<RecordReader> open_memory(const std::string& source, const ReadSettings& settings) {
  refuse_text_options(source, settings);
  return std::make_unique<MemoryReader>(source, settings);
}

}  // namespace starling
