/// Checks at the end of a run: what would make its result wrong, and a note where it has. A run without a note is one
/// that no check has found fault with. docs/reference/summary.md, "Checks at the end", lists them with their tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "output/directory/history.hpp"
#include "report/summary.hpp"

namespace starling {

/// The figures that checks look at: public ones, released ones, and of private records those that the run shares.
struct EndOfRun {
  const Summary& summary;
  const std::vector<NetworkFigures>& history;
  double round_records = 0;  ///< records in a round, over all clients
  double test_records = 0;   ///< records of --test; 0 without --test
  bool protects = false;     ///< clients add noise
  bool scaled = false;       ///< public constants scale the features
  bool predicts = false;     ///< the run's model predicts labels
  std::string remedies;      ///< of divergence: a sentence that names the command's own options
};

/// A check. Rank 0's.
struct EndCheck {
  std::string name;
  std::vector<std::string> commands;  ///< those whose runs are checked
  /// A note of what is wrong and what helps; none where nothing is, or where its figures are withheld.
  std::optional<std::string> (*note)(const EndOfRun& run);
};

/// All checks, in the order of their notes. A new one is a row, and a row of the page's table.
[[nodiscard]] const std::vector<EndCheck>& end_checks();

/// The notes of all checks that the run's command has.
[[nodiscard]] std::vector<std::string> notes_at_end(const EndOfRun& run);

}  // namespace starling
