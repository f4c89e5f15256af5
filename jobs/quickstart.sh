#!/usr/bin/env bash
# From a fresh clone to a first result: installs what is missing, builds, and lets five clients on a lopsided graph
# learn together from generated records, each under Gaussian noise. Then it says what the accuracy is worth.
set -euo pipefail

readonly ranks=${RANKS:-5}
. "$(dirname -- "${BASH_SOURCE[0]}")/defaults.sh"

usage() {
  cat <<'TEXT'
usage: jobs/quickstart.sh [OPTIONS OF starling omd]

Installs what is missing (jobs/setup.sh), builds starling into build/quickstart and runs five clients, one per MPI rank,
over topologies/unbalanced-5.topo. Results go to a new folder run-quickstart-<time> where you are.

Whatever follows is handed to starling omd and wins over what is chosen here, for example
  jobs/quickstart.sh --total-epsilon 0.1
  jobs/quickstart.sh --mechanism none --output first-run
  RANKS=8 jobs/quickstart.sh --topology topologies/NAME-OF-EIGHT.topo
Without --source records are made in the folder quickstart-data; with --config only the run directory is chosen here.
All options: build/quickstart/starling omd --help=all
TEXT
}

say() { printf '%s\n' "$*" >&2; }
heading() { printf '\n== %s\n' "$*" >&2; }

# A command line as it can be pasted into a shell.
quoted() {
  local word line=
  for word in "$@"; do
    # printf %q would break the quotes of everyday words such as a=b,c into backslashes.
    if [[ $word =~ ^[A-Za-z0-9_./:=,+@%-]+$ ]]; then line+=" $word"; else line+=" $(printf '%q' "$word")"; fi
  done
  printf '%s\n' "${line# }"
}

# given NAME WORDS...: whether --NAME is among the words.
given() {
  local name=$1 word
  shift
  for word in "$@"; do
    if [[ $word == "--$name" || $word == "--$name="* ]]; then return 0; fi
  done
  return 1
}

# value_of NAME WORDS...: what follows the last --NAME.
value_of() {
  local name=$1 value=
  shift
  while (($# > 0)); do
    case $1 in
      "--$name") value=${2:-} ;;
      "--$name="*) value=${1#*=} ;;
    esac
    shift
  done
  printf '%s\n' "$value"
}

build() {
  local folder=$root/build/quickstart options=(-DCMAKE_BUILD_TYPE=Release -DSTARLING_TESTS=OFF)
  # A build that was moved together with its clone still points to the old place.
  if [[ -f $folder/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    rm -rf -- "$folder"
  fi
  # What is built here runs here, so a CPU older than the portable default is no obstacle.
  if ! grep -qw avx2 /proc/cpuinfo 2>/dev/null; then options+=(-DSTARLING_ARCH=native); fi
  # Once configured, the build itself sees what has changed.
  if [[ ! -f $folder/build.ninja ]]; then cmake -G Ninja -S "$root" -B "$folder" "${options[@]}" >&2; fi
  cmake --build "$folder" --target starling --parallel "$(nproc)" >&2
}

if given help "$@" || [[ ${1:-} == -h ]]; then
  usage
  exit 0
fi

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

heading "1/3 What starling needs"
bash "$root/jobs/setup.sh"

heading "2/3 Building (some minutes the first time)"
build

heading "3/3 Running starling omd"
if (($# == 0)); then say "Five clients learn from 2,000 records each. All releases tell of a record at most epsilon = 1."; fi
launch=(mpirun -n "$ranks")
# Open MPI refuses more ranks than cores, and root, unless told; MPICH knows neither the option nor the variables.
if mpirun --version 2>/dev/null | grep -q "Open MPI"; then launch+=(--oversubscribe); fi
# It would add ten lines of its own to an error.
environment=(OMPI_MCA_orte_execute_quiet=1)
if [[ $(id -u) == 0 ]]; then environment+=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1); fi

program=$root/build/quickstart/starling
data=quickstart-data
make_records() {
  mkdir -p "$data"
  "$program" data make two-gaussians --clients "$ranks" --records 2000 --output "$data/site-{client}.csv" --force
  "$program" data make two-gaussians --seed 2 --records 1000 --output "$data/held-out.csv" --force
}

# The user's words win, and so does a --config.
options=()
if ! given config "$@"; then
  options+=(--topology "$root/topologies/unbalanced-5.topo" --mechanism gaussian --total-epsilon 1 --delta 1e-5)
  if ! given source "$@"; then
    make_records >&2
    options+=(--source "$data/site-{client}.csv" --test "$data/held-out.csv" --intercept)
  fi
fi
if given output "$@"; then
  output=$(value_of output "$@")
else
  output=run-quickstart-$(date +%Y%m%d-%H%M%S)
  options+=(--output "$output")
fi

keep_defaults "${options[@]}" -- "$@"
command=(env "${environment[@]}" "${launch[@]}" "$program" omd ${kept[@]+"${kept[@]}"} "$@")

# percent_of KEY RUN: a share in the summary of a run, as a percentage.
percent_of() {
  local line
  line=$(grep -m1 "\"$1\"" "$2/summary.json")
  LC_ALL=C printf '%.1f %%' "$(sed -E 's/.*: *([0-9.eE+-]+).*/\1/' <<<"$line")e2"
}

# What the accuracy of RUN is worth: the same run without noise, and an answer that looks at no feature.
show_yardsticks() {
  local run=$1 bare=$1-without-noise
  keep_defaults "${options[@]}" -- --mechanism none --output "$bare"
  env "${environment[@]}" "${launch[@]}" "$program" omd "${kept[@]}" --mechanism none --output "$bare" --progress off >/dev/null
  say "Accuracy on held-out records:"
  say "  $(percent_of test_accuracy "$run")  this run, at epsilon = 1 for each record"
  say "  $(percent_of test_accuracy "$bare")  the same without noise, which protects nobody"
  say "  $(percent_of larger_class "$run")  always the larger class, without learning"
}

status=0
"${command[@]}" || status=$?

say ""
if ((status == 0)); then
  if (($# == 0)); then show_yardsticks "$output"; fi
else
  say "starling ended with exit code $status: its message is above"
fi
say ""
say "To try next:"
say "  $program report $output      # the results again, and pictures"
say "  bash jobs/quickstart.sh --total-epsilon 0.1      # what more privacy costs"
say "  $program init      # five questions about your own records"
say "To repeat this run, with another --output:"
say "  $(quoted "${command[@]}")"
exit "$status"
