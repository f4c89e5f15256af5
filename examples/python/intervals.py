"""Confidence intervals that were learned under privacy, in a table beside those of statsmodels, which sees all records."""

import sys

import numpy as np
import starling

try:
    import pandas
    import statsmodels.api as statsmodels
except ImportError:
    print("skipped: pandas or statsmodels is not installed")
    sys.exit()

rng = np.random.default_rng(4)
X = pandas.DataFrame(rng.normal(size=(40000, 3)), columns=["dose", "age", "weight"])
chance = 1 / (1 + np.exp(-(X @ [0.8, -0.5, 0.0] + 0.2)))
ill = (rng.uniform(size=len(X)) < chance).astype(float)

run = starling.infer(records=(X, ill), loss="logistic", clients=4, partition="iid", mechanism="gaussian", mu=1, seed=1, progress="off")
private = run.table("coefficients").set_index("name")
exact = statsmodels.Logit(ill, X.assign(intercept=1.0)).fit(disp=0)
table = exact.conf_int().set_axis(["low", "high"], axis=1).assign(estimate=exact.params)
table = pandas.concat({"private": private, "statsmodels": table}, axis=1)
table = table[[(kind, column) for kind in ("private", "statsmodels") for column in ("estimate", "low", "high")]]
print(table.round(3))
print(*run.privacy.splitlines()[:2], sep="\n")
# prints: dose +-?\d\.\d
