#include "privacy/pairs/pair_noise.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/memory/wipe.hpp"
#include "privacy/pairs/pair_graph.hpp"

namespace starling {

namespace {

constexpr int bits_of_sum = 60;
constexpr std::size_t most_ends_shared = std::size_t{1} << 18;
constexpr std::size_t most_shared = std::size_t{1} << 23;  // integers, 64 MB

/// Little-endian: block counter 0, then the nonce of index and round.
void set_nonce(StreamStart& start, const ReleaseAddress& address) {
  for (std::size_t i = 0; i < 4; ++i) {
    start.counter_and_nonce[4 + i] = static_cast<unsigned char>(address.index >> (8 * i));
  }
  for (std::size_t i = 0; i < 8; ++i) {
    start.counter_and_nonce[8 + i] = static_cast<unsigned char>(static_cast<std::uint64_t>(address.round) >> (8 * i));
  }
}

}  // namespace

PairTerms PairTerms::of(const PairGraph& graph, double ratio, double exposure) {
  PairTerms terms;
  terms.ratio = ratio;
  terms.exposure = exposure;
  terms.rounding = graph.square_degrees() + static_cast<double>(graph.pairs()) / (ratio * ratio);
  terms.most_degree = graph.most_degree();
  return terms;
}

PairNoise::PairNoise(const PairTerms& terms, Ends ends, PairRounds rounds)
    : terms_(terms),
      ends_(std::move(ends)),
      rounds_(std::move(rounds)),
      noise_(GaussianNoise::smallest_sigma),
      words_(NoiseKey(NoiseKey::Bytes{})) {
  check(terms.exposure > 0 && terms.exposure <= 1 && terms.ratio > 0 && terms.rounding >= 0,
        "noise between pairs with an exposure of {} and a ratio of {}: the first is at most 1, both are positive.",
        terms.exposure, terms.ratio);
  std::size_t count = 0;
  for (const auto& [client, own] : ends_) count += own.size();
  if (count > most_ends_shared) return;
  std::map<std::pair<Client, Client>, PairEnd*> seen;
  for (auto& [client, own] : ends_) {
    for (PairEnd& end : own) share(client, end, seen);
  }
}

/// Pairs with both ends here are drawn once. Their ends have the same key.
void PairNoise::share(Client client, PairEnd& end, std::map<std::pair<Client, Client>, PairEnd*>& seen) {
  const auto [place, is_first] = seen.try_emplace(std::minmax(client, end.partner), &end);
  if (is_first || !std::ranges::equal(place->second->key.bytes(), end.key.bytes())) return;
  end.shared = place->second->shared = static_cast<std::uint32_t>(shared_.size()) & PairEnd::not_shared;
  shared_.emplace_back();
}

PairNoise::~PairNoise() {
  wipe(sum_);
}

PairNoise::Shared::~Shared() {
  wipe(values);
}

void PairNoise::draw(const PairEnd& pair, const ReleaseAddress& address, std::span<std::int64_t> integers) {
  StreamStart start(pair.key);
  set_nonce(start, address);
  words_.restart(start);
  noise_.add(words_, integers);
}

/// Adds B to the sum. Where both ends are here, the second takes what the first has drawn.
void PairNoise::draw(const PairEnd& end, const ReleaseAddress& address) {
  if (end.shared == PairEnd::not_shared || shared_.size() * sum_.size() > most_shared) return draw(end, address, sum_);
  Shared& kept = shared_[static_cast<std::size_t>(end.shared)];
  const bool drawn = kept.round == address.round && kept.index == address.index && kept.sigma == noise_.sigma() &&
                     kept.values.size() == sum_.size();
  if (!drawn) {
    kept.values.assign(sum_.size(), 0);
    draw(end, address, kept.values);
    kept.round = address.round;
    kept.index = address.index;
    kept.sigma = noise_.sigma();
  }
  for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += kept.values[i];
}

void PairNoise::add(const ReleaseAddress& address, double sigma, std::span<std::int64_t> integers) {
  const auto ends = ends_.find(address.client);
  check<FailureError>(ends != ends_.end(), "client {} has no keys of pairs", address.client);
  check<FailureError>(address.block == 0 && address.round >= 0,
                      "block {} of a release in round {}: noise between pairs is for one release a round",
                      address.block, address.round);
  Round& last = last_.try_emplace({address.client, address.index}, -1).first->second;
  check<FailureError>(address.round > last,
                      "client {} releases for round {} after round {}: noise of its pairs would meet two vectors",
                      address.client, address.round, last);
  last = address.round;
  if (const double scale = terms_.ratio * sigma; noise_.sigma() != scale) noise_ = GaussianNoise(scale);
  sum_.assign(integers.size(), 0);
  const bool all = uses_all(address.round);
  const auto used = [&](const PairEnd& end) { return all || rounds_.releases(end.partner, address.round); };
  for (const PairEnd& end : ends->second) {
    if (end.adds == 0 && used(end)) draw(end, address);
  }
  for (std::int64_t& each : sum_) each = -each;
  for (const PairEnd& end : ends->second) {
    if (end.adds != 0 && used(end)) draw(end, address);
  }
  std::int64_t bits = 0;
  for (std::size_t i = 0; i < integers.size(); ++i) {
    bits |= sum_[i] ^ (sum_[i] >> 63);
    integers[i] += sum_[i];
  }
  check<FailureError>(bits >> bits_of_sum == 0,
                      "the noise generator is broken: client {}, round {}: a sum of noise beyond 2^60.", address.client,
                      address.round);
}

bool PairNoise::uses_all(Round t) {
  if (!rounds_.releases) return true;
  if (used_.first != t) used_ = {t, rounds_.uses_all(t)};
  return used_.second;
}

void PairNoise::begin_replication(std::int64_t number) {
  for (auto& [client, own] : ends_) {
    for (PairEnd& end : own) end.key = end.key.for_run(fmt::format("replication {}", number));
  }
  for (Shared& kept : shared_) kept.round = -1;
  last_.clear();
}

void check_pairs(const ReleaseSettings& settings, double sigma) {
  if (!settings.pairs) return;
  check(settings.batch <= PairTerms::most_batch,
        "batch={} with noise between pairs: the noise and a sum of more than 2^20 records do not fit into 64-bit "
        "integers. Choose a smaller batch, or --trust local.",
        settings.batch);
  check(is_whole(settings.unit),
        "unit component with noise between pairs: its cost is known for whole gradients. Use --unit record, or --trust "
        "local.");
  check_pairs(settings.pairs->terms(), settings.price.least, sigma);
}

void check_pairs(const PairTerms& terms, double mu, double sigma) {
  check(terms.ratio * sigma <= GaussianNoise::largest_sigma && terms.whole() * sigma <= PairTerms::largest_sigma,
        "mu={}: noise between {} pairs a client does not fit into 64-bit integers. Choose a larger price, fewer pairs, "
        "or --trust local.",
        mu, terms.most_degree);
}

std::string in_words(const PairNoise* pairs) {
  if (pairs == nullptr) return "";
  const PairTerms& terms = pairs->terms();
  return fmt::format(
      " That is the client's own noise. Besides, each pair of clients shares noise of {:g} times that deviation, which "
      "one end adds and the other takes away, with keys that both ends alone can make (X25519): it cancels in the sum "
      "over all clients, and hides each client among at least {:.4g}.",
      terms.ratio, 1 / terms.exposure);
}

}  // namespace starling
