#include "net/world.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <string_view>
#include <unistd.h>

#include "net/host/host_limits.hpp"
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

int integer_from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

/// Ranks of this job on this host as the launcher says, or 1.
int local_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"}) {
    if (const int count = integer_from_environment(name); count > 0) return count;
  }
  // SLURM_STEP_TASKS_PER_NODE reads "4(x2)" or "4,3": its first number is that of most hosts.
  return std::max(integer_from_environment("SLURM_STEP_TASKS_PER_NODE"), 1);
}

/// Whether this process is a world of its own: nothing in the environment comes from a launcher.
bool is_alone() {
  for (char** each = environ; *each != nullptr; ++each) {
    for (const char* of_launcher : {"OMPI_COMM_", "PMIX_", "PMI_", "SLURM_", "ALPS_", "PALS_", "JSM_", "MPI_"}) {
      if (std::string_view(*each).starts_with(of_launcher)) return false;
    }
  }
  return true;
}

/// A variable of the environment while this lives, unless it is set already.
class Lent {
 public:
  Lent(const char* name, const char* value) : name_(std::getenv(name) == nullptr ? name : nullptr) {
    setenv(name, value, 0);
  }
  ~Lent() {
    if (name_ != nullptr) unsetenv(name_);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  const char* name_;
};

/// Throws FailureError if MPI has been finalized: a process can start MPI only once.
void require_no_end() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  check<FailureError>(
      finalized == 0,
      "MPI has been ended in this process (by MPI_Finalize, which cannot be undone). Run starling before that.");
}

}  // namespace

int cpus_of_this_host() {
  const int of_job = integer_from_environment("SLURM_CPUS_ON_NODE");
  return of_job > 0 ? of_job : usable_cpus();
}

bool oversubscribed() {
  return local_ranks() > cpus_of_this_host();
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find(','));
}

MpiSession::MpiSession() {
  require_no_end();
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) return;
  // Open MPI reads these settings when it starts. Idle ranks must give their CPU away when ranks outnumber CPUs,
  // whatever a host file promises. A process without a launcher needs no daemon of Open MPI.
  if (oversubscribed()) setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  started_ = true;
  if (!is_alone()) {
    MPI_Init(nullptr, nullptr);
    return;
  }
  // Looking for networks takes most of the start, and a process that speaks to itself needs none. Programs that it
  // starts may need some.
  const Lent protocol("OMPI_MCA_pml", "ob1");
  const Lent network("OMPI_MCA_btl", "self");
  MPI_Init(nullptr, nullptr);
}

MpiSession::~MpiSession() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (started_ && finalized == 0) MPI_Finalize();
}

