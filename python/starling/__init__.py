"""starling: decentralized learning under differential privacy, on MPI.

    run = starling.omd(records=(X, y), clients=16, topology="ring", partition="iid", mechanism="gaussian", total_epsilon=1)
    run.summary["accuracy"], run.history, run.models, run.predict(X_new)

Functions are the commands of the program, and keywords are its options: `--step-power` is `step_power`. `help(starling.omd)`
lists them. `starling.load` reads the directory of a run. `starling.Model` is the base of models of your own.
"""


from ._errors import BudgetError, DataError, Error, FailureError, PeerError, Stopped, UsageError
from ._model import Model, identity
from ._native import module as _module, native as _native
from ._run import Run, load
from ._topology import Topology
from ._torch import torch

__all__ = ["BudgetError", "DataError", "Error", "FailureError", "Model", "PeerError", "Run", "Stopped", "Topology", "UsageError",
           "identity", "load", "rank", "ranks", "torch"]


def rank():
    """The number of this process among those of mpirun; 0 without. Starts MPI. **Collective** at the first call."""
    return _native().rank()


def ranks():
    """The number of processes of mpirun; 1 without. Starts MPI. **Collective** at the first call."""
    return _native().ranks()


if _module is None:

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(name)
        _native()
else:
    from ._commands import functions_of as _functions_of, predicting as _predicting

    __version__ = _module.version()
    _functions = _functions_of(_module.declarations())
    _functions["predict"] = _predicting(_functions["predict"])
    globals().update(_functions)
    __all__ += list(_functions)
