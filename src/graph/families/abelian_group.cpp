#include "abelian_group.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace starling {

namespace {

std::vector<Client> primes_of(Client number) {
  std::vector<Client> primes;
  for (Client p = 2; std::int64_t{p} * p <= number; ++p) {
    if (number % p == 0) primes.push_back(p);
    while (number % p == 0) number /= p;
  }
  if (number > 1) primes.push_back(number);
  return primes;
}

/// A matrix in echelon form over the integers modulo a prime.
class Echelon {
 public:
  Echelon(std::size_t columns, std::int64_t prime) : by_lead_(columns), prime_(prime) {}

  void add(std::vector<std::int64_t> row) {
    for (std::size_t lead = 0; lead < by_lead_.size(); ++lead) {
      if (row[lead] == 0) continue;
      std::vector<std::int64_t>& known = by_lead_[lead];
      if (known.empty()) {
        known = std::move(row);
        ++rank_;
        return;
      }
      const std::int64_t own = row[lead];
      for (std::size_t j = lead; j < row.size(); ++j) {
        row[j] = (known[lead] * row[j] + (prime_ - own) * known[j]) % prime_;
      }
    }
  }
  [[nodiscard]] bool is_full() const { return rank_ == by_lead_.size(); }

 private:
  std::vector<std::vector<std::int64_t>>
      by_lead_;  ///< the row whose first entry stands there, empty where there is none
  std::int64_t prime_;
  std::size_t rank_ = 0;
};

}  // namespace

AbelianGroup::AbelianGroup(std::vector<Client> sides) : sides_(std::move(sides)), places_(sides_.size()) {
  for (std::size_t j = sides_.size(); j-- > 0;) {
    places_[j] = order_;
    order_ *= sides_[j];
    exponent_ = std::lcm(exponent_, std::int64_t{sides_[j]});
  }
}

std::vector<Client> AbelianGroup::digits(Client element) const {
  std::vector<Client> digits(sides_.size());
  for (std::size_t j = 0; j < sides_.size(); ++j) digits[j] = element / places_[j] % sides_[j];
  return digits;
}

bool AbelianGroup::is_generated_by(const std::vector<Client>& elements) const {
  // A subgroup that is not all of the group lies in one of a prime index p, which has all p-fold elements in it. So it
  // is enough to look at the group modulo each p, where it is a vector space.
  const std::vector<Client> primes = primes_of(order_);
  return std::all_of(primes.begin(), primes.end(), [&](Client p) { return is_spanned_modulo(p, elements); });
}

bool AbelianGroup::is_spanned_modulo(Client prime, const std::vector<Client>& elements) const {
  std::vector<std::size_t> left;  // digits: modulo p the others are nothing
  for (std::size_t j = 0; j < sides_.size(); ++j) {
    if (sides_[j] % prime == 0) left.push_back(j);
  }
  Echelon echelon(left.size(), prime);
  for (const Client element : elements) {
    const std::vector<Client> all = digits(element);
    std::vector<std::int64_t> row;
    row.reserve(left.size());
    for (const std::size_t j : left) row.push_back(all[j] % prime);
    echelon.add(std::move(row));
    if (echelon.is_full()) return true;
  }
  return false;
}

}  // namespace starling
