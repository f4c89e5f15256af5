#!/usr/bin/env bash
# Builds packages of starling by CPack: a Debian package, a tarball that runs from any folder, or both.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'TEXT'
usage: packaging/build.sh [DEB] [TGZ]

Compiles starling in build/package (or $BUILD) and writes the packages to build/package/packages. Without an argument both kinds.
DEBFULLNAME and DEBEMAIL say who makes the package. Needs what jobs/setup.sh installs, python3-dev, python3-numpy and pybind11-dev for
the Python package, dpkg-dev and fakeroot for Debian's, and patchelf for the tarball.
TEXT
}

kinds=()
for word in "$@"; do
  case $word in
    DEB | TGZ) kinds+=("$word") ;;
    --help | -h) usage; exit 0 ;;
    *) printf "build.sh: unknown argument '%s'. See packaging/build.sh --help.\n" "$word" >&2; exit 2 ;;
  esac
done
((${#kinds[@]})) || kinds=(DEB TGZ)

build=${BUILD:-build/package}
maintainer=()
[[ -z ${DEBEMAIL:-} ]] || maintainer=("-DSTARLING_MAINTAINER=${DEBFULLNAME:-The starling developers} <$DEBEMAIL>")
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTARLING_TESTS=OFF -DSTARLING_PYTHON=ON \
  -DCMAKE_INSTALL_PREFIX=/usr -DSTARLING_PYTHON_DIR=lib/python3/dist-packages "${maintainer[@]}"
cmake --build "$build"
for kind in "${kinds[@]}"; do
  cpack --config "$build/CPackConfig.cmake" -G "$kind" -B "$build/packages"
done
