#!/usr/bin/env bash
# Installs what starling needs to build and run. On Debian (12 or later) and Ubuntu (24.04 or later) by apt-get, as root
# or through sudo; elsewhere it says what to install. With everything there it does nothing and needs no network.
set -euo pipefail

readonly required=(g++ cmake ninja-build git openmpi-bin libopenmpi-dev libhdf5-dev libeigen3-dev libspectra-dev
                   libboost-program-options-dev libfmt-dev nlohmann-json3-dev libssl-dev libsodium-dev libmpfr-dev librandom123-dev zlib1g-dev)

# The version behind the package clang, as that of libFuzzer has it in its name; Debian 12's where apt knows nothing yet.
clang_version() {
  local found
  found=$({ dpkg-query -W -f '${Depends}\n' clang; apt-cache depends clang; } 2>/dev/null | grep -oE 'clang-[0-9]+' || true)
  found=${found%%$'\n'*}
  printf '%s' "${found:-clang-14}" | tr -d 'a-z-'
}

for_tests=(libgtest-dev libgmock-dev python3 python3-dev pybind11-dev python3-h5py python3-numpy python3-scipy python3-networkx
           clang lld clang-format "libclang-rt-$(clang_version)-dev" slurm-wlm munge iproute2 valgrind doxygen gfortran pkg-config
           python3-yaml python3-jinja2 lintian patchelf dpkg-dev fakeroot debootstrap mandoc strace zsh fish chromium)
readonly for_tests
# starling draws with these, and reads TOML with the last, if they are there, and says so if not.
readonly optional=(gnuplot-nox graphviz libtomlplusplus-dev)
# Tests of what goes along with other packages of Python and R; a system without one of these leaves them out.
readonly optional_for_tests=(python3-pandas python3-matplotlib python3-mpi4py python3-torch python3-statsmodels python3-nbclient
                             python3-nbformat python3-ipykernel python3-pip python3-sklearn r-base-core r-bioc-rhdf5)

readonly dnf_packages="gcc-c++ cmake ninja-build git openmpi-devel hdf5-devel eigen3-devel spectra-devel boost-devel \
fmt-devel json-devel openssl-devel libsodium-devel mpfr-devel zlib-devel random123-devel gnuplot graphviz tomlplusplus-devel"
readonly dnf_test_packages="gcc-gfortran pkgconf-pkg-config gtest-devel gmock-devel python3-devel pybind11-devel python3-h5py python3-numpy python3-scipy python3-networkx clang lld \
compiler-rt slurm-slurmctld slurm-slurmd munge iproute strace valgrind clang-tools-extra doxygen chromium"
readonly spack_packages="cmake ninja openmpi hdf5 eigen spectra boost+program_options fmt nlohmann-json \
openssl libsodium mpfr random123 zlib gnuplot graphviz tomlplusplus"
readonly spack_test_packages="pkgconf googletest py-pybind11 py-h5py py-numpy py-scipy py-networkx llvm+clang slurm+pmix munge strace valgrind doxygen"

usage() {
  cat <<'TEXT'
usage: jobs/setup.sh [--tests] [--print]

Installs the packages that starling needs to build and run.

  --tests   also what its tests need
  --print   only list the packages, for apt-get, dnf, Spack and environment modules
  --help    this text

Exit codes: 0 all there, 2 something is missing and could not be installed.
TEXT
}

say() { printf '%s\n' "setup: $*" >&2; }

names_elsewhere() {
  local dnf=$dnf_packages spack=$spack_packages
  if [[ $tests == yes ]]; then
    dnf+=" $dnf_test_packages"
    spack+=" $spack_test_packages"
  fi
  cat <<TEXT
Fedora, RHEL (there with EPEL and CRB) and relatives:
  dnf install $dnf
  module load mpi/openmpi-x86_64        # puts mpicxx and mpirun on the PATH
  random123-devel is not packaged everywhere: Random123 is headers only, so unpack it anywhere and configure with
  -DRANDOM123_INCLUDE_DIR=FOLDER, the folder that holds Random123/philox.h. The same holds for spectra-devel and
  -DSPECTRA_INCLUDE_DIR=FOLDER, the folder that holds Spectra/SymEigsSolver.h.

Spack, without root:
  spack env create starling
  spack -e starling add $spack
  spack -e starling install
  spack env activate starling

Environment modules (names differ from site to site; see module avail):
  module load gcc cmake ninja openmpi hdf5 eigen spectra boost fmt nlohmann_json openssl libsodium mpfr zlib random123
  what no module offers can come from Spack.
TEXT
}

# The packages among the arguments that dpkg does not have installed, one a line.
missing_of() {
  local have name
  # One package may appear once per architecture; dpkg-query fails for names that it has never heard of.
  have=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  for name in "$@"; do
    grep -qxF -- "$name installed" <<<"$have" || printf '%s\n' "$name"
  done
}

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" >&2
}

