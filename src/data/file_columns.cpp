#include "file_columns.hpp"

#include <algorithm>

#include "column_roles.hpp"
#include "data/source.hpp"

namespace starling {

bool FileColumns::have(const std::string& wanted) const {
  return std::ranges::find(names, wanted) != names.end() || column_number(wanted, count);
}

FileColumns columns_of(const ReadSettings& settings) {
  ReadSettings plain;
  plain.source = settings.source;
  plain.format = settings.format;
  plain.labels = ReadSettings::Labels::none;
  plain.delimiter = settings.delimiter;
  plain.decimal = settings.decimal;
  plain.header = settings.header;
  plain.go_on_waiting = settings.go_on_waiting;
  require_regular(plain.source);
  const auto reader = open_reader(plain.source, plain);
  return {reader->names(), reader->features()};
}

void keep_roles_in_file(ReadSettings& settings) {
  if (settings.key.empty() && settings.id.empty() && settings.drop.empty()) return;
  const FileColumns columns = columns_of(settings);
  const auto is_missing = [&](const std::string& column) { return !columns.have(column); };
  if (is_missing(settings.key)) settings.key.clear();
  if (is_missing(settings.id)) settings.id.clear();
  std::erase_if(settings.drop, is_missing);
}

}  // namespace starling
