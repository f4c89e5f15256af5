/// Embeddings of one party's columns under its part of a vertical model.
#pragma once

#include <memory>

#include "starling/model/network/network_block.hpp"
#include "starling/record/model_file/saved_model.hpp"

namespace starling {

/// Computes embeddings, batch by batch. A record's embedding does not depend on the rest of its batch.
class Embedder {
 public:
  /// `part` must outlive the embedder. Throws DataError if its parameters, features and architecture do not fit.
  explicit Embedder(const SavedModel& part);

  [[nodiscard]] std::size_t columns() const { return network_->inputs(); }
  [[nodiscard]] std::size_t width() const { return network_->outputs(); }
  /// Writes the embeddings of M records (resized to M × width()), given M × columns() prepared numbers, row after row.
  void embed(View columns, Vector& embeddings);

 private:
  const SavedModel& part_;
  std::unique_ptr<NetworkBlock> network_;
};

}  // namespace starling
