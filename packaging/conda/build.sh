#!/usr/bin/env bash
# Run by conda-build in the source tree. No channel is known to have Random123: RANDOM123_INCLUDE_DIR names the folder that holds
# Random123/philox.h.
set -euo pipefail
read -r -a arguments <<<"${CMAKE_ARGS:-}"
cmake "${arguments[@]}" -S . -B build/conda -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTARLING_TESTS=OFF -DSTARLING_PYTHON=ON \
  -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DPython_EXECUTABLE="$PYTHON" \
  -DSTARLING_PYTHON_DIR="${SP_DIR#"$PREFIX"/}" \
  -DRANDOM123_INCLUDE_DIR="${RANDOM123_INCLUDE_DIR:?set it to the folder that holds Random123/philox.h}"
cmake --build build/conda
cmake --install build/conda
