#include "graph/masses.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace starling {

namespace {

using Masses = std::vector<double>;

constexpr Round most_rows = 10'000'000;
constexpr Round least_window = 8;               ///< rounds, of however many clients
constexpr Round longest_endless_window = 2000;  ///< rounds, of a schedule that never repeats
constexpr double same_within = 1e-6;            ///< relative change over a cycle of masses that repeat

/// Masses from round to round.
class MassFlow {
 public:
  MassFlow(const Schedule& schedule, const MassTerms& terms)
      : schedule_(schedule),
        terms_(terms),
        masses_(static_cast<std::size_t>(schedule.clients()), 1.0),
        next_(masses_.size()) {}

  [[nodiscard]] const Masses& masses() const { return masses_; }
  [[nodiscard]] Round round() const { return round_; }

  void play_round() {
    for (Round g = 0; g < terms_.steps_per_round; ++g) exchange(round_ * terms_.steps_per_round + g);
    ++round_;
  }

 private:
  // A client keeps what the others leave, as the mixers do. What is lost comes with the edge's next message.
  void exchange(Round t) {
    std::fill(next_.begin(), next_.end(), 0.0);
    for (std::size_t u = 0; u < masses_.size(); ++u) {
      const Links links = schedule_.links(static_cast<Client>(u), t);
      const double share = links.share * (1 - terms_.lazy) * masses_[u];
      double kept = masses_[u];
      for (const Arc& arc : links.lost) {
        under_way_[{static_cast<Client>(u), arc.peer}] += share * arc.weight;
        kept -= share * arc.weight;
      }
      for (const Arc& arc : links.out) {
        next_[static_cast<std::size_t>(arc.peer)] += share * arc.weight + arrived(static_cast<Client>(u), arc.peer);
        kept -= share * arc.weight;
      }
      next_[u] += std::max(kept, 0.0);
    }
    masses_.swap(next_);
  }

  /// Mass of lost messages of an edge, which its next message brings.
  double arrived(Client from, Client to) {
    if (under_way_.empty()) return 0;
    const auto found = under_way_.find({from, to});
    return found == under_way_.end() ? 0 : std::exchange(found->second, 0.0);
  }

  const Schedule& schedule_;
  MassTerms terms_;
  Masses masses_;
  Masses next_;
  std::map<std::pair<Client, Client>, double> under_way_;  ///< of edges that have lost messages
  Round round_ = 0;
};

bool are_same(const Masses& a, const Masses& b) {
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](double x, double y) { return std::abs(x - y) <= same_within * std::max(x, y); });
}

/// Rounds that are followed.
Round window_of(const Schedule& schedule, const MassTerms& terms) {
  const Round affordable = most_rows / (schedule.clients() * terms.steps_per_round);
  const Round window = std::min(terms.rounds, std::max(affordable, least_window));
  return schedule.period() > 0 ? window : std::min(window, longest_endless_window);
}

}  // namespace

double least_mean_mass(const Schedule& schedule, const MassTerms& terms) {
  const Round window = window_of(schedule, terms);
  const Round cycle = std::lcm(schedule.period(), terms.steps_per_round) / terms.steps_per_round;  // 0: there is none
  MassFlow flow(schedule, terms);
  for (Masses before = flow.masses(); flow.round() < window / 2;) {
    flow.play_round();
    if (cycle == 0 || flow.round() % cycle != 0) continue;
    if (are_same(flow.masses(), before)) break;
    before = flow.masses();
  }
  const Round counted = cycle > 0 ? std::min(cycle, window - flow.round()) : window - flow.round();
  Masses sums(flow.masses().size(), 0.0);
  std::vector<char> gone(sums.size(), 0);
  for (Round i = 0; i < counted; ++i) {
    for (std::size_t u = 0; u < sums.size(); ++u) {
      sums[u] += flow.masses()[u];
      if (schedule.attendance(static_cast<Client>(u), flow.round()) == Attendance::gone) gone[u] = 1;
    }
    if (i + 1 < counted) flow.play_round();
  }
  double least = 1;
  for (std::size_t u = 0; u < sums.size(); ++u) {
    if (gone[u] == 0) least = std::min(least, sums[u] / static_cast<double>(counted));
  }
  return least;
}

}  // namespace starling
