/// The columns of a run of `starling infer` that protects nobody.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "data/constants.hpp"
#include "data/stream.hpp"

namespace starling {

class Agreement;
class MetricsPolicy;
struct DataSettings;
struct DataShape;

/// The check of columns of a run without protection, where nobody has to be asked. It finds columns that never vary,
/// and constants that bring columns of very different scales to one. In this order: look() on ranks with clients,
/// propose() on all ranks, and after the rounds write_proposal() on rank 0.
class ColumnCheck {
 public:
  /// Keeps a reference of `shape`. `may_look`: whether the run may look at its records.
  ColumnCheck(const DataSettings& data, const DataShape& shape, bool may_look);

  /// Reads the records of the first `steps` steps. Returns the features that have one value in all of this rank's,
  /// ascending. Rank-local.
  [[nodiscard]] std::vector<std::size_t> look(const std::vector<std::unique_ptr<Stream>>& streams, Round steps,
                                              const MetricsPolicy& policy);
  /// Finds constants for the features, and for the label `with_label`, if one of them is far from standardised.
  /// **Collective.**
  void propose(Agreement& agreement, bool with_label);
  /// Writes the constants, if there are any, to FOLDER/standardise.csv, with this name of the label. Returns a note
  /// that says so, or nothing. Throws FailureError.
  [[nodiscard]] std::string write_proposal(const std::string& folder, const std::string& label) const;

 private:
  const DataShape& shape_;
  bool watches_scales_;
  Released<Columns> moments_ = declare_public(Columns());  ///< by client, where scales are watched
  std::vector<Standardisation> proposed_;                  ///< of all columns; empty if none are needed
};

}  // namespace starling
