"""A loss of your own: Poisson regression of counts, learned under privacy."""

import numpy as np
import starling


class Poisson(starling.Model):
    def gradients(self, point, x, y):
        score = x @ point
        rate = np.exp(score)
        return rate - y * score, (rate - y)[:, None] * x

    def predict(self, point, x):
        return np.exp(x @ point)


rng = np.random.default_rng(2)
truth = np.array([1.0, -0.5, 0.0])
X = rng.uniform(-1, 1, size=(20000, 3))
y = rng.poisson(np.exp(X @ truth)).astype(float)
run = starling.omd(model=Poisson(), records=(X, y), clients=4, partition="iid", topology="complete", mechanism="gaussian", epsilon=1,
                   delta=1e-6, batch=50, clip=2, step=1, step_power=0.5, seed=1, progress="off")
print("coefficients", np.round(run.model, 2), "truth", truth)
print(f"error {np.linalg.norm(run.model - truth):.2f}")
# prints: error 0\.[0-2]
