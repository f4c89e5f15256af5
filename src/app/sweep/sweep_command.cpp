// `starling sweep SPEC`.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "app/commands.hpp"
#include "app/program.hpp"
#include "app/report/comparison.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "files/tell_user.hpp"
#include "files/text_files.hpp"
#include "run/settings/catalogue.hpp"
#include "sweep.hpp"

namespace starling {

namespace {

constexpr int most_parallel = 10'000;

struct SweepRequest {
  std::string spec;
  std::string output;
  std::optional<std::size_t> parallel;
  std::optional<std::size_t> only;
  std::string launcher;
  std::string slurm;
  bool dry_run = false;
  std::vector<std::string> metrics;
};

Options options_of_sweep(SweepRequest& request) {
  Options options("sweep");
  options.group("Options");
  options.add(option("spec", "SPEC", "file that describes the sweep",
                     {.example = "sweep.ini", .common = true, .positional = true}),
              request.spec);
  options.add(declared("output", {.help = "folder of the runs' directories, made if need be"}), request.output);
  options.add(option("parallel", "N", "runs at once; default: 1, of a job array no bound",
                     {.range = {1, most_parallel}, .unit = "runs", .example = "2", .common = true}),
              request.parallel);
  options.add(option("only", "K", "only run K of the list that --dry-run shows, from 1",
                     {.range = {1, most_whole}, .example = "1"}),
              request.only);
  options.add(option("launcher", "WORDS", "launcher of MPI programs instead of the file's", {.example = "srun"}),
              request.launcher);
  options.add(option("metric", "METRIC[,METRIC…]",
                     "figures of the table, as in starling report; default: the usual ones that are known",
                     {.example = "accuracy"}),
              request.metrics);
  options.add(flag("dry-run", "print the commands of the runs that are not finished, and end",
                   {.common = true, .relations = {excludes("slurm", "each does something instead of running")}}),
              request.dry_run);
  options.add(
      option("slurm", "FILE", "write a job array for sbatch with a task for each run, and end",
             {.example = "sweep.sbatch", .common = true, .relations = {excludes("only", "an array has all runs")}}),
      request.slurm);
  options.add(declared("help"));
  return options;
}

Manual sweep_manual() {
  return {
      .usage = "SPEC --output DIR [--parallel N] [--only K] [--dry-run] [--slurm FILE]",
      .text =
          "Runs a command for all combinations of values that a file lists, each in a directory of its own below DIR:\n"
          "\n"
          "  [sweep]\n"
          "  command = omd                  # omd, renewable, infer, vertical or fedavg\n"
          "  ranks = 4                      # MPI processes of each run; default: 1\n"
          "  launcher = mpirun              # words before `-n RANKS starling …`; default: mpirun, with --slurm srun\n"
          "  [options]\n"
          "  source = synthetic:drift       # options of the command, as in a file for --config\n"
          "  epsilon = 0.1 | 1 | 8          # several values, separated by |\n"
          "  seed = 1..5                    # a range of whole numbers\n"
          "  [slurm]\n"
          "  time = 01:00:00                # options of sbatch, for --slurm: account, partition and others\n"
          "  modules = gcc openmpi hdf5     # for `module load` in the job\n"
          "\n"
          "All options are checked before the first run. Finished runs are never repeated: the same command goes on "
          "where it was stopped or killed, runs that had begun by --resume. A run that fails is named at the end, and "
          "the others go on. Then follow the table of all runs (those that differ by their seeds alone are one line), "
          "and what they cost the owners of private records together. DIR/NAME is the directory of a run, DIR/NAME.log "
          "what it printed, DIR/NAME.ini its options.\n"
          "\n"
          "Exit codes: 0 all runs are finished; 2 usage; 5 some failed; 75 stopped by a signal, and the same command "
          "goes on.",
      .examples = {"starling sweep sweep.ini --output sweep --parallel 2"}};
}

Sweep sweep_of(const SweepRequest& request) {
  Sweep sweep = read_sweep(request.spec, commands());
  if (!request.launcher.empty()) {
    std::istringstream words(request.launcher);
    sweep.launcher.clear();
    for (std::string word; words >> word;) sweep.launcher.push_back(word);
  }
  if (!request.only) return sweep;
  check(*request.only <= sweep.runs.size(), "--only {}: {} stands for {} runs. See them with --dry-run.", *request.only,
        request.spec, sweep.runs.size());
  sweep.runs = {sweep.runs[*request.only - 1]};
  return sweep;
}

/// Number of runs at once: `asked`, or 1 for runs that share a ledger; 0: no bound. Throws UsageError.
std::size_t at_once(const Sweep& sweep, std::size_t asked) {
  const std::string shared = shared_ledger(sweep);
  if (shared.empty()) return asked;
  check(asked <= 1,
        "--parallel {}: several runs have the ledger {}, which one run at a time writes. Leave --parallel out.", asked,
        shared);
  return 1;
}

std::string commands_text(const Sweep& sweep, const std::string& output) {
  std::string text;
  for (const SweepRun& run : sweep.runs) {
    const SweepState state = state_of(output, run);
    if (state == SweepState::finished) continue;
    text += quoted(words_of(sweep, run, state, output)) + "\n";
  }
  return text;
}

/// The directories of runs that have begun, whether or not they have ended: all of them may have been charged.
std::vector<std::string> begun_runs(const Sweep& sweep, const std::string& output) {
  std::vector<std::string> begun;
  for (const SweepRun& run : sweep.runs) {
    const std::string path = output + "/" + run.name;
    if (std::filesystem::exists(path + "/config.ini")) begun.push_back(path);
  }
  return begun;
}

std::string results_text(const Sweep& sweep, const SweepRequest& request, const std::vector<std::string>& finished) {
  if (finished.empty()) return "";
  std::vector<RunReport> runs;
  for (const std::string& path : finished) runs.emplace_back(path);
  ComparisonRequest asked{sweep.varied, request.metrics};
  std::erase(asked.by, "seed");
  const std::string price = total_price(begun_runs(sweep, request.output));
  return Comparison(runs, asked).table(TableFormat::text) + (price.empty() ? "" : "\n" + price);
}

int exit_code_of_sweep(const SweepOutcome& outcome, const SweepRequest& request) {
  for (const FailedRun& run : outcome.failed) {
    tell_user("failed: {} (exit code {}): {}\n", run.name, run.code, one_line(run.message));
  }
  if (outcome.stopped) {
    tell_user("starling: stopped: {} runs are not finished. The same command goes on with them.\n", outcome.left);
    return static_cast<int>(ExitCode::stopped_safely);
  }
  check<FailureError>(outcome.failed.empty(),
                      "{} of the runs failed: see {}/NAME.log. The same command tries them again.",
                      outcome.failed.size(), request.output);
  return 0;
}

int run_sweep(const Call& call) {
  const auto request = parsed<SweepRequest, options_of_sweep>(call.words);
  check(!request.spec.empty(), "no sweep is named. Name its file: starling sweep SPEC --output DIR");
  check(!request.output.empty(), "--output is missing: each run has a directory there. Name a folder.");
  for (const std::string& metric : request.metrics) require_known_figure(metric);
  const Sweep sweep = sweep_of(request);
  for (const SweepRun& run : sweep.runs) static_cast<void>(state_of(request.output, run));
  const std::size_t parallel = at_once(sweep, request.parallel.value_or(0));
  if (request.dry_run) {
    print(commands_text(sweep, request.output));
    return 0;
  }
  std::error_code error;
  std::filesystem::create_directories(request.output, error);
  check<FailureError>(!error, "cannot make '{}': {}. Name another --output.", request.output, error.message());
  if (!request.slurm.empty()) {
    write_text(request.slurm, slurm_script(sweep, request.output, parallel));
    return 0;
  }
  const SweepOutcome outcome = SweepRunner(sweep, request.output, std::max<std::size_t>(parallel, 1)).run();
  print(results_text(sweep, request, outcome.finished));
  return exit_code_of_sweep(outcome, request);
}

}  // namespace

Command sweep_command() {
  return command_of<SweepRequest, options_of_sweep>(
      "sweep", "runs for all combinations of options, resumed and compared", sweep_manual, run_sweep);
}

}  // namespace starling
