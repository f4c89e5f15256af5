"""One call of a command in this process."""

from ._errors import error_of
from ._model import identity, name_of
from ._native import native
from ._records import TextTable


class Offer:
    """What a call keeps in memory for its command: records by their names, and a model. `plugin` is that of a library."""

    def __init__(self, records=None, model=None):
        self.records = records or {}
        self.model = model
        self.plugin = None


def run_words(words, offer):
    """Runs the command with the words of the program's command line; returns how it ended. Raises the exception of an own
    model, or an error of starling."""
    model = offer.model
    offered = None if model is None else (name_of(model), model, identity(model))
    records = {name: (each.path, None, []) if isinstance(each, TextTable) else each for name, each in offer.records.items()}
    ended = native().run(words, records, offered)
    error = error_of(ended)
    if ended["raised"] is not None and error is not None:
        raise ended["raised"] from error
    if error is not None:
        raise error
    return ended
