/// Reports as HTML pages (`starling report --html`).
#pragma once

#include <string>
#include <vector>

#include "comparison.hpp"
#include "report.hpp"

namespace starling {

/// A page, and a sentence that says why its pictures are missing; empty if none is.
struct RunPage {
  std::string html;
  std::string no_pictures;
};

/// The page of one run: privacy, figures, pictures, history, configuration and files. Throws DataError for damaged
/// files, FailureError where there is no place for drawing.
[[nodiscard]] RunPage page_of(const RunReport& run, bool with_pictures);

/// The page of several runs: their comparison, and the privacy and figures of each.
[[nodiscard]] RunPage page_of(const std::vector<RunReport>& runs, const Comparison& comparison, bool with_pictures);

}  // namespace starling
