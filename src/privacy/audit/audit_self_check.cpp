#include <fmt/format.h>

#include "starling/privacy/audit/audit_subjects.hpp"
#include "starling/privacy/audit/planted_faults.hpp"

namespace starling {

namespace {

constexpr std::int64_t honest_samples = 100'000;
constexpr std::int64_t faulty_samples = 20'000;
constexpr double share_to_recover = 0.9;
constexpr double price = 1;

/// A loss of 1 in two dimensions: the difference is in the first coordinate, a leak may be in the other.
ReleaseSettings small_settings() {
  ReleaseSettings settings;
  settings.price = PriceRange::of(price);
  settings.dimension = 2;
  settings.run_id = "audit";
  return settings;
}

AuditSettings of_samples(std::int64_t samples, const AuditTick& tick) {
  AuditSettings settings;
  settings.samples = samples;
  settings.tick = tick;
  return settings;
}

AuditSelfCheck check_null(Mechanism& mechanism, const AuditKeys& keys, const AuditTick& tick) {
  NeighbouringSums pair = neighbouring_sums(mechanism).front();
  pair.sums[1] = pair.sums[0];
  const AuditResult result =
      audit(release_subject(mechanism, price, pair, keys), mechanism.charge(price), of_samples(faulty_samples, tick));
  return {"a null pair", result.epsilon_refuting == 0 && result.mu_refuting == 0, result.epsilon_lower_bound,
          fmt::format("the same input on both sides: the bound must be 0, and is {:.4g} (at 99.9 %)",
                      result.epsilon_refuting)};
}

AuditSelfCheck check_honest(Mechanism& mechanism, const AuditKeys& keys, const AuditTick& tick) {
  const NeighbouringSums pair = neighbouring_sums(mechanism).front();
  const AuditResult result =
      audit(release_subject(mechanism, price, pair, keys), mechanism.charge(price), of_samples(honest_samples, tick));
  const double share = result.mu_claimed ? result.mu_lower_bound / *result.mu_claimed
                                         : result.epsilon_lower_bound / result.epsilon_claimed;
  return {"the honest pair", share >= share_to_recover && !result.refuted, result.epsilon_lower_bound,
          fmt::format("the mechanism at a loss of 1: the bound must reach {:.2g} of the claim, and reaches {:.3f}",
                      share_to_recover, share)};
}

AuditSelfCheck check_fault(const PlantedFaultRow& row, const std::string& mechanism_name, const AuditKeys& keys,
                           const AuditTick& tick) {
  const auto mechanism = plant(row.fault, mechanism_name, small_settings());
  const NeighbouringSums pair = neighbouring_sums(*mechanism).front();
  const AuditResult result =
      audit(release_subject(*mechanism, price, pair, keys), mechanism->charge(price), of_samples(faulty_samples, tick));
  return {row.name, result.refuted, result.epsilon_lower_bound,
          fmt::format("a planted fault: it must be refuted, and {} by: {}", result.refuted ? "is," : "is not; best",
                      result.event())};
}

}  // namespace

std::vector<AuditSelfCheck> check_audit(const std::string& mechanism_name, const AuditKeys& keys,
                                        const AuditTick& tick) {
  const auto mechanism = mechanism_table().make(mechanism_name, small_settings());
  std::vector<AuditSelfCheck> checks{check_null(*mechanism, keys, tick), check_honest(*mechanism, keys, tick)};
  for (const PlantedFaultRow& row : planted_faults()) checks.push_back(check_fault(row, mechanism_name, keys, tick));
  return checks;
}

}  // namespace starling
