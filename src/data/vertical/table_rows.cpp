#include "table_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/cells/keys.hpp"
#include "data/passes.hpp"

namespace starling {

void Ids::add(const RecordReader& reader, const std::string& id) {
  check<RecordError>(!is_missing_key(id), "{}: the id is missing: records are matched by it. Complete the row.",
                     reader.where());
  const auto [place, added] = numbers_.try_emplace(id, texts_.size() + 1);
  if (!added) {
    const std::string why =
        fmt::format("has stood in record {} before: it could mean either. Keep one of them.", place->second);
    throw RecordError(fmt::format("{}: its id {}", reader.where(), why),
                      fmt::format("{}: id '{}' {}", reader.where(), id, why));
  }
  texts_.push_back(id);
}

void PersonNumbers::add(const std::string& person, std::vector<std::int64_t>& numbers) {
  const auto [place, added] = numbers_.try_emplace(person, next_);
  next_ += added ? 1 : 0;
  numbers.push_back(place->second);
  if (!person.empty()) return;
  numbers.back() = -1 - place->second;
  numbers_.erase(place);
}

void pick(const Record& record, const std::vector<std::size_t>& columns, Vector& values) {
  const Row row = record.row();
  values.clear();
  for (const std::size_t column : columns) {
    if (!row.sparse()) {
      values.push_back(row.values[column]);
      continue;
    }
    const auto place = std::lower_bound(row.index.begin(), row.index.end(), static_cast<std::int32_t>(column));
    const bool stored = place != row.index.end() && static_cast<std::size_t>(*place) == column;
    values.push_back(stored ? row.values[static_cast<std::size_t>(place - row.index.begin())] : 0);
  }
}

void append(Secret<Vector>& values, View added) {
  values.update([added](Vector& all) { all.insert(all.end(), added.begin(), added.end()); });
}

std::size_t count_features(const std::function<std::unique_ptr<RecordReader>()>& open) {
  const auto reader = open();
  Record record;
  while (reader->sparse() && reader->next(record)) {
  }
  return reader->features();
}

std::vector<std::size_t> all_columns(std::size_t features) {
  std::vector<std::size_t> columns(features);
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return columns;
}

std::vector<std::string> names_of(const std::vector<std::string>& names, const std::vector<std::size_t>& columns) {
  std::vector<std::string> picked;
  for (const std::size_t column : columns) {
    if (!names.empty()) picked.push_back(names[column]);
  }
  return picked;
}

PublicConstants party_part(PublicConstants constants, const std::vector<std::size_t>& features) {
  const std::vector<std::string> all = std::exchange(constants.columns, names_of(constants.columns, features));
  const auto is_of_another = [&](const CategoryColumn& each) {
    const bool is_own = std::ranges::find(constants.columns, each.column) != constants.columns.end();
    return each.column == constants.label || (!is_own && std::ranges::find(all, each.column) != all.end());
  };
  std::erase_if(constants.categories, is_of_another);
  std::vector<Standardisation> own;
  std::vector<double> fill;
  for (const std::size_t feature : features) {
    if (!constants.standardisation.empty()) own.push_back(constants.standardisation[feature]);
    if (!constants.fill.empty()) fill.push_back(constants.fill[feature]);
  }
  constants.standardisation = std::move(own);
  constants.fill = std::move(fill);
  constants.features = features.size();
  constants.label.clear();
  constants.label_standardisation.reset();
  constants.positive.clear();
  constants.class_labels.clear();
  constants.ignore.clear();
  return constants;
}

PublicConstants label_part(PublicConstants constants) {
  constants.features = 0;
  constants.columns.clear();
  constants.standardisation.clear();
  constants.fill.clear();
  constants.missing = ReadSettings::Missing::refuse;
  constants.scale = 1;
  constants.description = ReadSettings::Features::raw;
  std::erase_if(constants.categories, [&](const CategoryColumn& each) { return each.column != constants.label; });
  return constants;
}

void check_records(const std::string& file, std::int64_t records) {
  check<DataError>(records > 0, "{}: no records: nothing can be learned from it. Check the file.", file);
}

std::optional<Round> rounds_of_table(const VerticalSettings& settings, std::int64_t records) {
  return Passes(records, settings.batching()).rounds();
}

}  // namespace starling
