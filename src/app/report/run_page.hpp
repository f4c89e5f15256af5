/// Reports as HTML pages (`starling report --html`).
#pragma once

#include <string>
#include <vector>

#include "comparison.hpp"
#include "page.hpp"
#include "report.hpp"

namespace starling {

/// A page, and a sentence that says why its pictures are missing; empty if none is.
struct RunPage {
  std::string html;
  std::string no_pictures;
};

/// A page for an ethics board (`--for board`): who is protected and against whom, the loss as odds, the data, how good
/// the model is, and what is not covered. Figures of learning that say nothing to such readers are left out.
struct BoardRequest {
  std::string title;                ///< empty: the run's name
  std::vector<std::string> scores;  ///< folders that `starling score --output` wrote
  bool with_pictures = true;
};
/// Throws UsageError for an unfinished run, one that learned nothing, and scores of another run's model.
[[nodiscard]] RunPage board_page_of(const RunReport& run, const BoardRequest& request);

/// The page of one run, with a title or else the run's name: privacy, figures, pictures, history, configuration and
/// files. Throws DataError for damaged files, FailureError where there is no place for drawing.
[[nodiscard]] RunPage page_of(const RunReport& run, const std::string& title, bool with_pictures);

/// The page of several runs: their comparison, and the privacy and figures of each.
[[nodiscard]] RunPage page_of(const std::vector<RunReport>& runs, const Comparison& comparison,
                              const std::string& title, bool with_pictures);

/// The last part of a path: what a user calls the run.
[[nodiscard]] std::string name_of_run(const std::string& path);
/// Parts that pages share: the privacy statement and the options of a run, each shown on request, and the last line.
void add_statement(Page& page, const SummaryView& view);
void add_configuration(Page& page, const std::string& run);
[[nodiscard]] std::string last_line();

}  // namespace starling
