#!/usr/bin/env python3
"""What own models in Python cost: rounds of `starling.omd` with a model in NumPy against the same NumPy code in a bare loop of mpi4py,
and rounds with a PyTorch network against the per-record gradients of the same network alone.

    PYTHONPATH=BUILD/python mpirun -n 2 python3 tests/benchmark/python_model.py [--features 100] [--batch 32] [--rounds 3000] [--turns 7]

Debian: python3-mpi4py, python3-torch (left out where it is not installed). Asked for without noise: at most 1.5 times, and 1.3 times.
Under noise each record has a call of its own.
"""
import argparse
import statistics
import tempfile
import time

import numpy
from mpi4py import MPI

import starling

COMM = MPI.COMM_WORLD
CLIP, STEP, NOISE = 1.0, 0.05, 1.0
PROTECTIONS = {"mechanism": "gaussian", "mu": 1 / NOISE, "clip": CLIP}, {"mechanism": "none"}


def gradients_of(point, x, y):
    margin = y * (x @ point)
    return numpy.logaddexp(0, -margin), (-y / (1 + numpy.exp(margin)))[:, None] * x


class Logistic(starling.Model):
    def gradients(self, point, x, y):
        return gradients_of(point, x, y)


def bare_loop(x, y, batch, rounds):
    """Push-sum on a directed ring of ranks, with clipped and noised gradients: what one writes by hand. Returns seconds."""
    random = numpy.random.default_rng([1, COMM.rank])
    d = x.shape[1]
    message, received, model, mass = numpy.empty(d + 1), numpy.empty(d + 1), numpy.zeros(d), 1.0
    requests = [COMM.Recv_init(received, (COMM.rank - 1) % COMM.size), COMM.Send_init(message, (COMM.rank + 1) % COMM.size)]
    loss = 0.0
    COMM.Barrier()
    began = time.perf_counter()
    for t in range(rounds):
        at = (t * batch) % len(x)
        losses, rows = gradients_of(model, x[at:at + batch], y[at:at + batch])
        loss += losses.sum()
        rows *= numpy.minimum(1, CLIP / numpy.maximum(numpy.sqrt((rows * rows).sum(axis=1)), 1e-300))[:, None]
        gradient = (rows.sum(axis=0) + random.normal(scale=2 * CLIP * NOISE, size=d)) / batch
        model -= STEP / ((t + 1) ** 0.5 * mass) * gradient
        numpy.multiply(model, 0.5 * mass, out=message[:-1])
        message[-1] = 0.5 * mass
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        message += received
        mass = message[-1]
        numpy.divide(message[:-1], mass, out=model)
    return time.perf_counter() - began


def in_starling(folder, model, records, batch, rounds, turn, protection):
    x, y = records
    run = starling.omd(model=model, records=[(x, y) if u == COMM.rank else None for u in range(COMM.size)], batch=batch,
                       epochs=rounds * batch // len(x) + 1, rounds=rounds, step=STEP, tuning="off", progress="off",
                       output=f"{folder}/{type(model).__name__}-{protection['mechanism']}-{turn}", **protection)
    return run.summary["time"]["wall"]


def tell(what, protection, ratios):
    if COMM.rank == 0:
        print(f"{protection['mechanism']}: {what} {statistics.median(ratios):.2f} times ({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} turns)", flush=True)


def network():
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    layers = torch.nn.Sequential(torch.nn.Linear(100, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
    return starling.torch(layers, torch.nn.functional.cross_entropy, classifies=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--turns", type=int, default=7)
    choice = parser.parse_args()
    random = numpy.random.default_rng([2, COMM.rank])
    x = random.normal(size=(16 * choice.batch, choice.features))
    y = numpy.where(x[:, 0] > 0, 1.0, -1.0)
    with tempfile.TemporaryDirectory() as own:
        folder = COMM.bcast(own)
        for protection in PROTECTIONS:
            ratios = []
            for turn in range(choice.turns):
                bare = bare_loop(x, y, choice.batch, choice.rounds)
                ratios.append(in_starling(folder, Logistic(), (x, y), choice.batch, choice.rounds, turn, protection) / bare)
            tell("a round with a model in NumPy takes, of the time of a bare loop,", protection, ratios)
        torch_model = network()
        for protection in PROTECTIONS if torch_model is not None else ():
            x, y = random.normal(size=(512, 100)), random.integers(0, 10, size=512).astype(float)
            rounds = max(choice.rounds // 10, 10)
            point = torch_model.start(1)
            torch_model.dimension(100)
            ratios = []
            for turn in range(choice.turns):
                COMM.Barrier()
                began = time.perf_counter()
                for t in range(rounds):
                    at = (t * choice.batch) % len(x)
                    torch_model.gradients(point, x[at:at + choice.batch], y[at:at + choice.batch])
                alone = time.perf_counter() - began
                ratios.append(in_starling(folder, torch_model, (x, y), choice.batch, rounds, turn, protection) / alone)
            tell("a round with a PyTorch network takes, of the time of the gradients of its batch alone,", protection, ratios)


if __name__ == "__main__":
    main()
