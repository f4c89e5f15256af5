#include "declarations.hpp"

#include <pybind11/stl.h>

#include "app/program.hpp"

namespace starling::python {

namespace {

namespace py = pybind11;

const char* name_of(Option::Kind kind) {
  switch (kind) {
    case Option::Kind::flag:
      return "flag";
    case Option::Kind::number:
      return "number";
    case Option::Kind::whole:
      return "whole";
    case Option::Kind::word:
      return "word";
    case Option::Kind::list:
      return "list";
    case Option::Kind::text:
      break;
  }
  return "text";
}

py::dict described(const Option& option) {
  py::dict result;
  result["name"] = option.name;
  result["argument"] = option.argument;
  result["initial"] = option.initial;
  result["help"] = option.help;
  result["group"] = option.group;
  result["kind"] = name_of(option.kind);
  result["words"] = option.words;
  result["no_value"] = option.no_value;
  result["implied"] = option.implied;
  result["positional"] = option.positional;
  result["many"] = option.many;
  return result;
}

py::list described(const std::vector<Command>& commands) {
  py::list result;
  for (const Command& command : commands) {
    py::list options;
    for (const Option& option : command.options != nullptr ? command.options() : std::vector<Option>()) {
      options.append(described(option));
    }
    py::dict entry;
    entry["name"] = command.name;
    entry["purpose"] = command.purpose;
    entry["on_all_ranks"] = command.on_all_ranks;
    entry["options"] = options;
    entry["commands"] = described(command.subcommands);
    result.append(entry);
  }
  return result;
}

}  // namespace

py::list declarations() {
  return described(commands());
}

}  // namespace starling::python
