/// notes.json of a run directory: what the run chose, noted and shared before the first round, and whether the release
/// after the last round has begun.
#pragma once

#include <string>
#include <vector>

#include "privacy/metrics_policy.hpp"
#include "report/tuning.hpp"

namespace starling {

/// Choices, notes and shared figures of the first start, for the summary of a run that is resumed: a later start has
/// its settings from config.ini, without reasons, and repeats no release.
struct KeptNotes {
  Tuning tuning;
  std::vector<std::string> notes;
  SharedFigures shared;
  bool scores_released = false;  ///< whether sums of scores may have been released

  /// The content of `file`; nothing of an empty one. Throws DataError for what text() did not make.
  [[nodiscard]] static KeptNotes parse(const std::string& json, const std::string& file);
  /// As notes.json has it.
  [[nodiscard]] std::string text() const;
};

}  // namespace starling
