/// Own models under protection: each record is asked for by itself.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/boundary.hpp"
#include "protocol/own_model/own_model.hpp"

namespace starling {

class Answer;

/// An own model that is asked for the gradient of one record at a time, on copies of the parameters and of the record
/// which are new in each call. So no record of a batch can change the gradient of another, unless the own model keeps
/// something between calls (`require_independent_rows` looks for that before the records are read). A record on which
/// it fails gets NaN, which counts as zero, and a line for the owner of the records; no error leaves this class.
///
/// Losses and predictions by themselves, of which no gradient is made, are asked for together. Where that fails each
/// record is asked for by itself.
class LoneRows final : public OwnModel {
 public:
  /// Takes a line about a record that counts as zero.
  using Note = std::function<void(const Secret<std::string>&)>;

  LoneRows(std::shared_ptr<OwnModel> own, Note note);
  ~LoneRows() override;

  [[nodiscard]] std::size_t dimension(std::size_t features) override { return own_->dimension(features); }
  [[nodiscard]] std::optional<Vector> start(std::uint64_t seed, std::size_t dimension) override {
    return own_->start(seed, dimension);
  }
  bool gradients(View point, const RecordTable& records, MutableView losses, MutableView gradients,
                 MutableView predictions) override;
  bool losses(View point, const RecordTable& records, MutableView losses) override;
  [[nodiscard]] bool predicts() const override { return own_->predicts(); }
  [[nodiscard]] bool classifies() const override { return own_->classifies(); }
  void predict(View point, const RecordTable& records, MutableView predictions) override;
  [[nodiscard]] std::optional<double> slope() const override { return own_->slope(); }
  [[nodiscard]] std::string identity() const override { return own_->identity(); }

 private:
  /// Copies of these records and of the parameters.
  RecordTable copy_of(const RecordTable& records, std::size_t first, std::size_t count, View point);
  void tell_owner(const RecordTable& records, std::size_t i, const std::string& why);
  /// Runs f(records, room for a number each) for all records together or, if that fails, for each by itself. Writes the
  /// numbers, NaN for a record on which f fails again.
  template <class F>
  void together_or_alone(View point, const RecordTable& records, MutableView numbers, F f);

  std::shared_ptr<OwnModel> own_;
  Note note_;
  std::unique_ptr<Answer> answer_;
  Vector point_;
  Vector features_;
  Vector labels_;
  Vector numbers_;
  int noted_ = 0;  ///< lines for the owner
};

}  // namespace starling
