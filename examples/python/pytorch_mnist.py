"""A PyTorch network of convolutions on MNIST, over ten clients; a record pays eps = 1 in all (delta = 1e-5).

usage: mpirun -n 10 python3 pytorch_mnist.py FOLDER [--built-in] [--seed N] [--rounds N] [--output DIR]

FOLDER has the four files of MNIST as they are published. With --built-in starling's own network of the same layers learns, with
the same records, noise and settings. Both start at values within 1/sqrt(fan-in), which are other numbers. Ranks host blocks of clients: with `mpirun -n 2`, or without mpirun, the results are the same.
"""

import argparse
import os
import sys

import starling

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit()


# What `--tuning auto` chooses for the built-in network and four passes, but for the norm of records, which it releases.
SETTINGS = {"tuning": "off", "epochs": 4, "batch": 94, "clip": 3.5, "step": 0.4, "step_decay": "linear", "step_cap": 100,
            "gossip_steps": 2, "noise_correlation": "blt:2"}


class Network(torch.nn.Module):
    """The layers of `--model cnn:4-8-32` on 28 x 28 pixels: 5,370 parameters."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(1, 4, 5), torch.nn.MaxPool2d(2), torch.nn.Conv2d(4, 8, 5), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
            torch.nn.Linear(128, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))

    def forward(self, x):
        return self.layers(x.reshape(-1, 1, 28, 28))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", default=".")
    parser.add_argument("--built-in", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--output")
    choice = parser.parse_args()
    train, test = (",".join(os.path.join(choice.folder, f"{part}-{kind}-ubyte.gz") for kind in ("images-idx3", "labels-idx1"))
                   for part in ("train", "t10k"))
    if not os.path.exists(train.split(",")[0]):
        print(f"skipped: there is no MNIST in {choice.folder}")
        sys.exit()
    torch.set_num_threads(1)
    if choice.built_in:
        model = {"model": "cnn:4-8-32", "loss": "softmax:10"}
    else:
        model = {"model": starling.torch(Network(), torch.nn.CrossEntropyLoss(), classifies=True)}
    run = starling.omd(**model, source=train, scale="1/255", clients=10, topology="exponential", partition="iid", **SETTINGS,
                       rounds=choice.rounds, mechanism="gaussian", total_epsilon=1, delta=1e-5, record_every=1000, seed=choice.seed,
                       output=choice.output, progress="off")
    # The clients' mean model, once: scoring ten models after many rounds would take longer than learning them.
    found = starling.score(run.path, source=test, model=None if choice.built_in else model["model"], progress="off")
    if starling.rank() == 0:
        print(*run.privacy.splitlines()[:2], sep="\n")
        print(f"accuracy {100 * found['metrics']['accuracy']:.2f} % after {run.summary['rounds']} rounds")


main()
