#include "model.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/record_error.hpp"

namespace starling::python {

namespace {

/// A view that nobody can write.
py::array view_of(const double* data, std::vector<py::ssize_t> shape, std::vector<py::ssize_t> strides) {
  const py::capsule nobody(data, [](void*) {});
  py::array array(py::dtype::of<double>(), std::move(shape), std::move(strides), data, nobody);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

py::array vector_view(const double* data, std::size_t size) {
  return view_of(data, {static_cast<py::ssize_t>(size)}, {sizeof(double)});
}

py::array features_of(const RecordTable& records) {
  return view_of(records.x, {static_cast<py::ssize_t>(records.rows), static_cast<py::ssize_t>(records.features)},
                 {static_cast<py::ssize_t>(records.stride * sizeof(double)), sizeof(double)});
}

[[noreturn]] void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw py::error_already_set();
}

std::string text_of(const std::vector<py::ssize_t>& shape) {
  std::string text;
  for (const py::ssize_t size : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", size);
  return fmt::format("({}{})", text, shape.size() == 1 ? "," : "");
}

}  // namespace

template <class F>
auto PythonModel::ask(const char* function, F f) const {
  const py::gil_scoped_acquire gil;
  std::string what;
  try {
    try {
      return f();
    } catch (const py::cast_error&) {
      raise(PyExc_TypeError, name_of(function) + " has returned a value of another type than it must.");
    }
  } catch (const py::error_already_set& error) {
    keep(error);
    what = error.what();
  }
  throw RecordError("--model: the own model has raised a Python exception.",
                    fmt::format("--model: {}: {}", name_of(function), what));
}

void PythonModel::keep(const py::error_already_set& error) const {
  if (!raised_.is_none()) return;
  py::object type = error.type();
  py::object value = error.value();
  py::object trace = error.trace();
  PyObject* parts[] = {type.release().ptr(), value.release().ptr(), trace.release().ptr()};
  PyErr_NormalizeException(&parts[0], &parts[1], &parts[2]);
  if (parts[2] != nullptr) PyException_SetTraceback(parts[1], parts[2]);
  raised_ = py::reinterpret_steal<py::object>(parts[1]);
  Py_XDECREF(parts[0]);
  Py_XDECREF(parts[2]);
}

std::string PythonModel::name_of(const char* function) const {
  return fmt::format("{}.{}", py::str(py::type::of(model_).attr("__name__")).cast<std::string>(), function);
}

PythonModel::Numbers PythonModel::numbers_of(const py::handle& returned, const std::string& what,
                                             const std::vector<py::ssize_t>& shape) {
  const py::array any(py::reinterpret_borrow<py::object>(returned));
  if (std::string("fiub").find(any.dtype().kind()) == std::string::npos) {
    raise(PyExc_TypeError, fmt::format("{}: an array of {} is no array of real numbers.", what,
                                       py::str(any.dtype()).cast<std::string>()));
  }
  const std::vector<py::ssize_t> has(any.shape(), any.shape() + any.ndim());
  if (has != shape) {
    raise(PyExc_ValueError, fmt::format("{}: the shape is {}, and must be {}.", what, text_of(has), text_of(shape)));
  }
  auto numbers = Numbers::ensure(any);
  if (!numbers) throw py::error_already_set();
  return numbers;
}

void PythonModel::copy(const py::handle& returned, const std::string& what, const std::vector<py::ssize_t>& shape,
                       MutableView target) {
  std::copy_n(numbers_of(returned, what, shape).data(), target.size(), target.begin());
}

std::size_t PythonModel::dimension(std::size_t features) {
  return ask("dimension", [&] { return model_.attr("dimension")(features).cast<std::size_t>(); });
}

std::optional<Vector> PythonModel::start(std::uint64_t seed, std::size_t dimension) {
  return ask("start", [&]() -> std::optional<Vector> {
    if (!py::hasattr(model_, "start")) return std::nullopt;
    const py::object point = model_.attr("start")(seed);
    if (point.is_none()) return std::nullopt;
    Vector values(dimension);
    copy(point, name_of("start"), {static_cast<py::ssize_t>(dimension)}, values);
    return values;
  });
}

bool PythonModel::gradients(View point, const RecordTable& records, MutableView losses, MutableView /*gradients*/,
                            MutableView predictions) {
  const auto rows = static_cast<py::ssize_t>(records.rows);
  const auto columns = static_cast<py::ssize_t>(point.size());
  return ask("gradients", [&] {
    kept_ = {};
    rows_ = py::none();
    const py::object returned = model_.attr("gradients")(vector_view(point.data(), point.size()), features_of(records),
                                                         vector_view(records.y, records.rows));
    const std::size_t arrays = py::isinstance<py::tuple>(returned) ? py::len(returned) : 0;
    if (arrays != 2 && arrays != 3) {
      raise(PyExc_TypeError,
            name_of("gradients") + " must return two arrays, losses and gradients, or three, with predictions.");
    }
    const auto tuple = returned.cast<py::tuple>();
    copy(tuple[0], "losses of " + name_of("gradients"), {rows}, losses);
    const Numbers numbers = numbers_of(tuple[1], "gradients of " + name_of("gradients"), {rows, columns});
    kept_ = View(numbers.data(), static_cast<std::size_t>(numbers.size()));
    rows_ = numbers;
    if (arrays == 2 || predictions.empty()) return false;
    copy(tuple[2], "predictions of " + name_of("gradients"), {rows}, predictions);
    return true;
  });
}

bool PythonModel::losses(View point, const RecordTable& records, MutableView losses) {
  return ask("losses", [&] {
    if (!py::hasattr(model_, "losses")) return false;
    const py::object returned = model_.attr("losses")(vector_view(point.data(), point.size()), features_of(records),
                                                      vector_view(records.y, records.rows));
    copy(returned, name_of("losses"), {static_cast<py::ssize_t>(records.rows)}, losses);
    return true;
  });
}

bool PythonModel::predicts() const {
  const py::gil_scoped_acquire gil;
  return py::hasattr(model_, "predict");
}

bool PythonModel::classifies() const {
  const py::gil_scoped_acquire gil;
  return py::bool_(py::getattr(model_, "classifies", py::bool_(false)));
}

std::optional<double> PythonModel::slope() const {
  return ask("slope", [&]() -> std::optional<double> {
    const py::object slope = py::getattr(model_, "slope", py::none());
    return slope.is_none() ? std::nullopt : std::optional(slope.cast<double>());
  });
}

void PythonModel::excuse() {
  const py::gil_scoped_acquire gil;
  raised_ = py::none();
}

void PythonModel::predict(View point, const RecordTable& records, MutableView predictions) {
  ask("predict", [&] {
    copy(model_.attr("predict")(vector_view(point.data(), point.size()), features_of(records)), name_of("predict"),
         {static_cast<py::ssize_t>(records.rows)}, predictions);
  });
}

}  // namespace starling::python
