#!/usr/bin/env bash
# From a fresh clone to a first result: installs what is missing, builds, and lets five clients on a lopsided graph
# learn together from a drifting stream, each under Laplace noise.
set -euo pipefail

readonly ranks=${RANKS:-5}
. "$(dirname -- "${BASH_SOURCE[0]}")/defaults.sh"

usage() {
  cat <<'TEXT'
usage: jobs/quickstart.sh [OPTIONS OF starling omd]

Installs what is missing (jobs/setup.sh), builds starling into build/quickstart and runs five clients, one per MPI rank,
over topologies/unbalanced-5.topo. Results go to a new folder run-quickstart-<time> where you are.

Whatever follows is handed to starling omd and wins over what is chosen here, for example
  jobs/quickstart.sh --epsilon 0.1
  jobs/quickstart.sh --mechanism none --rounds 1000 --output first-run
  RANKS=8 jobs/quickstart.sh --topology topologies/NAME-OF-EIGHT.topo
With --source the number of rounds is the data's; with --config only the run directory is chosen here.
All options: build/quickstart/starling omd --help
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
if (($# == 0)); then say "Five clients learn from a drifting stream; each record has Laplace noise of epsilon 1."; fi
launch=(mpirun -n "$ranks")
# Open MPI refuses more ranks than cores, and root, unless told; MPICH knows neither the option nor the variables.
if mpirun --version 2>/dev/null | grep -q "Open MPI"; then launch+=(--oversubscribe); fi
environment=()
if [[ $(id -u) == 0 ]]; then environment=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1); fi

# The user's words win, and so does a --config.
options=()
if ! given config "$@"; then
  options+=(--topology "$root/topologies/unbalanced-5.topo" --batch 8 --mirror euclidean --domain ball:5 --step 1
            --mechanism laplace --epsilon 1 --tuning off)
  if ! given source "$@"; then options+=(--source synthetic:drift:informative=1 --rounds 20000); fi
fi
if given output "$@"; then
  output=$(value_of output "$@")
else
  output=run-quickstart-$(date +%Y%m%d-%H%M%S)
  options+=(--output "$output")
fi

keep_defaults "${options[@]}" -- "$@"
command=("${launch[@]}" "$root/build/quickstart/starling" omd ${kept[@]+"${kept[@]}"} "$@")
if ((${#environment[@]} > 0)); then command=(env "${environment[@]}" "${command[@]}"); fi

status=0
"${command[@]}" || status=$?

if [[ $output != /* ]]; then output=$PWD/$output; fi
say ""
if ((status == 0)); then
  for picture in loss.svg convergence.svg; do
    if [[ -f $output/$picture ]]; then say "Picture    $output/$picture"; fi
  done
else
  say "starling ended with exit code $status (its message is above)"
fi
say "To repeat it, or to change it and run it again with another --output:"
say "  $(quoted "${command[@]}")"
exit "$status"
