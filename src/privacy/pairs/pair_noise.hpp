/// Noise that clients share in pairs, in integers, and the proof of what it costs (`--trust pairs`;
/// docs/methods/privacy.md, "Noise between pairs"; Allouah and others, "The privacy power of correlated noise in
/// decentralized learning", 2024, for the idea and independent rounds).
///
/// P is a public graph of pairs (pair_graph.hpp). In each component of a release, client u adds to its integers
///
///   N_u = A_u + Σ_{v in P(u)} ± B_uv,    A_u = round(σ_a Z),   B_uv = round(σ_b Z'),   r = σ_b/σ_a,
///
/// with + at the lower number of a pair and − at the other. A_u is drawn by u's own key, B_uv by the pair's: both ends
/// draw the same. In the sum over all clients the B cancel to the bit. N_u takes the place of the noise of a single
/// release (privacy/noise/grid.hpp) and of N_t in the recursion of correlated noise
/// (mechanism/correlated_gaussian.hpp).
///
/// Claim. Let K clients pool their keys and all that they see: every release of every client. Let h be a bound on the
/// exposure (pair_price.hpp) of all others with any K of them colluding, and Δ what one replaced record of one client
/// moves its integers by, in L2. Then releases cost μ where
///
///   σ_a = (√h Δ + ½ √(R d))/μ,    R = Σ_u deg(u)² + |P|/r².
///
/// 1. What the others see. The coalition knows A of its own and B of all pairs with one of its own; the rest is b_v +
///    N_v of the honest v, where pairs count among the honest alone, and b_v are integers that follow from v's records
///    and the releases before. All A and B of a round are independent of those. Neighbours differ in one record of one
///    honest client u: given the same releases, b_v and all earlier N_v are the same for v ≠ u, and b_u moves by an
///    integer vector D.
/// 2. Whom it could be. Take one component, D an integer there. Any integers s_v, f_e with s_v + Σ ± f_e = D at v = u
///    and 0 at all other honest v make releases with D out of A + s and B + f. A rounded Gaussian plus an integer is
///    the rounding of the Gaussian plus that integer. So the round is a function of the continuous Gaussian mechanism
///    that releases all (σ_a Z_v + s_v) and (σ_b Z_e + f_e), and costs at most √(Σ s²/σ_a² + Σ f²/σ_b²).
/// 3. The cheapest real flow has Σ s² + Σ f²/r² = D² h_u <= D² h. Round its f_e to integers, and let s_v be what the
///    sums at v ask for: an integer, since D is one. That moves each f by at most ½ and each s_v by at most deg(v)/2.
///    So the root of the sum of squares grows by at most ½ √(Σ_e 1/r² + Σ_v deg(v)²) <= ½ √R, where D ≠ 0; where
///    D = 0, nothing is shifted.
/// 4. Over the d components of a release, and the T rounds in which D may differ from 0, the triangle inequality gives
///    √h ‖D‖ + ½ √(R d T) in units of σ_a. Independent noise: T = 1 for each use of the record. Correlated noise: ‖D‖
///    is that of correlated_gaussian.hpp, step 2, which holds for any integer noise N, and T is the number of rounds of
///    a chain, at most `most_rounds`. Rounds may depend on earlier releases: correlation.cpp, step 4.
/// 5. A client that releases nothing in a round tells nothing, and its sum need not be kept: h is no larger. One whose
///    records or budget have ended releases b_u = 0 so that its pairs cancel: D is 0 there. A pair that does not
///    cancel, since its ends step differently, therefore only adds noise. Where a public schedule says who releases
///    in a round, pairs with an end that does not are left out if the graph of the others has an exposure of h at
///    most in that round (`PairRounds`). Step 4 holds for rounds with graphs of their own, each of exposure <= h.
/// 6. Same integers, same bytes. A's keystream depends on the address and on b_u + Σ ± B: no two different vectors meet
///    the same A. B's keystream cannot depend on the records, which only one end has. Its key depends on the run's
///    id and on the digest of all that determines the run's integers, its nonce on the round and the index. A run that
///    is repeated with other integers has other B. Where somebody lies about that digest, and lets a client release two
///    vectors at one address, their difference has no noise but two independent A: each release still costs no more
///    than by A alone, which is the figure against all others together (h = 1).
///
/// Integers. Σ ± B is below 2^60 in magnitude, which is checked in every release; its deviation is at most 2^55, so
/// that the check fails with a probability below 10^-223. With |x| <= 2^60 for the integers x of a sum and buffers
/// below 2^61, everything that is added stays below 2^62.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "privacy/keys/keys.hpp"
#include "privacy/keys/keystream.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/noise/gaussian_noise.hpp"
#include "privacy/pairs/pair_terms.hpp"

