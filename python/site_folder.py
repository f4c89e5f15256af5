"""Prints the folder below a prefix, given as argument, in which this interpreter looks for packages; the usual name of such a
folder where it looks in none."""

import pathlib
import site
import sys

prefix = pathlib.Path(sys.argv[1])
below = [pathlib.Path(folder) for folder in site.getsitepackages() if prefix in pathlib.Path(folder).parents]
print(below[0].relative_to(prefix) if below else f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages")
