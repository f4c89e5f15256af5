/// The report of `starling privacy audit`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "privacy/audit/one_run.hpp"
#include "privacy/audit/pairs_audit.hpp"

namespace starling {

struct AuditReport {
  std::string mechanism;
  std::string protocol;                ///< "none" or "omd"
  std::string trust = "none";          ///< "none", "central", "masked" or "pairs"
  std::int64_t clients = 1;            ///< whose sum, or whose releases, are seen
  std::optional<PairsAudit::Sum> sum;  ///< the noise of the sum over all clients, where pairs should cancel in it
  std::string noise_key;
  PrivacyUnit unit = PrivacyUnit::record;
  std::optional<NoiseCorrelation> correlation;  ///< of a client's noise over the rounds
  std::vector<AuditResult> pairs;   ///< of each neighbouring pair; error probabilities are shared among them
  std::optional<OneRunResult> run;  ///< of the one-run audit, which has no pairs
  double expected = 0;              ///< the bound to be expected of exact noise at so many samples
  std::vector<std::string> notes;

  [[nodiscard]] bool refuted() const;
  /// The pair with the highest bound. There must be one.
  [[nodiscard]] const AuditResult& worst() const;
};

[[nodiscard]] std::string to_text(const AuditReport& report);
/// One object on one line; infinite values are null.
[[nodiscard]] std::string to_json(const AuditReport& report);

}  // namespace starling
