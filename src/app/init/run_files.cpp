#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "console/command.hpp"
#include "init.hpp"

namespace starling {

namespace {

constexpr double usual_delta_of_runs = 1e-5;

std::string data_lines(const PlannedRun& run) {
  const DataLook& look = run.look;
  std::string text = fmt::format(
      "# The records: {} in {} file{}{}.\n",
      run.person.empty() ? std::to_string(look.records) : fmt::format("those of {} persons", look.persons), look.files,
      look.files == 1 ? "" : "s", look.features > 0 ? fmt::format(", with {} features", look.features) : "");
  text += fmt::format("source = {}\n", run.source);
  text += run.has_own_files ? "# Clients, each with a file of its own.\n"
                            : "# Clients, to whom the records are dealt (starling omd --help: Partitions).\n";
  text += fmt::format("clients = {}\n", run.clients);
  if (!run.has_own_files) text += "partition = contiguous\n";
  text += run.reading;
  text += "# Public records on which models are scored, in the same columns:\n# test = held-out.csv\n\n";
  return text;
}

std::string decision_lines(const DataLook& look) {
  std::string text;
  for (const Decision& decision : look.decisions) {
    text += fmt::format("# DECIDE: {}.\n", decision.matter);
    for (const std::string& choice : decision.choices) text += fmt::format("#   {}\n", choice);
  }
  return text.empty() ? text : text + "\n";
}

std::string model_lines(const DataLook& look) {
  std::string text = "# What is learned. ";
  if (!look.label.empty()) text += fmt::format("The label is {}.", look.label);
  if (look.loss.empty()) text += " For two classes; starling init knows more when it is run again after the decisions.";
  text += fmt::format("\nloss = {}\n", look.loss.empty() ? "logistic" : look.loss);
  if (!look.class_labels.empty()) {
    text += fmt::format(
        "# The labels of the classes, by which predictions are given. Of two, the second is what is predicted.\n"
        "class-labels = {}\n",
        look.class_labels);
  }
  return text + "# Adds a constant feature of 1 to each record.\nintercept = true\n\n";
}

std::string privacy_lines(const PlannedRun& run) {
  if (!run.epsilon) return "# Nothing is protected: models tell of records what they tell.\nmechanism = none\n\n";
  std::string text = "# Who is protected: one record, or one person with all records (unit = person).\n";
  text += run.person.empty() ? "unit = record\n" : fmt::format("unit = person\nperson = {}\n", run.person);
  text += "# How much: epsilon of such a unit in all its releases, and the probability at which it may be exceeded.\n";
  text += fmt::format("mechanism = gaussian\ntotal-epsilon = {}\ndelta = {}\n", *run.epsilon,
                      delta_for(run.person.empty() ? run.look.records : run.look.persons));
  return text + "# Batch, clip and steps follow from public numbers (tuning = auto).\n\n";
}

std::string graph_lines(const PlannedRun& run) {
  if (run.topology.empty()) return "";
  return fmt::format(
      "# Who sends models to whom: {}. `starling topology check` tells how fast it mixes.\ntopology = {}\n", run.graph,
      run.topology);
}

/// Stands before and after what is filled in, so that braces of the shell need no doubling.
constexpr std::string_view script_begin = R"(#!/usr/bin/env bash
# Written by starling init. Start it by: sbatch run.sbatch
# The job stops 120 s before its time limit, goes back into the queue, and goes on where it was.
#SBATCH --job-name=starling
# Tasks are MPI ranks: as many as there are clients, or fewer, which then host several clients each.
)";
constexpr std::string_view script_options = R"(#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=1G
#SBATCH --time=01:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --no-kill
#SBATCH --output=starling-%j.log
#SBATCH --open-mode=append

# ---- your site: load here what starling was built with, such as
#   module load gcc openmpi hdf5
# How ranks find each other: `srun --mpi=list` shows what the site has.
launch=(srun --mpi=pmix --kill-on-bad-exit=0)
# ----

set -euo pipefail
)";
constexpr std::string_view script_end = R"(run=run-$SLURM_JOB_ID
words=(omd --config run.ini --output "$run")
if [[ -e $run/run-id || (-e $run/run-is-beginning && -e $run/config.ini) ]]; then
  words=(omd --resume "$run")  # begins the run if it was killed before it released anything
elif [[ -e $run/config.ini ]]; then
  echo "$run cannot go on: it may have released histograms before its first round, and has lost them (a new start" \
    "would pay for them again). $run/private/*/ledger says what is charged. To pay again, submit a new job." >&2
  exit 2
elif [[ -e $run ]]; then  # it ended while it was made
  aside=$run.unbegun-$(date +%s)
  mv -- "$run" "$aside"
fi

# SIGUSR1 comes to this script before the time limit. It is passed on until the launcher has started and heard it.
warned=no
trap 'warned=yes; kill -USR1 "$launcher" 2>/dev/null || true' USR1
trap ':' TERM
"${launch[@]}" "$starling" "${words[@]}" &
launcher=$!
status=0
wait "$launcher" || status=$?
while kill -0 "$launcher" 2>/dev/null; do  # a signal ended `wait`, and not the launcher
  status=0
  wait "$launcher" || status=$?
done
if ((status == 75)) && [[ $warned == yes ]]; then scontrol requeue "$SLURM_JOB_ID"; fi
exit "$status"
)";

}  // namespace

double delta_for(std::int64_t units) {
  const double tenth = 0.1 / static_cast<double>(std::max<std::int64_t>(units, 1));
  return std::min(usual_delta_of_runs, std::pow(10, std::floor(std::log10(tenth))));
}

std::string configuration_text(const PlannedRun& run) {
  return "# Written by starling init, for: starling omd --config run.ini\n"
         "# A line is option = value; `starling omd --help` explains each. The command line wins over this file.\n\n" +
         decision_lines(run.look) + data_lines(run) + model_lines(run.look) + privacy_lines(run) + graph_lines(run);
}

std::string batch_script(const PlannedRun& run, const std::string& program, const std::string& folder) {
  return fmt::format("{}#SBATCH --ntasks={}\n{}cd -- {}\nstarling=${{STARLING:-{}}}\n{}", script_begin, run.ranks,
                     script_options, quoted({folder}), quoted({program}), script_end);
}

}  // namespace starling
