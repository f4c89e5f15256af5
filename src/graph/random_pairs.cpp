#include "graph/random_pairs.hpp"

#include <algorithm>
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

/// The digits above all streams of the other families, so that no two share an address (permutation.cpp).
constexpr std::uint64_t pairs_stream = std::uint64_t{1} << 63;

/// 1/√p, at least 1 and at most n.
Client side_of_block(Client n, double p) {
  return p > 0 ? static_cast<Client>(std::min<double>(n, std::ceil(1 / std::sqrt(p)))) : n;
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

RandomPairs::RandomPairs(std::uint64_t seed, Client n, double p, Kind kind)
    : seed_(seed),
      clients_(n),
      probability_(p),
      kind_(kind),
      side_(side_of_block(n, p)),
      blocks_((n - 1) / side_ + 1) {}

template <class Found>
void RandomPairs::for_each_pair(Client block_row, Client block_column, Round t, Found found) const {
  if (probability_ <= 0) return;
  const std::uint64_t block = static_cast<std::uint64_t>(block_row) << 32 | static_cast<std::uint64_t>(block_column);
  AddressedRandom random(seed_, Purpose::topology, pairs_stream | block, static_cast<std::uint64_t>(t));
  const auto side = static_cast<double>(side_);
  const double log_of_rest = std::log1p(-probability_);  // −∞ for p = 1: no cell is skipped
  double cell = -1;
  while (true) {
    cell += 1 + std::floor(std::log(random.positive_uniform()) / log_of_rest);
    if (!(cell < side * side)) return;
    const auto at = static_cast<std::int64_t>(cell);
    found(block_row * side_ + static_cast<Client>(at / side_), block_column * side_ + static_cast<Client>(at % side_));
  }
}

std::vector<Client> RandomPairs::line(Client u, Round t, bool as_sender) const {
  std::vector<Client> peers;
  const Client own = u / side_;
  for (Client other = 0; other < blocks_; ++other) {
    for_each_pair(as_sender ? own : other, as_sender ? other : own, t, [&](Client from, Client to) {
      const Client near_end = as_sender ? from : to;
      const Client far_end = as_sender ? to : from;
      if (near_end == u && far_end != u && far_end < clients_) peers.push_back(far_end);
    });
  }
  std::sort(peers.begin(), peers.end());
  return peers;
}

std::vector<Client> RandomPairs::both_ways(Client u, Round t) const {
  std::vector<Client> peers;
  const Client own = u / side_;
  for (Client other = 0; other < blocks_; ++other) {
    for_each_pair(std::min(own, other), std::max(own, other), t, [&](Client low, Client high) {
      if (low >= high || high >= clients_ || (low != u && high != u)) return;
      peers.push_back(low == u ? high : low);
    });
  }
  std::sort(peers.begin(), peers.end());
  return peers;
}

std::vector<Client> RandomPairs::receivers(Client u, Round t) const {
  return kind_ == Kind::undirected ? both_ways(u, t) : line(u, t, true);
}

std::vector<Client> RandomPairs::senders(Client u, Round t) const {
  return kind_ == Kind::undirected ? both_ways(u, t) : line(u, t, false);
}

}  // namespace starling
