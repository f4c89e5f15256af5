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

void align_records(Agreement& agreement, RankKey& key, VerticalDataset& dataset) {
  dataset.stream->settle(dataset.shape);
  const auto* bytes = reinterpret_cast<const char*>(dataset.ids.data());
  const std::string own(bytes, dataset.ids.size() * sizeof(std::uint64_t));
  const bool knows = !own.empty();
  const std::int64_t from = agreement.min(declare_public<std::int64_t>(knows ? agreement.rank() : agreement.ranks()));
  const std::string all = from < agreement.ranks() ? key.broadcast(own, static_cast<int>(from)) : std::string();
  std::vector<std::uint64_t> order(all.size() / sizeof(std::uint64_t));
  if (!order.empty()) std::memcpy(order.data(), all.data(), all.size());
  agreement.together([&] { dataset.stream->align(order); });
  dataset.ids = std::move(order);
}

void group_records(Agreement& agreement, RankKey& key, std::size_t places, VerticalDataset& dataset) {
  const auto* bytes = reinterpret_cast<const char*>(dataset.persons.data());
  const std::string all = key.broadcast(std::string(bytes, dataset.persons.size() * sizeof(std::int64_t)));
  std::vector<std::int64_t> persons(all.size() / sizeof(std::int64_t));
  if (!persons.empty()) std::memcpy(persons.data(), all.data(), all.size());
  agreement.together([&] { dataset.shape.records = dataset.stream->group(persons, places); });
}

}  // namespace starling
