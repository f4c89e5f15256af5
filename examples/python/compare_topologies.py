"""How graphs compare: disagreement of sixteen clients over the rounds, as a picture."""

import starling

curves = {}
for topology in ("ring", "exponential", "complete"):
    curves[topology] = starling.omd(source="synthetic:drift:n=200", clients=16, topology=topology, mechanism="gaussian", epsilon=2,
                                    delta=1e-5, tuning="off", seed=1, progress="off", output=f"graph-{topology}")
    print(topology, curves[topology].summary["consensus_error"])
try:
    from matplotlib import pyplot
except ImportError:
    print("no picture: matplotlib is not installed")
else:
    axes = pyplot.subplots()[1]
    for topology, run in curves.items():
        run.plot("consensus_error", ax=axes)
        axes.get_lines()[-1].set_label(topology)
    axes.set_yscale("log")
    axes.set_ylabel("mean squared distance to the mean model")
    axes.legend()
    axes.figure.savefig("topologies.png")
    print("topologies.png")
# prints: complete
