// Audit of what learning on shares opens: many runs of the protocol over two tables that differ in one record, the
// worst that the bounds allow, from the side of those who see the opened sums. Faults that are planted are found.
#include <cmath>
#include <numeric>

#include "data/vertical/vertical.hpp"
#include "loss/target_loss.hpp"
#include "net/agreement.hpp"
#include "net/peers/peers.hpp"
#include "net/root/root.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism/masking.hpp"
#include "protocol/vertical/shared_learning.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::shared_audit_test {

using namespace testing_support;

constexpr std::size_t parties = 2;
constexpr std::size_t runs = 300;
constexpr double price = 8;
constexpr double step_length = 1e-9;  // so short that no ball matters: the model is the opened mean
constexpr double overlong = 40;       // bounds of rows, by which a forgotten clip lets them grow

enum class Fault {
  none,
  clip_of_a_party,      ///< the second party's rows are as long as they are
  bound_of_polynomial,  ///< the slope is taken to be that of the loss
  share_of_noise,       ///< each draws as if there were one party more
};

/// Labels in the argument, and a slope that is ±1 but near 0, which a polynomial of degree 7 overshoots.
SharesTerms terms_of(Fault fault) {
  SharesTerms terms;
  terms.shape = {2, {3, 2}, 7};
  terms.contributors = 2;
  terms.row_bounds = {1.5, 2};
  terms.balls = {1e-3, 1e-3};
  terms.residual = true;
  terms.label_bound = 3;
  terms.slope =
      std::make_shared<SlopePolynomial>([](double u) { return std::clamp(8 * u, -1.0, 1.0); }, 7, terms.fraction_bits);
  if (fault == Fault::clip_of_a_party) {
    terms.row_bounds[1] *= overlong;
    terms.balls[1] /= overlong;
  }
  return terms;
}

SharedSumTerms sums_of(Fault fault) {
  SharedSumTerms sums = terms_of(Fault::none).sum_terms(true);
  if (fault == Fault::bound_of_polynomial) sums.most_slope = std::int64_t{1} << 20;
  if (fault == Fault::share_of_noise) ++sums.parties;
  return sums;
}

/// The label whose slope is the largest: u = −y/T.
double worst_label(const SharesTerms& terms) {
  std::int64_t worst = 0;
  for (std::int64_t u = -SlopePolynomial::one; u <= SlopePolynomial::one; ++u) {
    if (std::abs(terms.slope->at(u)) > std::abs(terms.slope->at(worst))) worst = u;
  }
  const double label = -static_cast<double>(worst) / static_cast<double>(SlopePolynomial::one) * terms.argument_scale();
  return std::clamp(label, -terms.label_bound, terms.label_bound);
}

/// The first record is far longer than the bounds, the second is 0.
Vector rows_of(std::size_t k) {
  return k == 0 ? Vector{30, -20, 10, 0, 0, 0} : Vector{50, 60, 0, 0};
}

/// The terms of the protocol and of its noise.
struct Audited {
  SharesTerms terms;
  SharedSumTerms sums;
};

/// The means that a run opens, of all parties. The first record has this label.
Vector opened(const Audited& audited, double label, std::uint64_t seed) {
  const Layout layout = Layout::with_centre(parties, 1);
  const SharesTerms& terms = audited.terms;
  const ReleaseSettings settings{.price = PriceRange::of(price),
                                 .clip = 3,
                                 .batch = terms.contributors,
                                 .dimension = terms.shape.all_components(),
                                 .rounds = 1,
                                 .run_id = "audit of shares"};
  SharedGaussian mechanism(settings, audited.sums);
  Accounts accounts(mechanism, Prices::parse("8", "price", 1, layout.clients(), 0, 1e6), 1, 0,
                    std::vector<ServedRounds>(parties + 1));
  std::vector<NoiseKey> keys;
  std::vector<SharedData> data;
  std::vector<MaskKey> own;
  for (Client u = 0; u <= static_cast<Client>(parties); ++u) {
    keys.push_back(NoiseKey::from_seed(seed, u));
    const auto k = static_cast<std::size_t>(u - 1);
    if (u > 0) data.push_back({Secret<Vector>(rows_of(k)), Secret<Vector>(Vector())});
    if (u == 1) data.back().labels = Secret<Vector>(Vector{label, 0});
    const SharedData none;
    const SharedData& held = u > 0 ? data.back() : none;
    own.push_back(DataKeys::of(keys.back(), "audit of shares", held.rows, held.labels));
  }
  std::vector<MaskKey::Bytes> public_keys;
  for (const MaskKey& key : own) public_keys.push_back(key.public_key());
  Root root(world(), layout);
  Root evaluation(world(), layout);
  Peers peers(world(), layout);
  const auto loss = make_target_loss("squared", 1, 1);
  SharedLearning protocol(root, evaluation, peers, accounts, mechanism, [](Round) { return price; }, keys,
                          ShareKeys(own, 0, public_keys), terms, data, *loss, {1, step_length, 0});
  protocol.run({});
  Vector means;
  for (const auto& [client, part] : protocol.parts()) {
    for (const double w : part.value()) means.push_back(-w / step_length);
  }
  return means;
}

/// Distance of the two means of the opened sums in deviations of the noise.
double found_mu(Fault fault) {
  const Audited audited{terms_of(fault), sums_of(fault)};
  const double label = worst_label(audited.terms);
  std::vector<std::vector<Vector>> sides(2);
  std::uint64_t seed = 1;
  for (std::size_t i = 0; i < runs; ++i) {
    for (std::size_t side = 0; side < 2; ++side)
      sides[side].push_back(opened(audited, side == 0 ? label : -label, seed++));
  }
  const std::size_t d = sides[0][0].size();
  double squares = 0;
  double distance = 0;
  for (std::size_t j = 0; j < d; ++j) {
    double means[2] = {0, 0};
    for (std::size_t side = 0; side < 2; ++side) {
      for (const Vector& each : sides[side]) means[side] += each[j] / static_cast<double>(runs);
      for (const Vector& each : sides[side]) squares += (each[j] - means[side]) * (each[j] - means[side]);
    }
    distance += (means[0] - means[1]) * (means[0] - means[1]);
  }
  const double deviation = std::sqrt(squares / static_cast<double>(d * 2 * (runs - 1)));
  return std::sqrt(distance) / deviation;
}

// Whoever draws no noise faces K + 1 draws of variance Σ²/K.
const double of_outsiders = price * std::sqrt(static_cast<double>(parties) / (parties + 1));

TEST(SharedAudit, FindsWhatIsClaimedAndNoMore) {
  const double found = found_mu(Fault::none);
  EXPECT_LE(found, 1.05 * of_outsiders);
  EXPECT_GE(found, 0.95 * of_outsiders);
}

class PlantedFaults : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFaults, AreFound) {
  EXPECT_GE(found_mu(GetParam()), 1.1 * of_outsiders);
}
INSTANTIATE_TEST_SUITE_P(Faults, PlantedFaults,
                         testing::Values(Fault::clip_of_a_party, Fault::bound_of_polynomial, Fault::share_of_noise));

}  // namespace starling::shared_audit_test
