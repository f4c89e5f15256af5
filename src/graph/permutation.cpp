#include "permutation.hpp"

#include <cmath>

#include "core/random.hpp"

namespace starling {

namespace {

/// Rounds of the network, of which a pair changes both digits. Two pairs do for large n (Luby and Rackoff 1988); small
/// ones, whose rounds have few outcomes, need many to come near the uniform distribution over all orders.
std::uint64_t pairs_for(std::uint64_t size) {
  constexpr std::uint64_t small = 100;
  return size <= small ? 12 : 5;
}

}  // namespace

KeyedPermutation::KeyedPermutation(std::uint64_t seed, std::uint64_t stream, Round t, Client n)
    : seed_(seed),
      stream_(stream),
      t_(static_cast<std::uint64_t>(t)),
      size_(static_cast<std::uint64_t>(n)),
      pairs_(pairs_for(size_)) {
  // An even base: turning an odd circle is an even permutation, and with two of them no odd one could come out.
  high_base_ = static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(n)) / 2)) * 2;
  low_base_ = (size_ + high_base_ - 1) / high_base_;
}

std::uint64_t KeyedPermutation::draw(std::uint64_t round, std::uint64_t digit, std::uint64_t base) const {
  return AddressedRandom(seed_, Purpose::topology, stream_ << 48 | round << 32 | digit, t_).below(base);
}

KeyedPermutation::Digits KeyedPermutation::forward(Digits digits) const {
  for (std::uint64_t pair = 0; pair < pairs_; ++pair) {
    digits.high = (digits.high + draw(2 * pair, digits.low, high_base_)) % high_base_;
    digits.low = (digits.low + draw(2 * pair + 1, digits.high, low_base_)) % low_base_;
  }
  return digits;
}

KeyedPermutation::Digits KeyedPermutation::backward(Digits digits) const {
  for (std::uint64_t pair = pairs_; pair-- > 0;) {
    digits.low = (digits.low + low_base_ - draw(2 * pair + 1, digits.high, low_base_)) % low_base_;
    digits.high = (digits.high + high_base_ - draw(2 * pair, digits.low, high_base_)) % high_base_;
  }
  return digits;
}

Client KeyedPermutation::walk(Client from, Digits (KeyedPermutation::*step)(Digits) const) const {
  auto at = static_cast<std::uint64_t>(from);
  do {
    const Digits digits = (this->*step)({at / low_base_, at % low_base_});
    at = digits.high * low_base_ + digits.low;
  } while (at >= size_);  // ends at `from` at the latest
  return static_cast<Client>(at);
}

}  // namespace starling
