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

# The program: STARLING in the environment, or else the release build of this clone.
STARLING=${STARLING:-build/release/starling}
# Where run directories are kept, and where they are while a run goes on. The latter should be fast; ranks on all nodes of
# the job must see it (so a node's own disk serves jobs of one node). Many sites set SCRATCH; without it both are the same.
RESULTS=${RESULTS:-$PWD}
SCRATCH=${SCRATCH:-$RESULTS}
# How processes of one run find each other: `srun --mpi=list` shows what the site has, Open MPI wants pmix. If one rank is
# lost, the others notice, write what they have and end with exit code 5: SLURM need not kill them at once.
LAUNCH=(srun --mpi=pmix --kill-on-bad-exit=0)
# What is lost when a node dies: a run writes its state this often, where the command can (--resume in its help).
CHECKPOINT_EVERY=${CHECKPOINT_EVERY:-300s}
# Seconds after which all ranks have surely begun.
STARTUP=${STARTUP:-10}
# A job that has been put back this often is not put back again: its time limit is too short for it to get ahead.
RESTARTS=${RESTARTS:-100}
# ----------------------------------------------------------------------------------------------------------------------

say() { printf '%s\n' "${SLURM_JOB_NAME:-slurm.sh}: $*" >&2; }

# Better one clear line here than one from each node.
check_job() {
  if ! command -v srun >/dev/null; then
    say "no srun (this script is for SLURM, which is not here) run bash jobs/quickstart.sh instead"
    exit 2
  fi
  if [[ -z ${SLURM_JOB_ID:-} ]]; then
    say "this is not a job (it was started without sbatch) run it by sbatch"
    exit 2
  fi
  if [[ ! -x $STARLING ]]; then
    say "no '$STARLING' in $PWD (not built, or sbatch called elsewhere) build it, or set STARLING"
    exit 2
  fi
}

# resumable COMMAND: whether a stopped run of it can be taken up again.
resumable() { [[ $("$STARLING" "$1" --help) == *--resume* ]]; }

# replace FROM TO: makes TO a copy of FROM. Whenever it is interrupted, TO or TO.old is whole.
replace() {
  rm -rf -- "$2.new"
  cp -a -- "$1" "$2.new"
  if [[ -e $2 ]]; then
    rm -rf -- "$2.old"
    mv -- "$2" "$2.old"
  fi
  mv -- "$2.new" "$2"
  rm -rf -- "$2.old"
}

# Brings the run directory from where it is kept to where it is worked on, if it is not there (any more).
fetch_run() {
  local kept=$RESULTS/$1 work=$SCRATCH/$1
  if [[ ! -e $kept && -e $kept.old ]]; then mv -- "$kept.old" "$kept"; fi
  if [[ -e $kept && ! -e $work ]]; then replace "$kept" "$work"; fi
}

# Brings it back. It stays in SCRATCH, whence sites remove what is old.
keep_run() {
  if [[ $SCRATCH -ef $RESULTS || ! -e $SCRATCH/$1 ]]; then return; fi
  replace "$SCRATCH/$1" "$RESULTS/$1"
}

# The time is nearly up when SIGUSR1 comes (--signal=B:USR1@...): all ranks then stop after one common round. Ranks that have
# only just been started would die of the signal, or never get it.
on_warning() {
  warned=yes
  again=yes
  [[ -n $srun ]] || return 0
  while kill -0 "$srun" 2>/dev/null && ((SECONDS < begun + STARTUP)); do sleep 1; done
  kill -USR1 "$srun" 2>/dev/null || true
}

# launch WORDS...: runs starling on all tasks and leaves its exit code in `status`. When a job is cancelled or put back, SLURM
# sends SIGTERM to the ranks, which stop too, and to this script, which waits for them.
launch() {
  "${LAUNCH[@]}" "$STARLING" "$@" &
  srun=$!
  begun=$SECONDS
  if [[ $warned == yes ]]; then on_warning; fi
  # A signal to this script ends `wait` before srun has ended.
  again=yes
  while [[ $again == yes ]]; do
    again=no
    status=0
    wait "$srun" || status=$?
  done
  trap '' USR1 TERM
}

