#include "run_prices.hpp"

#include <cmath>
#include <vector>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/numerics/kernels.hpp"
#include "core/text/limits.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/accounting/spending.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/statement/statement.hpp"
#include "run/privacy/pairs/run_pairs.hpp"

namespace starling {

namespace {

/// The largest ε of a Laplace release of which `releases` come to at most (total, delta) by `compose`.
double laplace_part(double total, double delta, std::int64_t releases) {
  constexpr int steps = 24;
  double least = largest_laplace_epsilon(total, delta, releases);
  double most = least * (1 + 1e-4);
  for (int step = 0; step < steps; ++step) {
    const double middle = least + (most - least) / 2;
    const std::vector<ChargeGroup> all{{Charge::laplace(middle), releases}};
    (compose(all, delta).epsilon <= total ? least : most) = middle;
  }
  return least;
}

/// What each of `passes` releases may cost for a total, rounded down: μ/√passes of Gaussian losses, ε/passes of pure
/// ones, and with a δ what the accountant allows.
Prices parts_of_total(const PrivacyOptions& options, Round rounds, Client clients) {
  const Prices totals = Prices::parse(*options.total_epsilon, "--total-epsilon", rounds, clients, tiny, most_epsilon);
  const bool gaussian = options.mechanism_row().gaussian();
  const std::int64_t passes = options.passes;
  if (!gaussian && !options.adds_plainly && options.delta.value_or(0) > 0) {
    return totals.converted([passes, delta = *options.delta, last = 0.0, part = 0.0](double epsilon) mutable {
      if (epsilon != last) part = laplace_part(epsilon, delta, passes);
      last = epsilon;
      return part;
    });
  }
  if (passes == 1 && !gaussian) return totals;
  const auto uses = static_cast<double>(passes);
  const double part = (passes == 1 ? 1 : 1 - 0x1p-50) / (gaussian ? std::sqrt(uses) : uses);
  return totals.converted([gaussian, part, delta = options.delta.value_or(usual_delta)](double epsilon) {
    return part * (gaussian ? gaussian_mu(epsilon, delta) : epsilon);
  });
}

/// The prices that the options state.
Prices whole_prices(const PrivacyOptions& options, Round rounds, Client clients, double factor) {
  if (options.total_epsilon) return parts_of_total(options, rounds, clients);
  if (options.mu) {
    const Prices prices = Prices::parse(*options.mu, "--mu", rounds, clients, tiny, most_mu);
    return factor == 1 ? prices : prices.converted([factor](double mu) { return factor * mu; });
  }
  // A release without noise has no price.
  const Prices prices = Prices::parse(options.epsilon.value_or("1"), "--epsilon", rounds, clients, tiny, most_epsilon);
  if (!options.mechanism_row().gaussian()) return prices;
  // Nearly always the same ε again: calibration takes longer than a small release.
  return prices.converted(
      [delta = options.delta.value_or(usual_delta), factor, last = 0.0, mu = 0.0](double epsilon) mutable {
        if (epsilon != last) mu = factor * gaussian_mu(epsilon, delta);
        last = epsilon;
        return mu;
      });
}

void check_share(const PrivacyOptions& options, const char* option, double share, bool is_known, const char* known) {
  check(share == 0 || is_known, "{} {} with --mechanism {}: {}. Give 0.", option, share, *options.mechanism, known);
  check(share == 0 || is_whole(options.unit),
        "{} {} with --unit component: what is released then protects records. Give 0.", option, share);
}

/// One price, or the least and the largest of the clients' prices and the beginning of their digest.
std::string shown_prices(const Prices& prices, Client clients) {
  const auto shown = [](double price) { return fmt::format("{:.12g}", price); };
  const PriceRange range = prices.range();
  if (range.least == range.most) return shown(range.most);
  std::string all;
  for (Client u = 0; u < clients; ++u) all += shown(prices.at(u, 0)) + "\n";
  return fmt::format("{}/{}/{:.16}", shown(range.least), shown(range.most), sha256(all));
}

}  // namespace

PriceShare norm_share_of(const PrivacyOptions& options, double share, std::int64_t uses) {
  const ChargeKind noise = options.mechanism_row().charge;
  check_share(options, "--scale-share", share, noise == ChargeKind::gaussian || noise == ChargeKind::laplace,
              "norms are released under gaussian and laplace alone");
  return {noise, share, uses};
}

PriceShare feature_share_of(const PrivacyOptions& options, double share, std::int64_t uses) {
  check_share(options, "--feature-share", share, options.mechanism_row().gaussian(),
              "features are released under gaussian alone");
  return {ChargeKind::gaussian, share, uses};
}

PriceShare score_share_of(const PrivacyOptions& options, double share, std::int64_t uses) {
  check_share(options, "--score-share", share, options.mechanism_row().gaussian(),
              "sums of scores are released under gaussian alone");
  return {ChargeKind::gaussian, share, uses};
}

Prices prices_of(const PrivacyOptions& options, Round rounds, Client clients, double factor) {
  Prices prices = whole_prices(options, rounds, clients, factor);
  if (!options.protects()) return prices;
  for (const PriceShare& share : {score_share_of(options, options.score_share.value_or(0), 1),
                                  feature_share_of(options, options.feature_share.value_or(0), 1)}) {
    if (share.any()) prices = prices.converted([share](double price) { return share.of_gradients(price); });
  }
  return prices;
}

Prices prices_with_features(PrivacyOptions options, Round rounds, Client clients, double factor) {
  options.feature_share.reset();
  return prices_of(options, rounds, clients, factor);
}

HistogramPrices histogram_prices(PrivacyOptions options, double norm_share, std::int64_t uses, Client clients) {
  options.passes = uses;
  HistogramPrices prices;
  if (const double share = options.score_share.value_or(0); share > 0) {
    const PriceShare of_price = score_share_of(options, share, uses);
    prices.scores =
        whole_prices(options, 1, clients, 1).converted([of_price](double price) { return of_price.of_release(price); });
  }
  if (const double share = options.feature_share.value_or(0); share > 0) {
    const PriceShare of_price = feature_share_of(options, share, uses);
    prices.features = prices_with_features(options, 1, clients).converted([of_price](double price) {
      return of_price.of_release(price);
    });
  }
  if (norm_share > 0) {
    const PriceShare of_price = norm_share_of(options, norm_share, uses);
    prices.norms =
        prices_of(options, 1, clients).converted([of_price](double price) { return of_price.of_release(price); });
  }
  return prices;
}

std::string HistogramPrices::text(const PrivacyOptions& options, Client clients, const RunPairs* pairs) const {
  if (!features && !norms) return "";
  std::string text = options.mechanism_row().gaussian() ? "mu:" : "epsilon:";
  if (features) text += fmt::format("features={},", shown_prices(*features, clients));
  if (norms) text += fmt::format("norms={},", shown_prices(*norms, clients));
  text += fmt::format("unit={}", name_of(options.unit));
  return pairs == nullptr ? text
                          : text + fmt::format(",trust=pairs,collusion={},hidden={:.6g}", options.collusion,
                                               1 / pairs->terms_before().exposure);
}

void check_histogram_price(const PrivacyOptions& options, const std::string& cost) {
  if (!options.protects() || options.histogram_price.value_or("") == cost) return;
  check(options.histogram_price.has_value(),
        "--scale-share or --feature-share with --tuning off, without --histogram-price: nothing says what the "
        "histograms have cost. Give shares of 0, or all three as they stand in config.ini of the run that released "
        "them.");
  throw UsageError(fmt::format(
      "--histogram-price '{}': that is what the histograms have cost whose results are given, and this run would count "
      "{}. Give the price, --delta, --epochs, --unit, --trust, clients and shares of the run that released them, or "
      "leave their results "
      "out and let this run release its own (--tuning auto).",
      *options.histogram_price, cost.empty() ? "nothing" : fmt::format("'{}'", cost)));
}

double price_of_mean(const PrivacyOptions& options, View weights) {
  const Prices prices = prices_of(options, 1, static_cast<Client>(weights.size()));
  double noise = 0;
  for (std::size_t u = 0; u < weights.size(); ++u) {
    const double price = prices.at(static_cast<Client>(u), 0);
    noise += weights[u] * weights[u] / (price * price);
  }
  return std::sqrt(dot(weights, weights) / noise);
}

}  // namespace starling
