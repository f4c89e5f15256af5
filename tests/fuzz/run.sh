#!/usr/bin/env bash
# Runs the fuzz targets of a build folder for a while each, two at a time, and says how many inputs each has tried.
# What is found on the way stays in BUILD/fuzzing/<target>/found and is searched on from next time; an input that is a
# finding goes to BUILD/fuzzing/<target>/bad. The target hdf5_bytes, which finds faults of the HDF5 library, runs only if
# it is named. Exit codes: 0 nothing found, 1 findings, 2 usage.
set -euo pipefail

if (($# < 2)); then
  echo "usage: tests/fuzz/run.sh BUILD SECONDS [TARGET...]" >&2
  exit 2
fi
build=$(cd -- "$1" && pwd)
seconds=$2
shift 2
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
most_megabytes=512

# search TARGET: leaves libFuzzer's log and its exit code.
search() {
  local target=$1 place=$build/fuzzing/$1 words=() code=0 hdf5=()
  mkdir -p "$place/found" "$place/bad"
  # The library leaks where it fails, and asks for whatever sizes a file holds: it copes with not getting them.
  if [[ $target == hdf5* ]]; then hdf5=(-detect_leaks=0 -malloc_limit_mb=4096); fi
  if [[ -f $here/words/$target ]]; then words=("-dict=$here/words/$target"); fi
  # Slowness is found by the targets themselves, in processor time; the limit here, in a clock's, is for what hangs.
  ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=32 "$build/tests/fuzz/fuzz_$target" \
    -max_total_time="$seconds" -timeout=60 -rss_limit_mb=$most_megabytes "${hdf5[@]}" -max_len=4096 "${words[@]}" \
    -artifact_prefix="$place/bad/" -print_final_stats=1 \
    "$place/found" "$here/corpus/$target" >"$place/log" 2>&1 || code=$?
  echo "$code" >"$place/code"
}

# The last number after a word of libFuzzer's log.
figure() { grep -aoE "$1 *[0-9]+" "$2" | grep -oE '[0-9]+$' | tail -1; }

report() {
  local target=$1 place=$build/fuzzing/$1
  printf '%-14s %10s executions, %5s edges covered, exit code %s\n' "$target" \
    "$(figure number_of_executed_units: "$place/log")" "$(figure cov: "$place/log")" "$(<"$place/code")"
  if [[ $(<"$place/code") == 0 ]]; then return; fi
  findings=$((findings + 1))
  grep -aE '^FINDING|ERROR: |SUMMARY: |runtime error: |Test unit written' "$place/log" | sed 's/^/    /' | head -8
}

targets=("$@")
if ((${#targets[@]} == 0)); then
  for folder in "$here"/corpus/*/; do
    if [[ $folder != */hdf5_bytes/ ]]; then targets+=("$(basename "$folder")"); fi
  done
fi

for target in "${targets[@]}"; do
  while (($(jobs -rp | wc -l) >= 2)); do wait -n; done
  search "$target" &
done
wait

findings=0
for target in "${targets[@]}"; do report "$target"; done
echo "fuzz: ${#targets[@]} targets, $seconds s each, $findings with findings"
exit $((findings > 0))
