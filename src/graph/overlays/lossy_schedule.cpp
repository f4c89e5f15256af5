#include <algorithm>

#include "core/digest.hpp"
#include "core/random.hpp"
#include "graph/overlays/overlays.hpp"

namespace starling {

LossySchedule::LossySchedule(std::unique_ptr<Schedule> schedule, const LinkLossSettings& settings,
                             MissingWeight missing)
    : schedule_(std::move(schedule)), settings_(settings), missing_(missing) {}

bool LossySchedule::lost(Client from, Client to, Round t) const {
  const std::uint64_t edge = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to);
  AddressedRandom random(settings_.seed, Purpose::link_loss, edge, static_cast<std::uint64_t>(t));
  return random.uniform() < settings_.probability;
}

// Weights under loss (docs/methods/decentralized.md, "Graphs that change": Loss).
Links LossySchedule::links(Client u, Round t) const {
  Links links = schedule_->links(u, t);
  const auto arrives = [&](const Arc& arc) { return !lost(u, arc.peer, t); };
  const auto first_lost = std::stable_partition(links.out.begin(), links.out.end(), arrives);
  std::vector<Arc> unsent(first_lost, links.out.end());
  links.out.erase(first_lost, links.out.end());
  double missed = 0;
  std::erase_if(links.in, [&](const Arc& arc) {
    const bool away = lost(arc.peer, u, t);
    if (away) missed += arc.weight;
    return away;
  });
  if (missing_ == MissingWeight::receiver_keeps) links.own += missed;
  if (settings_.model == LossModel::unacknowledged) {
    links.lost.insert(links.lost.end(), unsent.begin(), unsent.end());
    return links;
  }
  if (missing_ != MissingWeight::receiver_keeps) {
    for (const Arc& arc : unsent) links.own += links.share * arc.weight;
  }
  return links;
}

std::string LossySchedule::digest() const {
  return sha256(fmt::format("starling link loss 1\n{}\n{} {} {} {}\n", schedule_->digest(), settings_.probability,
                            static_cast<int>(settings_.model), static_cast<int>(missing_), settings_.seed));
}

}  // namespace starling
