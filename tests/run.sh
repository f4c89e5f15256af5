#!/usr/bin/env bash
# Sets up, builds and runs the tests. What it prints last is CTest's summary, and its exit code is CTest's.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tests/run.sh [--long] [--asan] [OPTIONS OF ctest]
       tests/run.sh --fuzz [SECONDS] [TARGET...]
       tests/run.sh --tidy [REGEX]
       tests/run.sh --style

Installs what is missing (jobs/setup.sh --tests), builds the preset release into build/release and runs its tests.

  --long   also the tests labelled long
  --asan   build the modules with address and undefined-behaviour sanitizers and run their tests, without those of the program
           (end_to_end, slurm, hosts, tools), those of what must not compile, and those labelled numbers, which sample or
           integrate for minutes: by Clang where it has
           libFuzzer (build/fuzz, which --fuzz then finds built), else build/asan; the tests' own objects are those of
           build/release where it is there
  --fuzz   instead of tests, search for inputs that readers cannot cope with: each fuzz target for so many seconds (10),
           built by Clang with sanitizers (build/fuzz); what tests/fuzz/README.md says of them
  --tidy   instead of tests, run clang-tidy (which must be installed) over the sources whose path matches REGEX (/src/)
  --style  instead of tests, check the format of the sources (clang-format) and the dependencies between folders
           (tools/house.py --check)
  --help   this text

Warnings in the program are errors of the preset release. Folders of tests are in memory (/dev/shm) where it has two gigabytes left, unless TMPDIR is set.
Whatever follows goes to ctest, for example
  tests/run.sh -R net/         the tests of one module
  tests/run.sh -L privacy -V   those with one label, with all their output
TEXT
}

preset=release
fuzzing=no
sanitized=no
long=no
passed_on=()
if [[ ${1:-} == --fuzz ]]; then
  preset=fuzz
  fuzzing=yes
  shift
  seconds=10
  if [[ ${1:-} =~ ^[0-9]+$ ]]; then
    seconds=$1
    shift
  fi
  targets=("$@")
  set --
fi
if [[ ${1:-} == --style ]]; then
  cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
  bash jobs/setup.sh --tests
  git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run -Werror
  exec python3 tools/house.py --check
fi
if [[ ${1:-} == --tidy ]]; then
  preset=dev
  shift
  pattern=${1:-/src/}
  set --
fi
for word in "$@"; do
  case $word in
    --long) long=yes ;;
    --asan) sanitized=yes ;;
    --help | -h) usage; exit 0 ;;
    *) passed_on+=("$word") ;;
  esac
done

excluded=()
if [[ $sanitized == yes ]]; then excluded+=(end_to_end tools slurm hosts numbers); fi
if [[ $long == no ]]; then excluded+=(long); fi
selection=()
if ((${#excluded[@]} > 0)); then selection=(-LE "^($(IFS='|'; printf '%s' "${excluded[*]}"))\$"); fi

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
bash jobs/setup.sh --tests

if [[ $sanitized == yes ]]; then
  if bash tests/fuzz/has_fuzzer.sh; then preset=fuzz; else preset=asan; fi
fi
if [[ $fuzzing == yes ]] && ! bash tests/fuzz/has_fuzzer.sh; then
  echo "tests/run.sh: no clang++ with libFuzzer (a small program with -fsanitize=fuzzer cannot be built) install Clang and" \
       "its compiler-rt (jobs/setup.sh --tests does on Debian and Ubuntu)" >&2
  exit 2
fi

if [[ $preset == dev ]] && ! command -v run-clang-tidy >/dev/null; then
  echo "tests/run.sh: no run-clang-tidy: install clang-tidy (Debian's package of that name)" >&2
  exit 2
fi

werror=OFF
if [[ $preset == release ]]; then werror=ON; fi
options=(-DSTARLING_WERROR=$werror)
if [[ $sanitized == yes ]]; then
  objects=
  if [[ -f build/release/build.ninja ]]; then
    cmake --build --preset release --target starling_tests --parallel "$(nproc)"
    objects=$PWD/build/release
  fi
  options+=(-DSTARLING_TEST_OBJECTS="$objects")
fi
cmake --preset "$preset" "${options[@]}"
if [[ $preset == dev ]]; then
  # The compiler's own warning options are GCC's.
  exec run-clang-tidy -quiet -j "$(nproc)" -extra-arg=-Wno-unknown-warning-option -p build/dev "$pattern"
fi
built=(all)
if [[ $long == yes ]]; then built+=(benchmarks); fi
if [[ $sanitized == yes ]]; then built=(starling_tests); fi
if [[ $fuzzing == yes ]]; then built=(fuzz); fi
cmake --build --preset "$preset" --target "${built[@]}" --parallel "$(nproc)"
if [[ $fuzzing == yes ]]; then exec bash tests/fuzz/run.sh build/fuzz "$seconds" "${targets[@]}"; fi

if [[ $(id -u) == 0 ]]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
# Programs wait for disks longer than for anything else (checkpoints and ledgers are there when they say so), and tests start
# a thousand of them.
if [[ -z ${TMPDIR:-} && -w /dev/shm && $(df --output=avail -B1M /dev/shm | tail -n 1) -ge 2048 ]]; then
  TMPDIR=$(mktemp -d /dev/shm/starling-tests-XXXXXX)
  chmod 711 -- "$TMPDIR"  # tests have programs of other users
  export TMPDIR
  trap 'rm -rf -- "$TMPDIR"' EXIT
fi
# More at a time than there are CPUs: many wait, for watchdogs or for mpirun. Those that take the time of
# what they do run alone.
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j $(($(nproc) + 4)) "${selection[@]}" "${passed_on[@]}"
