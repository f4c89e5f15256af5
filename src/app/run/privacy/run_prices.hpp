/// The prices of a run's releases, as its options state them.
#pragma once

#include "app/settings/privacy_options.hpp"

#include "starling/core/links.hpp"
#include "starling/privacy/accounting/prices.hpp"
#include "starling/privacy/mechanism/noisy_counts.hpp"

namespace starling {

/// --mu, --epsilon or the part of --total-epsilon in the mechanism's own measure (ε at --delta under Gaussian noise),
/// times `factor` if that is a μ and no total, less the share of histograms of features. Throws UsageError.
[[nodiscard]] Prices prices_of(const PrivacyOptions& options, Round rounds, Client clients, double factor = 1);

/// The price of the first round at which equal clients would give the mean model the noise that it has:
/// 1/√(mean of 1/price²), the mean by squares of the clients' `weights`. Throws UsageError.
[[nodiscard]] double price_of_mean(const PrivacyOptions& options, View weights);

/// The same with what histograms of features have had.
[[nodiscard]] Prices prices_with_features(PrivacyOptions options, Round rounds, Client clients, double factor = 1);

/// The shares of a histogram of norms, which has `share`, and of `uses` uses of a record in gradients. Throws
/// UsageError unless `share` is 0 or the mechanism's noise is Gaussian or Laplace and the unit is a record or person.
[[nodiscard]] PriceShare norm_share_of(const PrivacyOptions& options, double share, std::int64_t uses);
/// Likewise of histograms of features, under Gaussian noise.
[[nodiscard]] PriceShare feature_share_of(const PrivacyOptions& options, double share, std::int64_t uses);

}  // namespace starling
