"""Keeps a run in MLflow: options as parameters, the history as metrics, and the files that anyone may see.
usage: track_in_mlflow.py [DIRECTORY]; without one, a small run is made first. MLFLOW_TRACKING_URI says where runs are kept."""

import configparser
import math
import os
import sys

import starling

try:
    import mlflow
except ImportError:
    print("skipped: MLflow is not installed")
    sys.exit(0)

# Released or public: neither keys nor ledgers, which lie in private/.
SHOWN = ["summary.json", "config.ini", "privacy.txt", "history.csv", "model.h5"]

if len(sys.argv) > 1:
    path = sys.argv[1]
else:
    path = starling.omd(source="synthetic:drift:n=100", clients=4, topology="ring", mechanism="laplace", epsilon=1, seed=1, tuning="off",
                        progress="off", output="a-run").path
run = starling.load(path)
history = {name: list(values) for name, values in run.history.items()}
steps = [int(step) for step in history.pop("rounds")]
config = configparser.ConfigParser(interpolation=None, delimiters="=", comment_prefixes="#", strict=False)
with open(run.file("config.ini"), encoding="utf-8") as file:
    config.read_string("[run]\n" + file.read())

with mlflow.start_run(run_name=os.path.basename(path)):
    mlflow.log_params(dict(config["run"]))
    mlflow.set_tag("command", run.summary["command_line"])
    mlflow.set_tag("privacy", run.privacy.splitlines()[0])
    for position, step in enumerate(steps):
        row = {name: float(values[position]) for name, values in history.items()}
        mlflow.log_metrics({name: value for name, value in row.items() if math.isfinite(value)}, step=step)
    for name in SHOWN:
        if os.path.exists(run.file(name)):
            mlflow.log_artifact(run.file(name))
print("kept", len(steps), "rounds of", len(history), "figures in MLflow")
