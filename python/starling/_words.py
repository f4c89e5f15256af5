"""Keywords of Python as words of the command line, checked against the declarations of the options."""

import keyword
import os

from ._errors import UsageError
from ._native import native


def python_name(option):
    """The keyword of an option: --step-power is step_power, and an option that Python has a word for ends with _."""
    name = option["name"].replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def text_of(value, what):
    if hasattr(value, "item") and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 0) == 0:
        value = value.item()  # a number of NumPy
    if isinstance(value, bool) or value is None:
        raise UsageError(f"{what}={value}: the option takes a value.")
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if hasattr(value, "path"):
        return os.fspath(value.path)  # a Run
    instead = ("Give records in memory by records=: (X, y), a DataFrame with label=, or a list of these." if what == "source" else
               "Give a number, a text, a path or a list of these.")
    raise UsageError(f"{what}: a {type(value).__name__} cannot be the value of an option. {instead}")


def item_of(text):
    """A text as an item of a list, in which commas separate items."""
    return '"' + text.replace('"', '""') + '"' if "," in text or text.startswith('"') else text


def words_of_option(option, value):
    """The words of one option; none where the value is None, or False for a flag."""
    name = "--" + option["name"]
    if value is None:
        return []
    if not option["argument"]:
        if not isinstance(value, bool):
            raise UsageError(f"{python_name(option)}={value!r}: it is True or False.")
        return [name] if value else []
    if value is False and option["implied"] == "yes":
        return [f"{name}=no"]
    if value is True and option["implied"]:
        return [f"{name}={option['implied']}"]
    if hasattr(value, "tolist") and python_name(option) != "source":
        value = value.tolist()
    is_list = isinstance(value, (list, tuple))
    texts = [text_of(each, python_name(option)) for each in (value if is_list else [value])]
    if option["many"]:
        return [f"{name}={text}" for text in texts]
    text = ",".join(map(item_of, texts)) if is_list else texts[0]
    return [f"{name}={text}"] if text else [name, ""]


def unknown_keyword(name, known, function):
    meant = native().meant_option(name.rstrip("_").replace("_", "-").lower(), known)
    hint = f"help({function}) lists its keywords." if meant is None else f"Did you mean {python_name({'name': meant})}?"
    if meant == "source":
        hint = "Did you mean records (in memory), or source (files)?"
    return UsageError(f"{function} has no keyword '{name}'. {hint}")


def words_of(command, function, positional, keywords):
    """The words after the command's name. Raises UsageError for keywords that the command does not have."""
    options = {python_name(option): option for option in command["options"]}
    words = []
    for name, value in keywords.items():
        if name not in options:
            raise unknown_keyword(name, [option["name"] for option in command["options"]], function)
        words += words_of_option(options[name], value)
    if positional and not any(option["positional"] for option in command["options"]):
        hint = " Give records=." if "source" in options else ""
        raise UsageError(f"{function} takes keywords only.{hint}")
    return [text_of(value, function) for value in positional] + words
