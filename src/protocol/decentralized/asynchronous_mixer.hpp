/// Mixing without waiting (docs/methods/decentralized.md, "Stragglers").
#pragma once

#include <chrono>
#include <set>
#include <span>
#include <vector>

#include "core/snapshot.hpp"
#include "net/mailboxes/mailboxes.hpp"
#include "protocol/decentralized/mixer.hpp"
#include "protocol/decentralized/running_sums.hpp"

namespace starling {

/// Mixing with a deadline: a client mixes the messages that have arrived, and a late message is added when it arrives.
/// Clients may be at different rounds. Push-sum only. Results depend on timing, so the same command does not give the
/// same bits.
class AsynchronousMixer final : public Mixer {
 public:
  /// A round waits until every in-neighbour's message has arrived or `settings.deadline` seconds have passed. The
  /// mailboxes must add parcels up, or replace them if they carry running sums. Vectors have message_length(state_size,
  /// settings) entries.
  AsynchronousMixer(Mailboxes& mailboxes, std::size_t state_size, const Schedule& schedule,
                    const MixingSettings& settings);

  [[nodiscard]] bool begin_round(Round t) override;
  [[nodiscard]] Round clock() const override { return clock_; }
  [[nodiscard]] Attendance attendance(std::size_t k) const override;
  [[nodiscard]] bool has_left(std::size_t k) const override {
    return attendance(k) == Attendance::gone && schedule_.anyone_there(round_);
  }
  void mix(Holdings& holdings, Stopwatch& watch, TimeShares& shares) override;
  /// **Collective** over the ranks that host clients.
  void finish(Holdings& holdings) override;
  [[nodiscard]] double in_flight(std::size_t k) const override;
  [[nodiscard]] std::span<const Arrival> arrivals() const override { return arrivals_; }
  /// Only after finish(): no message is under way then.
  void persist(Snapshot& snapshot) override { snapshot(round_, clock_, sums_, mailboxes_); }

 private:
  void mix_once(Round step, double patience, Holdings& holdings);
  void find_links(std::size_t k, Round step, double mass);
  void send_shares(std::size_t k, const Holdings& holdings);
  /// Whether a parcel had arrived.
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
  std::vector<Links> links_;                  ///< links of local clients in this exchange
  Released<Columns> parcel_;                  ///< one column
  Vector news_;                               ///< a pair (s, w)
  Vector kept_;                               ///< mass that each client keeps
  Columns incoming_;                          ///< pairs (s, w) received by each client since it mixed last
  std::vector<std::set<Client>> heard_from_;  ///< in-neighbours heard from since then
  std::vector<RunningSums> sums_;             ///< one per client, if messages carry sums
  std::vector<Arrival> arrivals_;
};

}  // namespace starling
