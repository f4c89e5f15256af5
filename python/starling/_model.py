"""Own models: their base class, and what tells one from another."""

from __future__ import annotations

import hashlib
import inspect
import re
import weakref
from typing import Any

import numpy as np

from ._errors import UsageError


class Model:
    """A model of your own: losses of records and their gradients, for `starling.omd(model=...)`.

    starling clips the gradient of each record, sums, adds noise and keeps the account. What a function returns for a record must
    depend on the parameters and this record alone: not on other records, on their number or order, on earlier calls or on random
    numbers. It must not send or store records, and must not end the process. Then wrong numbers cost accuracy, and not privacy.
    Under noise starling asks for the gradient of one record at a time, and tries the model on public random records first.

    Arrays that a function is given are views of starling's memory: nobody can write them, and they hold during the call. Copy
    what must last longer. A class may also have

        def predict(self, point, x)     # a prediction of the label for each of m records: (m,)
        def losses(self, point, x, y)   # the losses alone, for test sets, where gradients would take long: (m,)

    Set `classifies = True` if a prediction is the number of a class, so that it is right or wrong. `gradients` may then return
    predictions as a third array, where it has them at hand: `predict` is not asked in each round.
    """

    classifies: bool = False
    #: |dl/ds| at s = 0 where the losses are convex functions l(s) of one score s = x @ point, as 0.5 of logistic regression.
    #: Batch, clip and steps are then chosen as for starling's own linear models. None for other models.
    slope: float | None = None
    #: Text that no other model has. None: `starling.identity(model)`. A run goes on with the same model alone.
    identity: Any = None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls._source = source_of(cls)  # now: the file may change while the class stays what it is

    def dimension(self, features: int) -> int:
        """Number d of parameters for records of so many features."""
        return features

    def start(self, seed: int) -> Any:
        """The d start values, from the run's public seed alone; None for zeros."""
        return None

    def gradients(self, point: Any, x: Any, y: Any) -> Any:
        """Losses (m,) and their gradients (m, d) at `point` (d,), of m records: x (m, features), y (m,)."""
        raise NotImplementedError(f"{type(self).__name__} needs a function gradients(self, point, x, y)")


class Unknown(Exception):
    """What a model depends on cannot be told."""


def add_value(digest, value):
    """Adds a value that is plain data to the digest. Raises Unknown for any other."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        digest.update(f"array {value.dtype.str} {value.shape} ".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.number, np.bool_)):
        digest.update(f"{type(value).__name__} {value!r} ".encode())
    elif isinstance(value, (list, tuple)):
        digest.update(f"{type(value).__name__} {len(value)} ".encode())
        for each in value:
            add_value(digest, each)
    elif isinstance(value, dict):
        digest.update(f"dict {len(value)} ".encode())
        for key in value:
            add_value(digest, key)
            add_value(digest, value[key])
    else:
        raise Unknown(f"an attribute of type {type(value).__name__}")


def source_of(thing):
    """The content of the file in which a class or function stands, as a digest; None where there is none, as in a notebook."""
    try:
        with open(inspect.getsourcefile(thing), "rb") as file:
            return hashlib.sha256(file.read()).digest()
    except (TypeError, OSError):
        return None


def add_source(digest, thing):
    """Adds the file in which a class or function stands. Raises Unknown where there is none."""
    source = vars(thing)["_source"] if "_source" in vars(thing) else source_of(thing)
    if source is None:
        raise Unknown(f"no file has {thing!r}")
    digest.update(source)


def digest_of_model(model):
    """SHA-256 of the files in which the model's classes stand, and of its attributes. Raises Unknown."""
    digest = hashlib.sha256()
    for each in type(model).__mro__:
        if each in (Model, object):
            continue
        if hasattr(each, "__slots__"):
            raise Unknown("__slots__")
        digest.update(each.__qualname__.encode())
        add_source(digest, each)
    add_value(digest, dict(sorted(vars(model).items())))
    return digest.hexdigest()


#: Of models whose own functions have set attributes: the digest since then, and the identity that it stands for.
_kept: weakref.WeakKeyDictionary[Any, tuple[str, str]] = weakref.WeakKeyDictionary()


def keep_identity(model, before):
    """A call has used the model: what its own functions have set makes it no other model."""
    try:
        now = digest_of_model(model)
        if before and now != before:
            _kept[model] = (now, before)
    except (Unknown, TypeError):  # no plain data, or no weak references
        pass


def identity(model: Any) -> str:
    """Text by which starling tells this model from others: its `identity`, or else the SHA-256 of the files in which its
    classes stand and of its attributes. What its own functions set in a call does not count. Empty where these are not plain data, or no file has the class, as in a notebook:
    a run of such a model cannot be resumed."""
    own = getattr(model, "identity", None)
    if own is not None:
        return str(own() if callable(own) else own)
    try:
        now = digest_of_model(model)
    except Unknown:
        return ""
    try:
        since, before = _kept.get(model, (None, now))
    except TypeError:
        return now
    return before if now == since else now


def require_object(model):
    """Raises UsageError for a class in place of an object."""
    if isinstance(model, type):
        raise UsageError(f"model={model.__name__}: it is a class, and must be an object of it. Give {model.__name__}(…).")


def name_of(model):
    """The name of the model's class, as `--model own:NAME` has it."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", type(model).__name__)
