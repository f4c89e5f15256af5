#include "privacy/audit/audit.hpp"

#include <algorithm>
#include <cmath>

#include "audit_events.hpp"
#include "audit_statistics.hpp"
#include "core/check.hpp"
#include "core/numerics/distributions.hpp"
#include "core/text/limits.hpp"
#include "privacy/accounting/accounting.hpp"

namespace starling {

namespace {

constexpr std::int64_t pilot_samples = 2048;
constexpr std::size_t most_stored = std::size_t{1} << 25;  ///< doubles that choosing may hold: 256 MB
constexpr std::size_t most_events = 32;
constexpr double share_of_the_rest = 0.2;  ///< of the error probability, for all but the events that promise most
constexpr double share_of_mu = 0.6;        ///< of a Gaussian claim, for the event that promises most of μ
constexpr std::size_t histogram_bins = 60;

/// The share of the error probability for the most promising event.
double share_of_the_first(bool gaussian) {
  return gaussian ? share_of_mu : 1 - share_of_the_rest;
}

void check_settings(const AuditSettings& settings) {
  check(settings.samples >= 100, "samples={}: an audit needs at least 100. Raise --samples.", settings.samples);
  check(settings.delta > 0 && settings.delta < 1, "delta={}: must lie between 0 and 1.", settings.delta);
  check(settings.share > 0 && settings.share <= 1, "share={}: of the error probability: above 0, at most 1.",
        settings.share);
}

/// One audit from beginning to end.
class Auditor {
 public:
  Auditor(const AuditSubject& subject, const Charge& claim, const AuditSettings& settings)
      : subject_(subject),
        settings_(settings),
        statistics_(subject, std::min(pilot_samples, settings.samples), settings.tick),
        seen_(subject.length),
        values_(statistics_.size()) {
    result_.subject = subject.name;
    result_.claim = claim;
    result_.samples = settings.samples;
    state_claim(claim);
    const auto judged = static_cast<double>(settings_.samples);
    if (gaussian()) goals_.push_back({0, true, judged});
    goals_.push_back({result_.delta, false, judged});
    found_.resize(goals_.size());
  }

  AuditResult run() {
    choose();
    judge();
    conclude();
    return std::move(result_);
  }

 private:
  void state_claim(const Charge& claim);
  [[nodiscard]] bool gaussian() const { return result_.claim.kind == ChargeKind::gaussian; }
  void observe(int side, std::int64_t sample) {
    subject_.observe(side, sample, seen_);
    statistics_.compute(seen_, values_);
    if (settings_.tick) settings_.tick();
  }
  void choose();
  void choose_on(std::size_t statistic, const std::array<Vector, 2>& sorted);
  void keep_best();
  [[nodiscard]] double share_of(std::size_t event) const;
  void plan_histogram(const std::array<Vector, 2>& sorted);
  void judge();
  void count_in_histogram(int side);
  void conclude();