int MpiSession::rank() const {
  require_no_end();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int MpiSession::size() const {
  require_no_end();
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

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

void World::State::post_inbox() {
  MPI_Irecv(inbox_.data(), static_cast<int>(inbox_.size()), MPI_BYTE, MPI_ANY_SOURCE, 0, control, &inbox_request_);
}

void World::State::send_notice(int to, const Notice& notice) {
  drop_delivered(outbox_);
  Outgoing& outgoing = outbox_.emplace_back();
  const std::span<const std::byte> plain = std::as_bytes(std::span(&notice, 1));
  const std::size_t bytes = seal ? seal->size(to, plain.size()) : plain.size();
  if (seal) {
    seal->close(MessageKind::notice, to, 0, plain, std::span(outgoing.bytes).first(bytes));
  } else {
    std::copy(plain.begin(), plain.end(), outgoing.bytes.begin());
  }
  MPI_Isend(outgoing.bytes.data(), static_cast<int>(bytes), MPI_BYTE, to, 0, control, &outgoing.request);
}

void World::State::open_notice(int from, std::span<const std::byte> way, Notice& notice) const {
  const std::span<std::byte> plain = std::as_writable_bytes(std::span(&notice, 1));
  if (seal) return seal->open(MessageKind::notice, from, 0, way, plain);
  check<FailureError>(way.size() == plain.size(),
                      "a notice of {} bytes came from rank {}: it has {}. This is a fault of the program.", way.size(),
                      from, plain.size());
  std::copy(way.begin(), way.end(), plain.begin());
}

bool World::State::take_notice(Notice& notice, int& from) {
  while (true) {
    int arrived = 0;
    MPI_Status status;
    MPI_Test(&inbox_request_, &arrived, &status);
    if (arrived == 0) return false;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    from = status.MPI_SOURCE;
    const NoticeBytes came = inbox_;
    post_inbox();
    // The length is that of the sender, who may have sent more than there is room for.
    const std::span<const std::byte> way =
        std::span(came).first(std::min(came.size(), static_cast<std::size_t>(bytes)));
    if (!seal && way.size() == longest_notice) {
      early_.emplace_back(from, std::vector<std::byte>(way.begin(), way.end()));
      continue;
    }
    open_notice(from, way, notice);
    return true;
  }
}

void World::State::set_seal(std::unique_ptr<Seal> of_run) {
  seal = std::move(of_run);
  for (; !early_.empty(); early_.pop_front()) {
    Notice notice;
    open_notice(early_.front().first, early_.front().second, notice);
    handle(notice, early_.front().first);
  }
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

void World::State::handle(const Notice& notice, int from) {
  switch (notice.kind) {
    case NoticeKind::failure:
      failed = static_cast<ExitCode>(notice.code);
      if (notice.silence != 0)
        throw SilenceHeardOf(*failed, fmt::format("rank {}: {}", from, notice.text), notice.round);
      throw PeerError(*failed, fmt::format("rank {}: {}", from, notice.text));
    case NoticeKind::step_failed:
      step_failed = true;
      break;
    case NoticeKind::stop_request:
      appoint(Appointment::stop);
      break;
    case NoticeKind::round_query:
      reply_round(static_cast<Appointment>(notice.code));
      break;
    case NoticeKind::round_reply:
      handle_reply(static_cast<Appointment>(notice.code), notice.round);
      break;
    case NoticeKind::round_agreed:
      agree(static_cast<Appointment>(notice.code), notice.round);
      break;
    case NoticeKind::asks_count:
      if (!seals(from)) break;
      send_notice(from,
                  Notice{.kind = NoticeKind::count,
                         .code = notice.code,
                         .round = static_cast<std::int64_t>(seal->sent(static_cast<MessageKind>(notice.code), from))});
      break;
    case NoticeKind::count:
      sent_counts_[{from, static_cast<MessageKind>(notice.code)}] = static_cast<std::uint64_t>(notice.round);
      break;
    case NoticeKind::ended:
    case NoticeKind::alive: {
      Peer& peer = peers[static_cast<std::size_t>(from)];
      peer.heard = true;
      if (notice.kind == NoticeKind::ended) {
        peer.ended = true;
        peer.rounds_at_end = notice.round + 1;
      }
      peer.round = std::max(peer.round, notice.round);
      break;
    }
  }
}

std::uint64_t World::State::sent_count(int from, MessageKind kind) const {
  const auto found = sent_counts_.find({from, kind});
  return found == sent_counts_.end() ? 0 : found->second;
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

void World::State::abandon(MPI_Request& request, Vector&& buffer) {
  if (request == MPI_REQUEST_NULL) return;
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  if (done != 0) return;
  MPI_Request_free(&request);
  keep(std::make_shared<Vector>(std::move(buffer)));
}

bool World::State::is_nearest_to_the_cause() {
  constexpr double others_have_spoken = 0.3;
  bool nearest = true;
  for (PatienceClock clock; size > 1 && clock.seconds() < others_have_spoken;) {
    Notice notice;
    int from = 0;
    if (!take_notice(notice, from)) {
      clock.rest();
      continue;
    }
    if (notice.kind != NoticeKind::failure) continue;
    nearest = nearest && std::pair(round_, rank) < std::pair(notice.round, from);
  }
  return nearest;
}

void World::State::show_life() {
  const auto now = std::chrono::steady_clock::now();
  if (std::chrono::duration<double>(now - life_shown).count() < watchdog / 4) return;
  life_shown = now;
  const Notice alive{.kind = NoticeKind::alive, .round = round_};
  if (rank != 0) send_notice(0, alive);
  for (int r = 1; rank == 0 && r < size; ++r) send_notice(r, alive);
}

void World::State::set_active(const Layout& layout) {
  active_.clear();
  for (int r = 0; r < layout.ranks(); ++r) {
    if (layout.count(r) > 0) active_.push_back(r);
  }
}

void World::State::wait(std::span<MPI_Request> requests, double patience, const std::function<std::string()>& awaited) {
  const auto completed = [&] {
    int done = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  };
  wait_until<64>(completed, patience, awaited);
}

void World::State::keep_waiting(PatienceClock& clock, double patience, const std::function<std::string()>& awaited) {
  const double waited = clock.seconds();
  const bool others_gave_up = poll_while_waiting(clock.suspended());
  if (waited > patience || others_gave_up) {
    waited_in_vain = true;
    throw FailureError(fmt::format(
        "{}: nothing came for {:.3g} s. See whether that rank still runs, or raise --watchdog.", awaited(), waited));
  }
  clock.rest();
}

void World::State::abandon(MPI_Request& request, const std::shared_ptr<std::vector<std::byte>>& buffer) {
  if (request == MPI_REQUEST_NULL) return;
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  if (done != 0) return;
  MPI_Request_free(&request);
  keep(buffer);
}

void World::State::wait_collective(MPI_Request request, const char* what) {
  const auto done = [&] {
    int all = 0;
    MPI_Test(&request, &all, MPI_STATUS_IGNORE);
    return all != 0;
  };
  wait_for_all(done, what);
}

void World::State::wait_for_all(const std::function<bool()>& done, const char* what) {
  // Ranks may differ by minutes here (one reads a larger file); a rank that failed says so on the control channel.
  const double patience = std::max(10 * watchdog, 600.0);
  PatienceClock clock;
  for (unsigned spins = 1; !done(); ++spins) {
    if (spins % 64 != 0) continue;
    poll();
    if (clock.seconds() > patience) {
      throw FailureError(
          fmt::format("{}: other ranks did not take part for {} s: dead, stopped or still busy. See whether they still "
                      "run, or raise --watchdog.",
                      what, patience));
    }
    clock.rest();
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
