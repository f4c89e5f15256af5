/// The ranks of a run: the control channel for errors and stop requests, and the watchdog.
///
/// No header of the net module includes mpi.h. Only this module is linked to the MPI library.
#pragma once

#include <memory>
#include <string>

#include "core/check.hpp"
#include "core/links.hpp"

namespace starling {

struct SealTerms;

/// Ranks of one run; one object at a time in a process. Construction starts MPI and destruction finalizes MPI, unless
/// an MpiSession has. Both are **collective**.
class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;

  /// Sets the watchdog: seconds without progress after which a wait throws a FailureError that names round and peer.
  void set_watchdog(double seconds);

  /// Tells every other rank that this rank has failed. The next wait of each other rank throws PeerError with this
  /// code. Returns false, and tells no rank, if the failure of another rank has arrived first: that failure speaks for
  /// the run.
  bool announce(ExitCode code, const std::string& message);

  /// From now on messages between ranks are sealed, as `terms` say; a message that somebody has forged, repeated,
  /// moved, cut or left out ends the wait for it, with a FailureError that names both ends. Nothing is read from it.
  /// All ranks call it between the same two calls of Agreement, once.
  void seal(SealTerms terms);

  /// Check for a rank that waits for something outside the run, between rounds or within a round. Handles messages of
  /// other ranks and returns whether the run continues beyond this round. Throws PeerError. Throws Error with the code
  /// stopped_safely for a signal that was noted before signals stop rounds.
  [[nodiscard]] bool go_on_waiting();

  /// From now on SIGINT, SIGTERM, SIGUSR1 and SIGHUP (unless it is ignored, as by nohup) are noted. They end only waits
  /// for something outside the run (go_on_waiting). A second SIGINT ends the process at once. In an MpiSession the
  /// handlers that the process had before are restored with the end of this object.
  void note_signals();
  /// Sets the message of an error by which such a signal ends a wait. It says what the run has released so far.
  void explain_early_stop(std::string text);
  /// Whether this rank has received one of these signals.
  [[nodiscard]] bool is_signalled() const;
  /// From now on these signals ask all ranks to stop after one common round (Neighbours::begin_round). While the run is
  /// stopping, further signals change nothing, except the second SIGINT.
  void watch_signals();

  /// Request by rank 0, between rounds: all ranks that host clients write a checkpoint soon, after one common round.
  void appoint_checkpoint();
  /// Whether a checkpoint follows this rank's round t. To be called after each round.
  [[nodiscard]] bool is_checkpoint_after(Round t);

  /// State that the interfaces of this module share.
  struct State;
  [[nodiscard]] State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace starling
