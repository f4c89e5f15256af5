#include "label_release.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "core/numerics/kernels.hpp"
#include "histogram_counts.hpp"
#include "run/inputs/start_models.hpp"

namespace starling {

namespace {

constexpr LabelShares shares_of_classes{.least = 0.02, .greatest = 0.15, .wanted_noise = 0.0625, .most_noise = 0.125};

bool may_start_at_constant(const TunedConfig& config, const Loss* loss) {
  const bool has_constant = config.model.kind == ModelChoice::Kind::linear && !config.model.own &&
                            config.model.intercept() && loss != nullptr && gives_probabilities(loss->link());
  return has_constant && !config.given("start") && config.start == "uniform" &&
         classes_of(*loss) <= LabelHistogram::bins;
}

}  // namespace

double noise_of_sum(const TunedMethod& method, const TuningTerms& run, const HistogramFacts& facts) {
  const Vector variances = variances_of(run.agreement, *run.inputs.layout, method.config.privacy, facts);
  return run.agreement.broadcast(declare_public(std::sqrt(sum(variances))));
}

std::optional<LabelCounts> release_labels(const TunedMethod& method, const TuningTerms& run, std::int64_t most_records,
                                          const std::optional<double>& asked, const LabelShares& shares,
                                          const std::function<Secret<Counts>(Stream&)>& count) {
  const TunedConfig& config = method.config;
  const auto of_price = [&config](double share) { return norm_share_of(config.privacy, share, config.data.epochs); };
  HistogramFacts facts{.name = "histogram of labels",
                       .end = end_of_norms,
                       .form = LabelHistogram::form(),
                       .share = asked.value_or(shares.least),
                       .of_price = of_price(asked.value_or(shares.least))};
  run.agreement.together([&] { complete_facts(facts, method, most_records, run.facts(), run.inputs.dataset); });
  const std::int64_t records = records_of(run.agreement, facts);
  double noise = noise_of_sum(method, run, facts);
  if (const double excess = noise / (shares.wanted_noise * static_cast<double>(records)); !asked && excess > 1) {
    facts.share = std::stod(fmt::format("{:.3g}", std::min(facts.share * excess * excess, shares.greatest)));
    facts.of_price = of_price(facts.share);
    noise = noise_of_sum(method, run, facts);
    if (noise > shares.most_noise * static_cast<double>(records)) return std::nullopt;
  }
  const double share = facts.share;
  std::vector<Secret<Counts>> counts;
  run.agreement.together([&] {
    for (const auto& stream : run.inputs.dataset.streams) counts.push_back(count(*stream));
  });
  HistogramRelease release(run.agreement, *run.inputs.layout, config.privacy, std::move(facts), run.private_folder());
  if (!release.affordable()) return std::nullopt;
  run.begin_release();
  return LabelCounts{release.release(method.norms, counts), noise, records, share};
}

/// A count below the deviation of its noise may be one of noise alone.
std::optional<ClassStart> start_by_classes(const TunedMethod& method, const TuningTerms& run, std::int64_t most_records,
                                           const std::optional<double>& asked) {
  if (!may_start_at_constant(method.config, run.loss) || asked == 0) return std::nullopt;
  const std::size_t classes = classes_of(*run.loss);
  const std::optional<LabelCounts> found =
      release_labels(method, run, most_records, asked, shares_of_classes,
                     [classes](Stream& stream) { return count_classes(stream, classes); });
  if (!found) return std::nullopt;
  Vector shares(found->sum.begin(), found->sum.begin() + static_cast<std::ptrdiff_t>(classes));
  for (double& each : shares) each = std::max({each, found->noise, 1.0});
  scale(1 / sum(shares), shares);
  std::vector<std::string> words;
  for (const double each : shares) words.push_back(fmt::format("{:.4g}", each));
  const std::string text =
      run.agreement.broadcast(declare_public(fmt::format("{}{}", start_at_classes, fmt::join(words, ","))));
  return ClassStart{{"start", text,
                     fmt::format("the constant that answers classes with their shares, by a released histogram, which "
                                 "cost each {} {:.3g} of the square of its mu once",
                                 name_of(method.config.privacy.unit), found->share)},
                    found->share};
}

}  // namespace starling
