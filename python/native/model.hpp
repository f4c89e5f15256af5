/// Own models that are Python objects.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <string>

#include "protocol/own_model/own_model.hpp"

namespace starling::python {

namespace py = pybind11;

/// A Python object with the functions of `starling.Model`. The arrays that these are given are views of starling's
/// memory, which nobody can write, and which hold during the call. What they return is copied, after a look at its
/// shape and type, but for gradients: their array stays until the next ones are asked for. Takes the GIL in each call;
/// constructed and destroyed by a thread that holds it.
class PythonModel final : public OwnModel {
 public:
  PythonModel(py::object model, std::string identity) : model_(std::move(model)), identity_(std::move(identity)) {}

  [[nodiscard]] std::size_t dimension(std::size_t features) override;
  [[nodiscard]] std::optional<Vector> start(std::uint64_t seed, std::size_t dimension) override;
  bool gradients(View point, const RecordTable& records, MutableView losses, MutableView gradients,
                 MutableView predictions) override;
  [[nodiscard]] bool keeps_rows() const override { return true; }
  [[nodiscard]] View kept_rows() const override { return kept_; }
  bool losses(View point, const RecordTable& records, MutableView losses) override;
  [[nodiscard]] bool predicts() const override;
  [[nodiscard]] bool classifies() const override;
  void predict(View point, const RecordTable& records, MutableView predictions) override;
  [[nodiscard]] std::optional<double> slope() const override;
  [[nodiscard]] std::string identity() const override { return identity_; }
  void excuse() override;

  /// The first exception that the object has raised and that is not excused; none without one.
  [[nodiscard]] const py::object& raised() const { return raised_; }

 private:
  /// Runs f() with the GIL. A Python exception is kept, and ends the run as a RecordError.
  template <class F>
  auto ask(const char* function, F f) const;
  void keep(const py::error_already_set& error) const;
  [[nodiscard]] std::string name_of(const char* function) const;
  using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;
  /// The returned array as contiguous doubles; not a copy where it is one already. Raises ValueError for another shape,
  /// TypeError for an array of something else than numbers.
  static Numbers numbers_of(const py::handle& returned, const std::string& what, const std::vector<py::ssize_t>& shape);
  /// Copies the returned numbers to `target`.
  static void copy(const py::handle& returned, const std::string& what, const std::vector<py::ssize_t>& shape,
                   MutableView target);

  py::object model_;
  std::string identity_;
  mutable py::object raised_ = py::none();
  py::object rows_ = py::none();  ///< the last gradients
  View kept_;                     ///< their numbers
};

}  // namespace starling::python
