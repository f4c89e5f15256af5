/// Finite Abelian groups, as they number clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "starling/core/links.hpp"

namespace starling {

/// Z_sides[0] × Z_sides[1] × …. Its elements are the numbers from 0 to its order − 1: their digits, of which the last
/// changes from one number to the next, are coordinates.
class AbelianGroup {
 public:
  /// Sides are 1 or more; their product, the order, is at most 2^30.
  explicit AbelianGroup(std::vector<Client> sides);

  [[nodiscard]] const std::vector<Client>& sides() const { return sides_; }
  [[nodiscard]] Client order() const { return order_; }
  /// Least common multiple of the sides.
  [[nodiscard]] std::int64_t exponent() const { return exponent_; }
  [[nodiscard]] std::vector<Client> digits(Client element) const;
  /// What a one in digit j is worth.
  [[nodiscard]] Client place(std::size_t j) const { return places_[j]; }

  /// Makes digits those of the next number, and begins anew after the last. Calls turn(j) for every digit j that goes
  /// up by one, modulo its side.
  template <class Turn>
  void count_up(std::vector<Client>& digits, const Turn& turn) const {
    for (std::size_t j = sides_.size(); j-- > 0;) {
      turn(j);
      if (++digits[j] < sides_[j]) return;
      digits[j] = 0;
    }
  }

  /// Whether sums of these elements are all elements there are. Costs some operations on their digits for each prime of
  /// the order.
  [[nodiscard]] bool is_generated_by(const std::vector<Client>& elements) const;

 private:
  [[nodiscard]] bool is_spanned_modulo(Client prime, const std::vector<Client>& elements) const;

  std::vector<Client> sides_;
  std::vector<Client> places_;
  Client order_ = 1;
  std::int64_t exponent_ = 1;
};

}  // namespace starling
