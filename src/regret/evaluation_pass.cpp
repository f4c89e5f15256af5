#include "regret/evaluation_pass.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace starling {

EvaluationPass::EvaluationPass(Agreement& agreement, const MetricsPolicy& policy, Model& model, Domain& domain,
                               const EvaluationData& data, std::function<bool()> interrupted)
    : agreement_(agreement),
      policy_(policy),
      model_(model),
      domain_(domain),
      data_(data),
      interrupted_(std::move(interrupted)),
      marks_(data.marks) {
  check(policy.shared(), "regret needs shared metrics (its comparator is fitted to all records without noise)");
  agreement_.together([&] { records_.emplace(data); });
  if (marks_.empty()) {
    Round own = 0;
    for (const RoundSet& rounds : data.rounds) own = std::max(own, rounds.end());
    marks_.push_back(agreement_.max(declare_public(own)));
  }
  played_ = total(data.played, marks_.size(), SharedFigure::played_losses);
  Columns counts(marks_.size(), data.rounds.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    for (std::size_t j = 0; j < marks_.size(); ++j)
      counts[k][j] = static_cast<double>(data.rounds[k].before(marks_[j]));
  }
  client_rounds_ = agreement_.ordered_sum(Released<Columns>(declare_public(std::move(counts))));
  check(client_rounds_.back() > 0, "there is no regret to report (no client took a step)");
}

Vector EvaluationPass::total(const Secret<Columns>& columns, SharedFigure figure) const {
  return agreement_.ordered_sum(*policy_.share(columns, figure));
}

Vector EvaluationPass::total(const std::vector<Secret<Vector>>& vectors, std::size_t length,
                             SharedFigure figure) const {
  Secret<Columns> columns(Columns(length, vectors.size()));
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    columns.update([k](Columns& all, const Vector& one) { all.set(k, one); }, vectors[k]);
  }
  return total(columns, figure);
}

}  // namespace starling
