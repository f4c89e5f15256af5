#include "party_records.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace starling {

VerticalShape joined_shape(Agreement& agreement, const VerticalDataset& dataset) {
  const auto shapes = agreement.all_gather(declare_public(dataset.shape.text()));
  VerticalShape all;
  agreement.together([&] {
    all = VerticalShape::parse(shapes.front());
    for (std::size_t r = 1; r < shapes.size(); ++r) all = all.joined(VerticalShape::parse(shapes[r]));
  });
  return all;
}

namespace {

/// The lowest rank that knows something; as many as ranks if none does. **Collective.**
int first_that_knows(Agreement& agreement, bool knows) {
  return static_cast<int>(agreement.min(declare_public<std::int64_t>(knows ? agreement.rank() : agreement.ranks())));
}

/// The numbers of the first rank that has any, sealed by the ranks' key.
template <class Number>
std::vector<Number> numbers_of_all(Agreement& agreement, RankKey& key, const std::vector<Number>& own) {
  const std::string here(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(Number));
  const int from = first_that_knows(agreement, !here.empty());
  const std::string all = from < agreement.ranks() ? key.broadcast(here, from) : std::string();
  std::vector<Number> numbers(all.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), all.data(), all.size());
  return numbers;
}

}  // namespace

void align_records(Agreement& agreement, RankKey& key, VerticalDataset& dataset) {
  dataset.stream->settle(dataset.shape);
  dataset.ids = numbers_of_all(agreement, key, dataset.ids);
  agreement.together([&] { dataset.stream->align(dataset.ids); });
}

void group_records(Agreement& agreement, RankKey& key, std::size_t places, VerticalDataset& dataset) {
  const std::vector<std::int64_t> persons = numbers_of_all(agreement, key, dataset.persons);
  agreement.together([&] { dataset.shape.records = dataset.stream->group(persons, places); });
}

}  // namespace starling
