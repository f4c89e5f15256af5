#include "asynchronous_mixer.hpp"

#include <algorithm>
#include <thread>

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

/// Pause of a client that has finished between two exchanges, so that it leaves the CPU to those that have not.
constexpr auto pause_of_the_finished = std::chrono::microseconds(200);
/// A client with less mass gives none away: its mass would be halved in every round without an arrival.
constexpr double least_mass_to_give = 0x1p-10;

constexpr auto pause_of_waiting = std::chrono::microseconds(20);
constexpr double patience_of_the_finished = 0.05;  // seconds
/// Exchanges without steps after all ranks have ended, so that the last steps reach all clients, and the longest wait
/// of each in seconds.
constexpr int settling_exchanges = 64;
constexpr double patience_of_settling = 0.01;

}  // namespace

AsynchronousMixer::AsynchronousMixer(Mailboxes& mailboxes, std::size_t state_size, const Schedule& schedule,
                                     const MixingSettings& settings)
    : Mixer(mailboxes.first(), mailboxes.count()),
      mailboxes_(mailboxes),
      schedule_(schedule),
      settings_(settings),
      links_(mailboxes.count()),
      parcel_(declare_public(Columns(message_length(state_size, settings), 1))),
      news_(state_size + 1),
      kept_(mailboxes.count()),
      incoming_(state_size + 1, mailboxes.count()),
      heard_from_(mailboxes.count()) {
  if (settings_.running_sums) sums_.resize(mailboxes.count());
}

bool AsynchronousMixer::begin_round(Round t) {
  round_ = t;
  began_ = std::chrono::steady_clock::now();
  arrivals_.clear();
  const bool on = mailboxes_.go_on(t);
  clock_ = std::max({clock_, t + 1, mailboxes_.rounds_of_the_ended()});
  return on;
}

Attendance AsynchronousMixer::attendance(std::size_t k) const {
  return schedule_.attendance(first() + static_cast<Client>(k), round_);
}

double AsynchronousMixer::seconds_in_round() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void AsynchronousMixer::mix(Holdings& holdings, Stopwatch& watch, TimeShares& shares) {
  for (Round g = 0; g < settings_.gossip_steps; ++g) {
    mix_once(round_ * settings_.gossip_steps + g, settings_.deadline.value_or(0), holdings);
  }
  watch.lap(shares.exchange);
}

/// One exchange over the graph of step `step`. Waits until `patience` seconds of the round are over at most.
void AsynchronousMixer::mix_once(Round step, double patience, Holdings& holdings) {
  mailboxes_.progress();
  for (std::size_t k = 0; k < count(); ++k) find_links(k, step, holdings.mass[k]);
  for (std::size_t k = 0; k < count(); ++k) send_shares(k, holdings);
  mailboxes_.progress();
  collect_present();
  for (double left = patience - seconds_in_round(); left > 0 && !heard_from_all();
       left = patience - seconds_in_round()) {
    mailboxes_.wait_for_more(left);
    if (!collect_present()) std::this_thread::sleep_for(pause_of_waiting);
  }
  for (std::size_t k = 0; k < count(); ++k) {
    if (attendance(k) == Attendance::present) take_in(k, holdings);
  }
}

/// A client keeps the share of a receiver that has not taken the previous message: mass would pile up on the way to
/// slow receivers. With too little mass a client gives none away. It still sends running sums, since an earlier message
/// may have been lost with all its mass.
void AsynchronousMixer::find_links(std::size_t k, Round step, double mass) {
  Links& links = links_[k];
  links = schedule_.links(first() + static_cast<Client>(k), step);
  const bool gives = mass >= least_mass_to_give;
  links.share *= gives ? 1 - settings_.lazy : 0;
  for (auto* arcs : {&links.out, &links.lost}) {
    std::erase_if(*arcs,
                  [&](const Arc& arc) { return (!gives && !settings_.running_sums) || !mailboxes_.is_free(arc.peer); });
  }
}

