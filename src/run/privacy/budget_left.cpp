#include <sstream>

#include "privacy/accounting/accounting.hpp"
#include "privacy/ledger/accounts.hpp"
#include "run_privacy.hpp"

namespace starling {

namespace {

double loss_of(const std::vector<ChargeGroup>& groups, const Budget& budget) {
  return compose(groups, budget.delta.value_or(default_delta(groups))).epsilon;
}

}  // namespace

BudgetLeft BudgetLeft::of(const Budget& budget, const std::vector<ChargeGroup>& spent, ChargeKind kind) {
  BudgetLeft result{budget.epsilon, loss_of(spent, budget), 0};
  if (!(result.spent < budget.epsilon)) return result;
  const auto charge = [kind](double size) {
    return kind == ChargeKind::gaussian ? Charge::gaussian(size) : Charge{kind, size, 0, 0};
  };
  const auto fits = [&](double size) {
    std::vector<ChargeGroup> all = spent;
    all.push_back({charge(size), 1});
    return loss_of(all, budget) <= budget.epsilon;
  };
  constexpr int steps = 40;
  double least = 0;
  double most = kind == ChargeKind::gaussian
                    ? largest_gaussian_mu(budget.epsilon, budget.delta.value_or(usual_delta), 1)
                    : budget.epsilon;
  for (int step = 0; step < steps && !fits(most); ++step) {
    const double middle = least + (most - least) / 2;
    (fits(middle) ? least : most) = middle;
  }
  result.left = loss_of({{charge(fits(most) ? most : least), 1}}, budget);
  return result;
}

std::string BudgetLeft::text() const {
  return fmt::format("{} {} {}", budget, spent, left);
}

BudgetLeft BudgetLeft::parse(const std::string& text) {
  std::istringstream words(text);
  BudgetLeft result;
  for (double* each : {&result.budget, &result.spent, &result.left}) {
    std::string word;
    words >> word;
    *each = std::stod(word);  // unlike >>, it knows inf
  }
  return result;
}

std::string BudgetLeft::in_words(bool has_released) const {
  return has_released ? fmt::format(
                            "releases in the ledger, with those of this run so far, have spent epsilon = {:.6g}, so "
                            "that the rest of the run may come to {:.6g}",
                            spent, left)
                      : fmt::format(
                            "earlier releases in the ledger have spent epsilon = {:.6g}, so that this run may come to "
                            "{:.6g}",
                            spent, left);
}

}  // namespace starling
