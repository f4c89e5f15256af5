"""The native module, which runs commands. Where it is missing, run directories can still be read."""

import atexit
import signal
import sys

try:
    from . import _starling as module
except ImportError as error:
    module = None
    reason = error


def native():
    if module is None:
        raise ImportError(f"the native module of starling cannot be loaded: {reason}. Without it there is starling.load alone. "
                          "Build it by cmake -DSTARLING_PYTHON=ON.") from reason
    return module


def finish():
    """Ends MPI. A process that an exception ends waits at most some seconds for the others."""
    if not module.is_started():
        return
    if getattr(sys, "last_value", None) is not None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(5)
    module.finish()


if module is not None:
    atexit.register(finish)