# digest_of RUN: what its summary is like now; nothing if there is none.
digest_of() { if [[ -e $SCRATCH/$1/summary.json ]]; then cksum <"$SCRATCH/$1/summary.json"; fi; }

# has_run RUN DIGEST: whether ranks can have done what remained to be done, since the summary had that digest. If srun cannot
# start them, its exit code may still be 0.
has_run() {
  local now
  now=$(digest_of "$1")
  [[ -n $now ]] || return
  [[ $now != "$2" ]] || ! grep -q 'stopped by a signal' "$SCRATCH/$1/summary.json"
}

# Whether SLURM stops this job for the sake of another. It then tells the ranks, but not this script.
preempted() { [[ $(scontrol show job --oneliner "$SLURM_JOB_ID") =~ PreemptTime=[0-9] ]]; }

# put_back: asks SLURM to start this job again, under the same number, in the same place.
put_back() {
  if ((${SLURM_RESTART_COUNT:-0} >= RESTARTS)); then
    say "stopped by SLURM after $SECONDS s and not put back (this happened $RESTARTS times) raise --time, or RESTARTS"
    return
  fi
  say "stopped by SLURM after $SECONDS s, goes back into the queue"
  scontrol requeue "$SLURM_JOB_ID"
}

# starling_job COMMAND OPTIONS...: the whole job. Begins a run in the directory run-COMMAND-JOB, or goes on with it if this
# job has begun it; RESUME in the environment names the directory of another job to go on with. Exit codes are starling's:
# 0 done, 2 usage, 3 data, 5 a peer or a file failed, 75 stopped.
starling_job() {
  local command=$1 name words digest status=0 srun='' begun=0 again=no warned=no
  shift
  trap on_warning USR1
  trap 'again=yes' TERM
  check_job
  name=${RESUME:-run-$command-${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}}
  name=${name%/}
  mkdir -p -- "$RESULTS" "$SCRATCH"
  fetch_run "$name"
  if [[ -n ${RESUME:-} && ! -e $SCRATCH/$name ]]; then
    say "no '$RESUME' in $RESULTS or $SCRATCH (RESUME names a run directory that is there) list them by ls -d run-*"
    exit 2
  fi

  # Killed while it started, before its first round: nothing was released, and there is nothing to go on with.
  if [[ -e $SCRATCH/$name && ! -e $SCRATCH/$name/run-id && ! -e $SCRATCH/$name/history.csv ]]; then
    mv -- "$SCRATCH/$name" "$SCRATCH/$name.unbegun-$(date +%s)"
  fi

  words=("$command")
  if resumable "$command"; then words+=(--checkpoint-every "$CHECKPOINT_EVERY"); fi  # the caller's own comes later, and wins
  words+=("$@" --output "$SCRATCH/$name")
  if [[ -e $SCRATCH/$name ]]; then
    if ! resumable "$command"; then
      say "$SCRATCH/$name is there, and starling $command cannot resume (running again would spend privacy again) if you" \
          "want that, submit a new job"
      exit 2
    fi
    say "goes on with $SCRATCH/$name"
    words=("$command" --resume "$SCRATCH/$name")
  fi

  digest=$(digest_of "$name")
  launch "${words[@]}"
  if ((status == 0)) && ! has_run "$name" "$digest"; then
    say "srun reports success, but has not started the ranks (no new summary in $SCRATCH/$name; see its messages above)"
    status=5
  fi
  keep_run "$name"
  if ((status == 75)) && resumable "$command" && { [[ $warned == yes ]] || preempted; }; then
    put_back
  elif ((status == 75)); then
    # No failure: the directory holds every round recorded until then.
    say "stopped by a signal, safely; $RESULTS/$name holds all recorded rounds"
  fi
  exit "$status"
}
