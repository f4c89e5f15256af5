#include "output/figures/model_path.hpp"

#include <algorithm>
#include <cmath>

namespace starling {

namespace {

constexpr std::size_t all_marks = 3;
constexpr double most_of_way = 0.99;  ///< a larger p says no more than that the start is forgotten

/// The part of the way from the first of three models to the last that the second has come, along that way.
double part_of_way(const std::vector<Vector>& marks) {
  double along = 0;
  double way = 0;
  for (std::size_t j = 0; j < marks[0].size(); ++j) {
    const double whole = marks[2][j] - marks[0][j];
    along += (marks[1][j] - marks[0][j]) * whole;
    way += whole * whole;
  }
  return way > 0 ? std::clamp(along / way, 0.5, most_of_way) : 0.5;
}

}  // namespace

ModelPath::ModelPath(const StepSchedule& schedule, Round rounds, Client first)
    : first_(first), end_(rounds), steps_(schedule.steps_between(0, rounds)) {
  Round above = rounds;
  while (half_ < above) {  // the first round by whose start half of Σ η is taken
    const Round middle = half_ + (above - half_) / 2;
    if (2 * schedule.steps_between(0, middle) < steps_) {
      half_ = middle + 1;
    } else {
      above = middle;
    }
  }
}

void ModelPath::after(const RoundView& view) {
  const bool here = first_ == 0 && !view.masses().empty() && view.is_there(0);
  if (!here || marks_.size() == all_marks || view.done() < due()) return;
  const View model = view.model(0);
  marks_.emplace_back(model.begin(), model.end());
}

double ModelPath::contraction(Agreement& agreement) const {
  const double a = marks_.size() < all_marks ? 0 : -2 / steps_ * std::log(1 / part_of_way(marks_) - 1);
  double found = 0;
  for (const Vector& of_rank : agreement.all_gather(Released<Vector>(declare_public(Vector{a})))) {
    found = std::max(found, of_rank.front());
  }
  return found;
}

// With e^{−η a} for 1 − η a the terms of a span of rounds add up to a difference of two exponentials.
double influence(const StepSchedule& schedule, Round rounds, const RoundSet& played, double contraction) {
  const auto left = [&](Round t) { return t < rounds ? schedule.steps_between(t, rounds) : 0; };
  const auto forgotten = [&](Round t) { return contraction > 0 ? -std::expm1(-contraction * left(t)) : left(t); };
  const double all = forgotten(0);
  double own = 0;
  played.for_each_span([&](const RoundSet::Span& span) { own += forgotten(span.first) - forgotten(span.second); });
  return all > 0 ? own / all : 1;
}

}  // namespace starling
