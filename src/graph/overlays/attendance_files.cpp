// Absences, shares and departures as users write them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "core/text/spec.hpp"
#include "files/number_rows.hpp"
#include "graph/overlays/attendance.hpp"

namespace starling {

namespace {

std::string place_of(const std::string& path, const NumberPair& pair) {
  return fmt::format("{}:{}", path, pair.line);
}

double share_of(double value, const std::string& where) {
  check(value >= 0 && value < 1, "{}: {}: the share of rounds that a client sits out is from 0 to below 1. Correct it.",
        where, value);
  return value;
}

}  // namespace

std::unique_ptr<AbsenceModel> read_absences(const std::string& path, Client clients) {
  std::vector<std::pair<Client, Round>> absences;
  for (const NumberPair& pair : read_number_pairs(path)) {
    absences.emplace_back(client_of(pair.value, clients, place_of(path, pair)), pair.key);
  }
  std::sort(absences.begin(), absences.end());
  const auto listed = std::make_shared<const std::vector<std::pair<Client, Round>>>(std::move(absences));
  const auto absent = [listed](Client u, Round t) {
    return std::binary_search(listed->begin(), listed->end(), std::pair(u, t));
  };
  const auto text = [listed] {
    std::string all = "listed";
    for (const auto& [client, round] : *listed) all += fmt::format(" {}:{}", client, round);
    return all;
  };
  return std::make_unique<AbsenceModel>(AbsenceModel{absent, text});
}

std::vector<double> parse_dropout(const std::string& text, Client clients) {
  constexpr std::string_view by_client = "clients:";
  if (text.starts_with(by_client)) return read_values_of_clients(text.substr(by_client.size()), clients, share_of);
  std::vector<double> shares;
  for (const std::string_view part : split_at(text, ",")) {
    shares.push_back(share_of(parse_number(part, "--dropout"), "--dropout"));
  }
  const auto count = static_cast<std::size_t>(clients);
  check(shares.size() == 1 || shares.size() == count,
        "--dropout {}: {} shares for {} clients: one number is for all, a list has one for each. Correct it.", text,
        shares.size(), count);
  if (shares.size() == 1) shares.resize(count, shares[0]);
  return shares;
}

Departures read_departures(const std::string& path, Client clients) {
  Departures departures(static_cast<std::size_t>(clients));
  for (const NumberPair& pair : read_number_pairs(path)) {
    const std::string where = place_of(path, pair);
    const Client u = client_of(static_cast<double>(pair.key), clients, where);
    check(pair.value >= 0 && pair.value < 9e15 && pair.value == std::floor(pair.value),
          "{}: round {}: rounds are whole numbers from 0. Correct it.", where, pair.value);
    auto& departure = departures[static_cast<std::size_t>(u)];
    check(!departure, "{}: client {} is named twice. Delete one of its lines.", where, u);
    departure = static_cast<Round>(pair.value);
  }
  return departures;
}

}  // namespace starling
