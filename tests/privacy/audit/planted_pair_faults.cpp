#include "privacy/audit/planted_pair_faults.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "privacy/mechanism.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/pairs/pair_price.hpp"
#include "privacy/pairs/plain_matrix.hpp"

namespace starling {

namespace {

using testing_support::inverse_of;
using testing_support::matrix_of;
using testing_support::Rows;

/// The largest entry of the inverse of I + r² L without the row and column of one client: its pairs still count.
double exposure_with_edges_of_colluders(const PairGraph& graph, double ratio) {
  const Rows all = matrix_of(graph, ratio, std::vector<char>(static_cast<std::size_t>(graph.clients()), 0));
  double most = 0;
  for (std::size_t c = 0; c < all.size(); ++c) {
    Rows rest = all;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(c));
    for (auto& row : rest) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
    const Rows inverse = inverse_of(rest);
    for (std::size_t u = 0; u < inverse.size(); ++u) most = std::max(most, inverse[u][u]);
  }
  return most;
}

/// Every second round has the noise between pairs of the round before. Its own noise is that of the honest mechanism.
class NoiseMetTwice final : public Mechanism {
 public:
  NoiseMetTwice(std::unique_ptr<Mechanism> honest, std::unique_ptr<Mechanism> own, const PairNoise::Ends& ends)
      : Mechanism(honest->settings()), honest_(std::move(honest)), own_(std::move(own)) {
    for (auto& pairs : pairs_) pairs = std::make_unique<PairNoise>(settings_.pairs->terms(), ends);
  }

  [[nodiscard]] Clip clip() const override { return honest_->clip(); }
  [[nodiscard]] Charge charge(double price) const override { return honest_->charge(price); }
  [[nodiscard]] PriceKind price_kind() const override { return honest_->price_kind(); }
  [[nodiscard]] std::optional<double> own_deviation(double price) const override {
    return honest_->own_deviation(price);
  }
  [[nodiscard]] std::string description() const override { return "for tests of audits; not private"; }

  void release(const ReleaseAddress& address, double price, const NoiseKey& key, const Secret<Vector>& sum,
               Released<Vector>& noisy_mean) override {
    own_->release(address, price / std::sqrt(settings_.pairs->terms().exposure), key, sum, noisy_mean);
    ReleaseAddress even = address;
    even.round -= address.round % 2;
    std::vector<std::int64_t> noise(settings_.dimension, 0);
    const double m = static_cast<double>(settings_.batch);
    const double step = settings_.clip / static_cast<double>(gaussian_reach(price));
    pairs_[static_cast<std::size_t>(address.round % 2)]->add(even, own_deviation(price).value() * m / step, noise);
    noisy_mean.update([&](Vector& mean) {
      for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += static_cast<double>(noise[j]) * step / m;
    });
  }

 private:
  std::unique_ptr<Mechanism> honest_;
  std::unique_ptr<Mechanism> own_;
  std::array<std::unique_ptr<PairNoise>, 2> pairs_;  ///< of even and of odd rounds
};

void leave_out(PairNoise::Ends& ends, Client u, Client v) {
  for (const auto& [at, partner] : {std::pair{u, v}, std::pair{v, u}}) {
    std::erase_if(ends[at], [other = partner](const PairEnd& end) { return end.partner == other; });
  }
}

}  // namespace

const std::vector<PlantedPairFaultRow>& planted_pair_faults() {
  static const std::vector<PlantedPairFaultRow> rows{
      {PlantedPairFault::one_sign, "one sign at both ends", true},
      {PlantedPairFault::met_twice, "noise of pairs met twice"},
      {PlantedPairFault::left_out, "a pair without noise"},
      {PlantedPairFault::colluders_edges, "edges of colluders count"},
      {PlantedPairFault::collusion_ignored, "collusion ignored"},
  };
  return rows;
}

std::unique_ptr<Mechanism> plant(PlantedPairFault fault, ReleaseSettings settings, const PairGraph& graph, double ratio,
                                 Client colluding, PairNoise::Ends ends) {
  const MechanismRow& row = mechanism_table().first(ChargeKind::gaussian);
  const PairNoise::Ends honest_ends = ends;
  double hidden = exposure(graph, ratio, colluding);
  if (fault == PlantedPairFault::one_sign) ends.at(1).front().adds = 1;
  if (fault == PlantedPairFault::left_out) leave_out(ends, 0, 1);
  if (fault == PlantedPairFault::colluders_edges) hidden = exposure_with_edges_of_colluders(graph, ratio);
  if (fault == PlantedPairFault::collusion_ignored) hidden = exposure(graph, ratio, 0);
  ReleaseSettings own = settings;
  settings.pairs = std::make_shared<PairNoise>(PairTerms::of(graph, ratio, hidden), std::move(ends));
  auto mechanism = row.make(Spec::parse(row.name), settings);
  if (fault != PlantedPairFault::met_twice) return mechanism;
  own.price = PriceRange::of(settings.price.most / std::sqrt(hidden));
  return std::make_unique<NoiseMetTwice>(std::move(mechanism), row.make(Spec::parse(row.name), own), honest_ends);
}

}  // namespace starling
