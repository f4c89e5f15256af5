"""A small PyTorch network, learned under privacy with the gradients of single records."""

import sys

import numpy as np
import starling

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit()

rng = np.random.default_rng(3)
X = rng.uniform(-1, 1, size=(4000, 2))
y = (np.abs(X).sum(axis=1) < 0.75).astype(float)  # inside a diamond
net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
model = starling.torch(net, torch.nn.CrossEntropyLoss(), classifies=True)
run = starling.omd(model=model, records=(X[:3600], y[:3600]), test=(X[3600:], y[3600:]), clients=4, partition="iid", topology="complete",
                   mechanism="gaussian", epsilon=8, delta=1e-5, batch=30, epochs=8, clip=1, step=10, step_power=0.5, seed=1,
                   progress="off")
print(f"accuracy {run.summary['metrics']['test_accuracy']:.2f}")
# prints: accuracy 0\.9
