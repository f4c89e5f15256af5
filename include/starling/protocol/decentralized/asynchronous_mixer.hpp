/// Mixing where nobody waits (method 1, "Stragglers").
#pragma once

#include <chrono>
#include <set>
#include <span>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/net/mailboxes/mailboxes.hpp"
#include "starling/protocol/decentralized/mixing.hpp"

namespace starling {

/// Nobody waits for longer than a deadline: a client mixes what has arrived, and what is late is added when it comes.
/// Clients may be at different rounds. Push-sum only. Which message meets which round depends on time: the same command
/// does not give the same bits.
class AsynchronousMixer final : public Mixer {
 public:
  /// Waits in each round until a message of every in-neighbour has come or `settings.deadline` seconds have passed
  /// since the round began. The mailboxes must add parcels up, or replace them if they carry running sums.
  /// Their vectors have message_length(state_size, settings) entries.
  AsynchronousMixer(Mailboxes& mailboxes, std::size_t state_size, const Schedule& schedule,
                    const MixingSettings& settings);

  [[nodiscard]] Client first() const override { return mailboxes_.first(); }
  [[nodiscard]] std::size_t count() const override { return mailboxes_.count(); }
  [[nodiscard]] bool begin_round(Round t) override;
  [[nodiscard]] Round clock() const override { return clock_; }
  [[nodiscard]] Attendance attendance(std::size_t k) const override;
  void mix(Holdings& holdings, Stopwatch& watch, TimeShares& shares) override;
  /// Collective over the ranks that host clients.
  void finish(Holdings& holdings) override;
  [[nodiscard]] double in_flight() const override;
  [[nodiscard]] std::span<const Arrival> arrivals() const override { return arrivals_; }
  /// After finish() alone is nothing under way, so that all there is belongs to some client.
  void persist(Snapshot& snapshot) override { snapshot(round_, clock_, sums_, mailboxes_); }

 private:
  void mix_once(Round step, double patience, Holdings& holdings);
  void find_links(std::size_t k, Round step, double mass);
  void send_shares(std::size_t k, const Holdings& holdings);
  /// Whether something had come.
  bool collect(std::size_t k);
  bool collect_present();
  [[nodiscard]] bool heard_from_all() const;
  void take_in(std::size_t k, Holdings& holdings);
  [[nodiscard]] double seconds_in_round() const;

  Mailboxes& mailboxes_;
  const Schedule& schedule_;
  MixingSettings settings_;
  Round round_ = 0;
  Round clock_ = 0;
  std::chrono::steady_clock::time_point began_;
  std::vector<Links> links_;                  ///< of local clients in this exchange
  Released<Columns> parcel_;                  ///< one column
  Vector news_;                               ///< a pair (s, w)
  Vector kept_;                               ///< mass that each client keeps
  Columns incoming_;                          ///< pairs (s, w) that have come for it since it mixed last
  std::vector<std::set<Client>> heard_from_;  ///< since then
  std::vector<RunningSums> sums_;             ///< one per client, if messages carry sums
  std::vector<Arrival> arrivals_;
};

}  // namespace starling
