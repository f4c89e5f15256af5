#include "core/clients/membership.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/check.hpp"
#include "core/text/spec.hpp"

namespace starling {

namespace {

Client client_in(std::string_view text, Client clients) {
  const long long number = parse_integer(text, "a client");
  check(number >= 0 && number < clients, "client {}: there are clients 0 to {}. Correct it.", number, clients - 1);
  return static_cast<Client>(number);
}

}  // namespace

std::vector<Client> parse_clients(std::string_view text, Client clients) {
  std::vector<char> named(static_cast<std::size_t>(clients), 0);
  for (const std::string_view item : split_at(text, ",")) {
    const std::size_t dash = item.find('-', 1);
    const Client first = client_in(item.substr(0, dash), clients);
    const Client last = dash == std::string_view::npos ? first : client_in(item.substr(dash + 1), clients);
    check(first <= last, "clients {}: a range runs upwards. Correct it.", item);
    std::fill(named.begin() + first, named.begin() + last + 1, char{1});
  }
  std::vector<Client> all;
  for (Client u = 0; u < clients; ++u) {
    if (named[static_cast<std::size_t>(u)] != 0) all.push_back(u);
  }
  return all;
}

std::string list_of_clients(const std::vector<Client>& clients) {
  std::string text;
  for (std::size_t i = 0; i < clients.size();) {
    std::size_t end = i + 1;
    while (end < clients.size() && clients[end] == clients[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;
    text += fmt::format("{}{}", i == 0 ? "" : ",", clients[i]);
    if (end > i + 1) text += fmt::format("-{}", clients[end - 1]);
    i = end;
  }
  return text;
}

void Membership::lose(Round round, std::vector<Client> clients) {
  std::vector<Client> all;
  std::merge(lost_.begin(), lost_.end(), clients.begin(), clients.end(), std::back_inserter(all));
  check(std::adjacent_find(all.begin(), all.end()) == all.end(), "clients {} are lost twice: they are gone for good.",
        list_of_clients(clients));
  lost_ = std::move(all);
  changes_.push_back({Change::Kind::loss, round, std::move(clients), ""});
}

void Membership::join(Round round, Client count, std::string source) {
  std::vector<Client> clients(static_cast<std::size_t>(count));
  std::iota(clients.begin(), clients.end(), clients_);
  clients_ += count;
  changes_.push_back({Change::Kind::join, round, std::move(clients), std::move(source)});
}

std::vector<Membership::Change> Membership::changes(Change::Kind kind) const {
  std::vector<Change> some;
  std::copy_if(changes_.begin(), changes_.end(), std::back_inserter(some),
               [kind](const Change& each) { return each.kind == kind; });
  return some;
}

std::vector<Client> Membership::present() const {
  std::vector<Client> all(static_cast<std::size_t>(clients_));
  std::iota(all.begin(), all.end(), Client{0});
  std::vector<Client> present;
  std::set_difference(all.begin(), all.end(), lost_.begin(), lost_.end(), std::back_inserter(present));
  return present;
}

bool Membership::is_lost(Client u) const {
  return std::binary_search(lost_.begin(), lost_.end(), u);
}

const Membership::Change* Membership::joined_with(Client u) const {
  for (const Change& each : changes_) {
    if (each.kind == Change::Kind::join && each.clients.front() <= u && u <= each.clients.back()) return &each;
  }
  return nullptr;
}

}  // namespace starling
