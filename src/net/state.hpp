// Internals of the net module: the communicators, the control channel and the waits that poll it.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

#include "starling/core/columns.hpp"
#include "starling/net/world.hpp"

namespace starling {

enum class NoticeKind : std::int32_t {
  failure,
  step_failed,
  stop_request,
  round_query,  ///< for an Appointment, as are the two that follow
  round_reply,
  round_agreed,
  ended,  ///< of Mailboxes: the sender's clients have finished
  alive,  ///< to a rank that waits for the others' end, or for the aggregator: the sender has begun this round
};

/// Common action of all ranks after one common round.
enum class Appointment : std::int32_t { stop, checkpoint };

/// A message of the control channel; plain bytes of one size, so that one pre-posted receive serves all.
struct Notice {
  NoticeKind kind = NoticeKind::failure;
  std::int32_t code = 0;  ///< ExitCode of a failure, Appointment of what is about a round
  std::int64_t round = 0;
  std::int32_t silence = 0;  ///< 1 if the failure is that nothing came: an effect of what happened elsewhere
  char text[1000] = {};
};

/// Failure of another rank that waited in vain, in this round.
class SilenceHeardOf : public PeerError {
 public:
  SilenceHeardOf(ExitCode code, const std::string& message, Round round) : PeerError(code, message), round_(round) {}
  [[nodiscard]] Round round() const { return round_; }

