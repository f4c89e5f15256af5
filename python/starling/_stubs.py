"""Writes __init__.pyi: the signatures of all functions, from the declarations of the options.

usage: python -m starling._stubs FILE
"""

import sys

from ._commands import docstring, has_option, keywords_of
from ._native import native

HEAD = '''"""Signatures of starling. Generated from the options of the program."""

import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from ._errors import BudgetError as BudgetError
from ._errors import DataError as DataError
from ._errors import Error as Error
from ._errors import FailureError as FailureError
from ._errors import PeerError as PeerError
from ._errors import Stopped as Stopped
from ._errors import UsageError as UsageError
from ._model import Model as Model
from ._model import identity as identity
from ._run import Run as Run
from ._run import load as load
from ._topology import Topology as Topology
from ._torch import torch as torch

Value = Union[str, int, float, os.PathLike[str]]
Values = Union[Value, Sequence[Value]]

__version__: str

def rank() -> int: ...
def ranks() -> int: ...
'''
TYPES = {"flag": "bool", "number": "Union[float, str]", "whole": "Union[int, str]", "word": "str", "list": "Values", "text": "Value"}
SPECIAL = {"records": "Any", "test": "Any", "model": "Union[str, Model, Any]", "topology": "Union[str, Topology]"}


def type_of(name, option):
    yes_or_no = "Union[bool, str]" if option and option["implied"] == "yes" else None
    found = SPECIAL.get(name) or yes_or_no or ("Values" if option["many"] else TYPES[option["kind"] if option["argument"] else "flag"])
    return f"Optional[{found}] = None"


def result_of(command):
    if command["name"] == "predict":
        return "Any"
    if command["on_all_ranks"] and has_option(command, "output"):
        return "Run"
    return "Dict[str, Any]" if has_option(command, "json") else "str"


def stub(command, path, indent):
    below = command["commands"]
    if below:
        lines = [f"{indent}class {command['name']}:"]
        for each in below:
            lines += [f"{indent}    @staticmethod", *stub(each, (*path, each["name"]), indent + "    ")]
        return lines
    words = "*arguments: Any, " if any(option["positional"] for option in command["options"]) else "*, "
    keywords = ", ".join(f"{name}: {type_of(name, option)}" for name, option in keywords_of(command))
    lines = [f"{indent}def {path[-1]}({words}{keywords}) -> {result_of(command)}:", f'{indent}    r"""']
    lines += [f"{indent}    {line}".rstrip() for line in docstring(command, path).replace('"""', "'''").splitlines()]
    return [*lines, f'{indent}    """']


def main():
    text = HEAD
    for command in native().declarations():
        text += "\n" + "\n".join(stub(command, (command["name"],), "")) + "\n"
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
