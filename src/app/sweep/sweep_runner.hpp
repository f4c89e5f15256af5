/// The runs of a sweep as processes, several at once, or as a job array.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

#include "run_state.hpp"
#include "sweep_spec.hpp"

namespace starling {

/// A run that did not come to its end.
struct FailedRun {
  std::string name;
  int code = 0;  ///< exit code
  std::string message;
};

struct SweepOutcome {
  std::vector<std::string> finished;  ///< directories, in the sweep's order
  std::vector<FailedRun> failed;
  std::size_t left = 0;  ///< runs that are not finished since a signal stopped the sweep
  bool stopped = false;
};

/// The command line of a run, by its state.
[[nodiscard]] std::vector<std::string> words_of(const Sweep& sweep, const SweepRun& run, SweepState state,
                                                const std::string& output);

/// The script of a job array of SLURM with a task for each run, at most `parallel` at once (0: no bound).
[[nodiscard]] std::string slurm_script(const Sweep& sweep, const std::string& output, std::size_t parallel);

/// Starts the runs that are not finished, `parallel` at once, with a line on stderr for each begin and end. SIGINT,
/// SIGTERM, SIGUSR1 and SIGHUP stop the runs, which then leave what --resume needs.
class SweepRunner {
 public:
  SweepRunner(const Sweep& sweep, std::string output, std::size_t parallel);
  [[nodiscard]] SweepOutcome run();

 private:
  struct Process {
    std::size_t run = 0;
    std::chrono::steady_clock::time_point began;
  };
  void start(std::size_t number);
  void reap();
  void end(const Process& process, int code);
  void stop();
  void signal_all(int signal) const;

  const Sweep& sweep_;
  std::string output_;
  std::size_t parallel_;
  std::map<pid_t, Process> processes_;
  std::vector<bool> done_;
  SweepOutcome outcome_;
};

}  // namespace starling
