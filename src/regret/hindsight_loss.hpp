// The loss of one fixed model over the played rounds.
#pragma once

#include <vector>

#include "regret/evaluation_pass.hpp"

namespace starling {

/// The mean of the f_u,t before a mark as a function, evaluated by all ranks together.
class HindsightLoss {
 public:
  /// Keeps a reference to the pass.
  HindsightLoss(const EvaluationPass& pass, std::size_t mark)
      : pass_(pass), mark_(mark), loss_(pass.model(), pass.data()) {}

  [[nodiscard]] double client_rounds() const { return pass_.client_rounds()[mark_]; }
  /// Whether a rank has been interrupted; the same on all ranks.
  [[nodiscard]] bool interrupted() const { return any_interrupted_; }

  /// **Collective.**
  [[nodiscard]] double evaluate(View x, MutableView gradient);
  /// Σ_t f_u,t(x) of each local client.
  [[nodiscard]] std::vector<Secret<double>> by_client(View x);

 private:
  void add_client(View x, std::size_t k, std::size_t column, Secret<Columns>& parts);

  const EvaluationPass& pass_;
  std::size_t mark_;
  RoundLoss loss_;
  bool any_interrupted_ = false;
};

}  // namespace starling
