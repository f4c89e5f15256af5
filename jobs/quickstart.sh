#!/usr/bin/env bash
# From a fresh clone to a first result: installs what is missing, builds, and lets five clients on a lopsided graph learn
# together from a drifting stream, each under Laplace noise.
set -euo pipefail

readonly ranks=5

usage() {
  cat <<'TEXT'
usage: jobs/quickstart.sh [OPTIONS OF starling omd]

Installs what is missing (jobs/setup.sh), builds starling into build/quickstart and runs five clients, one per MPI rank,
over topologies/unbalanced-5.topo. Results go to a new folder run-quickstart-<time> where you are.

Whatever follows is handed to starling omd and wins over what is chosen here, for example
  jobs/quickstart.sh --epsilon 0.1
  jobs/quickstart.sh --mechanism none --rounds 1000 --output first-run
The options are listed by: build/quickstart/starling omd --help
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

for word in "$@"; do
  if [[ $word == --help || $word == -h ]]; then
    usage
    exit 0
  fi
done

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

heading "1/3 What starling needs"
bash "$root/jobs/setup.sh"

heading "2/3 Building (some minutes the first time)"
build

heading "3/3 Five clients learn from a drifting stream, each record protected by Laplace noise of epsilon 1"
launch=(mpirun -n "$ranks")
# Open MPI refuses more ranks than cores, and root, unless told; MPICH knows neither the option nor the variables.
if mpirun --version 2>/dev/null | grep -q "Open MPI"; then launch+=(--oversubscribe); fi
environment=()
if [[ $(id -u) == 0 ]]; then environment=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1); fi

output=run-quickstart-$(date +%Y%m%d-%H%M%S)
options=(--topology "$root/topologies/unbalanced-5.topo" --source synthetic:drift:informative=1 --batch 8 --rounds 20000
         --mirror euclidean --domain ball:5 --step 1 --mechanism laplace --epsilon 1)
# The user's own words win: of an option given twice starling takes the last, and the output is named once.
given=
previous=
for word in "$@"; do
  case $word in
    --output=*) given=${word#--output=} ;;
    *) if [[ $previous == --output ]]; then given=$word; fi ;;
  esac
  previous=$word
done
if [[ -n $given ]]; then output=$given; else options+=(--output "$output"); fi

command=("${launch[@]}" "$root/build/quickstart/starling" omd "${options[@]}" "$@")
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
