// The sizes of records for the rule: released histograms of norms, or exact ones where nobody is protected.
#include <cmath>
#include <limits>
#include <utility>

#include "core/numerics/kernels.hpp"
#include "data/serving/dataset.hpp"
#include "protocol/own_model/lone_rows.hpp"
#include "protocol/own_model/row_model.hpp"
#include "releases/exact_moments.hpp"
#include "releases/histogram_counts.hpp"
#include "rule_settings.hpp"
#include "run/inputs/inputs.hpp"
#include "run/privacy/histogram_release.hpp"
#include "run/settings/model_choice.hpp"
#include "run/settings/tuned_config.hpp"
#include "settings_by_rule.hpp"

namespace starling {

namespace {

constexpr double usual_scale_share = 0.01;
constexpr std::size_t most_asked = 1000;               ///< gradients of a client, where nobody is protected
constexpr double least_norm_beside_intercept = 0.125;  ///< of the features of a typical record

}  // namespace

/// An intercept that nobody asked for is left out beside features that are far smaller than its 1: gradients would be
/// its own almost alone. Of features below all bins nothing can be learned, so that it stays. These are norms of
/// features, which become those of records.
void SettingsByRule::settle_intercept(TypicalNorms& norms) {
  ModelChoice& model = config().model;
  if (config().given("intercept") || !model.intercept() || !norms.l2) return;
  const double lowest_bin = std::ldexp(1.0, NormHistogram::lowest_exponent);
  if (*norms.l2 > lowest_bin && *norms.l2 < least_norm_beside_intercept) {
    if (start_) {  // it has a constant, and standardised features are no such specks: a bin of noise
      norms.l2.reset();
      norms.l1.reset();
      return;
    }
    model.asked_intercept = false;
    return;
  }
  norms.l2 = std::hypot(*norms.l2, 1);
  if (norms.l1) norms.l1 = *norms.l1 + 1;
}

/// Whether the sizes of an own model's gradients at the start are what the rule knows of it.
bool SettingsByRule::asks_gradients() const {
  return config().model.own != nullptr && starling::asks_gradients(*config().model.own);
}

/// Whether gradients may be asked for, or the user has said how long they are.
bool SettingsByRule::may_ask_gradients(const std::optional<std::int64_t>& most_records) const {
  if (!config().norm.empty()) return true;
  const bool may =
      config().privacy.protects() ? config().scale_share.value_or(usual_scale_share) > 0 : run_.metrics.shared();
  return may && run_.inputs.dataset.replayable && most_records.value_or(0) > 0 &&
         *most_records <= NoisyCounts::most_records;
}

/// The own model, asked for one record at a time where somebody is protected. The run tells the owner of records on
/// which it fails.
std::unique_ptr<Model> SettingsByRule::asked_model() const {
  std::shared_ptr<OwnModel> own = config().model.own;
  if (config().privacy.protects()) own = std::make_shared<LoneRows>(std::move(own), [](const Secret<std::string>&) {});
  return std::make_unique<RowModel>(std::move(own), run_.inputs.dataset.shape.features);
}

Vector SettingsByRule::point_of_start(const Model& model) const {
  return model.initial(config().data.seed).value_or(Vector(model.dimension()));
}

/// Releases histograms of norms where somebody is protected, nobody said norms, and something depends on them.
void SettingsByRule::choose_norms(const std::optional<std::int64_t>& most_records) {
  TunedConfig& config = this->config();
  const double share = config.scale_share.value_or(usual_scale_share);
  const bool protects = config.privacy.protects();
  const bool known = !config.norm.empty() && (config.label_size || !run_.loss->depends_on_label_size());
  const bool settled = known || ((config.privacy.clip || !protects) && config.given("step"));
  const bool wanted = (protects ? share > 0 : run_.metrics.shared()) && !settled && run_.inputs.dataset.replayable &&
                      most_records.value_or(0) > 0 && *most_records <= NoisyCounts::most_records;
  config.scale_share = 0;
  has_chosen_norms_ = true;
  if (!run_.agreement.all(declare_public(wanted))) return;
  if (protects) return release_norms(share, *most_records);
  take_exact_sizes(*most_records);
}

/// Takes the sizes of all records as they are, where nobody is protected.
void SettingsByRule::take_exact_sizes(std::int64_t most_records) {
  run_.agreement.together([&] { plan_counting(config().data, run_.inputs.dataset, most_records); });
  const double constant = counts_constant() ? 1 : 0;
  SquareOf square_of = [constant](const Batch& batch, std::size_t i) {
    const View values = batch.row(i).values;
    return dot(values, values) + constant;
  };
  std::unique_ptr<Model> model;
  if (asks_gradients()) {
    run_.agreement.together([&] { model = asked_model(); });
    square_of = [&model, point = point_of_start(*model), part = Batch(), gradient = Vector()](const Batch& batch,
                                                                                              std::size_t i) mutable {
      part.show(batch, i, 1);
      const Score score = model->evaluate(point, part, {}, gradient);
      return score.records > 0 ? dot(gradient, gradient) : std::numeric_limits<double>::infinity();
    };
  }
  const std::optional<ExactSizes> sizes =
      exact_sizes(run_.agreement, run_.inputs.dataset.streams, square_of,
                  asks_gradients() ? most_asked : std::numeric_limits<std::size_t>::max(), run_.metrics);
  if (!sizes) return;
  TypicalNorms norms{.l2 = sizes->norm, .l1 = {}, .label = {}};
  if (run_.loss->depends_on_label_size() && sizes->label > 0) norms.label = sizes->label;
  settle_intercept(norms);
  take_norms(0, norms);
  config().largest_norm =
      method_.own_means ? sizes->largest_share * std::sqrt(static_cast<double>(most_records)) : sizes->largest;
}

/// Whether the constant of an intercept is a part of norms that are measured: one that the user gave.
bool SettingsByRule::counts_constant() const {
  return config().model.intercept() && config().given("intercept");
}

/// Makes norms of features those of records: lower ends of bins, of which the constant may move one to the next.
void SettingsByRule::add_constant(TypicalNorms& norms) {
  const auto lower_end = [](double norm) { return std::exp2(std::floor(std::log2(norm))); };
  norm_of_features_ = norms.l2;
  if (norms.l2) norms.l2 = lower_end(std::hypot(*norms.l2, 1));
  if (norms.l1) norms.l1 = lower_end(*norms.l1 + 1);
}

void SettingsByRule::release_norms(double share, std::int64_t most_records) {
  const TunedConfig& config = this->config();
  const bool with_constant = counts_constant() && !config.data.person.empty();  // one for each record of a person
  const bool labels = run_.loss->depends_on_label_size();
  const ChargeKind noise = config.privacy.mechanism_row().charge;
  HistogramFacts facts{.name = asks_gradients() ? "histogram of gradient norms"
                               : labels         ? "histogram of norms and labels"
                                                : "histogram of norms",
                       .end = end_of_norms,
                       .form = NormHistogram::form_of(noise, labels),
                       .share = share,
                       .of_price = norm_share_of(config.privacy, share, config.data.epochs)};
  std::vector<Secret<Counts>> counts;
  run_.agreement.together([&] {
    complete_facts(facts, method_, most_records, run_.facts(), run_.inputs.dataset);
    const NormHistogram histogram(noise, 1, 0, labels);
    const std::unique_ptr<Model> model = asks_gradients() ? asked_model() : nullptr;
    const Vector point = model ? point_of_start(*model) : Vector();
    for (const auto& stream : run_.inputs.dataset.streams) {
      if (model) {
        counts.push_back(count_gradients(*stream, histogram, *model, point, config.privacy.person_mean));
        continue;
      }
      counts.push_back(count_norms(*stream, histogram, with_constant, config.privacy.person_mean));
    }
  });
  const Vector variances = variances_of(run_.agreement, *run_.inputs.layout, config.privacy, facts);
  const std::int64_t records = records_of(run_.agreement, facts);
  const std::string folder = run_.private_folder();
  HistogramRelease release(run_.agreement, *run_.inputs.layout, config.privacy, std::move(facts), folder);
  if (!release.affordable()) {
    run_.notes.emplace_back("norms of records are not released: the --budget does not allow it. --norm says them");
    return;
  }
  run_.begin_release();
  const Vector sum = release.release(method_.norms, counts);
  const double least = run_.agreement.broadcast(declare_public(least_count(noise, variances)));
  const auto typical = [&](std::size_t first) {
    return typical_norm(View(sum).subspan(first, NormHistogram::bins), least, records);
  };
  TypicalNorms norms;
  norms.l2 = typical(0);
  if (noise == ChargeKind::laplace) norms.l1 = typical(NormHistogram::bins);
  if (labels) norms.label = typical_label(View(sum).last(NormHistogram::bins), least, records);
  if (config.norm.empty() && norms.l2 && may_be_noise(View(sum).first(NormHistogram::bins), least, records)) {
    run_.notes.push_back(fmt::format(
        "the norm of a typical record, {:.4g}, may be one of noise alone: its count is near the least that stands out, "
        "and holds less than half of the records. --norm says it, and a larger --scale-share shows it",
        *norms.l2));
  }
  if (counts_constant() && !with_constant && !asks_gradients()) add_constant(norms);
  settle_intercept(norms);
  take_norms(share, norms);
}

/// Whether records are about as long as those of standardised features. Features then stay as they are.
bool SettingsByRule::norms_speak_of_one_scale(const std::optional<std::int64_t>& most_records) {
  const TunedConfig& config = this->config();
  choose_norms(most_records);
  if (config.norm.empty()) return false;
  return may_have_one_scale({config.norm.front(), norm_of_features_}, run_.inputs.dataset.shape.features,
                            config.model.intercept());
}

/// All ranks have the same bits. Four digits can be typed. What the user gave stands.
void SettingsByRule::take_norms(double share, const TypicalNorms& norms) {
  TunedConfig& config = this->config();
  config.scale_share = share;
  const std::string cost = config.privacy.mechanism_row().gaussian()
                               ? fmt::format("{:.3g} of the square of its mu", share)
                               : fmt::format("{:.3g} of its epsilon", std::sqrt(share));
  std::vector<TunedValue> values;
  const auto take = [&](const char* option, const std::string& value, const char* which) {
    const std::string source =
        !config.privacy.protects()
            ? "all records, which nobody protects"
            : fmt::format("released histograms, which cost each {} {} once", name_of(config.privacy.unit), cost);
    values.push_back({option, value.empty() ? "unknown" : value,
                      fmt::format("{}{} {}", asks_gradients() ? "of gradients at the start: " : "",
                                  value.empty() ? "no bin stands out of the noise in" : which, source)});
  };
  if (config.norm.empty()) {
    std::string text;
    if (norms.l2) text = fmt::format("{:.4g}", *norms.l2);
    if (norms.l2 && norms.l1) text += fmt::format(",{:.4g}", *norms.l1);
    for (const std::optional<double>& norm : {norms.l2, norms.l1}) {
      if (norm && norms.l2) config.norm.push_back(std::stod(fmt::format("{:.4g}", *norm)));
    }
    take("norm", text, config.privacy.protects() ? "the median bin of the sum of" : "the root mean square over");
  }
  if (run_.loss->depends_on_label_size() && !config.label_size) {
    const std::string text = norms.label ? fmt::format("{:.4g}", *norms.label) : "";
    if (!text.empty()) config.label_size = std::stod(text);
    take("label-size", text,
         config.privacy.protects() ? "the upper end of the median bin of the sum of" : "the root mean square over");
  }
  tell(values);
}

}  // namespace starling
