#include <algorithm>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "graph/overlays/overlays.hpp"

namespace starling {

AttendedSchedule::AttendedSchedule(std::unique_ptr<Schedule> schedule, std::unique_ptr<AbsenceModel> absences,
                                   Departures departures, MissingWeight missing, Round steps_per_round)
    : schedule_(std::move(schedule)),
      absences_(std::move(absences)),
      departures_(std::move(departures)),
      missing_(missing),
      steps_per_round_(steps_per_round) {
  const auto leaves = [](const std::optional<Round>& departure) { return departure && *departure > 0; };
  changes_ = absences_ || std::any_of(departures_.begin(), departures_.end(), leaves);
  if (absences_) known_.assign(static_cast<std::size_t>(schedule_->clients()), -1);
}

Round AttendedSchedule::period() const {
  return changes_ ? 0 : schedule_->period();
}

bool AttendedSchedule::gone(Client u, Round t) const {
  if (departures_.empty()) return false;
  const auto& departure = departures_[static_cast<std::size_t>(u)];
  return departure && t >= *departure;
}

Attendance AttendedSchedule::attendance(Client u, Round t) const {
  if (gone(u, t)) return Attendance::gone;
  const Attendance without_absences = schedule_->attendance(u, t);
  if (!absences_ || without_absences == Attendance::gone) return without_absences;
  Round& known = known_[static_cast<std::size_t>(u)];
  if (known < 0 || known / 2 != t) known = 2 * t + (absences_->absent(u, t) ? 1 : 0);
  return known % 2 == 1 ? Attendance::absent : without_absences;
}

bool AttendedSchedule::present(Client u, Round t) const {
  return attendance(u, t) == Attendance::present;
}

// Weights of the present clients (docs/methods/decentralized.md, "Graphs that change": Opting out).
Links AttendedSchedule::links(Client u, Round t) const {
  const Round round = t / steps_per_round_;
  if (!present(u, round)) return {};
  Links links = schedule_->links(u, t);
  double unsent = 0;
  double missed = 0;
  const auto drop = [&](std::vector<Arc>& arcs, double& weight) {
    std::erase_if(arcs, [&](const Arc& arc) {
      const bool away = !present(arc.peer, round);
      if (away) weight += arc.weight;
      return away;
    });
  };
  drop(links.out, unsent);
  drop(links.in, missed);
  switch (missing_) {
    case MissingWeight::split_anew:
      links.own = links.share = 1 / (1 + static_cast<double>(links.out.size()));
      for (auto* arcs : {&links.out, &links.in}) {
        for (Arc& arc : *arcs) arc.weight = 1;
      }
      break;
    case MissingWeight::sender_keeps:
      links.own += links.share * unsent;
      break;
    case MissingWeight::receiver_keeps:
      links.own += missed;
      break;
  }
  return links;
}

std::string AttendedSchedule::digest() const {
  std::string text = fmt::format("starling attendance 1\n{}\n{} {}\n{}\n", schedule_->digest(),
                                 static_cast<int>(missing_), steps_per_round_, absences_ ? absences_->text() : "none");
  for (std::size_t u = 0; u < departures_.size(); ++u) {
    if (departures_[u]) text += fmt::format("{} leaves {}\n", u, *departures_[u]);
  }
  return sha256(text);
}

}  // namespace starling