namespace starling {

/// A pair at one of its ends. There may be millions.
struct PairEnd {
  NoiseKey key;
  Client partner = 0;
  std::uint32_t adds : 1 = 1;              ///< whether it is the client with the lower number
  std::uint32_t shared : 31 = not_shared;  ///< number of its noise, kept for the other end, unless that is elsewhere

  static constexpr std::uint32_t not_shared = 0x7fffffff;
};

/// The noise that the clients of this process share with others.
class PairNoise {
 public:
  using Ends = std::map<Client, std::vector<PairEnd>>;  ///< of each client of this process

  PairNoise(const PairTerms& terms, Ends ends, PairRounds rounds = {});
  ~PairNoise();
  PairNoise(const PairNoise&) = delete;
  PairNoise& operator=(const PairNoise&) = delete;

  [[nodiscard]] const PairTerms& terms() const { return terms_; }
  /// Adds Σ ± B of a client for a release, B of standard deviation r `sigma`. A client's rounds must ascend, for each
  /// index: FailureError otherwise, since no B may meet two vectors.
  void add(const ReleaseAddress& address, double sigma, std::span<std::int64_t> integers);
  /// Gives all pairs other keys, the same at both ends, and lets rounds begin anew: for runs on other records that are
  /// played one after the other. Both ends must call it with the same numbers.
  void begin_replication(std::int64_t number);

 private:
  /// B of a pair with both ends here: kept from the first end's release until the second's. Wiped when it goes.
  struct Shared {
    ~Shared();
    Round round = -1;
    std::uint32_t index = 0;
    double sigma = 0;
    std::vector<std::int64_t> values;
  };
  [[nodiscard]] bool uses_all(Round t);
  void share(Client client, PairEnd& end, std::map<std::pair<Client, Client>, PairEnd*>& seen);
  void draw(const PairEnd& end, const ReleaseAddress& address);
  void draw(const PairEnd& pair, const ReleaseAddress& address, std::span<std::int64_t> integers);

  PairTerms terms_;
  Ends ends_;
  PairRounds rounds_;
  std::pair<Round, bool> used_{-1, true};                   ///< a round, and whether all pairs are used in it
  std::map<std::pair<Client, std::uint32_t>, Round> last_;  ///< round of the last release of a client and index
  GaussianNoise noise_;                                     ///< of the last scale
  Keystream words_;
  std::vector<std::int64_t> sum_;
  std::vector<Shared> shared_;
};

/// The terms of a run's noise between pairs.
[[nodiscard]] inline PairTerms terms_of(const ReleaseSettings& settings) {
  return settings.pairs ? settings.pairs->terms() : PairTerms();
}
/// Throws UsageError unless integers hold noise between pairs beside a client's own, of standard deviation `sigma`.
void check_pairs(const ReleaseSettings& settings, double sigma);
/// Likewise, beside integers of at most 2^60; `mu` is for the message.
void check_pairs(const PairTerms& terms, double mu, double sigma);
/// Sentences for a mechanism's description, each after a space; empty for null.
[[nodiscard]] std::string in_words(const PairNoise* pairs);

}  // namespace starling
