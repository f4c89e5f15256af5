#!/usr/bin/env bash
# What both definitions of images (Dockerfile, starling.def) run inside Debian 12.
#   container.sh build      compiles the tree that this file is part of, and packs it in /build/packages
#   container.sh install    installs the packages beside this file, and nothing of what built them
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

case ${1:-} in
  build)
    bash "$here/../jobs/setup.sh"
    apt-get install --no-install-recommends -y python3-dev pybind11-dev python3-numpy dpkg-dev fakeroot file
    BUILD=/build bash "$here/build.sh" DEB  # a build folder that was copied with the tree fits no other place
    ;;
  install)
    apt-get update
    apt-get install --no-install-recommends -y "$here"/*.deb
    rm -rf /var/lib/apt/lists/*
    ;;
  *)
    printf "container.sh: '%s' is neither build nor install.\n" "${1:-}" >&2
    exit 2
    ;;
esac
