"""Private logistic regression in ten lines: sixteen clients, and eps = 1 for each record."""
import numpy as np
import starling

rng = np.random.default_rng(1)
X = rng.normal(size=(8000, 5)) / 3
y = np.sign(X @ [2, -1, 0.5, 0, 0] + 0.1 * rng.normal(size=8000))
run = starling.omd(records=(X[:6400], y[:6400]), test=(X[6400:], y[6400:]), clients=16, partition="iid", topology="ring",
                   mechanism="gaussian", total_epsilon=1, delta=1e-5, seed=3, progress="off")
print(f"accuracy {run.summary['accuracy']:.2f}")
print(run.privacy.splitlines()[0])
# prints: accuracy 0\.[89]
