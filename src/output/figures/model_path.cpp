#include "output/figures/model_path.hpp"

#include <algorithm>
#include <cmath>

namespace starling {

namespace {

constexpr double most_of_way = 0.99;  ///< a larger p says no more than that the start is forgotten

/// The part of the way from the first of three models to the last that the second has come, along that way.
double part_of_way(View start, View middle, View end) {
  double along = 0;
  double way = 0;
  for (std::size_t j = 0; j < start.size(); ++j) {
    const double whole = end[j] - start[j];
    along += (middle[j] - start[j]) * whole;
    way += whole * whole;
  }
  return way > 0 ? std::clamp(along / way, 0.5, most_of_way) : 0.5;
}

double square_of_move(View from, View to) {
  double square = 0;
  for (std::size_t j = 0; j < from.size(); ++j) square += (to[j] - from[j]) * (to[j] - from[j]);
  return square;
}

/// The first round by whose start this share of Σ η is taken.
Round round_at(const StepSchedule& schedule, Round rounds, double share) {
  const double all = schedule.steps_between(0, rounds);
  Round below = 0;
  for (Round above = rounds; below < above;) {
    const Round middle = below + (above - below) / 2;
    if (schedule.steps_between(0, middle) < share * all) {
      below = middle + 1;
    } else {
      above = middle;
    }
  }
  return below;
}

}  // namespace

ModelPath::ModelPath(const StepSchedule& schedule, Round rounds, Client first)
    : first_(first), steps_(schedule.steps_between(0, rounds)), rounds_{0} {
  for (Round i = 0; i < parts; ++i) {
    const double share = 0.5 + 0.5 * static_cast<double>(i) / static_cast<double>(parts);
    rounds_.push_back(round_at(schedule, rounds, share));
  }
  rounds_.push_back(rounds);
  rounds_.erase(std::unique(rounds_.begin(), rounds_.end()), rounds_.end());
}

Round ModelPath::due() const {
  if (marks_.empty()) return 0;
  const auto next = std::ranges::upper_bound(rounds_, marks_.back().at);
  return next == rounds_.end() ? rounds_.back() : *next;
}

bool ModelPath::is_complete() const {
  return marks_.size() == 3 && marks_[1].at == rounds_[1] && marks_.back().at >= rounds_.back();
}

void ModelPath::after(const RoundView& view) {
  const bool here = first_ == 0 && !view.masses().empty() && view.is_there(0);
  if (!here || view.done() < due()) return;
  if (!marks_.empty() && marks_.back().at >= rounds_.back()) return;
  const View model = view.model(0);
  Mark mark{view.done(), Vector(model.begin(), model.end())};
  if (marks_.size() >= 2) {
    mark.squares = marks_.back().squares + square_of_move(marks_.back().model, model);
    mark.moves = marks_.back().moves + 1;
  }
  if (marks_.size() == 3) marks_.pop_back();
  marks_.push_back(std::move(mark));
}

PathFigures ModelPath::figures(Agreement& agreement) const {
  PathFigures figures;
  Vector own;
  if (is_complete()) {
    const double p = part_of_way(marks_[0].model, marks_[1].model, marks_[2].model);
    const auto& [at, model, squares, moves] = marks_[2];
    const double straight = square_of_move(marks_[1].model, model);
    own = {-2 / steps_ * std::log(1 / p - 1), 1 - (1 / p - 1) * (1 / p - 1),
           moves == parts && squares > 0 ? straight / (squares * static_cast<double>(moves)) : 0};
  }
  for (const Vector& of_rank : agreement.all_gather(Released<Vector>(declare_public(own)))) {
    if (!of_rank.empty()) figures = {of_rank[0], of_rank[1], of_rank[2]};
  }
  return figures;
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
