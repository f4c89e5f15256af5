#include "protocol/decentralized/mixing_channel.hpp"

#include "asynchronous_mixer.hpp"
#include "protocol/decentralized/rounded_messages.hpp"
#include "protocol/decentralized/running_sums.hpp"
#include "protocol/decentralized/synchronous_mixer.hpp"

namespace starling {

std::size_t message_length(std::size_t state_size, const MixingSettings& settings) {
  const std::size_t length = message_length(state_size, settings.mixing);
  if (settings.running_sums) return RunningSums::message_length(length);
  return settings.rounds_messages() ? RoundedMessages(settings.precision, length).words() : length;
}

MixingChannel::MixingChannel(World& world, const Layout& layout, const Schedule& schedule,
                             const MixingSettings& settings, std::size_t state_size) {
  const std::size_t length = message_length(state_size, settings);
  if (settings.deadline) {
    const auto merge = settings.running_sums ? Mailboxes::Merge::replace : Mailboxes::Merge::add;
    mailboxes_ = std::make_unique<Mailboxes>(world, layout, length, merge);
    mixer_ = std::make_unique<AsynchronousMixer>(*mailboxes_, state_size, schedule, settings);
  } else {
    const ExchangeWay way = settings.running_sums ? ExchangeWay::messages : settings.exchange;
    neighbours_ = std::make_unique<Neighbours>(world, layout, length, way);
    mixer_ = std::make_unique<SynchronousMixer>(*neighbours_, state_size, schedule, settings);
  }
}

void MixingChannel::count_edges_of(const std::vector<Client>& senders) const {
  neighbours_ ? neighbours_->count_edges_of(senders) : mailboxes_->count_edges_of(senders);
}

std::vector<EdgeTraffic> MixingChannel::edge_traffic() const {
  return neighbours_ ? neighbours_->edge_traffic() : mailboxes_->edge_traffic();
}

WireTraffic MixingChannel::wire_traffic() const {
  return neighbours_ ? neighbours_->wire_traffic() : mailboxes_->wire_traffic();
}

std::string MixingChannel::note() const {
  return neighbours_ ? neighbours_->note() : "";
}

void MixingChannel::give_back_room() const {
  if (neighbours_) neighbours_->give_back_room();
}

}  // namespace starling
