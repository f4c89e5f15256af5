#include <csignal>
#include <filesystem>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <utility>

#include "console/command.hpp"
#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "files/tell_user.hpp"
#include "net/signal_handlers.hpp"
#include "sweep.hpp"

namespace starling {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto between_looks = std::chrono::milliseconds(20);
constexpr auto patience_for_busy = std::chrono::seconds(30);  ///< with the last rounds of a run whose sweep was killed
constexpr auto patience_for_results = std::chrono::seconds(60);
constexpr auto patience_for_end = std::chrono::seconds(10);

volatile std::sig_atomic_t signals_seen = 0;

void note_signal(int /*signal*/) {
  signals_seen = signals_seen + 1;
}

/// The last message of a run in its log; else the last line.
std::string message_in(const std::string& log) {
  std::istringstream lines(read_whole_file(log).value_or(""));
  std::string message;
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("starling: ")) message = line.substr(10);
    if (line.find_first_not_of(" -\r") != std::string::npos) last = line;
  }
  return message.empty() ? last : message;
}

/// The end of the script of a job array, where `sweep` has the words of one task and `run` its directory. SLURM warns
/// the script alone before the time limit: a run that can go on then goes back into the queue. Another safe stop is no
/// failure. A task that SLURM starts again pays for no release twice.
constexpr const char* one_task = R"(
if ((${SLURM_RESTART_COUNT:-0} > 0)) && [[ -e $run/config.ini && ! -e $run/run-id && -n $("${sweep[@]}" --dry-run) ]]; then
  echo "$run cannot go on, and a new start would pay for its releases again. To pay again, submit the array again." >&2
  exit 2
fi
warned=no
process=
trap 'warned=yes; [[ -z $process ]] || kill -USR1 "$process" 2>/dev/null' USR1
trap : TERM
"${sweep[@]}" &
process=$!
status=0
wait "$process" || status=$?
while kill -0 "$process" 2>/dev/null; do
  status=0
  wait "$process" || status=$?
done
if ((status != 75)); then exit "$status"; fi
if [[ $warned == no || ! -e $run/run-id ]]; then exit 0; fi
if ((${SLURM_RESTART_COUNT:-0} >= ${RESTARTS:-100})); then
  echo "stopped by SLURM and not put back: this happened $SLURM_RESTART_COUNT times. Raise the time limit, or RESTARTS." >&2
  exit 75
fi
scontrol requeue "$SLURM_JOB_ID"
exit 75
)";

std::string seconds_since(Clock::time_point began) {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(Clock::now() - began).count());
}

}  // namespace

std::vector<std::string> words_of(const Sweep& sweep, const SweepRun& run, SweepState state,
                                  const std::string& output) {
  std::vector<std::string> words = sweep.launcher.empty() ? std::vector<std::string>{"mpirun"} : sweep.launcher;
  const std::string path = output + "/" + run.name;
  words.insert(words.end(), {"-n", fmt::format("{}", sweep.ranks), own_program(), sweep.command});
  if (state == SweepState::begun) {
    words.insert(words.end(), {"--resume", path});
  } else {
    words.insert(words.end(), run.words.begin(), run.words.end());
    words.insert(words.end(), {"--output", path});
  }
  words.insert(words.end(), {"--progress", "off"});
  return words;
}

std::string slurm_script(const Sweep& sweep, const std::string& output, std::size_t parallel) {
  namespace fs = std::filesystem;
  const std::string folder = fs::absolute(output).lexically_normal().string();
  std::string text = fmt::format(
      "#!/bin/bash{}\n"
      "# {} runs of `starling {}`, a task for each. Submit it again to go on: finished runs are not repeated.\n"
      "#SBATCH --job-name=starling-sweep\n"
      "#SBATCH --array=1-{}{}\n"
      "#SBATCH --ntasks={}\n"
      "#SBATCH --signal=B:USR1@120\n"
      "#SBATCH --requeue\n"
      "#SBATCH --output={}/slurm-%A_%a.log\n"
      "#SBATCH --open-mode=append\n",
      sweep.modules.empty() ? "" : " -l", sweep.runs.size(), sweep.command, sweep.runs.size(),
      parallel == 0 ? "" : fmt::format("%{}", parallel), sweep.ranks, folder);
  for (const auto& [key, value] : sweep.slurm) text += fmt::format("#SBATCH --{}={}\n", key, value);
  if (!sweep.modules.empty()) text += fmt::format("module load {}\n", sweep.modules);
  const std::string launcher = sweep.launcher.empty() ? "srun" : fmt::format("{}", fmt::join(sweep.launcher, " "));
  std::vector<std::string> names;
  for (const SweepRun& run : sweep.runs) names.push_back(run.name);
  const std::vector<std::string> words{own_program(), "sweep", fs::absolute(sweep.path).lexically_normal().string(),
                                       "--output",    folder,  "--launcher",
                                       launcher,      "--only"};
  return text +
         fmt::format("runs=({})\nrun={}/${{runs[SLURM_ARRAY_TASK_ID - 1]}}\nsweep=({} \"$SLURM_ARRAY_TASK_ID\")\n",
                     quoted(names), quoted({folder}), quoted(words)) +
         one_task;
}

