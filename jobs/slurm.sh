# shellcheck shell=bash
# What jobs/*.sbatch share: they read this file, nobody runs it. Adapt the first part to your site once; what an experiment
# needs stands in its .sbatch. docs/cluster.md tells the story.

# ---- your site -------------------------------------------------------------------------------------------------------
# What starling was built with must be there on the nodes too, by modules ...
#   module purge
#   module load gcc openmpi hdf5
# ... or by Spack:
#   . ~/spack/share/spack/setup-env.sh
#   spack env activate starling

# The program: STARLING in the environment, else the release build of this clone, else the one that is installed.
JOBS=$(dirname -- "${BASH_SOURCE[0]}")
if [[ -z ${STARLING:-} && -x $JOBS/../build/release/starling ]]; then STARLING=$JOBS/../build/release/starling; fi
STARLING=${STARLING:-$(command -v starling || echo build/release/starling)}
# Where run directories are kept, and where they are while a run goes on. The latter should be fast; ranks on all nodes of
# the job must see it (so a node's own disk serves jobs of one node). Many sites set SCRATCH; without it both are the same.
RESULTS=${RESULTS:-$PWD}
SCRATCH=${SCRATCH:-$RESULTS}
# How processes of one run find each other: `srun --mpi=list` shows what the site has, Open MPI wants pmix. If one rank is
# lost, the others notice and end with exit code 5, naming it: SLURM need not kill them at once (its PMIx may all the same). jobs/launch.py then
# starts all of them again, on the nodes that are left.
LAUNCH=(srun --mpi=pmix --kill-on-bad-exit=0)
# Hours between failures of a job's nodes: how often a run keeps its state follows from them, unless --checkpoint-every is given.
MTBF=${MTBF:-24}
# A job that has been put back this often is not put back again: its time limit is too short for it to get ahead.
RESTARTS=${RESTARTS:-100}
# ----------------------------------------------------------------------------------------------------------------------

for needed in defaults.sh launch.py launch_parts.py; do
  if [[ ! -r $JOBS/$needed ]]; then
    echo "no $needed beside $JOBS/slurm.sh, which needs it. Copy the whole folder jobs/, or set STARLING_JOBS to that of starling." >&2
    exit 2
  fi
done
# shellcheck source=jobs/defaults.sh
. "$JOBS/defaults.sh"

say() { printf '%s\n' "${SLURM_JOB_NAME:-slurm.sh}: $*" >&2; }

# Better one clear line here than one from each node.
check_job() {
  if ! command -v srun >/dev/null; then
    say "no srun: this script is for SLURM, which is not here. Run bash jobs/quickstart.sh instead."
    exit 2
  fi
  if [[ -z ${SLURM_JOB_ID:-} ]]; then
    say "this is not a job: it was started without sbatch. Run it by sbatch."
    exit 2
  fi
  if [[ ! -x $STARLING ]]; then
    say "no '$STARLING' in $PWD: it is not built, or sbatch was called elsewhere. Build it, or set STARLING."
    exit 2
  fi
}

