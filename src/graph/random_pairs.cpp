#include "random_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "core/random.hpp"

namespace starling {

namespace {

/// The digits above all streams of the other families, so that no two share an address (permutation.cpp).
constexpr std::uint64_t pairs_stream = std::uint64_t{1} << 63;

/// 1/√p, at least 1 and at most n.
Client side_of_block(Client n, double p) {
  return p > 0 ? static_cast<Client>(std::min<double>(n, std::ceil(1 / std::sqrt(p)))) : n;
}

}  // namespace

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
