/// The native half of the Python package: commands of the program in this process, and data sets of HDF5 files.
#include <atomic>
#include <memory>
#include <optional>
#include <pybind11/stl.h>
#include <utility>
#include <vector>

#include "app/embed/embedded.hpp"
#include "console/version.hpp"
#include "core/record_error.hpp"
#include "data/memory_records.hpp"
#include "declarations.hpp"
#include "hdf5/file.hpp"
#include "model.hpp"
#include "net/world.hpp"
#include "options/meant.hpp"
#include "run/launch.hpp"

namespace starling::python {

namespace {

// MPI, from the first command that needs it to the end of the interpreter.
std::unique_ptr<MpiSession> session;

MpiSession& started_session() {
  if (!session) session = std::make_unique<MpiSession>();
  return *session;
}

/// Marks that a command runs: commands share what they print and the handlers of signals.
class OnlyCommand {
 public:
  OnlyCommand() {
    check(!running_.exchange(true),
          "a command of starling is running in this process: there is one at a time. Call this one after it.");
  }
  ~OnlyCommand() { running_ = false; }
  OnlyCommand(const OnlyCommand&) = delete;
  OnlyCommand& operator=(const OnlyCommand&) = delete;

 private:
  static inline std::atomic<bool> running_ = false;
};

/// Features (float64, int64 or uint64, records × columns), labels (float64, or None), names of columns, and the binary
/// digits of the numbers that each column was made of, or nothing; or the path of a table of text, None, nothing or the
/// column of labels that were given beside the features, and nothing.
using Records = std::tuple<py::object, py::object, std::vector<std::string>, std::vector<int>>;

std::ptrdiff_t in_doubles(py::ssize_t bytes) {
  return bytes / static_cast<py::ssize_t>(sizeof(double));
}

const double* doubles_of(const py::array& array) {
  check(py::isinstance<py::array_t<double>>(array), "records: float64 is needed{}", "");
  return static_cast<const double*>(array.data());
}

NumbersInMemory numbers_of(const py::array& array) {
  if (py::isinstance<py::array_t<std::int64_t>>(array)) return static_cast<const std::int64_t*>(array.data());
  if (py::isinstance<py::array_t<std::uint64_t>>(array)) return static_cast<const std::uint64_t*>(array.data());
  return doubles_of(array);
}

MemoryRecords memory_of(const Records& records) {
  const auto& [features, y, names, digits] = records;
  MemoryRecords memory;
  if (py::isinstance<py::str>(features)) {
    memory.table = features.cast<std::string>();
    memory.labels_beside = !names.empty();
    return memory;
  }
  const auto x = features.cast<py::array>();
  memory.x = numbers_of(x);
  memory.records = static_cast<std::size_t>(x.shape(0));
  memory.columns = static_cast<std::size_t>(x.shape(1));
  memory.x_row = in_doubles(x.strides(0));
  memory.x_column = in_doubles(x.strides(1));
  memory.names = names;
  memory.digits = digits;
  if (!y.is_none()) {
    const auto labels = y.cast<py::array>();
    memory.y = doubles_of(labels);
    memory.y_row = in_doubles(labels.strides(0));
  }
  return memory;
}

/// How a command has ended, as Python sees it.
struct Outcome {
  EmbeddedResult result;
  std::string kind;     ///< of the error; empty without one
  std::string message;  ///< of the error
  std::string shown;    ///< the message for the owner of the records
};

const char* kind_of(const Error& error) {
  if (dynamic_cast<const PeerError*>(&error) != nullptr && error.code() != ExitCode::stopped_safely) return "peer";
  switch (error.code()) {
    case ExitCode::usage:
      return "usage";
    case ExitCode::data:
      return "data";
    case ExitCode::budget:
      return "budget";
    case ExitCode::stopped_safely:
      return "stopped";
    default:
      return "failure";
  }
}

void note_failure(const Error& error, Outcome& outcome) {
  const auto* of_record = dynamic_cast<const RecordError*>(&error);
  outcome.result.code = static_cast<int>(error.code());
  outcome.kind = kind_of(error);
  outcome.message = error.what();
  outcome.shown = of_record != nullptr ? of_record->shown() : error.what();
}

/// Without the GIL.
void run_without_gil(const std::vector<std::string>& words, Outcome& outcome) {
  const py::gil_scoped_release waiting;
  try {
    run_embedded(!runs_on_all_ranks(words) || started_session().rank() == 0, words, outcome.result);
  } catch (const Error& error) {
    note_failure(error, outcome);
  } catch (const std::exception& error) {
    note_failure(FailureError(error.what()), outcome);
  }
}

/// Ends a command on all ranks because this rank cannot begin it. A process that is alone starts no MPI for that.
void end_on_all_ranks(const std::vector<std::string>& words, const Error& error) {
  if (!runs_on_all_ranks(words) || (!session && launched_ranks() < 2)) return;
  const py::gil_scoped_release waiting;
  end_embedded(started_session(), error);
}

/// Ends a command on all ranks because Python raised an error before it began on this rank.
void end_before_begin(const std::vector<std::string>& words, int code, const std::string& message) {
  try {
    const OnlyCommand only;
    end_on_all_ranks(words, Error(static_cast<ExitCode>(code), message));
  } catch (const Error&) {  // within another command, which ends by the error
  }
}

using NamedModel = std::tuple<std::string, py::object, std::string>;  // name, object, identity

/// Records and an own model that Python gives to a command. They are known as memory:NAME and own:NAME while the object
/// lives.
class Offered {
 public:
  Offered(const std::map<std::string, Records>& records, const std::optional<NamedModel>& model) {
    for (const auto& [name, each] : records) {
      records_.push_back(std::make_unique<OfferedRecords>(name, memory_of(each)));
    }
    if (!model) return;
    own_ = std::make_shared<PythonModel>(std::get<1>(*model), std::get<2>(*model));
    model_.emplace(std::get<0>(*model), own_);
  }