# take_along OPTIONS...: puts those that a run may be resumed with into `taken`, and what is left into `left`.
take_along() {
  taken=()
  left=()
  while (($# > 0)); do
    case $1 in
      --json | --json-models | --rounds=* | --checkpoint-every=* | --progress=* | --watchdog=* | --ledger-block=*)
        taken+=("$1") ;;
      --rounds | --checkpoint-every | --progress | --watchdog | --ledger-block)
        taken+=("${@:1:2}")
        if (($# > 1)); then shift; fi ;;
      *) left+=("$1") ;;
    esac
    shift
  done
}

# replace FROM TO: makes TO a copy of FROM. Whenever it is interrupted, or fails, TO or TO.old is whole.
replace() {
  rm -rf -- "$2.new"
  if ! cp -a -- "$1" "$2.new"; then
    rm -rf -- "$2.new"
    return 1
  fi
  if [[ -e $2 ]]; then
    rm -rf -- "$2.old" && mv -- "$2" "$2.old" || return 1
  fi
  mv -- "$2.new" "$2" && rm -rf -- "$2.old"
}

has_finished() { [[ -e $1/run-id && $(tail -n 1 -- "$1/run-id") == finished ]]; }

# is_whole WORK KEPT: whether WORK, the run in SCRATCH, still has every file of the copy in RESULTS: sites remove old files
# one by one. What a run itself takes away is no loss: older checkpoints, a summary when it has gone on since, and at its end
# what only going on needs. What is younger than the copy may have any size; and what others put beside a run, as pictures,
# is none of it.
is_whole() {
  local file
  while IFS= read -r -d '' file; do
    if [[ -e $1/$file ]]; then
      [[ $1/$file -nt $2/$file || $(stat -c %s -- "$1/$file") == "$(stat -c %s -- "$2/$file")" ]] || return 1
      continue
    fi
    if has_finished "$1" && ! has_finished "$2"; then continue; fi
    case $file in
      *.part) ;;
      */checkpoint-*) [[ -n $(find "$1/${file%/*}" -name 'checkpoint-*' 2>/dev/null) ]] || return 1 ;;
      private/* | clients/* | config.ini | run-id | history.csv | run.h5) return 1 ;;
      summary.json) [[ $1/history.csv -nt $2/history.csv ]] || return 1 ;;
    esac
  done < <(cd -- "$2" && find . -type f -printf '%P\0')
}

# Brings the run directory from where it is kept to where it is worked on, if it is not there (any more), or not whole.
fetch_run() {
  local kept=$RESULTS/$1 work=$SCRATCH/$1
  if [[ ! -e $kept && -e $kept.old ]]; then mv -- "$kept.old" "$kept"; fi
  if [[ ! -e $kept || $kept -ef $work ]]; then return; fi
  if [[ -e $work ]]; then
    if is_whole "$work" "$kept"; then return; fi
    say "$work has lost files, as where a site removes what is old: the run goes on from its copy in $RESULTS"
    mv -- "$work" "$work.incomplete-$(date +%s)"
  fi
  if ! replace "$kept" "$work"; then
    say "cannot copy $kept to $SCRATCH: see above. Make room there, then scontrol requeue $SLURM_JOB_ID."
    exit 5
  fi
}

# Brings it back. It stays in SCRATCH, whence sites remove what is old.
keep_run() {
  if [[ $SCRATCH -ef $RESULTS || ! -e $SCRATCH/$1 ]]; then return; fi
  if replace "$SCRATCH/$1" "$RESULTS/$1"; then return; fi
  place=$SCRATCH/$1
  say "cannot copy $SCRATCH/$1 to $RESULTS: see above. Make room there and copy it, before it is removed from $SCRATCH."
  copied=no
  if ((status == 0)); then status=5; fi
}

# The time is nearly up when SIGUSR1 comes (--signal=B:USR1@...): all ranks then stop after one common round.
on_warning() {
  warned=yes
  again=yes
  pass_warning_on
}

# The launcher ignores the signal while it starts.
pass_warning_on() {
  while [[ -n $launcher ]] && kill -USR1 "$launcher" 2>/dev/null; do sleep 1; done
}

# launch WORDS...: runs starling on all tasks, again where a rank or a node fails, and leaves its exit code in `status`. When a
# job is cancelled or put back, SLURM sends SIGTERM to the ranks, which stop too, and to this script, which waits for them.
launch() {
  (trap '' USR1 && exec python3 "$JOBS/launch.py" --mtbf "$MTBF" -- "${LAUNCH[@]}" "$STARLING" "$@") &
  launcher=$!
  if [[ $warned == yes ]]; then pass_warning_on; fi
  # A signal to this script ends `wait` before the launcher has ended.
  again=yes
  while [[ $again == yes ]]; do
    again=no
    status=0
    wait "$launcher" || status=$?
  done
  trap '' USR1 TERM
}

# Whether SLURM stops this job for the sake of another. It then tells the ranks, but not this script. A job that was put back
# after an earlier time still has that time; both are of the controller's clock, and sort as texts.
preempted() {
  local job start
  job=$(SLURM_TIME_FORMAT=standard scontrol show job --oneliner "$SLURM_JOB_ID") || return 1
  [[ $job =~ StartTime=([0-9][^ ]*) ]] || return 1
  start=${BASH_REMATCH[1]}
  [[ $job =~ PreemptTime=([0-9][^ ]*) && ! ${BASH_REMATCH[1]} < $start ]]
}

# put_back: asks SLURM to start this job again, under the same number, in the same place.
put_back() {
  if ((${SLURM_RESTART_COUNT:-0} >= RESTARTS)); then
    say "stopped by SLURM after $SECONDS s and not put back: this happened $RESTARTS times. Raise --time, or RESTARTS."
    return
  fi
  say "stopped by SLURM after $SECONDS s, goes back into the queue"
  scontrol requeue "$SLURM_JOB_ID" || say "SLURM does not take it back: see above. Go on in another job: RESUME=$1."
}

# starling_job COMMAND OPTIONS... -- MORE...: the whole job, where MORE is what stands after the script's name and wins.
# Begins a run in the directory run-COMMAND-JOB, or goes on with it if this job has begun it; RESUME in the environment names
# the directory of another job to go on with. Exit codes are starling's: 0 done, 2 usage, 3 data, 5 a peer or a file failed.
# A safe stop is no failure: the job goes back into the queue, or ends with 0 (COMPLETED) where a user stopped it or the run
# is of a kind that cannot go on. 75 (FAILED) is left where it should have gone back, and could not.
starling_job() {
  local command=$1 options=() kept=() name place words status=0 launcher='' again=no warned=no copied=yes taken left
  shift
  while (($# > 0)) && [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  if (($# > 0)); then shift; fi
  trap on_warning USR1
  trap 'again=yes' TERM
  check_job
  if [[ " $*" == *" --output"[=\ ]* ]]; then
    say "--output: a job names its run itself, after its number, so that it can go on with it. Leave it out; RESULTS names the folder."
    exit 2
  fi
  name=${RESUME:-run-$command-${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}}
  name=${name%/}
  place=$RESULTS/$name
  mkdir -p -- "$RESULTS" "$SCRATCH"
  fetch_run "$name"
  if [[ -n ${RESUME:-} && ! -e $SCRATCH/$name ]]; then
    say "no '$RESUME' in $RESULTS or $SCRATCH: RESUME names a run directory that is there. List them by ls -d run-*."
    exit 2
  fi

  # Killed while its directory was made.
  if [[ -e $SCRATCH/$name && -z $(find "$SCRATCH/$name" -mindepth 1 ! -name run-is-beginning -print -quit) ]]; then
    mv -- "$SCRATCH/$name" "$SCRATCH/$name.unbegun-$(date +%s)"
  fi

  if [[ ! -e $SCRATCH/$name ]]; then
    words=("$command")
    keep_defaults "${options[@]}" -- "$@"
    options=(${kept[@]+"${kept[@]}"})
    words+=("${options[@]}" "$@" --output "$SCRATCH/$name")
  elif [[ ! -e $SCRATCH/$name/run-id && ! -e $SCRATCH/$name/run-is-beginning && ! -e $SCRATCH/$name/history.csv ]]; then
    say "$SCRATCH/$name cannot go on: it may have released histograms before its first round, and has lost them. A new" \
        "start would pay for them again; $SCRATCH/$name/private/*/ledger says what is charged. To pay again, submit a new job."
    exit 2
  elif [[ ! -e $SCRATCH/$name/run-id && ! -e $SCRATCH/$name/run-is-beginning ]]; then
    say "$SCRATCH/$name is there, and its run is of a kind that cannot be resumed: running again would spend privacy" \
        "again. If you want that, submit a new job."
    exit 2
  else
    say "goes on with $SCRATCH/$name"
    take_along "$@"
    if ((${#left[@]} > 0)); then say "not used: ${left[*]}: a run that goes on has its options in its config.ini"; fi
    words=("$command" --resume "$SCRATCH/$name" ${taken[@]+"${taken[@]}"})
  fi

  launch "${words[@]}"
  # What is refused changes nothing.
  if ((status != 2)); then keep_run "$name"; fi
  if ((status == 75)) && [[ -e $SCRATCH/$name/run-id ]] && { [[ $warned == yes ]] || preempted; }; then
    put_back "$name"
  elif ((status == 75)); then
    # No failure: the directory holds every round recorded until then.
    say "stopped by a signal, safely; $place holds all recorded rounds"
    if [[ $copied == yes ]]; then status=0; else status=5; fi
  fi
  exit "$status"
}
