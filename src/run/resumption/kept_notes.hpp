/// What a run chose and noted before its first round, which its directory keeps for later starts.
#pragma once

#include <string>
#include <vector>

#include "report/summary.hpp"

namespace starling {

/// Choices and notes of a first start. A later one has the settings from config.ini, which says neither what was chosen
/// nor why, and repeats no release that had something to note.
struct KeptNotes {
  Tuning tuning;
  std::vector<std::string> notes;

  /// The content of `file`; nothing of an empty one. Throws DataError for what text() did not make.
  [[nodiscard]] static KeptNotes parse(const std::string& json, const std::string& file);
  /// As notes.json has it.
  [[nodiscard]] std::string text() const;
};

}  // namespace starling
