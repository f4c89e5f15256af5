/// The places of a vertical model's parts: one file for all, or a file of each client.
#pragma once

#include <string>

#include "core/links.hpp"
#include "output/model_file/saved_model.hpp"

namespace starling {

/// The parts of a vertical model, by the text that names them: a model file, a run directory, or a name with {client}.
/// A run directory without a model file has a part of each client in the private folders of its ranks, of which an
/// account can read its own.
class ModelParts {
 public:
  explicit ModelParts(std::string where);

  /// Whether one file has all parts.
  [[nodiscard]] bool are_together() const;
  /// Whether they are said to be in files of their own, or some are.
  [[nodiscard]] bool are_apart() const;
  /// The file that has a client's part. Throws UsageError where there is none that can be found.
  [[nodiscard]] std::string file_of(Client client) const;
  /// The part of a client: of the head (0), or of party k (k). Throws UsageError and DataError.
  [[nodiscard]] SavedModel part(Client client) const;
  /// The model of all parts.
  [[nodiscard]] SavedModel joined() const;

 private:
  std::string where_;
};

/// "the head" or "party K".
[[nodiscard]] std::string name_of_part(Client client);

}  // namespace starling