/// Splits the mass: each out-neighbour is sent (c z, c), and the rest stays.
void AsynchronousMixer::send_shares(std::size_t k, const Holdings& holdings) {
  const Links& links = links_[k];
  const View z = holdings.state.value()[k];
  const double w = holdings.mass[k];
  MassSplit split(w);
  const Client u = first() + static_cast<Client>(k);
  for (const Arc& arc : links.out) {
    const double c = split.take(links.share * arc.weight * w);
    parcel_.update([&](Columns& parcel) {
      const MutableView message = parcel[0];
      if (settings_.running_sums) {
        const View sum = sums_[k].send(arc.peer, z, c, true);
        std::copy(sum.begin(), sum.end(), message.begin());
        return;
      }
      for (std::size_t i = 0; i < z.size(); ++i) message[i] = c * z[i];
      message.back() = c;
    });
    mailboxes_.put(u, arc.peer, clock_, parcel_, 0);
  }
  for (const Arc& arc : links.lost) {
    sums_[k].send(arc.peer, z, split.take(links.share * arc.weight * w), false);
  }
  kept_[k] = split.left();
}

bool AsynchronousMixer::collect(std::size_t k) {
  const Client u = first() + static_cast<Client>(k);
  const auto add = [&](const Mailboxes::Parcel& parcel) {
    View news = parcel.vector;
    if (settings_.running_sums) {
      sums_[k].accept(parcel.from, parcel.vector, news_);
      news = news_;
    }
    axpy(1, news, incoming_[k]);
    clock_ = std::max(clock_, parcel.round);
    heard_from_[k].insert(parcel.from);
    arrivals_.push_back({u, round_, parcel.from, parcel.round});
  };
  return mailboxes_.take(u, add) > 0;
}

/// Receives for all clients that are present. Whether a parcel had arrived.
bool AsynchronousMixer::collect_present() {
  bool any = false;
  for (std::size_t k = 0; k < count(); ++k) {
    if (attendance(k) == Attendance::present) any = collect(k) || any;
  }
  return any;
}

bool AsynchronousMixer::heard_from_all() const {
  for (std::size_t k = 0; k < links_.size(); ++k) {
    for (const Arc& arc : links_[k].in) {
      if (!heard_from_[k].contains(arc.peer)) return false;
    }
  }
  return true;
}

/// x_u = s_u / w_u with the messages that have arrived. With a negligible mass they stay in incoming_.
void AsynchronousMixer::take_in(std::size_t k, Holdings& holdings) {
  holdings.mass[k] = kept_[k];
  heard_from_[k].clear();
  const MutableView sum = incoming_[k];
  const double w = kept_[k] + sum.back();
  if (sum.back() == 0 || w < negligible_mass) return;
  holdings.mass[k] = w;
  holdings.state.update([&](Columns& state) {
    const MutableView x = state[k];
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = (kept_[k] * x[i] + sum[i]) / w;
  });
  std::fill(sum.begin(), sum.end(), 0.0);
}

void AsynchronousMixer::finish(Holdings& holdings) {
  mailboxes_.announce_end();
  while (!mailboxes_.all_ended()) {
    mailboxes_.wait_for_more(patience_of_the_finished);
    arrivals_.clear();
    ++round_;
    if (!collect_present()) continue;
    mix_once(round_ * settings_.gossip_steps, 0, holdings);
    std::this_thread::sleep_for(pause_of_the_finished);
  }
  for (int i = 0; i < settling_exchanges; ++i) {
    ++round_;
    began_ = std::chrono::steady_clock::now();
    mix_once(round_ * settings_.gossip_steps, patience_of_settling, holdings);
  }
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    sums_[k].settle([&](Client peer, View sum) {
      parcel_.update([&](Columns& parcel) { std::copy(sum.begin(), sum.end(), parcel[0].begin()); });
      mailboxes_.put(first() + static_cast<Client>(k), peer, clock_, parcel_, 0);
    });
  }
  mailboxes_.drain();
  for (std::size_t k = 0; k < count(); ++k) {
    links_[k] = Links();
    send_shares(k, holdings);
    collect(k);
    take_in(k, holdings);
  }
  arrivals_.clear();
}

double AsynchronousMixer::in_flight(std::size_t k) const {
  return incoming_[k].back() + (sums_.empty() ? 0 : sums_[k].in_flight());
}

}  // namespace starling
