// Crashes and failures at every step of writing. This program puts its own write, fsync, rename and ftruncate before
// those of the C library: a chosen call ends the process, fails, or does half of its work.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/check.hpp"
#include "ledger_samples.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/ledger/ledger_reading.hpp"
#include "support/testing.hpp"

namespace {

enum class Fault { none, crash, crash_halfway, failure, short_write };

struct Plan {
  Fault fault = Fault::none;
  int call = 0;  ///< which call meets the fault, from 1
  int calls = 0;
  std::string trace;  ///< the calls until now, a letter each
};
Plan plan;  // NOLINT(*-non-const-global-variables)

/// Notes the call, and says whether it is the one.
bool is_due(char letter) {
  ++plan.calls;
  plan.trace += letter;
  return plan.fault != Fault::none && plan.calls == plan.call;
}

/// For calls without half a work. Whether they must fail.
bool must_fail(char letter) {
  if (!is_due(letter)) return false;
  if (plan.fault == Fault::failure) {
    errno = ENOSPC;
    return true;
  }
  if (plan.fault != Fault::short_write) raise(SIGKILL);
  return false;
}

}  // namespace

extern "C" ssize_t write(int file, const void* bytes, size_t size) {
  if (file <= 2 || !is_due('w')) return syscall(SYS_write, file, bytes, size);
  if (plan.fault == Fault::crash) raise(SIGKILL);
  if (plan.fault == Fault::failure) {
    errno = ENOSPC;
    return -1;
  }
  const ssize_t half = syscall(SYS_write, file, bytes, size / 2);
  if (plan.fault == Fault::crash_halfway) raise(SIGKILL);
  return half;
}
extern "C" int fsync(
    int /*file*/) {  // what a killed process has written is there without: only the order is of interest
  return must_fail('s') ? -1 : 0;
}
extern "C" int ftruncate(int file, off_t size) noexcept {
  return must_fail('t') ? -1 : static_cast<int>(syscall(SYS_ftruncate, file, size));
}
extern "C" int rename(const char* from, const char* to) noexcept {
  return must_fail('r') ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}

namespace starling::ledger_crash_test {

using ledger_samples::block_of;
using ledger_samples::run_of;
using namespace testing_support;

/// Rounds reserved after each step of `work`.
const std::vector<Round> rounds_after = {0, 0, 1, 3, 7, 5};
/// The same for the other client, which reserves together with the first in step 3.
const std::vector<Round> others_after = {0, 0, 0, 1, 1, 1};

/// Creates a ledger and uses it; tells after each step that it has returned.
void work(const std::string& path, const std::function<void()>& step_is_done) {
  Ledger ledger = Ledger::open(path);
  ledger.begin(run_of("run"));
  step_is_done();
  ledger.reserve(block_of(0, 0, 0));
  step_is_done();
  ledger.reserve(std::vector{block_of(0, 1, 2), block_of(3, 0, 0)});
  step_is_done();
  ledger.reserve(block_of(0, 3, 6));
  step_is_done();
  ledger.end(0, 5, LedgerEnd::stopped);
  step_is_done();
}

/// Runs `action` in a child process; returns how many steps it has told to be done, and how it ended.
struct Ending {
  std::size_t steps = 0;
  int status = 0;
};
Ending in_child(const std::function<void(const std::function<void()>&)>& action) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    try {
      action([&] { syscall(SYS_write, ends[1], ".", 1); });
      _exit(0);
    } catch (const std::exception&) {
      _exit(1);
    }
  }
  close(ends[1]);
  Ending ending;
  char dot = 0;
  while (read(ends[0], &dot, 1) == 1) ++ending.steps;
  close(ends[0]);
  waitpid(child, &ending.status, 0);
  return ending;
}

