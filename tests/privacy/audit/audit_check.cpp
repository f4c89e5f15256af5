#include "privacy/audit/audit_check.hpp"

#include <fmt/format.h>

namespace starling {

namespace {

constexpr double price_of_checks = 1;

/// Two dimensions: the inputs differ in the first coordinate, and a fault may show in the other.
ReleaseSettings small_settings() {
  return {.price = PriceRange::of(price_of_checks), .dimension = 2, .run_id = "audit"};
}

/// The subject with the input of side 0 on both sides.
AuditSubject without_difference(AuditSubject subject) {
  subject.centres[1] = subject.centres[0];
  subject.observe = [observe = subject.observe](int side, std::int64_t sample, MutableView seen) {
    observe(0, 2 * sample + side, seen);
  };
  return subject;
}

AuditCheck check_null(const AuditSubject& subject, const Charge& claim, const AuditSettings& settings) {
  const AuditResult result = audit(without_difference(subject), claim, settings);
  return {"a null pair", result.epsilon_refuting == 0 && result.mu_refuting == 0,
          fmt::format("the same input on both sides: the bound must be 0, and is {:.4g} (at 99.9 %)",
                      result.epsilon_refuting)};
}

AuditCheck check_honest(const AuditSubject& subject, const Charge& claim, const AuditSettings& settings,
                        const AuditCheckPlan& plan) {
  const AuditResult result = audit(subject, claim, settings);
  const double share = result.mu_claimed ? result.mu_lower_bound / *result.mu_claimed
                                         : result.epsilon_lower_bound / result.epsilon_claimed;
  return {plan.honest, share >= plan.share_to_recover && !result.refuted,
          fmt::format("the mechanism at a loss of 1: the bound must reach {:.2g} of the claim, and reaches {:.3f}",
                      plan.share_to_recover, share)};
}

AuditCheck check_fault(const PlantedFaultRow& row, const MechanismRow& honest, const AuditCheckPlan& plan) {
  const auto mechanism = plant(row.fault, honest, small_settings());
  const AuditResult result = audit(plan.subject(*mechanism, price_of_checks), mechanism->charge(price_of_checks),
                                   {.samples = plan.faulty_samples});
  return {row.name, result.refuted,
          fmt::format("a planted fault: it must be refuted, and {} by: {}", result.refuted ? "is," : "is not; best",
                      result.event())};
}

}  // namespace

AuditCheckPlan check_of_releases(const AuditKeys& keys) {
  AuditCheckPlan plan;
  plan.subject = [keys](Mechanism& mechanism, double price) {
    return release_subject(mechanism, price, neighbouring_sums(mechanism).front(), keys);
  };
  return plan;
}

std::vector<AuditCheck> check_audit(const MechanismRow& row, const AuditCheckPlan& plan) {
  const auto mechanism = row.make(Spec::parse(row.name), small_settings());
  const AuditSubject subject = plan.subject(*mechanism, price_of_checks);
  const Charge claim = mechanism->charge(price_of_checks);
  std::vector<AuditCheck> checks{check_null(subject, claim, {.samples = plan.null_samples}),
                                 check_honest(subject, claim, {.samples = plan.honest_samples}, plan)};
  for (const PlantedFaultRow& fault : plan.faults) checks.push_back(check_fault(fault, row, plan));
  return checks;
}

}  // namespace starling
