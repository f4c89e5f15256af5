/// The commands of the program and their options, for Python.
#pragma once

#include <pybind11/pybind11.h>

namespace starling::python {

/// A list of dictionaries, one for each command, from the declarations of the program.
[[nodiscard]] pybind11::list declarations();

}  // namespace starling::python