  const AuditSubject& subject_;
  AuditSettings settings_;
  AuditStatistics statistics_;
  Vector seen_;
  Vector values_;
  AuditResult result_;
  std::vector<AuditGoal> goals_;                    ///< μ and ε of Gaussian claims, else ε
  std::vector<std::vector<AuditCandidate>> found_;  ///< by goal
  std::vector<AuditCandidate> candidates_;          ///< the events; the most promising of each goal first
  std::vector<std::array<std::int64_t, 2>> counts_;
};

void Auditor::state_claim(const Charge& claim) {
  switch (claim.kind) {
    case ChargeKind::pure:
    case ChargeKind::laplace:
    case ChargeKind::approximate:
      result_.epsilon_claimed = claim.epsilon;
      result_.delta = claim.delta;
      return;
    case ChargeKind::gaussian:
      result_.mu_claimed = claim.mu;
      result_.delta = settings_.delta;
      result_.epsilon_claimed = gaussian_epsilon(claim.mu, settings_.delta);
      return;
    case ChargeKind::unbounded:
      result_.epsilon_claimed = infinity;
      return;
  }
}

/// Chooses events on the first samples, as many as the test uses. Memory holds these samples; with many statistics
/// their number is smaller.
void Auditor::choose() {
  const std::size_t count = statistics_.size();
  const auto room = static_cast<std::int64_t>(most_stored / (2 * count));
  const std::int64_t n = std::min(settings_.samples, room);
  result_.chosen_on = n;
  std::vector<std::array<Vector, 2>> columns(count);
  for (auto& column : columns) {
    for (Vector& values : column) values.reserve(static_cast<std::size_t>(n));
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (const int side : {0, 1}) {
      observe(side, i);
      for (std::size_t k = 0; k < count; ++k) columns[k][static_cast<std::size_t>(side)].push_back(values_[k]);
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    for (Vector& values : columns[k]) std::sort(values.begin(), values.end());
    choose_on(k, columns[k]);
  }
  keep_best();
  plan_histogram(columns[candidates_.empty() ? 0 : candidates_.front().statistic]);
}

void Auditor::choose_on(std::size_t statistic, const std::array<Vector, 2>& sorted) {
  for (std::size_t g = 0; g < goals_.size(); ++g) {
    for (AuditCandidate& found : choose_events(statistic, sorted, goals_[g])) found_[g].push_back(std::move(found));
  }
}

/// The best of each goal in turn.
void Auditor::keep_best() {
  for (auto& found : found_) {
    std::stable_sort(found.begin(), found.end(),
                     [](const AuditCandidate& a, const AuditCandidate& b) { return a.promise > b.promise; });
  }
  for (std::size_t rank = 0; rank < most_events / goals_.size(); ++rank) {
    for (auto& found : found_) {
      if (rank < found.size()) candidates_.push_back(std::move(found[rank]));
    }
  }
}

double Auditor::share_of(std::size_t event) const {
  const std::size_t first = std::min(goals_.size(), candidates_.size());
  const std::size_t rest = candidates_.size() - first;
  if (event >= first) return share_of_the_rest / static_cast<double>(rest);
  const double most = share_of_the_first(gaussian());
  return event == 0 ? most : 1 - share_of_the_rest - most;
}

/// Equal bins over all but the outermost observations of both sides.
void Auditor::plan_histogram(const std::array<Vector, 2>& sorted) {
  AuditHistogram& histogram = result_.histogram;
  histogram.statistic = statistics_.name(candidates_.empty() ? 0 : candidates_.front().statistic);
  const std::size_t n = sorted[0].size();
  double low = infinity;
  double high = -infinity;
  for (const Vector& values : sorted) {
    low = std::min(low, values[n / 1000]);
    high = std::max(high, values[n - 1 - n / 1000]);
  }
  if (!std::isfinite(low) || !std::isfinite(high)) low = high = 0;
  if (high <= low) {
    low -= 0.5;
    high += 0.5;
  }
  for (std::size_t b = 0; b <= histogram_bins; ++b) {
    histogram.edges.push_back(low + (high - low) * static_cast<double>(b) / histogram_bins);
  }
  for (auto& counts : histogram.counts) counts.assign(histogram_bins, 0);
}

void Auditor::count_in_histogram(int side) {
  AuditHistogram& histogram = result_.histogram;
  const double value = values_[candidates_.empty() ? 0 : candidates_.front().statistic];
  const auto above = std::upper_bound(histogram.edges.begin(), histogram.edges.end(), value) - histogram.edges.begin();
  const auto bin = std::clamp<std::ptrdiff_t>(above - 1, 0, static_cast<std::ptrdiff_t>(histogram_bins) - 1);
  ++histogram.counts[static_cast<std::size_t>(side)][static_cast<std::size_t>(bin)];
}

/// Tests the chosen events on fresh samples. Only counts are kept.
void Auditor::judge() {
  counts_.assign(candidates_.size(), {});
  for (std::int64_t i = 0; i < settings_.samples; ++i) {
    for (const int side : {0, 1}) {
      observe(side, result_.chosen_on + i);
      count_in_histogram(side);
      for (std::size_t e = 0; e < candidates_.size(); ++e) {
        counts_[e][static_cast<std::size_t>(side)] += candidates_[e].set.holds(values_[candidates_[e].statistic]);
      }
    }
  }
}

void Auditor::conclude() {
  for (std::size_t e = 0; e < candidates_.size(); ++e) {
    const AuditCandidate& candidate = candidates_[e];
    const double share = share_of(e);
    const auto likelier = static_cast<std::size_t>(candidate.likelier);
    const auto limits = [&](double error) {
      return exact_limits(counts_[e][likelier], counts_[e][1 - likelier], settings_.samples,
                          error * share * settings_.share);
    };
    const EventLimits bound = limits(audit_bound_error);
    const EventLimits verdict = limits(audit_verdict_error);
    AuditEvent event{statistics_.name(candidate.statistic) + " " + candidate.words,
                     candidate.likelier,
                     counts_[e],
                     share,
                     epsilon_of(bound, result_.delta),
                     mu_of(bound)};
    result_.epsilon_lower_bound = std::max(result_.epsilon_lower_bound, event.epsilon_lower_bound);
    result_.mu_lower_bound = std::max(result_.mu_lower_bound, event.mu_lower_bound);
    result_.epsilon_refuting = std::max(result_.epsilon_refuting, epsilon_of(verdict, result_.delta));
    result_.mu_refuting = std::max(result_.mu_refuting, mu_of(verdict));
    result_.events.push_back(std::move(event));
  }
  const auto bound_of = [&](const AuditEvent& event) {
    return gaussian() ? event.mu_lower_bound : event.epsilon_lower_bound;
  };
  std::stable_sort(result_.events.begin(), result_.events.end(),
                   [&](const AuditEvent& a, const AuditEvent& b) { return bound_of(a) > bound_of(b); });
  result_.refuted = result_.epsilon_refuting > result_.epsilon_claimed ||
                    (result_.mu_claimed && result_.mu_refuting > *result_.mu_claimed);
}

}  // namespace

AuditResult audit(const AuditSubject& subject, const Charge& claim, const AuditSettings& settings) {
  check_settings(settings);
  check(subject.length >= 1 && subject.observe, "the subject '{}' shows nothing: no observation to audit.",
        subject.name);
  return Auditor(subject, claim, settings).run();
}

// Bound that an ideal event would give. For pure claims, the event is "beyond the other side's centre" of Laplace
// noise: ½ against ½ e^−ε. For Gaussian claims, the event is the threshold in the middle.
double expected_bound(const Charge& claim, const AuditSettings& settings) {
  const auto n = static_cast<double>(settings.samples);
  const double z =
      -normal_quantile(audit_bound_error * share_of_the_first(claim.kind == ChargeKind::gaussian) * settings.share / 2);
  const auto spread = [&](double p) { return z * std::sqrt(p * (1 - p) / n); };
  if (claim.kind == ChargeKind::gaussian) {
    const double p = normal_cdf(claim.mu / 2);
    return std::max(0.0, mu_of({p - spread(p), 1 - p + spread(p)}));
  }
  const double p = 0.5;
  const double q = 0.5 * std::exp(-claim.epsilon);
  return std::max(0.0, epsilon_of({p - spread(p), q + spread(q)}, claim.delta));
}

}  // namespace starling