can_be_root() {
  [[ $(id -u) == 0 ]] && return
  command -v sudo >/dev/null || return
  # Without a terminal nobody can type a password.
  [[ -t 0 ]] || sudo -n true 2>/dev/null
}

setup_by_apt() {
  local wanted=("${required[@]}") missing lacking=() all name
  [[ $tests == no ]] || wanted+=("${for_tests[@]}")
  mapfile -t missing < <(missing_of "${wanted[@]}")
  command -v gnuplot >/dev/null || lacking+=(gnuplot-nox)
  command -v dot >/dev/null || lacking+=(graphviz)
  has_header toml++/toml.h || lacking+=(libtomlplusplus-dev)
  [[ $tests == no ]] || mapfile -t -O ${#lacking[@]} lacking < <(missing_of "${optional_for_tests[@]}")
  all=("${missing[@]}" "${lacking[@]}")
  if ((${#all[@]} == 0)); then
    say "all packages are there"
    return
  fi

  if ! can_be_root; then
    if ((${#missing[@]} == 0)); then
      say "no ${lacking[*]}, and neither root nor sudo. Going on: starling runs without, but draws, reads or tests less."
      return
    fi
    say "packages are missing, and installing them needs root or sudo. Run this as root, then repeat:"
    printf '  apt-get update && apt-get install --no-install-recommends -y %s\n' "${all[*]}" >&2
    exit 2
  fi

  say "installing ${all[*]}"
  apt_get update -q || say "apt-get update failed: see above. Trying with the lists that are there."
  if ((${#missing[@]} > 0)); then
    if ! apt_get install -q -y --no-install-recommends "${missing[@]}"; then
      say "apt-get could not install ${missing[*]}: see above. Check the network and the package sources. Starling" \
          "is built on Debian 12 or later and Ubuntu 24.04 or later."
      exit 2
    fi
  fi
  if ((${#lacking[@]} > 0)) && ! apt_get install -q -y --no-install-recommends "${lacking[@]}"; then  # one of them may be unknown
    for name in "${lacking[@]}"; do
      apt_get install -q -y --no-install-recommends "$name" ||
        say "no $name: apt-get could not install it. Going on: starling runs without, but draws, reads or tests less."
    done
  fi
}

# Whether the C++ compiler finds a header, also in the prefixes that Spack, conda and modules announce.
has_header() {
  local prefix folders=() prefixes=()
  IFS=':;' read -r -a prefixes <<<"${CMAKE_PREFIX_PATH:-}:${CONDA_PREFIX:-}:/usr:/usr/local"
  for prefix in "${prefixes[@]}"; do
    [[ -z $prefix ]] || folders+=(-I "$prefix/include/eigen3" -idirafter "$prefix/include")
  done
  printf '#include <%s>\n' "$1" | c++ -std=c++20 -E "${folders[@]}" -x c++ - >/dev/null 2>&1
}

has_hdf5() {
  command -v h5cc >/dev/null || command -v h5pcc >/dev/null || has_header hdf5.h ||
    { command -v pkg-config >/dev/null && pkg-config --exists hdf5; }
}

look_elsewhere() {
  local missing=() tool header
  for tool in c++ cmake git mpicxx mpirun; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  command -v ninja >/dev/null || command -v ninja-build >/dev/null || missing+=(ninja)
  has_hdf5 || missing+=(HDF5)
  for header in Eigen/Core Spectra/SymEigsSolver.h boost/program_options.hpp fmt/core.h nlohmann/json.hpp openssl/evp.h sodium.h mpfr.h zlib.h \
                Random123/philox.h; do
    has_header "$header" || missing+=("$header")
  done
  if [[ $tests == yes ]]; then
    has_header gmock/gmock.h || missing+=(gmock/gmock.h)
    python3 -c 'import h5py, numpy' 2>/dev/null || missing+=("python3 with h5py and numpy")
  fi
  if ((${#missing[@]} == 0)); then
    say "no apt-get here, but all that is needed seems to be there"
    return
  fi
  say "not found: $(printf '%s, ' "${missing[@]}" | sed 's/, $//'), and there is no apt-get here to install it." \
      "Install it by one of these ways, then repeat:"
  names_elsewhere >&2
  exit 2
}

tests=no
print=no
for word in "$@"; do
  case $word in
    --tests) tests=yes ;;
    --print) print=yes ;;
    --help | -h) usage; exit 0 ;;
    *) say "unknown argument '$word'. See jobs/setup.sh --help."; exit 2 ;;
  esac
done

if [[ $print == yes ]]; then
  packages=("${required[@]}" "${optional[@]}")
  [[ $tests == no ]] || packages+=("${for_tests[@]}" "${optional_for_tests[@]}")
  printf 'Debian 12, Ubuntu 24.04 and later:\n  apt-get install --no-install-recommends %s\n\n' "${packages[*]}"
  names_elsewhere
elif command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
  setup_by_apt
else
  look_elsewhere
fi