/// What must hold after any crash: nothing that was acknowledged is lost, at most the step under way counts besides,
/// and the next run can go on.
void expect_sound(const std::string& path, std::size_t steps) {
  if (std::filesystem::exists(path) && std::filesystem::exists(path + ".head")) {
    const LedgerReading reading = read_ledger(path);
    EXPECT_TRUE(!reading.damage || reading.damage->kind == LedgerDamage::Kind::torn) << reading.damage->reason;
    EXPECT_LE(reading.hashes.size(), static_cast<std::size_t>(reading.counted) + 2);
  }
  {
    Ledger ledger = Ledger::open(path);
    const bool begun = ledger.book().at_hand() != nullptr;
    EXPECT_TRUE(begun || steps == 0);
    if (!begun) ledger.begin(run_of("run"));
    const Round reserved = ledger.reserved_through(0);
    for (const auto& [client, after] : {std::pair(0, rounds_after), std::pair(3, others_after)}) {
      const Round found = ledger.reserved_through(client);
      const Round next = after[std::min(steps + 1, after.size() - 1)];
      EXPECT_TRUE(found == after[steps] || found == next) << found << " of client " << client << ", step " << steps;
    }
    ledger.resume("run", "abc123");
    ledger.reserve(block_of(0, reserved, reserved + 9));
  }
  const LedgerReading reading = read_ledger(path);
  EXPECT_FALSE(reading.damage) << reading.damage->reason;
  EXPECT_EQ(reading.counted, static_cast<std::int64_t>(reading.hashes.size()));
}

/// The calls of `work` without faults.
std::string calls_of_work() {
  const TemporaryFolder folder;
  plan = {};
  work(folder / "ledger", [] {});
  return plan.trace;
}

TEST(LedgerCrash, ARowIsSyncedBeforeItsHeadAndBothBeforeTheCallReturns) {
  const TemporaryFolder folder;
  const std::string head = "wsrs";  // temporary file, its sync, rename, the folder's sync
  const std::string row = "ws";
  plan = {};
  Ledger ledger = Ledger::open(folder / "ledger");
  EXPECT_EQ(plan.trace, head + row + head) << "the head of no rows, and the first row";
  ledger.begin(run_of("run"));
  plan = {};
  ledger.reserve(block_of(0, 0, 0));
  EXPECT_EQ(plan.trace, row + head);
  plan = {};
  static_cast<void>(ledger.book().spent(0, LossLevel::record_in_each_batch));
  static_cast<void>(ledger.reserved_through(0));
  EXPECT_EQ(plan.trace, "");
}

TEST(LedgerCrash, NothingAcknowledgedIsLostByAKillAtAnyCall) {
  const auto calls = static_cast<int>(calls_of_work().size());
  ASSERT_GT(calls, 30);
  for (const Fault fault : {Fault::crash, Fault::crash_halfway}) {
    for (int call = 1; call <= calls; ++call) {
      SCOPED_TRACE(fmt::format("call {}{}", call, fault == Fault::crash ? "" : ", halfway"));
      const TemporaryFolder folder;
      plan = {fault, call, 0, ""};
      const Ending ending = in_child([&](const auto& done) { work(folder / "ledger", done); });
      plan = {};
      ASSERT_TRUE(WIFSIGNALED(ending.status));
      expect_sound(folder / "ledger", ending.steps);
    }
  }
}

TEST(LedgerCrash, AKillWhileTheNextRunHealsIsHealedByTheOneAfter) {
  for (int call = 1;; ++call) {
    SCOPED_TRACE(call);
    const TemporaryFolder folder;
    const std::string path = folder / "ledger";
    const std::string calls = calls_of_work();
    plan = {Fault::crash_halfway, static_cast<int>(calls.size()) - 5, 0, ""};  // amid the last row
    const Ending first = in_child([&](const auto& done) { work(path, done); });
    ASSERT_EQ(read_ledger(path).damage->kind, LedgerDamage::Kind::torn);
    plan = {Fault::crash, call, 0, ""};
    const Ending second = in_child([&](const auto&) { static_cast<void>(Ledger::open(path)); });
    plan = {};
    expect_sound(path, first.steps);
    if (WIFEXITED(second.status)) {
      EXPECT_EQ(call, 3) << "healing cuts and syncs";
      break;
    }
  }
}

TEST(LedgerCrash, AWriteThatFailsAnywhereIsAFailureErrorAndNothingIsReservedThen) {
  const auto calls = static_cast<int>(calls_of_work().size());
  for (int call = 1; call <= calls; ++call) {
    SCOPED_TRACE(call);
    const TemporaryFolder folder;
    plan = {Fault::failure, call, 0, ""};
    std::size_t steps = 0;
    const std::string message = message_of<FailureError>([&] { work(folder / "ledger", [&] { ++steps; }); });
    plan = {};
    EXPECT_THAT(message, HasSubstr("No space left"));
    expect_sound(folder / "ledger", steps);
  }
}

