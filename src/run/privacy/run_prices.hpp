/// The prices of a run's releases, as its options state them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/links.hpp"
#include "privacy/accounting/prices.hpp"
#include "privacy/histograms/price_share.hpp"
#include "run/settings/privacy_options.hpp"

namespace starling {

class RunPairs;

/// --mu, --epsilon or the part of --total-epsilon in the mechanism's own measure (ε at --delta under Gaussian noise),
/// times `factor` if that is a μ and no total, less the shares of sums of scores and of histograms of features. Throws
/// UsageError.
[[nodiscard]] Prices prices_of(const PrivacyOptions& options, Round rounds, Client clients, double factor = 1);

/// The price of the first round at which equal clients would give the mean model the noise that it has:
/// 1/√(mean of 1/price²), the mean by squares of the clients' `weights`. Throws UsageError.
[[nodiscard]] double price_of_mean(const PrivacyOptions& options, View weights);

/// The same with what histograms of features have had.
[[nodiscard]] Prices prices_with_features(PrivacyOptions options, Round rounds, Client clients, double factor = 1);

/// The shares of a histogram of norms, which has `share`, and of `uses` uses of a record in gradients. Throws
/// UsageError unless `share` is 0 or the mechanism's noise is Gaussian or Laplace and the unit is a record or person.
[[nodiscard]] PriceShare norm_share_of(const PrivacyOptions& options, double share, std::int64_t uses);
/// Likewise of histograms of features, and of sums of scores, under Gaussian noise.
[[nodiscard]] PriceShare feature_share_of(const PrivacyOptions& options, double share, std::int64_t uses);
[[nodiscard]] PriceShare score_share_of(const PrivacyOptions& options, double share, std::int64_t uses);

/// The prices of what is released once: by client, in the mechanism's measure.
struct HistogramPrices {
  std::optional<Prices> features;  ///< none: no such histogram is released
  std::optional<Prices> norms;
  std::optional<Prices> scores;  ///< of sums after the last round

  /// As --histogram-price has them, to 12 digits, but for `scores`, and from whom they protect under --trust pairs;
  /// empty without histograms. `pairs` is null under other trusts.
  [[nodiscard]] std::string text(const PrivacyOptions& options, Client clients, const RunPairs* pairs) const;
};

/// The prices by the options, but for their `passes`, and by the share of histograms of norms. `uses` is how often a
/// record is expected to enter gradients, before the number of rounds is known. Throws UsageError.
[[nodiscard]] HistogramPrices histogram_prices(PrivacyOptions options, double norm_share, std::int64_t uses,
                                               Client clients);
/// Throws UsageError unless --histogram-price is what the histograms of the run have cost.
void check_histogram_price(const PrivacyOptions& options, const std::string& cost);

}  // namespace starling
