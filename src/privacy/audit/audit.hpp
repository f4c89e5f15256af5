/// A measured lower bound on the privacy loss (docs/methods/privacy.md, "Audits").
///
/// Two neighbouring inputs, sides 0 and 1, are run many times, and events are sought that are more often seen under one
/// side than a claim allows. The events are chosen on one half of the observations and judged on the other, with exact
/// binomial confidence limits (Clopper and Pearson 1934), both directions, and Bonferroni's correction over the events;
/// so no honest claim is refuted more often than the stated error rate, for any noise. A claim that is not refuted is
/// not proved: the bound is a lower bound.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/columns.hpp"
#include "privacy/charge.hpp"

namespace starling {

/// Clopper and Pearson's limits: P(count or more | lower) = error and P(count or fewer | upper) = error for `count`
/// successes in `trials`, each missing the truth with a probability of at most `error`. lower(0, n) = 0, upper(n, n)
/// = 1. Throws UsageError unless 0 <= count <= trials, trials >= 1 and 0 < error < 1.
[[nodiscard]] double clopper_pearson_lower(std::int64_t count, std::int64_t trials, double error);
[[nodiscard]] double clopper_pearson_upper(std::int64_t count, std::int64_t trials, double error);

/// The subject of an audit, as an observer sees it.
struct AuditSubject {
  std::string name;        ///< of the neighbouring pair, for tables
  std::size_t length = 1;  ///< doubles in an observation
  /// Writes what an observer sees in one run on the input of `side` (0 or 1). Each `sample` is a run of its own.
  std::function<void(int side, std::int64_t sample, MutableView seen)> observe;
  double step = 0;                ///< distance of the lattice that values lie on; 0 if there is none, or none is known
  std::array<Vector, 2> centres;  ///< observations without noise; empty where not known
  /// Words for each double of an observation; empty: "coordinate 3".
  std::vector<std::string> names = {};
};

/// The progress callback of audits.
using AuditTick = std::function<void()>;

struct AuditSettings {
  std::int64_t samples = 1'000'000;  ///< observations of each side that are judged; up to as many again choose events
  double delta = 1e-5;               ///< at which the ε of a Gaussian claim is stated
  double share = 1;                  ///< of the error probabilities: 1/k where k audits make one statement together
  AuditTick tick = {};               ///< called after every observation, if it is given
};

/// Error probabilities of the bound that is reported and of the verdict.
inline constexpr double audit_bound_error = 0.05;
inline constexpr double audit_verdict_error = 0.001;

/// An event with how often it was seen in the half that judges.
struct AuditEvent {
  std::string description;
  int likelier = 1;                      ///< the side under which it was more frequent in the half that chose
  std::array<std::int64_t, 2> counts{};  ///< by side, of AuditResult::samples each
  double share = 0;                      ///< of the error probability
  double epsilon_lower_bound = 0;        ///< at 95 %, jointly with all other events; not below 0
  double mu_lower_bound = 0;             ///< likewise
};

/// A statistic of the observations on both sides, in bins; the first and the last hold what lies beyond, too.
struct AuditHistogram {
  std::string statistic;
  Vector edges;  ///< ascending, one more than bins
  std::array<std::vector<std::int64_t>, 2> counts;
};

struct AuditResult {
  std::string subject;
  Charge claim;
  double epsilon_claimed = 0;  ///< at `delta`; infinite where nothing is claimed
  double delta = 0;
  std::optional<double> mu_claimed;
  std::int64_t samples = 0;        ///< of each side, judged
  std::int64_t chosen_on = 0;      ///< of each side, looked at to choose the events
  double epsilon_lower_bound = 0;  ///< at `delta`, 95 %
  double mu_lower_bound = 0;       ///< 95 %; a statement on Gaussian claims
  double epsilon_refuting = 0;     ///< the same at 99.9 %: the claim is refuted if one of these is above it
  double mu_refuting = 0;
  bool refuted = false;
  std::vector<AuditEvent> events;  ///< by their bound, the highest first
  AuditHistogram histogram;        ///< of the statistic that promised most

  /// Words for the event that gave the bound.
  [[nodiscard]] std::string event() const { return events.empty() ? "none" : events.front().description; }
};

/// Audits the claim that one observation costs `claim`. A Gaussian claim is judged by μ and by its ε at settings.delta.
/// Throws UsageError for less than 100 samples, a share or a delta out of range, and what `observe` throws.
[[nodiscard]] AuditResult audit(const AuditSubject& subject, const Charge& claim, const AuditSettings& settings);

/// The expected bound of `audit` for noise with exactly the claimed loss, from the best event alone: the claim less the
/// cost of confidence at this number of samples. A much lower bound is the audit's fault.
[[nodiscard]] double expected_bound(const Charge& claim, const AuditSettings& settings);

}  // namespace starling