TEST(LedgerCrash, AfterAFailureTheObjectWritesNoMore) {
  const TemporaryFolder folder;
  Ledger ledger = Ledger::open(folder / "ledger");
  ledger.begin(run_of("run"));
  const std::string head = ledger.head();
  plan = {Fault::failure, 1, 0, ""};
  EXPECT_THROW(ledger.reserve(block_of(0, 0, 0)), FailureError);
  plan = {};
  EXPECT_THROW(ledger.reserve(block_of(0, 0, 0)), FailureError);
  EXPECT_EQ(plan.trace, "");
  EXPECT_EQ(ledger.head(), head);
  EXPECT_EQ(ledger.reserved_through(0), 0);
}

TEST(LedgerCrash, AShortWriteIsContinued) {
  const TemporaryFolder folder;
  for (int call = 1; call <= 6; ++call) {
    const std::string path = folder / std::to_string(call);
    plan = {Fault::short_write, call, 0, ""};
    work(path, [] {});
    plan = {};
    EXPECT_FALSE(read_ledger(path).damage);
  }
}

// The same without the calls above: the kernel lets a file grow up to a limit, and ends the process that goes on.

/// Whether two rows could be written.
bool reserve_under_limit(const std::string& path, rlim_t limit, bool survives) {
  const Ending ending = in_child([&](const auto& done) {
    const rlimit files{limit, limit};
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &files);
    if (survives) std::signal(SIGXFSZ, SIG_IGN);
    Ledger ledger = Ledger::open(path);
    try {
      ledger.reserve(std::vector{block_of(0, 1, 8), block_of(3, 0, 7)});
      done();
    } catch (const FailureError&) {
      _exit(5);
    }
  });
  const bool failed = WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 5;
  const bool killed = WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGXFSZ;
  EXPECT_TRUE(ending.steps == 1 || (survives ? failed : killed)) << ending.status;
  return ending.steps == 1;
}

/// The file's size, and how many lines end in it.
std::pair<std::uintmax_t, std::int64_t> measure(const std::string& path) {
  const std::string text = ledger_samples::text_of(path);
  return {text.size(), std::count(text.begin(), text.end(), '\n')};
}

TEST(LedgerCrash, RowsTornAnywhereAreCutOffAndThoseThatFailAreTakenBack) {
  const TemporaryFolder folder;
  const std::string original = folder / "original";
  const std::string path = folder / "copy";
  {
    Ledger ledger = Ledger::open(original);
    ledger.begin(run_of("run"));
    ledger.reserve(block_of(0, 0, 0));
  }
  const auto [before, rows] = measure(original);
  for (const bool survives : {false, true}) {
    bool done = false;
    for (rlim_t limit = before; !done; limit += 3) {
      SCOPED_TRACE(limit);
      for (const char* ending : {"", ".head"}) {
        std::filesystem::copy_file(original + ending, path + ending, std::filesystem::copy_options::overwrite_existing);
      }
      done = reserve_under_limit(path, limit, survives);
      const auto [size, lines] = measure(path);
      if (!done) {
        EXPECT_EQ(size, survives ? before : limit);
      }
      const LedgerReading reading = read_ledger(path);
      EXPECT_EQ(static_cast<std::int64_t>(reading.hashes.size()), lines);
      EXPECT_EQ(reading.size < size, reading.damage && reading.damage->kind == LedgerDamage::Kind::torn);
      EXPECT_EQ(reading.size < size, reading.damage.has_value());
      {
        const Ledger ledger = Ledger::open(path);
        EXPECT_EQ(ledger.reserved_through(0), lines > rows ? 9 : 1);
        EXPECT_EQ(ledger.reserved_through(3), lines > rows + 1 ? 8 : 0);
      }
      EXPECT_EQ(measure(path), std::pair(reading.size, lines));
      EXPECT_FALSE(read_ledger(path).damage);
    }
    EXPECT_GT(measure(path).first, before + 600);
  }
}

}  // namespace starling::ledger_crash_test
