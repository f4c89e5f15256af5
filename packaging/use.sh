#!/usr/bin/env bash
# Uses an installed starling as its owner would, in an empty folder: the program, a run under mpirun, the Python package, the C++
# library. Fails at the first use that does not work. Its arguments are the prefix, and the version that the program must have.
set -euo pipefail
prefix=$1
version=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none  # not allowed in most containers
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

step() { printf 'use: %s\n' "$*"; }

step "starling --version"
starling --version | grep -F "starling $version "

step "a private run of five ranks, and what it leaves"
mpirun -n 5 starling omd --topology "$prefix/share/starling/topologies/unbalanced-5.topo" --source synthetic:two-gaussians \
  --rounds 200 --mechanism laplace --epsilon 1 --progress off --output run >/dev/null
for file in summary.json privacy.txt model.h5 run.h5 config.ini private/0; do
  [[ -e run/$file ]] || { printf 'use: the run has no %s\n' "$file" >&2; exit 1; }
done
starling report run >/dev/null

step "Python"
python3 - "$version" <<'PYTHON'
import sys

import numpy
import starling

assert starling.__version__.split()[0] == sys.argv[1], starling.__version__
x = numpy.random.default_rng(1).normal(size=(500, 3))
y = numpy.where(x @ [1, -2, 0.5] > 0, 1, -1)
run = starling.omd(records=(x, y), clients=2, partition="iid", mechanism="gaussian", total_epsilon=8, progress="off", output="python")
assert numpy.mean(run.predict(x) == y) > 0.7, run.predict(x)
PYTHON

if [[ -e $prefix/share/doc/starling/examples/library ]] && command -v cmake c++ >/dev/null; then
  step "a program of its own with the C++ library"
  cmake -S "$prefix/share/doc/starling/examples/library" -B build -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build build >/dev/null
  mpirun -n 2 build/median median-run
fi
step "all of it works"
