#include "privacy/accounting/prices.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "files/number_rows.hpp"

namespace starling {

namespace {

constexpr std::string_view by_client = "clients:";

}  // namespace

Prices Prices::parse(const std::string& text, const std::string& what, Round rounds, Client clients, double least,
                     double most) {
  Prices prices;
  if (text.starts_with(by_client)) {
    prices.by_client_ = read_values_of_clients(
        text.substr(by_client.size()), clients,
        [&](double value, const std::string& where) { require_in_range(value, where, least, most); });
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
