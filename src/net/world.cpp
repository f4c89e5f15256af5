#include "net/world.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <string_view>
#include <unistd.h>

#include "state.hpp"

namespace starling {

namespace {

volatile std::sig_atomic_t signal_seen = 0;
volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t rounds_heed_signals = 0;
volatile std::sig_atomic_t last_exit_code = static_cast<int>(ExitCode::failure);

/// Ctrl-C twice ends what hangs. Launchers send the other signals several times, and a rank may be writing; but before
/// the first round, when it may be waiting for a file, any second one ends it.
extern "C" void on_stop_signal(int number) {
  const bool again = number == SIGINT ? interrupted != 0 : signal_seen != 0 && rounds_heed_signals == 0;
  if (again) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  if (number == SIGINT) interrupted = 1;
  signal_seen = 1;
}

/// MPI_Finalize waits for all ranks; one that is dead must not keep the others for ever.
extern "C" void on_finalize_timeout(int) {
  _exit(last_exit_code);
}

/// The first error of MPI in a run; 0 if there is none.
int mpi_error = 0;

/// Notes an error of MPI, which World::State::poll throws. Without it MPI would end the process, for a message that is
/// too long as well. One that is sealed does not open then, which is thrown first.
extern "C" void note_mpi_error(MPI_Comm* /*of*/, int* error, ...) {
  if (mpi_error == 0) mpi_error = *error;
}

}  // namespace

World::State::State() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  embedded_ = initialized != 0;
  session_.emplace();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  mpi_error = 0;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(note_mpi_error, &handler);
  for (MPI_Comm* communicator : {&data, &control, &agreement, &reports}) {
    MPI_Comm_dup(MPI_COMM_WORLD, communicator);
    MPI_Comm_set_errhandler(*communicator, handler);
  }
  MPI_Errhandler_free(&handler);
  for (int r = 0; r < size; ++r) active_.push_back(r);
  peers.resize(static_cast<std::size_t>(size));
  post_inbox();
}

World::State::~State() {
  if (failed && !embedded_) {
    last_exit_code = static_cast<int>(*failed);
    std::signal(SIGALRM, on_finalize_timeout);
    alarm(5);
  }
  // Notices under way (a failure above all) are delivered while peers still listen, and so are reports; but nobody need
  // have asked for these.
  PatienceClock clock;
  while (!(outbox_.empty() && (failed || sent_reports.empty())) && clock.seconds() < 2) {
    drop_delivered(outbox_);
    drop_delivered(sent_reports);
    clock.rest();
  }
  MPI_Cancel(&inbox_request_);
  MPI_Request_free(&inbox_request_);
  if (!failed) {
    for (MPI_Comm* communicator : {&data, &control, &agreement, &reports}) MPI_Comm_free(communicator);
  }
  restore_signals();
  keep_what_is_under_way();
  session_.reset();
  if (failed && !embedded_) alarm(0);
}

void World::State::catch_signals() {
  handlers_.set({SIGINT, SIGTERM, SIGUSR1, SIGHUP}, on_stop_signal, SA_RESTART);
  // Writing beyond a limit on the sizes of files, or to a pipe that nobody reads, fails as on a full disk. While MPI
  // starts it ends the process: mpirun would wait for it.
  handlers_.set({SIGXFSZ, SIGPIPE}, SIG_IGN, SA_RESTART);
}

/// After a failure MPI may still read and write this memory, for as long as the process lives.
void World::State::keep_what_is_under_way() {
  if (!embedded_ || !failed) return;
  static std::list<Outgoing> notices;
  static std::list<Report> reports_of_runs;
  static std::list<std::shared_ptr<const void>> memory;
  notices.splice(notices.end(), outbox_);
  reports_of_runs.splice(reports_of_runs.end(), sent_reports);
  memory.splice(memory.end(), abandoned_);
}

/// The program's own process keeps its handlers: launchers send a signal several times.
void World::State::restore_signals() {
  if (!embedded_) return handlers_.keep();
  handlers_.restore();
  signal_seen = 0;
  interrupted = 0;
  rounds_heed_signals = 0;
}

