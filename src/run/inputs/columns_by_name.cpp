#include "columns_by_name.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include <fmt/ranges.h>

#include "core/boundary.hpp"
#include "core/check.hpp"
#include "data/cells/number.hpp"
#include "data/column_names.hpp"
#include "data/generators/synthetic.hpp"
#include "data/serving/partition.hpp"
#include "data/settings.hpp"
#include "data/source.hpp"
#include "files/tell_user.hpp"
#include "net/agreement.hpp"

namespace starling {

namespace {

/// A source and the names of its feature columns.
struct NamedColumns {
  std::string source;
  std::vector<std::string> names;
  std::set<std::string> lacking;  ///< columns of --drop that are not there
};

/// Whether a source can be read twice.
bool stays(const std::string& source) {
  if (is_synthetic(source) || source == "-") return false;
  return std::ranges::all_of(files_of(source), [](const std::string& file) {  // of memory there are none
    std::error_code ignored;
    return std::filesystem::is_regular_file(file, ignored);
  });
}

std::vector<NamedColumns> columns_of(const std::vector<std::string>& sources, const DataSettings& data) {
  std::vector<NamedColumns> own;
  for (const std::string& source : sources) {
    if (!stays(source) || (!own.empty() && own.back().source == source)) continue;
    DataSettings reading = data;
    reading.key = data.person.empty() ? partition_table().make(data.partition)->key() : data.person;
    std::set<std::string> lacking;
    reading.may_lack = [&lacking](const std::string& column) {
      lacking.insert(column);
      return true;
    };
    std::vector<std::string> names = feature_columns(source, reading);
    own.push_back({source, std::move(names), std::move(lacking)});
  }
  return own;
}

/// The columns of --drop that one client at least has. **Collective.**
std::set<std::string> dropped_somewhere(Agreement& agreement, const std::vector<NamedColumns>& own,
                                        const std::vector<std::string>& drop) {
  std::string flags;
  for (const std::string& column : drop) {
    const bool here =
        std::ranges::any_of(own, [&](const NamedColumns& each) { return !each.lacking.contains(column); });
    flags += here ? '1' : '0';
  }
  std::set<std::string> found;
  for (const std::string& of_rank : agreement.all_gather(declare_public(flags))) {
    for (std::size_t k = 0; k < drop.size(); ++k)
      if (of_rank[k] == '1') found.insert(drop[k]);
  }
  return found;
}

/// Those of the first client that has names; none if nobody has. **Collective.**
std::vector<std::string> names_of_first(Agreement& agreement, const std::vector<NamedColumns>& own) {
  constexpr char separator = '\n';  // no name has it
  std::string text;
  if (!own.empty()) {
    for (const std::string& name : own.front().names) (text += name) += separator;
  }
  std::vector<std::string> names;
  for (const std::string& of_rank : agreement.all_gather(declare_public(text))) {
    if (!names.empty()) continue;
    std::istringstream lines(of_rank);
    for (std::string name; std::getline(lines, name, separator);) names.push_back(name);
  }
  return names;
}

/// The quoted names that are not among the others.
std::vector<std::string> beside(std::vector<std::string> names, std::vector<std::string> others) {
  std::ranges::sort(names);
  std::ranges::sort(others);
  std::vector<std::string> result;
  std::ranges::set_difference(names, others, std::back_inserter(result));
  for (std::string& name : result) name = fmt::format("'{}'", excerpt(name));
  return result;
}

void compare(const NamedColumns& own, const std::vector<std::string>& common) {
  const std::vector<std::string> missing = beside(common, own.names);
  const std::vector<std::string> more = beside(own.names, common);
  check<DataError>(
      missing.empty(),
      "{}: features that the first client has are missing: {}{}. Give all clients the same columns, in any "
      "order, or take those that only some have out of the first client's file.",
      own.source, fmt::join(missing, ", "), more.empty() ? "" : fmt::format("; only there: {}", fmt::join(more, ", ")));
  if (more.empty()) return;
  tell_user("note: {}: columns that the first client does not have are left out: {}\n", own.source,
            fmt::join(more, ", "));
}

}  // namespace

MatchedColumns match_columns(Agreement& agreement, const std::vector<std::string>& sources, const DataSettings& data) {
  std::vector<NamedColumns> own;
  agreement.together([&] { own = columns_of(sources, data); });
  MatchedColumns matched{{}, dropped_somewhere(agreement, own, data.drop)};
  std::erase_if(own, [](const NamedColumns& each) { return each.names.empty(); });
  matched.names = names_of_first(agreement, own);
  agreement.together([&] {
    for (const NamedColumns& each : own) compare(each, matched.names);
  });
  return matched;
}

}  // namespace starling
