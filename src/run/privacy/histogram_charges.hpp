/// The histograms before the first round in the account of the run that has their results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "privacy/ledger/accounts.hpp"
#include "privacy/statement/statement.hpp"
#include "run/settings/privacy_options.hpp"
#include "run_prices.hpp"

namespace starling {

/// The parts of a run's price that histograms have had. They were priced before the number of rounds was known.
struct HistogramShares {
  double features = 0;        ///< of histograms of features; 0: there are none
  double norms = 0;           ///< of a histogram of norms, from the rest; 0: there is none
  bool labels = false;        ///< whether it counts the magnitudes of labels too
  bool labels_alone = false;  ///< whether it counts labels, and no norms
  std::int64_t uses = 1;      ///< of a record in gradients: --epochs

  [[nodiscard]] bool any() const { return features > 0 || norms > 0; }
  /// The shares as words among a run's parameters in ledgers, each after a space; empty without histograms.
  [[nodiscard]] std::string text() const;
};

/// Prices and charges of the histograms of a run.
class HistogramCharges {
 public:
  /// `whole` has the prices of the run's releases, less the share of features. Throws UsageError where these change
  /// over the rounds, and for shares that the mechanism or the unit has not.
  HistogramCharges(const PrivacyOptions& options, const HistogramShares& shares, const Prices& whole, Client clients);

  [[nodiscard]] const HistogramPrices& prices() const { return prices_; }
  /// Prices of gradients: `whole` less the share of the histogram of norms.
  [[nodiscard]] Prices of_gradients(const Prices& whole) const;
  /// The histograms of clients first, first + 1, …; none for a client that joined after them.
  [[nodiscard]] std::vector<std::optional<SingleRelease>> of_clients(Client first,
                                                                     const std::vector<ServedRounds>& clients) const;
  /// Adds figures of the dearest client at this δ: prices are ascending in what they are made of.
  void describe(PrivacyReport& report, double delta) const;

 private:
  [[nodiscard]] Charge of_norms(double price, std::int64_t records) const;
  [[nodiscard]] Charge of_client(Client u, std::int64_t records) const;

  ChargeKind noise_;
  HistogramShares shares_;
  PriceShare norm_share_;
  HistogramPrices prices_;
};

}  // namespace starling
