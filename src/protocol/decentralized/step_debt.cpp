#include <algorithm>
#include <limits>
#include <utility>

#include "omd.hpp"
#include "protocol/decentralized/mixer.hpp"

namespace starling {

namespace {

/// A late client takes its missed steps at once if the others have this many times as many before them.
constexpr double steps_left_per_missed = 4;

}  // namespace

void DueSteps::begin_round(Round clock) {
  clock = std::min(clock, rounds_);
  const Round missed = clock - credited_ - 1;
  due_ = 0;
  for (; credited_ < clock; ++credited_) due_ += schedule_.step_at(credited_);
  if (missed > 0) begin_after_absence(clock);
  if (late_ > 0) due_ += repayment();
}

/// A rank that has been away takes at most one step of the first round's length. If the others have too few steps left
/// to answer that, it takes a step of the round's length, and no step if they have ended. A rank that is late by a few
/// rounds, or by half the first step, takes all steps: they move models about as far as the others have moved them.
void DueSteps::begin_after_absence(Round clock) {
  const double first = schedule_.step_at(0);
  const double last = schedule_.step_at(clock - 1);
  const bool is_early = is_answered(due_);
  const bool is_late = due_ > (is_early ? first : std::max(first / 2, 4 * last));
  too_late_ = is_late && clock == rounds_;
  if (!is_late) return;
  const double step = too_late_ ? 0 : is_early ? first : last;
  late_ += due_ - step;
  due_ = step;
}

/// Whether the others have enough steps before them to bring models back from steps of this length.
bool DueSteps::is_answered(double steps) const {
  return steps_left_per_missed * steps <= schedule_.steps_between(credited_, rounds_);
}

/// The part of the missed steps that this round makes up for: all, if the others have enough steps before them, else a
/// quarter of what is due anyway. So a client that was late does not have the last word.
double DueSteps::repayment() {
  const double part = is_answered(late_) ? late_ : std::min(late_, due_ / steps_left_per_missed);
  late_ -= part;
  return part;
}

/// If a signal has stopped the run, others may have played rounds that are not credited here. The last round of the
/// clock may have been refused to all.
double DueSteps::write_off(Round clock) {
  for (Round t = credited_; t + 1 < std::min(clock, rounds_); ++t) late_ += schedule_.step_at(t);
  return std::exchange(late_, 0.0);
}

void DueSteps::leave_out(Round end) {
  credited_ = std::max(credited_, end);
}

// debt ← debt + η_t/h,  use = min(h debt, κ η_1 w),  debt ← debt − use/h,  step = use / w, with the worth h of an owed
// step. With a negligible mass a client only owes: whether rounding leaves any of it is chance.
double StepDebt::take(std::size_t k, double due, double w, double worth) {
  if (!(worth > 0)) return 0;
  debt_[k] += due / worth;
  credit_[k] += due / worth;
  if (w < negligible_mass) return 0;
  const double use = std::min(worth * debt_[k], longest_ * w);
  debt_[k] -= use / worth;
  return use / w;
}

void StepDebt::forgive(std::size_t k) {
  forgone_[k] += std::exchange(debt_[k], 0.0);
}

void StepDebt::credit_untaken(std::size_t k, double steps) {
  credit_[k] += steps;
  forgone_[k] += steps;
}

double StepDebt::effective_weight(std::size_t k) const {
  if (credit_[k] <= 0) return std::numeric_limits<double>::quiet_NaN();
  return 1 - (debt_[k] + forgone_[k]) / credit_[k];
}

}  // namespace starling
