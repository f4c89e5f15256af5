/// The means of an evaluation pass: all ranks together, after the rounds, over the records that were played.
#pragma once

#include <functional>

#include "starling/mirror/mirror.hpp"
#include "starling/net/agreement.hpp"
#include "starling/privacy/metrics_policy.hpp"
#include "starling/regret/evaluation.hpp"

namespace starling {

/// What the regrets of a run are worked out with. Sums go through the ranks in client order: equal bits on every rank
/// and for every layout.
class EvaluationPass {
 public:
  /// Reads the records again. Keeps references to all but the function. `interrupted` is asked now and then; one rank's
  /// yes ends all. **Collective.** Throws UsageError unless `policy` shares metrics and somebody has played, DataError
  /// if a stream gives fewer rounds than were played.
  EvaluationPass(Agreement& agreement, const MetricsPolicy& policy, Model& model, Domain& domain,
                 const EvaluationData& data, std::function<bool()> interrupted);

  [[nodiscard]] Agreement& agreement() const { return agreement_; }
  [[nodiscard]] const MetricsPolicy& policy() const { return policy_; }
  [[nodiscard]] Model& model() const { return model_; }
  [[nodiscard]] Domain& domain() const { return domain_; }
  [[nodiscard]] const EvaluationData& data() const { return data_; }
  [[nodiscard]] const ReplayedRecords& records() const { return *records_; }
  [[nodiscard]] bool interrupted() const { return interrupted_(); }

  /// Marks; without any the last round stands for one.
  [[nodiscard]] const std::vector<Round>& marks() const { return marks_; }
  /// Of all clients together, before each mark: Σ_t Σ_u f_u,t(x_u,t), and how many f_u,t there are.
  [[nodiscard]] const Vector& played() const { return played_; }
  [[nodiscard]] const Vector& client_rounds() const { return client_rounds_; }

  /// Σ over all clients of columns of shared metrics, a column per local client. **Collective.**
  [[nodiscard]] Vector total(const Secret<Columns>& columns, SharedFigure figure) const;
  /// The same of a vector per local client. **Collective.**
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
