// What a unit pays in a run in all, and what the budget has left for it.
#include <algorithm>
#include <sstream>

#include "budget_left.hpp"
#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "net/agreement.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/mechanism.hpp"
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

/// Counts the units of all clients, and the releases that one enters at most, of which --total-epsilon is made: both
/// are public. **Collective.**
void RunPrivacy::count_units() {
  std::int64_t units = 0;
  std::int64_t uses = 1;
  bool known = true;
  for (const ServedRounds& client : facts_.served) {
    const Round rounds = std::min(facts_.rounds, client.of_all.value_or(facts_.rounds)) - client.begin;
    if (rounds <= 0) continue;
    const Round of_pass = std::max<Round>(client.of_pass.value_or(rounds), 1);
    uses = std::max(uses, ((rounds - 1) / of_pass + 1) * std::min(client.uses, rounds));
    known = known && client.records;
    const std::int64_t records = client.records.value_or(0);
    units = facts_.vertical ? std::max(units, records) : units + records;
  }
  const std::int64_t all =
      facts_.vertical ? agreement_.max(declare_public(units)) : agreement_.sum(declare_public(units));
  if (agreement_.all(declare_public(known)) && all > 0) units_ = all;
  uses = agreement_.max(declare_public(uses));
  options_.adds_plainly = facts_.histograms.any();
  options_.passes = uses;
}

/// Finds the client with the least left of its budget. **Collective.**
void RunPrivacy::see_what_is_left() {
  BudgetLeft here;
  agreement_.together([&] {
    for (const Budget& budget : budgets_) here.take_less({budget.epsilon, 0, budget.epsilon});
    for (const auto& [ledger, u] : different_clients()) {
      const Budget& budget = budgets_[static_cast<std::size_t>(u - first())];
      const LossLevel level = budget.of_client ? LossLevel::client : level_of(protection_->unit());
      here.take_less(BudgetLeft::of(budget, ledger->book().spent(u, level), options_.mechanism_row().charge));
    }
  });
  for (const std::string& each : agreement_.all_gather(declare_public(here.text()))) {
    here.take_less(BudgetLeft::parse(each));
  }
  left_ = std::make_unique<BudgetLeft>(here);
}

std::string RunPrivacy::what_is_left() const {
  return fmt::format(
      "--budget {:.6g} for {}: {}", left_->budget,
      options_.budget_of_client ? "all records of a client" : fmt::format("a {}", name_of(protection_->unit())),
      left_->in_words(taken_up_ || facts_.released_early));
}

/// A run whose total is known beforehand does not begin where it could not come to its end.
void RunPrivacy::require_total_within_budget(const std::optional<Round>& stop) const {
  if (!stop) return;
  throw BudgetError(fmt::format(
      "--total-epsilon {} is more than is left. {}; a client would learn nothing more after {} of {} "
      "releases{}. Lower --total-epsilon, raise --budget, or see starling privacy ledger.",
      *options_.total_epsilon, what_is_left(), *stop, facts_.rounds,
      facts_.histograms.any() ? " (histograms before the first round count, and may have been released already)" : ""));
}

}  // namespace starling
