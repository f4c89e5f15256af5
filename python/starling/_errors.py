"""Errors of commands, one class for each exit code of the program."""

from __future__ import annotations


class Error(Exception):
    """An error of starling.

    `code` is the exit code of the program. `path` is the run directory, if there is one already. `shown` is the message with
    the values of records, for their owner alone.
    """

    code = 5

    def __init__(self, message: str, *, code: int | None = None, path: str | None = None, shown: str | None = None) -> None:
        super().__init__(message)
        self.code = self.code if code is None else code
        self.path = path
        self.shown = shown or message


class UsageError(Error):
    """Bad options, arguments or topologies."""

    code = 2


class DataError(Error):
    """Bad records, checkpoints or run directories."""

    code = 3


class BudgetError(Error):
    """Nothing was done, because no privacy budget allows a release."""

    code = 4


class FailureError(Error):
    """A peer, the network or a disk failed."""


class PeerError(Error):
    """Another rank met an error. That rank has raised it, and `code` is its exit code."""


class Stopped(KeyboardInterrupt):
    """A signal, such as Ctrl-C, stopped a run. Its state is safe.

    `path` is the run directory, with which `resume=` goes on; None before the first round.
    """

    code = 75

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


KINDS = {"usage": UsageError, "data": DataError, "budget": BudgetError, "failure": FailureError, "peer": PeerError}


def error_of(ended):
    """The exception for the way in which a command has ended; None where it has not failed."""
    path = ended["directory"] or None
    if ended["code"] == Stopped.code:
        return Stopped(ended["message"] or f"stopped by a signal; the run is in {path}", path)
    if not ended["kind"]:
        return None
    return KINDS[ended["kind"]](ended["message"], code=ended["code"], path=path, shown=ended["shown"])
