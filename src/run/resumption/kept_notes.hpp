/// notes.json of a run directory: the choices of --tuning auto and the notes from before the first round.
#pragma once

#include <string>
#include <vector>

#include "report/summary.hpp"

namespace starling {

/// Choices and notes of the first start, for the summary of a run that is resumed: a later start has its settings from
/// config.ini, without reasons, and repeats no release.
struct KeptNotes {
  Tuning tuning;
  std::vector<std::string> notes;

  /// The content of `file`; nothing of an empty one. Throws DataError for what text() did not make.
  [[nodiscard]] static KeptNotes parse(const std::string& json, const std::string& file);
  /// As notes.json has it.
  [[nodiscard]] std::string text() const;
};

}  // namespace starling
