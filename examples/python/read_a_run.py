"""What a run directory holds. usage: read_a_run.py [DIRECTORY]; without one, a small run is made first."""

import sys

import numpy as np
import starling

if len(sys.argv) > 1:
    path = sys.argv[1]
else:
    path = starling.omd(source="synthetic:drift:n=100", clients=4, topology="ring", mechanism="laplace", epsilon=1, seed=1, tuning="off",
                        progress="off", output="a-run").path
run = starling.load(path)
print(run, "by", run.summary["command_line"])
print("clients", run.summary["clients"], "rounds", run.summary["rounds"], "dimension", run.summary["dimension"])
print("distance of each client to the mean model:", np.round(np.linalg.norm(run.models - run.model, axis=1), 4))
print("columns of the history:", ", ".join(run.history))
print(run.privacy.splitlines()[0])
# prints: clients 4
