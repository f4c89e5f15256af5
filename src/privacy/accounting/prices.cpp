#include "privacy/accounting/prices.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "files/number_rows.hpp"

namespace starling {

namespace {

constexpr std::string_view by_client = "clients:";

std::vector<double> read_clients(const std::string& path, Client clients, double least, double most) {
  std::vector<double> values(static_cast<std::size_t>(clients), std::nan(""));
  for (const NumberPair& pair : read_number_pairs(path)) {
    check(pair.key < clients, "{}:{}: client {}: there are {}, from 0.", path, pair.line, pair.key, clients);
    double& value = values[static_cast<std::size_t>(pair.key)];
    check(std::isnan(value), "{}:{}: client {} is named twice", path, pair.line, pair.key);
    check(pair.value >= least && pair.value <= most, "{}:{}: {} is out of range: {} to {}.", path, pair.line,
          pair.value, least, most);
    value = pair.value;
  }
  const auto missing = std::find_if(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  check(missing == values.end(), "'{}' does not name client {}: each client needs a line.", path,
        missing - values.begin());
  return values;
}

}  // namespace

Prices Prices::parse(const std::string& text, const std::string& what, Round rounds, Client clients, double least,
                     double most) {
  Prices prices;
  if (text.starts_with(by_client)) {
    prices.by_client_ = read_clients(text.substr(by_client.size()), clients, least, most);
  } else {
    prices.by_round_ = RoundValues::parse(text, what, rounds, least, most);
  }
  return prices;
}

Prices Prices::converted(std::function<double(double)> convert) const {
  Prices prices = *this;
  if (!by_client_.empty()) {
    std::transform(by_client_.begin(), by_client_.end(), prices.by_client_.begin(), convert);
    return prices;
  }
  prices.convert_ = [before = convert_, then = std::move(convert)](double price) {
    return then(before ? before(price) : price);
  };
  return prices;
}

double Prices::at(Client u, Round t) const {
  return by_client_.empty() ? convert(by_round_.at(t)) : by_client_[static_cast<std::size_t>(u)];
}

std::string Prices::text() const {
  std::string text = by_round_.text();
  for (const double value : by_client_) text += fmt::format(" {:.17g}", value);
  return text;
}

PriceRange Prices::range() const {
  if (by_client_.empty()) return {convert(by_round_.least()), convert(by_round_.most())};
  const auto [least, most] = std::minmax_element(by_client_.begin(), by_client_.end());
  return {*least, *most};
}

}  // namespace starling
