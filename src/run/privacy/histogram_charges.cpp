#include "histogram_charges.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/limits.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/histograms/norm_histogram.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/statement/statement.hpp"

namespace starling {

namespace {

const HistogramShares& checked(const HistogramShares& shares, const Prices& whole) {
  check(whole.constant(),
        "{} with prices that change over the rounds: what is released once costs a share of one price. Give 0, or one "
        "price.",
        shares.norms > 0      ? fmt::format("--scale-share {}", shares.norms)
        : shares.features > 0 ? fmt::format("--feature-share {}", shares.features)
                              : fmt::format("--score-share {}", shares.scores));
  return shares;
}

}  // namespace

std::string HistogramShares::text() const {
  std::string text;
  if (norms > 0) text += fmt::format(" norm-share={} uses={}", norms, uses);
  if (features > 0) text += fmt::format(" feature-share={}", features);
  if (scores > 0) text += fmt::format(" score-share={}{}", scores, norms > 0 ? "" : fmt::format(" uses={}", uses));
  return text;
}

HistogramCharges::HistogramCharges(const PrivacyOptions& options, const HistogramShares& shares, const Prices& whole,
                                   Client clients)
    : noise_(options.mechanism_row().charge),
      shares_(checked(shares, whole)),
      norm_share_(norm_share_of(options, shares.norms, shares.uses)),
      prices_(histogram_prices(options, shares.norms, shares.uses, clients)) {}

Prices HistogramCharges::of_gradients(const Prices& whole) const {
  return whole.converted([share = norm_share_](double price) { return share.of_gradients(price); });
}

/// The charge of a histogram of norms at this price.
Charge HistogramCharges::of_norms(double price, std::int64_t records) const {
  return NormHistogram(noise_, price, records, shares_.labels).charge();
}

/// The charge of a record of client u by all that is released once: squares of μ add up. None without such releases.
std::optional<Charge> HistogramCharges::of_client(Client u, std::int64_t records, bool scored) const {
  std::optional<Charge> all;
  if (prices_.norms) all = of_norms(prices_.norms->at(u, 0), records);
  for (const std::optional<Prices>* prices : {&prices_.features, scored ? &prices_.scores : nullptr}) {
    if (prices == nullptr || !*prices) continue;
    const double mu = (*prices)->at(u, 0);
    all = Charge::gaussian(all ? std::nextafter(std::hypot(all->mu, mu), infinity) : mu);
  }
  return all;
}

std::vector<std::optional<SingleRelease>> HistogramCharges::of_clients(Client first,
                                                                       const std::vector<ServedRounds>& clients,
                                                                       const std::vector<std::int64_t>& scored) const {
  std::vector<std::optional<SingleRelease>> releases;
  for (std::size_t k = 0; k < clients.size(); ++k) {
    const ServedRounds& served = clients[k];
    const std::int64_t records = served.records.value_or(0);
    const std::optional<Charge> charge =
        of_client(first + static_cast<Client>(k), records, k < scored.size() && scored[k] > 0);
    if (served.begin > 0 || !charge) {
      releases.emplace_back();
      continue;
    }
    SingleRelease release;
    release.charge = *charge;
    release.of_client = static_cast<double>(records);
    release.of_each_batch = std::min(release.of_client, static_cast<double>(served.of_pass.value_or(0)));
    releases.push_back(release);
  }
  return releases;
}

void HistogramCharges::describe(PrivacyReport& report, double delta) const {
  const auto loss = [delta](const Charge& charge) {
    const std::vector<ChargeGroup> once{{charge, 1}};
    return compose(once, delta);
  };
  if (const auto& norms = prices_.norms) {
    report.norms.emplace(
        HistogramReport{shares_.norms, loss(of_norms(norms->range().most, 0)), shares_.labels, shares_.counted});
  }
  if (const auto& features = prices_.features) {
    report.features.emplace(HistogramReport{shares_.features, loss(Charge::gaussian(features->range().most)),
                                            shares_.label_beside_features});
  }
  if (const auto& scores = prices_.scores) {
    report.scores.emplace(HistogramReport{shares_.scores, loss(Charge::gaussian(scores->range().most))});
  }
}

}  // namespace starling
