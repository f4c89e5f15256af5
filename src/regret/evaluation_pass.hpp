/// The evaluation pass: all ranks evaluate losses on the played records, after the rounds.
#pragma once

#include <functional>

#include "mirror/mirror.hpp"
#include "net/agreement.hpp"
#include "privacy/metrics_policy.hpp"
#include "regret/evaluation.hpp"

namespace starling {

/// The records and sums from which regrets are computed. Sums are taken in client order: bits are equal on every rank
/// and for every layout.
class EvaluationPass {
 public:
  /// **Collective.** Reads the records again. References are kept, except to the function. `interrupted` is called now
  /// and then; the pass ends if it returns true on any rank. Throws UsageError unless `policy` shares metrics and a
  /// client has played, DataError if a stream has fewer rounds than were played.
  EvaluationPass(Agreement& agreement, const MetricsPolicy& policy, Model& model, Domain& domain,
                 const EvaluationData& data, std::function<bool()> interrupted);

  [[nodiscard]] Agreement& agreement() const { return agreement_; }
  [[nodiscard]] const MetricsPolicy& policy() const { return policy_; }
  [[nodiscard]] Model& model() const { return model_; }
  [[nodiscard]] Domain& domain() const { return domain_; }
  [[nodiscard]] const EvaluationData& data() const { return data_; }
  [[nodiscard]] const ReplayedRecords& records() const { return *records_; }
  [[nodiscard]] bool interrupted() const { return interrupted_(); }

  /// Number of marks; at least one, the last round.
  [[nodiscard]] const std::vector<Round>& marks() const { return marks_; }
  /// Σ_t Σ_u f_u,t(x_u,t) over all clients before each mark, and the number of the f_u,t.
  [[nodiscard]] const Vector& played() const { return played_; }
  [[nodiscard]] const Vector& client_rounds() const { return client_rounds_; }

  /// **Collective.** The sum over all clients of columns of shared metrics; `columns` has one per local client.
  [[nodiscard]] Vector total(const Secret<Columns>& columns, SharedFigure figure) const;
  /// **Collective.** The sum over all clients of one vector per local client.
  [[nodiscard]] Vector total(const std::vector<Secret<Vector>>& vectors, std::size_t length, SharedFigure figure) const;

 private:
  Agreement& agreement_;
  const MetricsPolicy& policy_;
  Model& model_;
  Domain& domain_;
  const EvaluationData& data_;
  std::function<bool()> interrupted_;
  std::optional<ReplayedRecords> records_;
  std::vector<Round> marks_;
  Vector played_;
  Vector client_rounds_;
};

}  // namespace starling
