#include "starling/privacy/mechanism.hpp"

#include "rows.hpp"

namespace starling {

std::string Protection::neighbours() const {
  if (unit() == PrivacyUnit::record) {
    return "one record is replaced by any other in its place, all others staying where they are";
  }
  return "one component of one record's gradient is replaced by any other value, all else staying as it is";
}

std::string size_range(double least, double most) {
  const std::string text = fmt::format("{:.6g}", least);
  const std::string other = fmt::format("{:.6g}", most);
  return text == other ? text : "between " + text + " and " + other;
}

void Protection::check_price(double price) const {
  check<FailureError>(price >= settings_.price.least && price <= settings_.price.most,
                      "a release at a price of {} (the mechanism was made for {} to {})", price, settings_.price.least,
                      settings_.price.most);
}

const MechanismTable& mechanism_table() {
  static const MechanismTable table(
      "mechanism", {{"none", "no noise: nothing is protected, and the run says so", {}, make_none},
                    {"laplace", "discrete Laplace noise on integers: pure epsilon, exact", {}, make_laplace},
                    {"gaussian", "Gaussian noise, rounded correctly to integers: exact mu-GDP", {}, make_gaussian},
                    {"dissertation",
                     "truncated, shifted and normalised Laplace noise: to re-run the dissertation's "
                     "chapter 2 only",
                     {},
                     make_dissertation}});
  return table;
}

}  // namespace starling
