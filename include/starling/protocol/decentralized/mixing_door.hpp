/// How the clients of a rank reach their neighbours in a run: in step with them, or not.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "starling/protocol/decentralized/asynchronous_mixer.hpp"

namespace starling {

class MixingDoor {
 public:
  /// For states of `state_size` doubles. Keeps references to the world and the schedule. **Collective.**
  MixingDoor(World& world, const Layout& layout, const Schedule& schedule, const MixingSettings& settings,
             std::size_t state_size) {
    const std::size_t length = message_length(state_size, settings);
    if (settings.deadline) {
      mailboxes_ = std::make_unique<Mailboxes>(
          world, layout, length, settings.running_sums ? Mailboxes::Merge::replace : Mailboxes::Merge::add);
      mixer_ = std::make_unique<AsynchronousMixer>(*mailboxes_, state_size, schedule, settings);
    } else {
      const ExchangeWay way = settings.running_sums ? ExchangeWay::messages : settings.exchange;
      neighbours_ = std::make_unique<Neighbours>(world, layout, length, way);
      mixer_ = std::make_unique<SynchronousMixer>(*neighbours_, schedule, settings);
    }
  }

  [[nodiscard]] Mixer& mixer() const { return *mixer_; }
  /// Before the first round: the messages of these clients are counted by edge, those of all others together.
  void count_edges_of(const std::vector<Client>& senders) const {
    neighbours_ ? neighbours_->count_edges_of(senders) : mailboxes_->count_edges_of(senders);
  }
  [[nodiscard]] std::vector<EdgeTraffic> edge_traffic() const {
    return neighbours_ ? neighbours_->edge_traffic() : mailboxes_->edge_traffic();
  }
  /// What a user should know of how vectors go; empty if there is nothing to be said.
  [[nodiscard]] std::string note() const { return neighbours_ ? neighbours_->note() : ""; }
  /// Once all ranks have finished mixing: the memory of vectors goes back to the system.
  void give_back_room() const {
    if (neighbours_) neighbours_->give_back_room();
  }
  [[nodiscard]] WireTraffic wire_traffic() const {
    return neighbours_ ? neighbours_->wire_traffic() : mailboxes_->wire_traffic();
  }

 private:
  std::unique_ptr<Neighbours> neighbours_;
  std::unique_ptr<Mailboxes> mailboxes_;
  std::unique_ptr<Mixer> mixer_;  // refers to one of them
};

}  // namespace starling
