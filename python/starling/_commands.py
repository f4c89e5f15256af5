"""The commands of the program as functions of Python, made from the declarations of their options."""

import functools
import inspect
import json
import os
import tempfile
import textwrap
import types

from ._call import Offer, end_before_begin, run_words
from ._classes import tell_of_classes
from ._errors import UsageError
from ._model import name_of
from ._records import TEST, offered_records, table_of
from ._run import Run, read_dataset
from ._tables import as_table, read_columns
from ._topology import Topology, topology_of
from ._words import python_name, words_of


# Commands that return their text unless json=True: not all that they show is in their JSON.
TEXTS = {("report",)}


def has_option(command, name):
    return any(option["name"] == name for option in command["options"])


def take_number(clients, keywords):
    """The number of clients whose records a list has, for `clients` where it is not given. Raises UsageError for another number."""
    given = keywords.get("clients")
    if given is None:
        keywords["clients"] = clients
    elif str(given) != str(clients):
        raise UsageError(f"records has a list for {clients} clients, and clients={given}. Leave clients out. The records of all "
                         "clients, which partition= deals out, are a pair (X, y) or a DataFrame.")


def take_records(command, keywords, offer):
    """Moves records from the keywords to the offer, and names them as the source."""
    given = keywords.pop("records", None)
    resumed = keywords.get("resume") is not None
    encode = keywords.get("encode") is not None
    if given is not None:
        if keywords.get("source") is not None:
            raise UsageError("records and source: both say what is read. Leave one out.")
        tables, source, clients = offered_records(given, encode)
        offer.records.update(tables)
        if not resumed:
            keywords["source"] = source
            if clients is not None and has_option(command, "clients"):
                take_number(clients, keywords)
    test = keywords.get("test")
    if test is not None and not isinstance(test, str) and not hasattr(test, "__fspath__"):
        offer.records[TEST] = table_of(test, "test", encode)
        keywords["test"] = None if resumed else f"memory:{TEST}"


def take_model(keywords, offer):
    model = keywords.get("model")
    if isinstance(model, str) and model.startswith("plugin:"):
        offer.plugin = model
    if hasattr(model, "state_dict") and not hasattr(model, "gradients"):
        raise UsageError(f"model: a module of PyTorch ({type(model).__name__}) has no loss. Give starling.torch(module, loss).")
    if not hasattr(model, "gradients"):
        return
    offer.take_model(model)
    keywords["model"] = None if keywords.get("resume") is not None else f"own:{name_of(model)}"


def result_of(ended, offer, printed_json):
    if ended["directory"]:
        return Run(ended["directory"], model=offer.plugin if offer.model is None else offer.model, code=ended["code"],
                   named_labels=offer.has_named_labels())
    if printed_json and ended["text"].startswith("{"):
        return json.loads(ended["text"])
    return ended["text"]


def prepared(command, path, positional, keywords):
    """(words of the command line, offer, whether JSON is printed)."""
    function = "starling." + ".".join(path)
    keywords = dict(keywords)
    offer = Offer()
    if has_option(command, "source"):
        take_records(command, keywords, offer)
    if has_option(command, "model"):
        take_model(keywords, offer)
    if has_option(command, "topology"):
        keywords["topology"] = topology_of(keywords.get("topology"), keywords.get("clients"))
    positional = [each.file() if isinstance(each, Topology) else each for each in positional]
    printed_json = has_option(command, "json") and keywords.get("json", path not in TEXTS) is not False
    if has_option(command, "json"):
        keywords["json"] = printed_json
    return [*path, *words_of(command, function, positional, keywords)], offer, printed_json


def call(command, path, positional, keywords):
    """Runs a command with these arguments. Returns a Run, an object of JSON, or what the program prints."""
    try:
        words, offer, printed_json = prepared(command, path, positional, keywords)
    except Exception as error:
        if not keywords.get("help") and not keywords.get("print_config"):
            end_before_begin([*path, "--parties"] if keywords.get("parties") is not None else list(path), error)
        raise
    return result_of(run_words(words, offer), offer, printed_json)


EXTRA = {"records": "records in memory: X, (X, y), or a list with one of these for each client",
         "test": "a file, or records in memory: (X, y)",
         "model": "or a model of your own (starling.Model)",
         "topology": "a family such as ring, or a starling.Topology"}


def keywords_of(command):
    """[(keyword, its option or None)] in the order of the program's help."""
    found = [(python_name(option), option) for option in command["options"] if option["name"] != "help"]
    if has_option(command, "source"):
        found.insert(0, ("records", None))
    return found


def help_of(name, option):
    if option is None:
        return EXTRA[name]
    text = option["help"]
    if name in EXTRA and option["argument"]:
        text = f"{text}; {EXTRA[name]}"
    if option["words"] and option["kind"] == "word":
        text = f"{text} ({', '.join(option['words'])})"
    return f"{text} [default {option['initial']}]" if option["initial"] else text


def docstring(command, path):
    lines = [f"{command['purpose'][:1].upper()}{command['purpose'][1:]}.", "",
             f"The keywords are the options of `starling {' '.join(path)}`. What stands below them there is in the text of",
             f"starling.{'.'.join(path)}(help='all').", ""]
    group = None
    for name, option in keywords_of(command):
        if option is not None and option["group"] != group:
            group = option["group"]
            lines += ["", f"{group}:"] if group else []
        lines += textwrap.wrap(f"{name}: {help_of(name, option)}", 110, initial_indent="    ", subsequent_indent="        ")
    return "\n".join(lines) + "\n"


def function_of(command, path):
    def function(*positional, **keywords):
        return call(command, path, positional, keywords)

    parameter = inspect.Parameter
    parameters = [parameter(name, parameter.KEYWORD_ONLY, default=None) for name, _ in keywords_of(command)]
    if any(option["positional"] for option in command["options"]):
        parameters.insert(0, parameter("arguments", parameter.VAR_POSITIONAL))
    function.__name__ = path[-1]
    function.__qualname__ = ".".join(path)
    function.__module__ = "starling"
    function.__doc__ = docstring(command, path)
    function.__signature__ = inspect.Signature(parameters)
    return function


class Commands(types.SimpleNamespace):
    """Commands below a command."""


def functions_of(commands, above=()):
    """{name: function}, or {name: Commands} for commands with others below them."""
    found = {}
    for command in commands:
        path = (*above, command["name"])
        below = command["commands"]
        found[command["name"]] = Commands(**functions_of(below, path)) if below else function_of(command, path)
    return found


def predicting(function):
    """`starling.predict`: without a file as `output` it returns the table of predictions."""
    @functools.wraps(function)
    def predict(*positional, output=None, **keywords):
        if output is not None:
            return function(*positional, output=output, **keywords)
        with tempfile.TemporaryDirectory(prefix="starling-") as folder:
            path = os.path.join(folder, "predictions.csv")
            function(*positional, output=path, **{"progress": "off", **keywords})
            if not os.path.exists(path):
                return None  # rank 0 has what parties predict together
            columns = read_columns(path)
            known = keywords.get("model") is not None or any(getattr(each, "named_labels", False) for each in positional)
            if "class" in columns and positional and not known:
                tell_of_classes(os.fspath(getattr(positional[0], "path", positional[0])), columns["class"], read_dataset)
            return as_table(columns, keywords.get("records"))

    return predict