  [[nodiscard]] py::object raised() const { return own_ ? own_->raised() : py::none(); }

 private:
  std::vector<std::unique_ptr<OfferedRecords>> records_;
  std::shared_ptr<PythonModel> own_;
  std::optional<OfferedModel> model_;
};

/// Runs a command with the words of the program's command line.
py::dict run(const std::vector<std::string>& words, const std::map<std::string, Records>& records,
             const std::optional<NamedModel>& model) {
  Outcome outcome;
  py::object raised = py::none();
  try {
    const OnlyCommand only;
    std::optional<Offered> offered;
    try {
      offered.emplace(records, model);
    } catch (const Error& error) {
      end_on_all_ranks(words, error);
      throw;
    }
    run_without_gil(words, outcome);
    raised = offered->raised();
  } catch (const Error& error) {
    note_failure(error, outcome);
  }
  py::dict result;
  result["code"] = outcome.result.code;
  result["text"] = outcome.result.text;
  result["directory"] = outcome.result.directory;
  result["kind"] = outcome.kind;
  result["message"] = outcome.message;
  result["shown"] = outcome.shown;
  result["raised"] = raised;
  return result;
}

template <class T>
py::array array_of(const hdf5::File& file, const std::string& name) {
  const auto [sizes, values] = file.read<T>(name);
  return py::array_t<T>(std::vector<py::ssize_t>(sizes.begin(), sizes.end()), values.data());
}

/// A data set of numbers: int64 where it has whole numbers, else float64. None if the file has no such data set.
py::object read_dataset(const std::string& path, const std::string& name) {
  const hdf5::File file(path, hdf5::File::Mode::read);
  if (!file.has(name)) return py::none();
  const hdf5::Handle set(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose, path);
  const hdf5::Handle type(H5Dget_type(set), H5Tclose, path);
  if (H5Tget_class(type) == H5T_INTEGER) return array_of<std::int64_t>(file, name);
  return array_of<double>(file, name);
}

}  // namespace

PYBIND11_MODULE(_starling, module) {
  module.doc() = "The native half of starling: see the package starling.";
  module.def("declarations", &declarations);
  module.def("run", &run, py::arg("words"), py::arg("records"), py::arg("model"));
  module.def("end_before_begin", &end_before_begin, py::arg("words"), py::arg("code"), py::arg("message"));
  module.def("meant_option", &meant_option, py::arg("name"), py::arg("known"));
  module.def("read_dataset", &read_dataset, py::arg("path"), py::arg("name"));
  module.def("version", &version);
  module.def("rank", [] { return started_session().rank(); });
  module.def("ranks", [] { return started_session().size(); });
  module.def("is_started", [] { return session != nullptr; });
  module.def("finish", [] {
    const py::gil_scoped_release waiting;
    session.reset();
  });
}

}  // namespace starling::python
