#include "score_share.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "privacy/histograms/score_sums.hpp"
#include "run/privacy/run_prices.hpp"

namespace starling {

namespace {

constexpr double least_share_of_scores = 0.02;
constexpr double most_share_of_scores = 0.05;
constexpr double wanted_error_of_factor = 0.15;  ///< of the logarithm of the factor
constexpr double worst_error_of_factor = 0.5;    ///< beyond, noise in the factor is worth no price

}  // namespace

std::string why_no_score_share(const TunedConfig& config, const Dataset& dataset, const std::string& of_method) {
  const PrivacyOptions& privacy = config.privacy;
  if (!privacy.protects() || !privacy.mechanism_row().gaussian()) return "sums of scores need Gaussian noise";
  if (!is_whole(privacy.unit)) return "sums of scores protect records and persons, not components";
  if (privacy.prices_change()) return "sums of scores have a share of one price, and prices change over the rounds";
  if (config.model.own || config.model.kind != ModelChoice::Kind::linear || config.loss != "logistic")
    return "scores are measured of linear models with --loss logistic alone";
  if (privacy.audit) return "a run that audits itself by coins has no second model like its first";
  if (!dataset.replayable) return "records come once, and scores are measured after the last round";
  return of_method;
}

void check_score_share(const TunedConfig& config, const Dataset& dataset, const std::string& of_method) {
  if (config.privacy.score_share.value_or(0) == 0) return;
  const std::string why = why_no_score_share(config, dataset, of_method);
  check(why.empty(), "--score-share {}: {}. Give 0.", *config.privacy.score_share, why);
}

double tuned_score_share(const TunedConfig& config, View records) {
  PrivacyOptions options = config.privacy;
  options.score_share = most_share_of_scores;
  const Prices prices = *histogram_prices(options, 0, config.data.epochs, static_cast<Client>(records.size())).scores;
  const double of_one = ScoreSums(1, 0).deviation();
  double variance = 0;
  for (std::size_t u = 0; u < records.size(); ++u) {
    if (records[u] > 0) variance += std::pow(of_one / prices.at(static_cast<Client>(u), 0), 2);
  }
  const double error = error_of_score_factor(std::sqrt(variance), sum(records));
  if (!(error <= worst_error_of_factor)) return 0;
  const double share = most_share_of_scores * std::pow(error / wanted_error_of_factor, 2);
  return std::stod(fmt::format("{:.3g}", std::clamp(share, least_share_of_scores, most_share_of_scores)));
}

}  // namespace starling
