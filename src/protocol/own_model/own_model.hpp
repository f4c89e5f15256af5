/// Models of a user: the losses of records and their gradients, by the user's own code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/columns.hpp"

namespace starling {

/// Records in memory, for an own model. Record i has the features x[i · stride] … x[i · stride + features − 1] and the
/// label y[i].
struct RecordTable {
  std::size_t rows = 0;
  std::size_t features = 0;
  const double* x = nullptr;
  std::size_t stride = 0;  ///< doubles from one record to the next
  const double* y = nullptr;
};

/// A model whose code starling does not know. It gives gradients of single records, which are clipped, summed and
/// noised outside of it.
///
/// What a function returns for a record must depend on the parameters and this record alone: not on other records, on
/// their number or order, on earlier calls or on random numbers. Nothing may be sent, stored or ended. Then wrong
/// numbers cost accuracy, and not privacy. Under protection LoneRows stands before the model. Every function may throw;
/// RecordError keeps what may tell of records from others.
class OwnModel {
 public:
  virtual ~OwnModel() = default;
  /// Number d of parameters for records of so many features.
  [[nodiscard]] virtual std::size_t dimension(std::size_t features) = 0;
  /// The d start values, from a public seed alone; none for zeros.
  [[nodiscard]] virtual std::optional<Vector> start(std::uint64_t seed, std::size_t dimension) = 0;
  /// Writes the losses of the records (one each) and their gradients at `point`, unclipped, row after row (rows × d).
  /// May write `predictions` too (one each; empty where nobody wants them). Returns whether it has written them.
  virtual bool gradients(View point, const RecordTable& records, MutableView losses, MutableView gradients,
                         MutableView predictions) = 0;
  /// Writes the losses alone, for test sets. Returns false, and writes nothing, where these come with gradients alone.
  virtual bool losses(View /*point*/, const RecordTable& /*records*/, MutableView /*losses*/) { return false; }
  /// Whether `predict` may be called.
  [[nodiscard]] virtual bool predicts() const = 0;
  /// Whether a prediction is the number of a class, so that it is right or wrong.
  [[nodiscard]] virtual bool classifies() const = 0;
  /// Writes a prediction of the label for each record. The labels of the records may be unknown, and are 0 then.
  virtual void predict(View point, const RecordTable& records, MutableView predictions) = 0;
  /// |∂ℓ/∂s| at a score s of 0, of losses that are convex functions of one score s = point · features. The rule of
  /// --tuning takes such a model as a linear one. None for other models.
  [[nodiscard]] virtual std::optional<double> slope() const = 0;
  /// Text that no other model has, such as a digest of its code: a run goes on, and noise is used again, with the same
  /// model alone. Empty where it cannot be told; a run is then not resumable.
  [[nodiscard]] virtual std::string identity() const = 0;
  /// The last failure was of one record, which counts as zero: no error of the run comes of it.
  virtual void excuse() {}
  /// Whether the model keeps the rows: `gradients` then gets no room for them, and `kept_rows` has them until the next
  /// call of it. starling reads each once.
  [[nodiscard]] virtual bool keeps_rows() const { return false; }
  [[nodiscard]] virtual View kept_rows() const { return {}; }
};

/// Makes an own model known in this process as `--model own:NAME` while the object lives.
class OfferedModel {
 public:
  /// Throws UsageError for a name that is taken or not made of letters, digits, '_', '-' and '.'.
  OfferedModel(std::string name, std::shared_ptr<OwnModel> model);
  ~OfferedModel();
  OfferedModel(const OfferedModel&) = delete;
  OfferedModel& operator=(const OfferedModel&) = delete;

 private:
  std::string name_;
};

/// The own model of that name. Throws UsageError if no OfferedModel has it.
[[nodiscard]] std::shared_ptr<OwnModel> offered_model(const std::string& name);

/// Loads a shared library that keeps to <starling/plugin.h>, and makes its model with these options. The model's
/// identity is the digest of the file and the options. Throws UsageError for a file that is no such library, for one
/// that was made for another version of the header, for a model without the functions that it needs, and if the
/// library refuses the options.
[[nodiscard]] std::shared_ptr<OwnModel> open_plugin(const std::string& path, const std::string& options);

}  // namespace starling
