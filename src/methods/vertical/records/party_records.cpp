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

}  // namespace

void align_records(Agreement& agreement, RankKey& key, VerticalDataset& dataset) {
  dataset.stream->settle(dataset.shape);
  const auto* bytes = reinterpret_cast<const char*>(dataset.ids.data());
  const std::string own(bytes, dataset.ids.size() * sizeof(std::uint64_t));
  const int from = first_that_knows(agreement, !own.empty());
  const std::string all = from < agreement.ranks() ? key.broadcast(own, from) : std::string();
  std::vector<std::uint64_t> order(all.size() / sizeof(std::uint64_t));
  if (!order.empty()) std::memcpy(order.data(), all.data(), all.size());
  agreement.together([&] { dataset.stream->align(order); });
  dataset.ids = std::move(order);
}

void group_records(Agreement& agreement, RankKey& key, std::size_t places, VerticalDataset& dataset) {
  const auto* bytes = reinterpret_cast<const char*>(dataset.persons.data());
  const std::string own(bytes, dataset.persons.size() * sizeof(std::int64_t));
  const int from = first_that_knows(agreement, !own.empty());
  const std::string all = from < agreement.ranks() ? key.broadcast(own, from) : std::string();
  std::vector<std::int64_t> persons(all.size() / sizeof(std::int64_t));
  if (!persons.empty()) std::memcpy(persons.data(), all.data(), all.size());
  agreement.together([&] { dataset.shape.records = dataset.stream->group(persons, places); });
}

}  // namespace starling
