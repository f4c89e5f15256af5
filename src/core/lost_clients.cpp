#include "starling/core/lost_clients.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "starling/core/check.hpp"
#include "starling/core/spec.hpp"

namespace starling {

namespace {

Client client_in(std::string_view text, Client clients) {
  const long long number = parse_integer(text, "a client");
  check(number >= 0 && number < clients, "client {} (there are clients 0 to {}) correct it", number, clients - 1);
  return static_cast<Client>(number);
}

}  // namespace

std::vector<Client> parse_clients(std::string_view text, Client clients) {
  std::vector<char> named(static_cast<std::size_t>(clients), 0);
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::size_t dash = item.find('-', 1);
    const Client first = client_in(item.substr(0, dash), clients);
    const Client last = dash == std::string_view::npos ? first : client_in(item.substr(dash + 1), clients);
    check(first <= last, "clients {} (a range runs upwards) correct it", item);
    std::fill(named.begin() + first, named.begin() + last + 1, char{1});
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
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

void LostClients::add(Round round, std::vector<Client> clients) {
  std::vector<Client> all;
  std::merge(all_.begin(), all_.end(), clients.begin(), clients.end(), std::back_inserter(all));
  check(std::adjacent_find(all.begin(), all.end()) == all.end(), "clients {} are lost twice (they are gone for good)",
        list_of_clients(clients));
  all_ = std::move(all);
  losses_.push_back({round, std::move(clients)});
}

bool LostClients::has(Client u) const {
  return std::binary_search(all_.begin(), all_.end(), u);
}

}  // namespace starling
