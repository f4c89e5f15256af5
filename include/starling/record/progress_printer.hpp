/// Progress of a run on stderr.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "starling/protocol/observer.hpp"
#include "starling/record/directory/history.hpp"

namespace starling {

enum class ProgressStyle { off, lines, bar };

/// The state of a run that the progress bar shows.
struct ProgressMoment {
  Round done = 0;
  Round rounds = 0;     ///< planned
  Round before = 0;     ///< rounds of an earlier process
  double seconds = 0;   ///< since this process began
  std::string figures;  ///< loss, accuracy, …; each begins with two blanks
};

/// The text of the progress bar, shorter than `columns`: rounds and time, then as many figures as fit. The remaining
/// time is shown once a round has been played.
[[nodiscard]] std::string progress_bar(const ProgressMoment& moment, std::size_t columns);

/// The progress display on stderr: a live bar on a terminal, otherwise plain lines at rounds 1, 2, 4, 8, …
class ProgressPrinter {
 public:
  ProgressPrinter(ProgressStyle style, Round rounds, double epsilon_per_release);
  /// Shows the state after a round. Cheap.
  void tick(Round done);
  void show(const NetworkFigures& figures, bool last);
  /// Ends the bar's line.
  void close();
  /// Starts after this round, in a resumed run.
  void go_on_after(Round done) { before_ = done; }
  /// Announces that learning ends after this round, in all later lines and in the bar.
  void learning_ends_after(Round last) { learning_ends_ = last; }

 private:
  void draw_bar(Round done);
  [[nodiscard]] std::string describe(const NetworkFigures& figures) const;
  [[nodiscard]] double seconds() const;

  ProgressStyle style_;
  Round rounds_;
  double epsilon_;
  Round before_ = 0;  ///< rounds of an earlier process
  std::optional<Round> learning_ends_;
  NetworkFigures latest_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  bool open_ = false;
};

}  // namespace starling
