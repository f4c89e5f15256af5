/// Sweeps: the file that describes one, the states of its runs, and the runs as processes or as a job array.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "console/command.hpp"

namespace starling {

/// One run of a sweep.
struct SweepRun {
  std::string name;                ///< folder of its results, made of what varies: epsilon-1_seed-2
  std::vector<std::string> words;  ///< options of the command
  std::string configuration;       ///< effective options, as a configuration file
};

struct Sweep {
  std::string path;  ///< of the file
  std::string command;
  int ranks = 1;
  std::vector<std::string> launcher;                       ///< empty: mpirun, and srun in a job array
  std::vector<std::string> varied;                         ///< options with several values, in the file's order
  std::vector<std::pair<std::string, std::string>> slurm;  ///< options of sbatch
  std::string modules;                                     ///< for `module load` in a job array; empty: none
  std::vector<SweepRun> runs;                              ///< the first option varies slowest
};

/// Reads the file: sections [sweep] (command, ranks, launcher), [options] (options of the command, with values between
/// |, and ranges as 1..5 of whole numbers) and [slurm] (options of sbatch, and `modules`). Every run's options are read
/// as the command reads them. Throws UsageError, with file and line or with the run's name.
[[nodiscard]] Sweep read_sweep(const std::string& path, const std::vector<Command>& commands);

/// A ledger (`--ledger`) that several of the runs write; empty if there is none.
[[nodiscard]] std::string shared_ledger(const Sweep& sweep);

enum class SweepState {
  missing,   ///< nothing is there
  finished,  ///< all its rounds, or all that its budget allowed
  begun,     ///< `--resume` goes on with it: releases that were made are neither made nor charged again
  broken,    ///< killed before its first round, or of a kind that cannot be resumed
  busy,      ///< a process works on it
};

/// Throws UsageError if the directory OUTPUT/NAME holds a run with other options, or another thing.
[[nodiscard]] SweepState state_of(const std::string& output, const SweepRun& run);

/// Notes the options of a run that is to start, beside its directory.
void note_options(const std::string& output, const SweepRun& run);
/// The path to which the i-th thing goes, from 1, that a broken run left at this place.
[[nodiscard]] std::string place_aside(const std::string& run, int i);
/// Moves what a broken run has left aside, and returns where to.
std::string put_aside(const std::string& output, const SweepRun& run);

/// A text with a line for each ledger that the owner keeps, and one for each source of private records whose runs have
/// ledgers of their own. Their charges are composed as if every record had been in all of these runs. Empty where
/// nothing was released about private records.
[[nodiscard]] std::string total_price(const std::vector<std::string>& runs);

/// Starts a program in a process group of its own, so that a Ctrl-C reaches the sweep alone. Its output is appended to
/// a file. It gets no variables of an MPI launch, and SIGTERM when the sweep dies. Throws FailureError.
[[nodiscard]] pid_t start_child(const std::vector<std::string>& words, const std::string& log);

/// The exit code by the status of waitpid: 128 + the signal's number where one ended the program.
[[nodiscard]] int exit_code_of(int status);

/// Whether a variable of the environment belongs to an MPI launch, by its name. Settings of a user, as OMPI_MCA_btl,
/// do not, unless a launcher has written settings of its own (`launched`).
[[nodiscard]] bool is_of_launch(const std::string& name, bool launched);

/// The path of the program: this one, or in a process that embeds starling the `starling` of the PATH. Throws
/// UsageError if there is none.
[[nodiscard]] std::string own_program();

/// A run that did not come to its end.
struct FailedRun {
  std::string name;
  int code = 0;  ///< exit code
  std::string message;
};

struct SweepOutcome {
  std::vector<std::string> finished;  ///< directories, in the sweep's order
  std::vector<FailedRun> failed;
  std::size_t left = 0;  ///< runs that are not finished since a signal stopped the sweep, or one of them
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
  bool one_stopped_ = false;  ///< a run has stopped safely, by a signal to its ranks
};

}  // namespace starling