SweepRunner::SweepRunner(const Sweep& sweep, std::string output, std::size_t parallel)
    : sweep_(sweep), output_(std::move(output)), parallel_(parallel), done_(sweep.runs.size(), false) {}

void SweepRunner::start(std::size_t number) {
  const SweepRun& run = sweep_.runs[number];
  const auto until = Clock::now() + patience_for_busy;
  SweepState state = state_of(output_, run);
  while (state == SweepState::busy && Clock::now() < until && signals_seen == 0) {
    std::this_thread::sleep_for(between_looks);
    state = state_of(output_, run);
  }
  if (state == SweepState::finished) {
    done_[number] = true;
    return;
  }
  std::string remark = state == SweepState::begun ? "goes on" : "begins";
  if (state == SweepState::broken) remark = "begins anew; what was there is now " + put_aside(output_, run);
  note_options(output_, run);
  const std::string log = output_ + "/" + run.name + ".log";
  processes_[start_child(words_of(sweep_, run, state, output_), log)] = {number, Clock::now()};
  tell_user("[{}/{}] {}: {}\n", number + 1, sweep_.runs.size(), run.name, remark);
}

void SweepRunner::end(const Process& process, int code) {
  const SweepRun& run = sweep_.runs[process.run];
  const std::string head = fmt::format("[{}/{}] {}: ", process.run + 1, sweep_.runs.size(), run.name);
  done_[process.run] = state_of(output_, run) == SweepState::finished;
  if (done_[process.run] && code == 0) {
    tell_user("{}finished in {}\n", head, seconds_since(process.began));
    return;
  }
  if (outcome_.stopped || code == static_cast<int>(ExitCode::stopped_safely)) {
    one_stopped_ = true;
    tell_user("{}stopped after {}\n", head, seconds_since(process.began));
    return;
  }
  outcome_.failed.push_back({run.name, code, message_in(output_ + "/" + run.name + ".log")});
  tell_user("{}failed with exit code {} after {}\n", head, code, seconds_since(process.began));
}

void SweepRunner::reap() {
  for (auto entry = processes_.begin(); entry != processes_.end();) {
    int status = 0;
    if (::waitpid(entry->first, &status, WNOHANG) == 0) {
      ++entry;
      continue;
    }
    const Process process = entry->second;
    entry = processes_.erase(entry);
    end(process, exit_code_of(status));
  }
}

void SweepRunner::signal_all(int signal) const {
  for (const auto& [pid, process] : processes_) ::kill(pid, signal);
}

/// Lets the runs come to a safe end: launchers pass SIGUSR1 on to the ranks. A second signal, or too long an end, is
/// met with SIGTERM, and that with SIGKILL.
void SweepRunner::stop() {
  outcome_.stopped = true;
  signal_all(SIGUSR1);
  const int seen = signals_seen;
  for (const auto& [signal, patience] :
       {std::pair<int, Clock::duration>{SIGTERM, patience_for_results}, {SIGKILL, patience_for_end}}) {
    const auto until = Clock::now() + patience;
    while (!processes_.empty() && Clock::now() < until && (signals_seen == seen || signal == SIGKILL)) {
      std::this_thread::sleep_for(between_looks);
      reap();
    }
    signal_all(signal);
  }
  while (!processes_.empty()) {
    std::this_thread::sleep_for(between_looks);
    reap();
  }
}

SweepOutcome SweepRunner::run() {
  signals_seen = 0;
  const SignalHandlers handlers({SIGINT, SIGTERM, SIGUSR1, SIGHUP}, note_signal);
  std::size_t next = 0;
  while ((next < sweep_.runs.size() || !processes_.empty()) && signals_seen == 0) {
    while (next < sweep_.runs.size() && processes_.size() < parallel_ && signals_seen == 0) start(next++);
    if (processes_.empty()) continue;
    std::this_thread::sleep_for(between_looks);
    reap();
  }
  if (signals_seen > 0) stop();
  for (std::size_t i = 0; i < sweep_.runs.size(); ++i) {
    if (!done_[i]) done_[i] = i >= next && state_of(output_, sweep_.runs[i]) == SweepState::finished;
    if (done_[i]) outcome_.finished.push_back(output_ + "/" + sweep_.runs[i].name);
  }
  outcome_.stopped = outcome_.stopped || one_stopped_;
  outcome_.left = outcome_.stopped ? sweep_.runs.size() - outcome_.finished.size() : 0;
  return std::move(outcome_);
}

}  // namespace starling
