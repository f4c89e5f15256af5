"""One call of a command in this process."""

from ._classes import are_names
from ._errors import DataError, Error, error_of
from ._model import identity, keep_identity, name_of, require_object
from ._native import native
from ._records import TEST, TextTable


class Offer:
    """What a call keeps in memory for its command: records by their names, and a model. `plugin` is that of a library."""

    def __init__(self, records=None, model=None):
        self.records = records or {}
        self.plugin = None
        self.take_model(model)

    def has_named_labels(self):
        """Whether the labels of all records are here beside X, and are -1 and 1."""
        labels = [None if isinstance(each, TextTable) else each[1] for name, each in self.records.items() if name != TEST]
        return bool(labels) and all(each is not None and are_names(each) for each in labels)

    def take_model(self, model):
        require_object(model)
        self.model = model
        self.named_model = None if model is None else (name_of(model), model, identity(model))


def end_before_begin(words, error):
    """Ends a command that an error keeps this rank from beginning: other ranks, which run it, would wait for this one."""
    known = isinstance(error, Error)
    code, text = (error.code, str(error)) if known else (DataError.code, "a Python exception came before the command began.")
    native().end_before_begin(words, code, text)  # other ranks get no text of an exception: it may have values of records


def run_words(words, offer):
    """Runs the command with the words of the program's command line; returns how it ended. Raises the exception of an own
    model, or an error of starling."""
    records = {name: (each.path, None, each.columns_beside, []) if isinstance(each, TextTable) else each
               for name, each in offer.records.items()}
    ended = native().run(words, records, offer.named_model)
    if offer.named_model is not None:
        keep_identity(offer.model, offer.named_model[2])
    error = error_of(ended)
    if ended["raised"] is not None and error is not None:
        raise ended["raised"] from error
    if error is not None:
        raise error
    return ended
