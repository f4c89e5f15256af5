#include "output/choices.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "core/check.hpp"
#include "core/text/spec.hpp"

namespace starling {

namespace {

/// Largest count of numbers in the recorded models of one round by default: dozens of records must fit into memory.
constexpr std::size_t most_numbers_at_once = 1'000'000;

constexpr Client usual_figures = 10;

Client usual_count(Client clients, std::size_t dimension) {
  const std::size_t fit = std::max<std::size_t>(1, most_numbers_at_once / std::max<std::size_t>(dimension, 1));
  return std::min<Client>(clients <= 100 ? clients : usual_figures,
                          static_cast<Client>(std::min<std::size_t>(fit, 100)));
}

std::vector<Client> first_of(Client count) {
  std::vector<Client> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

std::vector<Client> sample_of(Client clients, Client count) {
  std::vector<Client> result;
  result.reserve(static_cast<std::size_t>(count));
  for (Client i = 0; i < count; ++i) {
    result.push_back(static_cast<Client>(static_cast<std::int64_t>(i) * clients / count));
  }
  return result;
}

}  // namespace

RecordedChoice RecordedChoice::parse(const std::string& text) {
  using Kind = RecordedChoice::Kind;
  if (text == "all") return {Kind::all};
  if (text == "none") return {Kind::none};
  constexpr std::string_view sample = "sample:";
  const bool sampled = text.starts_with(sample);
  const long long count = parse_integer(sampled ? text.substr(sample.size()) : text, "value");
  check(count >= 1 && count <= 100'000'000, "{} is out of range: 1 to 100000000.", count);
  return {sampled ? Kind::sample : Kind::first, static_cast<Client>(count)};
}

Recorded who_is_recorded(Client clients, const RecordedChoice& choice, std::size_t dimension) {
  using Kind = RecordedChoice::Kind;
  Recorded recorded;
  switch (choice.kind) {
    case Kind::usual:
      recorded.clients = sample_of(clients, std::min(clients, usual_count(clients, dimension)));
      break;
    case Kind::one_model:
      recorded.clients = {0};
      break;
    case Kind::first:
      recorded.clients = first_of(std::min(clients, choice.count));
      break;
    case Kind::sample:
      recorded.clients = sample_of(clients, std::min(clients, choice.count));
      break;
    case Kind::all:
      recorded.clients = first_of(clients);
      break;
    case Kind::none:
      recorded.final_models = false;
      break;
  }
  const bool one_by_one = clients <= most_clients_one_by_one || choice.kind == Kind::all;
  recorded.figures = one_by_one ? Figures::of_all : Figures::of_some;
  const bool named = choice.kind != Kind::usual && choice.kind != Kind::one_model;
  recorded.listed = named ? recorded.clients : sample_of(clients, std::min(clients, usual_figures));
  return recorded;
}

void Recorded::add_joined(Client before, Client all) {
  for (std::vector<Client>* some : {&clients, &listed}) {
    if (some->size() != static_cast<std::size_t>(before)) continue;
    for (Client u = before; u < all; ++u) some->push_back(u);
  }
}

}  // namespace starling
