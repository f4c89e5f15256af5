#!/usr/bin/env python3
"""The round of whole_round.cpp as a good user of mpi4py and NumPy writes it: persistent requests, operations in place, no
Python loop over records. Its noise is NumPy's (floating point, so no more private than that allows). Prints the same columns.

    mpirun -n R python3 numpy_round.py [BLOCKS [DIMENSION]...]     (Debian: python3-mpi4py python3-numpy)
"""
import sys
import time

import numpy
from mpi4py import MPI

BATCH, BATCHES, CLIP, STEP = 32, 16, 1.0, 0.05


class Client:
    """One rank on a directed ring: it sends to the next and hears from the one before."""

    def __init__(self, comm, d):
        self.random = numpy.random.default_rng([1, comm.rank])
        self.rows = self.random.normal(size=(BATCHES, BATCH, d)) / d
        self.labels = numpy.where(self.random.normal(size=(BATCHES, BATCH)) > 0, 1.0, -1.0)
        self.sizes = numpy.empty((BATCH, d))
        self.d, self.t, self.loss, self.correct = d, 0, 0.0, 0
        self.message, self.received = numpy.empty(d + 1), numpy.empty(d + 1)
        self.x, self.mass = numpy.full(d, 1 / d), 1.0
        self.gradient = numpy.empty(d)
        self.requests = [comm.Recv_init(self.received, (comm.rank - 1) % comm.size),
                         comm.Send_init(self.message, (comm.rank + 1) % comm.size)]

    def round(self):
        rows, labels = self.rows[self.t % BATCHES], self.labels[self.t % BATCHES]
        margins = labels * (rows @ self.x)
        self.loss += numpy.logaddexp(0, -margins).sum()
        self.correct += numpy.count_nonzero(margins > 0)
        slopes = -labels / (1 + numpy.exp(margins))
        numpy.abs(rows, out=self.sizes)  # a stream's records are new, and so are their norms
        slopes /= numpy.maximum(numpy.abs(slopes) * self.sizes.sum(axis=1) / CLIP, 1)
        numpy.dot(slopes, rows, out=self.gradient)
        self.gradient += self.random.laplace(scale=2 * CLIP, size=self.d)
        self.t += 1
        self.gradient *= -STEP / (self.t ** 0.5 * self.mass * BATCH)
        numpy.exp(self.gradient, out=self.gradient)
        self.x *= self.gradient
        self.x /= self.x.sum()
        self.mix()

    def mix(self):
        numpy.multiply(self.x, 0.5 * self.mass, out=self.message[:-1])
        self.message[-1] = 0.5 * self.mass
        MPI.Prequest.Startall(self.requests)
        MPI.Request.Waitall(self.requests)
        self.message += self.received
        self.mass = self.message[-1]
        numpy.divide(self.message[:-1], self.mass, out=self.x)


def block(comm, client, rounds):
    comm.Barrier()
    start = time.perf_counter()
    for _ in range(rounds):
        client.round()
    return comm.allreduce(time.perf_counter() - start, MPI.MAX) / rounds


def main():
    comm = MPI.COMM_WORLD
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    if comm.rank == 0:
        print("ranks,graph,dimension,numpy,numpy_p10")
    for d in [int(word) for word in sys.argv[2:]] or [5, 100, 1000]:
        client = Client(comm, d)
        rounds = max(10, min(2000, int(0.02 / block(comm, client, 50))))
        seconds = [1e6 * block(comm, client, rounds) for _ in range(blocks)]
        if comm.rank == 0:
            print(f"{comm.size},directed-ring,{d},{numpy.median(seconds):.3f},{numpy.quantile(seconds, 0.1):.3f}", flush=True)


main()
