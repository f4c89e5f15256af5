/// Prices and charges of what a run releases once: histograms, and sums of scores.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "privacy/accounting/spending.hpp"
#include "privacy/ledger/served_rounds.hpp"
#include "run_facts.hpp"
#include "run_prices.hpp"

namespace starling {

struct PrivacyReport;

/// Prices and charges of the histograms of a run.
class HistogramCharges {
 public:
  /// `whole` has the prices of the run's releases, less the share of features. Throws UsageError where these change
  /// over the rounds, and for shares that the mechanism or the unit has not.
  HistogramCharges(const PrivacyOptions& options, const HistogramShares& shares, const Prices& whole, Client clients);

  [[nodiscard]] const HistogramPrices& prices() const { return prices_; }
  /// Prices of gradients: `whole` less the share of the histogram of norms.
  [[nodiscard]] Prices of_gradients(const Prices& whole) const;
  /// The single releases of clients first, first + 1, …; none of a client that joined after the histograms. `scored`
  /// are the records of each in sums of scores; empty: there are no sums.
  [[nodiscard]] std::vector<std::optional<SingleRelease>> of_clients(Client first,
                                                                     const std::vector<ServedRounds>& clients,
                                                                     const std::vector<std::int64_t>& scored) const;
  /// Adds figures of the dearest client at this δ: prices are ascending in what they are made of.
  void describe(PrivacyReport& report, double delta) const;

 private:
  [[nodiscard]] Charge of_norms(double price, std::int64_t records) const;
  [[nodiscard]] std::optional<Charge> of_client(Client u, std::int64_t records, bool scored) const;

  ChargeKind noise_;
  HistogramShares shares_;
  PriceShare norm_share_;
  HistogramPrices prices_;
};

}  // namespace starling
