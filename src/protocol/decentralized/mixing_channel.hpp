/// The communication of a decentralized run: a mixer and the transport under it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/mailboxes/mailboxes.hpp"
#include "net/neighbours/neighbours.hpp"
#include "protocol/decentralized/mixer.hpp"

namespace starling {

/// Owner of a run's mixer and of the transport that the mixer uses. The settings choose both: with a deadline an
/// AsynchronousMixer over Mailboxes, else a SynchronousMixer over Neighbours.
class MixingChannel {
 public:
  /// For states of `state_size` doubles. Keeps references to the world and the schedule. **Collective.**
  MixingChannel(World& world, const Layout& layout, const Schedule& schedule, const MixingSettings& settings,
                std::size_t state_size);

  [[nodiscard]] Mixer& mixer() const { return *mixer_; }
  /// Before the first round: counts the messages of these clients by edge, and all other messages together.
  void count_edges_of(const std::vector<Client>& senders) const;
  [[nodiscard]] std::vector<EdgeTraffic> edge_traffic() const;
  [[nodiscard]] WireTraffic wire_traffic() const;
  /// A note for the user on the transport of vectors; empty if there is none.
  [[nodiscard]] std::string note() const;
  /// Once all ranks have finished mixing: returns the memory of vectors to the system.
  void give_back_room() const;

 private:
  std::unique_ptr<Neighbours> neighbours_;  ///< one of these two is null
  std::unique_ptr<Mailboxes> mailboxes_;
  std::unique_ptr<Mixer> mixer_;
};

}  // namespace starling