void World::State::throw_mpi_error() const {
  if (mpi_error == 0) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(mpi_error, text.data(), &length);
  fail<FailureError>(
      "MPI failed on rank {}: {}. A message that is longer than its receiver awaits was changed on its way, or is of "
      "another version of the program. Find out who is on the network, and start the same program on all ranks.",
      rank, std::string_view(text.data(), static_cast<std::size_t>(length)));
}

void World::State::poll() {
  throw_mpi_error();
  Notice notice;
  int from = 0;
  while (take_notice(notice, from)) handle(notice, from);
  if (signal_seen != 0 && heeds_signals && !stop_asked_) {
    stop_asked_ = true;
    if (rank == 0) {
      appoint(Appointment::stop);
    } else {
      send_notice(0, Notice{.kind = NoticeKind::stop_request});
    }
  }
}

bool World::State::poll_while_waiting(bool suspended) {
  for (bool heard_of_effects = false;; heard_of_effects = true) {
    try {
      poll();
      return heard_of_effects;
    } catch (const SilenceHeardOf& silence) {
      if (silence.round() <= round_ || suspended) throw;
      failed.reset();
    }
  }
}

bool World::State::begin_round(Round t) {
  round_ = t;
  if ((t & 7) == 0 || signal_seen != 0) poll();
  if (waits_for_an_appointment()) await_appointments();
  return !stops() || t <= of(Appointment::stop).agreed.front();
}

bool World::State::begin_own_round(Round t) {
  round_ = t;
  poll();
  return of(Appointment::stop).told == 0 && !stops();
}

void World::State::set_active(const Layout& layout) {
  active_.clear();
  for (int r = 0; r < layout.ranks(); ++r) {
    if (layout.count(r) > 0) active_.push_back(r);
  }
}

World::World() : state_(std::make_unique<State>()) {}
World::~World() = default;

int World::rank() const {
  return state_->rank;
}
int World::size() const {
  return state_->size;
}
void World::set_watchdog(double seconds) {
  state_->watchdog = seconds;
}

bool World::announce(ExitCode code, const std::string& message) {
  try {
    if (state_->waited_in_vain) {
      state_->poll_while_waiting();
    } else {
      state_->poll();
    }
  } catch (const PeerError&) {
    return false;
  } catch (const FailureError&) {
    // A notice does not open: this rank has failed in any case, and says so.
  }
  if (state_->failed) return true;  // Agreement::together has chosen this rank to speak, and all others know
  state_->failed = code;
  Notice notice{.kind = NoticeKind::failure,
                .code = static_cast<std::int32_t>(code),
                .round = state_->current_round(),
                .silence = state_->waited_in_vain ? 1 : 0};
  std::strncpy(notice.text, message.c_str(), sizeof notice.text - 1);
  for (int r = 0; r < state_->size; ++r) {
    if (r != state_->rank) state_->send_notice(r, notice);
  }
  try {
    return state_->is_nearest_to_the_cause();
  } catch (const FailureError&) {
    return true;  // somebody changes messages, and this rank has seen it
  }
}

void World::seal(SealTerms terms) {
  state_->set_seal(std::make_unique<Seal>(std::move(terms), state_->rank));
}

bool World::go_on_waiting() {
  state_->poll();
  if (state_->step_failed) throw StepAbandoned(ExitCode::failure, "another rank has failed in the same step");
  if (signal_seen != 0 && !state_->heeds_signals) {
    throw Error(ExitCode::stopped_safely, state_->early_stop);
  }
  return !state_->stops();
}

void World::appoint_checkpoint() {
  state_->appoint(Appointment::checkpoint);
}
bool World::is_checkpoint_after(Round t) {
  return state_->is_appointed(Appointment::checkpoint, t);
}

void World::note_signals() {
  state_->catch_signals();
}

void World::explain_early_stop(std::string text) {
  state_->early_stop = std::move(text);
}

bool World::is_signalled() const {
  return signal_seen != 0;
}

void World::watch_signals() {
  rounds_heed_signals = 1;
  note_signals();
  state_->heeds_signals = true;
}

}  // namespace starling
