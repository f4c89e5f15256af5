/// The rest of a client's privacy budget.
#pragma once

#include <string>
#include <vector>

#include "core/text/limits.hpp"
#include "privacy/charge.hpp"

namespace starling {

struct Budget;

/// A client's budget, what its ledger has, and what is left; all are ε, of what the budget limits.
struct BudgetLeft {
  double budget = infinity;
  double spent = 0;
  double left = infinity;  ///< the largest ε of one more run

  /// What releases that cost `spent` leave of a budget to a run whose charges are of this kind.
  [[nodiscard]] static BudgetLeft of(const Budget& budget, const std::vector<ChargeGroup>& spent, ChargeKind kind);

  void take_less(const BudgetLeft& other) {
    if (other.left < left) *this = other;
  }
  /// For another rank.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static BudgetLeft parse(const std::string& text);
  /// A clause such as "earlier releases in the ledger have spent epsilon = 2, so that this run may come to 0.5". For a
  /// run that has released something, the clause is about the rest of the run.
  [[nodiscard]] std::string in_words(bool has_released) const;
};

}  // namespace starling
