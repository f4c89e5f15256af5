/// Checks of an audit where the answer is known: a null pair, an honest mechanism and planted faults.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "privacy/audit/audit_subjects.hpp"
#include "privacy/audit/planted_faults.hpp"

namespace starling {

/// The result of one check.
struct AuditCheck {
  std::string name;
  bool passed = false;
  std::string detail;  ///< a sentence: the requirement and the result
};

/// The subject that is made of a mechanism, and the samples for each check.
struct AuditCheckPlan {
  std::function<AuditSubject(Mechanism&, double price)> subject;
  std::string honest = "the honest pair";  ///< the name of the check of the honest mechanism
  std::int64_t null_samples = 20'000;
  std::int64_t honest_samples = 100'000;
  std::int64_t faulty_samples = 20'000;
  double share_to_recover = 0.9;  ///< the share of the claim that the bound of the honest mechanism must reach
  std::vector<PlantedFaultRow> faults = planted_faults();
};
/// The plan for releases by themselves.
[[nodiscard]] AuditCheckPlan check_of_releases(const AuditKeys& keys);

/// Audits at a loss of 1: a null pair (the same input on both sides: no bound above 0 at 99.9 %), the honest mechanism
/// (the bound reaches the plan's share of the claim), and each fault of the plan (refuted). The worst case of the
/// mechanism must be the plan's subject. Takes seconds.
[[nodiscard]] std::vector<AuditCheck> check_audit(const MechanismRow& mechanism, const AuditCheckPlan& plan);

}  // namespace starling
