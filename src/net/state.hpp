// Internals of the net module: the communicators, the control channel and the waits that poll it.
#pragma once

#include <algorithm>
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
#include <thread>
#include <utility>
#include <vector>

#include <mpi.h>

#include "core/columns.hpp"
#include "net/host/mpi_session.hpp"
#include "net/seal/seal.hpp"
#include "net/signal_handlers.hpp"
#include "net/world.hpp"

namespace starling {

enum class NoticeKind : std::int32_t {
  failure,
  step_failed,
  stop_request,
  round_query,  ///< for an Appointment, as are the next two kinds
  round_reply,
  round_agreed,
  ended,       ///< of Mailboxes: the sender's clients have finished
  alive,       ///< to a rank that waits for the others' end, or for the aggregator: the sender has begun this round
  asks_count,  ///< how many messages of a MessageKind were sealed for the sender of this (MissingMessages)
  count,       ///< the answer
};

/// Common action of all ranks after one common round.
enum class Appointment : std::int32_t { stop, checkpoint };

/// A message of the control channel; plain bytes of one size, so that one pre-posted receive serves all.
struct Notice {
  NoticeKind kind = NoticeKind::failure;
  std::int32_t code = 0;     ///< ExitCode of a failure, Appointment of a notice about a round, MessageKind of a count
  std::int64_t round = 0;    ///< or a count
  std::int32_t silence = 0;  ///< 1 if the failure is that no message came: an effect of a failure elsewhere
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

/// Removes the sends (of any type with a `request`) whose buffer is free again.
template <class Sends>
void drop_delivered(Sends& sends) {
  sends.remove_if([](auto& send) {
    int done = 0;
    MPI_Test(&send.request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

/// Clock of waiting time, which adds steps of at most a second. A job that was suspended as a whole thus does not
/// resume with an expired watchdog.
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
  /// Whether a step was that long.
  [[nodiscard]] bool suspended() const { return suspended_; }
  /// Leaves the processor to others for a small part of the time waited so far, after a wait that is longer than a
  /// round that only exchanges messages. What is awaited is noticed at most that part later.
  void rest() const {
    constexpr double short_wait = 5e-3;
    constexpr double part = 1.0 / 16;
    constexpr double longest_rest = 1e-3;
    if (waited_ < short_wait) return;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(part * waited_, longest_rest)));
  }

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

  /// Throws FailureError if MPI has failed, as for a message that is longer than its receiver awaits.
  void throw_mpi_error() const;
  /// Handles what has arrived on the control channel and a pending signal. Throws PeerError, and FailureError for an
  /// error of MPI.
  void poll();
  /// The same for a rank that waits in vain itself. Another rank's wait in a later round is an effect of the same
  /// cause. The nearer rank is to name the cause, unless it was `suspended` itself. Returns whether another rank had
  /// such a wait.
  bool poll_while_waiting(bool suspended = false);
  void send_notice(int to, const Notice& notice);
  /// Waits for all requests, polling. After `patience` seconds the error text comes from `awaited`, which names the
  /// missing messages.
  void wait(std::span<MPI_Request> requests, double patience, const std::function<std::string()>& awaited);
  /// The same for the condition `done()`, which may leave the processor to others before it returns false.
  template <class Done, class Awaited>
  void wait_until(Done&& done, Awaited&& awaited) {
    wait_until<16>(done, watchdog, awaited);
  }
  /// The same for collectives of Agreement and Root, where ranks may read data for long.
  void wait_collective(MPI_Request request, const char* what);
  /// The same for a collective whose buffers are in `memory`, on the heap. A failure cannot cancel it: MPI may still
  /// access them, so they are kept.
  template <class... Memory>
  void wait_collective(MPI_Request request, const char* what, Memory&... memory) {
    try {
      wait_collective(request, what);
    } catch (...) {
      (keep(std::make_shared<Memory>(std::move(memory))), ...);
      throw;
    }
  }
  /// The values that a collective sends: `own`, or a copy that can be kept if the process goes on after a failure.
  template <class Own, class Value>
  [[nodiscard]] const Value* sent_from(const Own& own, std::vector<Value>& copy) const {
    if (!embedded_) return own.data();
    copy.assign(own.begin(), own.end());
    return copy.data();
  }
  /// The same for a condition on messages that together stand for a collective.
  void wait_for_all(const std::function<bool()>& done, const char* what);
  [[nodiscard]] bool begin_round(Round t);
  /// The same for rounds of this rank alone. Returns false as soon as this rank has heard that the run is to stop.
  [[nodiscard]] bool begin_own_round(Round t);
  /// Abandons a request that may still be under way when its owner is destroyed after a failure. Keeps the buffer as
  /// long as MPI may access it.
  void abandon(MPI_Request& request, Vector&& buffer);
  void abandon(MPI_Request& request, const std::shared_ptr<std::vector<std::byte>>& buffer);
  /// Keeps memory whose requests have been freed until MPI has ended.
  void keep(std::shared_ptr<const void> memory) { abandoned_.push_back(std::move(memory)); }
  /// Sends a sign of life now and then, in runs with an aggregator. Others may wait for this rank while it waits or
  /// computes for long. Rank 0 tells all other ranks; the other ranks tell rank 0.
  void show_life();
  void set_active(const Layout& layout);
  /// From now on on_stop_signal handles SIGINT, SIGTERM, SIGUSR1 and SIGHUP.
  void catch_signals();
  [[nodiscard]] Round current_round() const { return round_; }
  /// Whether the last round of all ranks has been agreed.
  [[nodiscard]] bool stops() const { return !of(Appointment::stop).agreed.empty(); }
  /// Request by rank 0 for a common round, unless the last request is not agreed yet.
  void appoint(Appointment what);
  /// Whether all ranks take this action after round t. To be called in rising order of rounds, once for each.
  [[nodiscard]] bool is_appointed(Appointment what, Round t);
  /// Whether, after a failure here, no other rank failed at about the same time in an earlier round (or in the same
  /// round, with a lower rank number). Models become infinite on many ranks at once, and a silent rank stops its
  /// neighbours' neighbours too. Hence the rank that failed first reports the cause.
  [[nodiscard]] bool is_nearest_to_the_cause();

  /// Whether messages to or from this rank are sealed.
  [[nodiscard]] bool seals(int peer) const { return seal != nullptr && seal->seals(peer); }
  /// The number of sealed messages of a kind that a rank has said to have sent to this one.
  [[nodiscard]] std::uint64_t sent_count(int from, MessageKind kind) const;
  /// From now on messages are sealed. Notices that came sealed before are handled.
  void set_seal(std::unique_ptr<Seal> of_run);

  int rank = 0;
  int size = 1;
  std::unique_ptr<Seal> seal;  ///< null: no message is sealed
  MPI_Comm data = MPI_COMM_NULL;
  MPI_Comm control = MPI_COMM_NULL;
  MPI_Comm agreement = MPI_COMM_NULL;
  MPI_Comm reports = MPI_COMM_NULL;
  double watchdog = 60;
  std::optional<ExitCode> failed;  ///< code of the failure that ends this run
  bool heeds_signals = false;      ///< signals stop the rounds
  std::string early_stop =
      "stopped by a signal before the first round: nothing has been released. Start the run again.";
  bool step_failed = false;     ///< elsewhere, in Agreement::together
  bool waited_in_vain = false;  ///< the failure is a peer's silence
  std::int64_t agreement_bytes = 0;

  /// Statements of ranks in rounds of their own (Mailboxes), and of rank 0 as the aggregator, about themselves.
  struct Peer {
    bool ended = false;
    Round rounds_at_end = 0;  ///< number of rounds begun when it ended
    bool heard = false;       ///< since the last check
    Round round = -1;         ///< last round known to have begun
  };
  std::vector<Peer> peers;
  std::chrono::steady_clock::time_point life_shown = {};
  std::int64_t asynchronous_runs = 0;  ///< number of runs begun; the same on all ranks

  // Reports under way (sender), and reports that wait for those of other ranks (rank 0).
  struct Report {
    Vector numbers;
    std::vector<std::byte> sealed;  ///< in place of the numbers, where reports are sealed
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::list<Report> sent_reports;
  std::map<int, std::deque<Vector>> received_reports;

 private:
  /// Polls. Throws FailureError when the patience has expired.
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
  /// Whether a notice has come. Then its sender and the notice, which is opened.
  [[nodiscard]] bool take_notice(Notice& notice, int& from);
  void open_notice(int from, std::span<const std::byte> way, Notice& notice) const;
  void restore_signals();
  void keep_what_is_under_way();
  void handle(const Notice& notice, int from);
  void await_appointments();
  void handle_reply(Appointment what, Round round);
  void reply_round(Appointment what);
  void agree(Appointment what, Round round);

  static constexpr std::size_t longest_notice = sizeof(Notice) + Seal::tag_size;
  using NoticeBytes = std::array<std::byte, longest_notice>;
  struct Outgoing {
    NoticeBytes bytes{};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::optional<MpiSession> session_;
  bool embedded_ = false;  ///< MPI lives longer than this object
  SignalHandlers handlers_;
  std::map<std::pair<int, MessageKind>, std::uint64_t> sent_counts_;
  NoticeBytes inbox_{};
  std::deque<std::pair<int, std::vector<std::byte>>> early_;  ///< sealed notices that came before this rank's seal
  MPI_Request inbox_request_ = MPI_REQUEST_NULL;
  std::list<Outgoing> outbox_;
  std::list<std::shared_ptr<const void>> abandoned_;
  std::vector<int> active_;

  // Agreement on a common round, above all the last round after a signal. A rank that wants one asks rank 0. Rank 0
  // asks all ranks for the round that they have begun. The largest of these rounds is agreed. No rank begins another
  // round before it knows the result.
  struct CommonRound {
    int told = 0;              ///< number of replies that this rank has sent; rank 0: number of its requests
    int heard = 0;             ///< number of agreements that this rank has received
    std::deque<Round> agreed;  ///< future rounds
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
