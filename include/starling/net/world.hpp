/// The ranks of a run: start and end of MPI, the control channel on which errors and stop requests travel, the
/// watchdog.
///
/// mpi.h is included by no header of this room, and the library is linked to this room alone.
#pragma once

#include <memory>
#include <string>

#include "starling/core/check.hpp"
#include "starling/core/links.hpp"

namespace starling {

/// One per process. Construction starts MPI and destruction finalizes it; both are **collective**.
///
/// Before MPI starts it asks Open MPI to yield when idle if this host has more ranks than CPUs (a round among waiting
/// ranks takes milliseconds otherwise).
class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;

  /// Seconds without progress after which a wait gives up with a FailureError naming round and peer.
  void set_watchdog(double seconds);

  /// Tells every other rank that this one has failed; their next wait throws PeerError with this code. Returns false,
  /// and tells nobody, if another rank's failure has arrived first: that one speaks for the run.
  bool announce(ExitCode code, const std::string& message);

  /// For a rank that waits for something outside, between rounds or in one: hears what others have to say, and tells
  /// whether the run goes on beyond this round. Throws PeerError, and Error of the code stopped_safely for a signal
  /// that was noted before signals stop rounds.
  [[nodiscard]] bool go_on_waiting();

  /// From now on SIGINT, SIGTERM and SIGUSR1 are noted, and nothing ends by them but what waits outside
  /// (go_on_waiting); a second SIGINT ends the process at once.
  void note_signals();
  /// Whether this rank was sent one.
  [[nodiscard]] bool is_signalled() const;
  /// From now on they ask all ranks to stop after one common round (Neighbours::begin_round). Whoever is stopping is
  /// left to it: further ones change nothing, but for the second SIGINT.
  void watch_signals();

  /// Rank 0's, between rounds: asks all ranks that host clients to write a checkpoint after one common round, soon.
  void appoint_checkpoint();
  /// Whether that is so after this rank's round t. Asked after each round.
  [[nodiscard]] bool is_checkpoint_after(Round t);

  /// What the doors of this room share.
  struct State;
  [[nodiscard]] State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// Name and version of the MPI library; needs no World.
[[nodiscard]] std::string mpi_version();

/// CPUs of this host that are the job's: as SLURM says, or else those of the launcher's affinity (all that are online
/// where no launcher is seen), within the quota of their control groups; needs no World.
[[nodiscard]] int cpus_of_this_host();

/// Whether this job has more ranks on this host than CPUs, as the launcher says; needs no World.
[[nodiscard]] bool oversubscribed();

}  // namespace starling
