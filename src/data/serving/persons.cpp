#include "persons.hpp"

#include <set>
#include <unordered_map>
#include <utility>

namespace starling {

namespace {

struct Placed {
  std::int64_t number;  ///< in the source
  std::int64_t place;   ///< in the client's share
};

}  // namespace

PersonShare by_person(const Share& share, const std::vector<std::int32_t>& person_of) {
  std::unordered_map<std::int32_t, std::size_t> persons;
  std::vector<std::vector<Placed>> records;
  std::int64_t place = 0;
  for (const Share::Run& run : share.runs()) {
    for (std::int64_t i = run.first; i < run.first + run.count; ++i) {
      const auto [person, is_new] = persons.try_emplace(person_of[static_cast<std::size_t>(i)], records.size());
      if (is_new) records.emplace_back();
      records[person->second].push_back({i, place++});
    }
  }
  PersonShare result;
  result.ends.push_back(0);
  for (const std::vector<Placed>& own : records) {
    for (const Placed& record : own) {
      result.records.add(record.number);
      result.from_source.push_back(record.place);
    }
    result.ends.push_back(result.records.size());
  }
  return result;
}

std::vector<std::int64_t> persons_of_clients(const std::vector<Client>& owners, Client clients,
                                             const std::vector<std::int32_t>& person_of) {
  std::set<std::pair<Client, std::int32_t>> seen;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(clients), 0);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (seen.emplace(owners[i], person_of[i]).second) ++counts[static_cast<std::size_t>(owners[i])];
  }
  return counts;
}

}  // namespace starling
