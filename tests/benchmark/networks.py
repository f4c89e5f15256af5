#!/usr/bin/env python3
"""Steps of networks beside PyTorch's, on one thread, interleaved in one run.

    cmake --preset release && cmake --build --preset release --target networks
    /usr/bin/python3 tests/benchmark/networks.py build/release/tests/benchmark/networks [--repetitions 31] [--core N]
                                                 [--blas DIRECTORY]

A step is forward, backward and gradient descent. Cases: a receiver network 102-128-256-64-16 at batch 20 in float and double
(asked for: at least 3 and 2.3 times faster than PyTorch with OpenBLAS), and the network of convolutions cnn:32-64-512 on 28x28
images at batch 128 (asked for: at most 1.3 times PyTorch's time), also as a model of `starling omd` with and without clipping.
PyTorch (Debian: python3-torch) multiplies with whatever libblas.so.3 it finds; --blas names the directory of one, by default
that of a serial or threaded OpenBLAS if there is one. Which library it has really loaded is printed. Its convolutions are tried
in both of its layouts, and the faster one counts. Figures are medians; a ratio is the median of the ratios within each turn.
Times are the processor's, without what a contestant waits for while others use the core.
"""
import argparse
import glob
import os
import statistics
import subprocess
import sys
import time

CASES = {  # name: (repeats, PyTorch's cases)
    "receiver-float": (200, ["receiver-float"]),
    "receiver-double": (200, ["receiver-double"]),
    "cnn-float": (2, ["cnn-float", "cnn-float-channels-last"]),
    "cnn-model": (2, ["cnn-float", "cnn-float-channels-last"]),
    "cnn-model-clipped": (2, ["cnn-float", "cnn-float-channels-last"]),
}


def find_blas():
    for kind in ("openblas-serial", "openblas-pthread", "openblas-openmp"):
        for folder in glob.glob(f"/usr/lib/*/{kind}"):
            return folder
    return None


class Torch:
    """Lives in this process, which was started with the BLAS in its library path."""

    def __init__(self):
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(1)
        self.torch = torch
        self.steps = {"receiver-float": self.receiver(torch.float32), "receiver-double": self.receiver(torch.float64),
                      "cnn-float": self.cnn(torch.contiguous_format), "cnn-float-channels-last": self.cnn(torch.channels_last)}
        torch.mm(torch.ones(4, 4), torch.ones(4, 4))

    def describe(self):
        with open("/proc/self/maps") as maps:
            files = {line.split()[-1] for line in maps if "/" in line}
        blas = sorted(os.path.realpath(f) for f in files if "blas" in f.rsplit("/", 1)[-1] or "libmkl" in f)
        return (f"PyTorch {self.torch.__version__}, threads {self.torch.get_num_threads()}, BLAS in use: {', '.join(blas)}; "
                f"oneDNN: {self.torch.backends.mkldnn.is_available()}")

    def step_of(self, network, x, shape, dtype):
        target = self.torch.randn(shape, dtype=dtype)
        optimizer = self.torch.optim.SGD(network.parameters(), lr=1e-4)

        def step():
            optimizer.zero_grad(set_to_none=False)
            y = network(x)
            # The derivative of the mean squared error, without the cost of recording how it is made.
            y.backward((y.detach() - target) * (2 / y.numel()))
            optimizer.step()

        return step

    def receiver(self, dtype):
        nn = self.torch.nn
        sizes = [102, 128, 256, 64, 16]
        layers = []
        for a, b in zip(sizes, sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        network = nn.Sequential(*layers[:-1]).to(dtype)
        return self.step_of(network, self.torch.randn(20, 102, dtype=dtype), (20, 16), dtype)

    def cnn(self, layout):
        nn = self.torch.nn
        network = nn.Sequential(nn.Conv2d(1, 32, 5), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5), nn.MaxPool2d(2), nn.Flatten(),
                                nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 10)).to(memory_format=layout)
        x = self.torch.randn(128, 1, 28, 28).to(memory_format=layout)
        return self.step_of(network, x, (128, 10), self.torch.float32)

    def seconds(self, name, repeats):
        step = self.steps[name]
        start = time.process_time()
        for _ in range(repeats):
            step()
        return time.process_time() - start


class Starling:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, name, repeats):
        self.process.stdin.write(f"{name} {repeats}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--repetitions", type=int, default=31)
    parser.add_argument("--core", type=int)
    parser.add_argument("--blas", default=find_blas())
    arguments = parser.parse_args()
    if arguments.blas and os.environ.get("STARLING_BENCHMARK_BLAS") != arguments.blas:
        # The loader reads its path when a program starts.
        path = ":".join(filter(None, [arguments.blas, os.environ.get("LD_LIBRARY_PATH")]))
        os.execve(sys.executable, [sys.executable, *sys.argv],
                  {**os.environ, "LD_LIBRARY_PATH": path, "STARLING_BENCHMARK_BLAS": arguments.blas,
                   "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})
    if arguments.core is not None:
        os.sched_setaffinity(0, {arguments.core})
    torch, starling = Torch(), Starling(arguments.program)
    for name, (_, others) in CASES.items():
        starling.seconds(name, 1)
        for other in others:
            torch.seconds(other, 2)
    print(torch.describe())
    times = {name: [] for name in CASES}
    for _ in range(arguments.repetitions):
        for name, (repeats, others) in CASES.items():
            ours = starling.seconds(name, repeats) / repeats
            times[name].append((ours, [torch.seconds(other, repeats) / repeats for other in others]))
    for name, (_, others) in CASES.items():
        ours = statistics.median(row[0] for row in times[name])
        best = min(range(len(others)), key=lambda k: statistics.median(row[1][k] for row in times[name]))
        theirs = statistics.median(row[1][best] for row in times[name])
        ratio = statistics.median(row[1][best] / row[0] for row in times[name])
        print(f"{name}: {1e3 * ours:.3f} ms; PyTorch ({others[best]}) {1e3 * theirs:.3f} ms; "
              f"PyTorch / starling {ratio:.2f}, starling / PyTorch {1 / ratio:.2f}")


if __name__ == "__main__":
    main()