 private:
  Round round_;
};

/// Failure elsewhere of a step that all ranks take together. This rank need not continue its own.
class StepAbandoned : public PeerError {
 public:
  using PeerError::PeerError;
};

/// Forgets sends (anything with a `request`) whose buffer is free again.
template <class Sends>
void drop_delivered(Sends& sends) {
  sends.remove_if([](auto& send) {
    int done = 0;
    MPI_Test(&send.request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

/// Adds up waiting time in steps of at most a second, so that a job that was suspended as a whole does not wake up to
/// an expired watchdog.
class PatienceClock {
 public:
  [[nodiscard]] double seconds() {
    const auto now = std::chrono::steady_clock::now();
    const double step = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    suspended_ = suspended_ || step >= 1;
    waited_ += step < 1 ? step : 1;
    return waited_;
  }
  /// Whether there were such steps.
  [[nodiscard]] bool suspended() const { return suspended_; }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  double waited_ = 0;
  bool suspended_ = false;
};

struct World::State {
  State();
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Handles what has arrived on the control channel and a pending signal. Throws PeerError.
  void poll();
  /// The same for a rank that waits in vain itself: another's wait in a later round is an effect of the same cause, and
  /// the nearer one is to say what it is, unless it was `suspended` itself. Returns whether there was such a wait.
  bool poll_while_waiting(bool suspended = false);
  void send_notice(int to, const Notice& notice);
  /// Waits for all requests, polling; `awaited` words what is missing when `patience` seconds have passed.
  void wait(std::span<MPI_Request> requests, double patience, const std::function<std::string()>& awaited);
  /// The same for what `done()` tells, which may leave the processor to others before it says no.
  template <class Done, class Awaited>
  void wait_until(Done&& done, Awaited&& awaited) {
    wait_until<16>(done, watchdog, awaited);
  }
  /// The same for collectives of Agreement and Root, where ranks may read data for long.
  void wait_collective(MPI_Request request, const char* what);
  [[nodiscard]] bool begin_round(Round t);
  /// The same where rounds are nobody's but this rank's: false as soon as it has heard that the run is to stop.
  [[nodiscard]] bool begin_own_round(Round t);
  /// For a request that may still be under way when its owner goes, after a failure: forgets it, and keeps its buffer
  /// as long as MPI may touch it.
  void abandon(MPI_Request& request, Vector&& buffer);
  /// Likewise for memory whose requests have been freed: it stays until MPI has ended.
  void keep(std::shared_ptr<const void> memory) { abandoned_.push_back(std::move(memory)); }
  /// Around an aggregator, where others may wait for this rank while it waits itself, or computes for long: tells them
  /// now and then that it lives; rank 0 all others, these rank 0.
  void show_life();
  void set_active(const Layout& layout);
  [[nodiscard]] Round current_round() const { return round_; }
  /// Whether the round after which all stop has been agreed on.
  [[nodiscard]] bool stops() const { return !of(Appointment::stop).agreed.empty(); }
  /// Rank 0's: asks for a common round, unless the one that was asked for last is not agreed on yet.
  void appoint(Appointment what);
  /// Whether all do this after round t. Rounds are asked about in rising order, and each once.
  [[nodiscard]] bool is_appointed(Appointment what, Round t);
  /// After a failure here: whether no other rank failed at about the same time in an earlier round (or, in the same,
  /// with a lower number). Models become infinite on many ranks at once, and a silent rank stops its neighbours'
  /// neighbours too, so the one that failed first says why.
  [[nodiscard]] bool is_nearest_to_the_cause();

  int rank = 0;
  int size = 1;
  MPI_Comm data = MPI_COMM_NULL;
  MPI_Comm control = MPI_COMM_NULL;
  MPI_Comm agreement = MPI_COMM_NULL;
  MPI_Comm reports = MPI_COMM_NULL;
  double watchdog = 60;
  std::optional<ExitCode> failed;  ///< code of the failure that ends this run
  bool heeds_signals = false;      ///< they stop the rounds
  bool step_failed = false;        ///< elsewhere, in Agreement::together
  bool waited_in_vain = false;     ///< and that failure is a peer's silence
  std::int64_t agreement_bytes = 0;

  /// Statements of ranks in rounds of their own (Mailboxes), and of rank 0 as the aggregator, about themselves.
  struct Peer {
    bool ended = false;
    Round rounds_at_end = 0;  ///< that it had begun when it ended
    bool heard = false;       ///< since somebody last looked
    Round round = -1;         ///< the last that is known to have begun
  };
  std::vector<Peer> peers;
  std::chrono::steady_clock::time_point life_shown = {};
  std::int64_t asynchronous_runs = 0;  ///< begun; the same on all ranks

  // Reports under way (sender), and those that wait for the others' (rank 0).
  struct Report {
    Vector numbers;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::list<Report> sent_reports;
  std::map<int, std::deque<Vector>> received_reports;

 private:
  /// Polls. Throws FailureError when the patience is at its end.
  void keep_waiting(PatienceClock& clock, double patience, const std::function<std::string()>& awaited);
  template <unsigned looks_between_polls, class Done, class Awaited>
  void wait_until(Done&& done, double patience, Awaited&& awaited) {
    std::optional<PatienceClock> clock;  // a look at the time costs a tenth of a short wait
    for (unsigned looks = 0; !done(); ++looks) {
      if (looks == 0 || looks % looks_between_polls != 0) continue;
      if (!clock) clock.emplace();
      keep_waiting(*clock, patience, awaited);
    }
  }
  void post_inbox();
  void handle(const Notice& notice, int from);
  void await_appointments();
  void handle_reply(Appointment what, Round round);
  void reply_round(Appointment what);
  void agree(Appointment what, Round round);

  struct Outgoing {
    Notice notice;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  Notice inbox_;
  MPI_Request inbox_request_ = MPI_REQUEST_NULL;
  std::list<Outgoing> outbox_;
  std::list<std::shared_ptr<const void>> abandoned_;
  std::vector<int> active_;

  // Agreement on a common round, the last after a signal above all: whoever wants one asks rank 0, which asks all for
  // the round that they have begun; the largest of these it is, and nobody begins another round before knowing it.
  struct CommonRound {
    int told = 0;              ///< how often this rank has said where it is; rank 0: how often it has asked
    int heard = 0;             ///< and was told what is agreed
    std::deque<Round> agreed;  ///< rounds that have not come yet
    std::size_t replies = 0;
    Round latest = 0;
  };
  [[nodiscard]] CommonRound& of(Appointment what) { return common_rounds_[static_cast<std::size_t>(what)]; }
  [[nodiscard]] const CommonRound& of(Appointment what) const { return common_rounds_[static_cast<std::size_t>(what)]; }
  [[nodiscard]] bool waits_for_an_appointment() const {
    return of(Appointment::stop).told > of(Appointment::stop).heard ||
           of(Appointment::checkpoint).told > of(Appointment::checkpoint).heard;
  }
  Round round_ = 0;
  bool stop_asked_ = false;
  std::array<CommonRound, 2> common_rounds_;
};

}  // namespace starling
