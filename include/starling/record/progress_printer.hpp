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

/// One moment of a run, as the bar shows it.
struct ProgressMoment {
  Round done = 0;
  Round rounds = 0;     ///< planned
  Round before = 0;     ///< rounds of an earlier process
  double seconds = 0;   ///< since this process began
  std::string figures;  ///< loss, accuracy, …; each begins with two blanks
};

/// The bar in less than `columns` columns: rounds and time first, then as many figures as fit. The time left is shown
/// once a round has been played.
[[nodiscard]] std::string progress_bar(const ProgressMoment& moment, std::size_t columns);

/// Draws on stderr: a live bar on a terminal, else plain lines at rounds 1, 2, 4, 8, …
class ProgressPrinter {
 public:
  ProgressPrinter(ProgressStyle style, Round rounds, double epsilon_per_release);
  /// Called after each round; cheap.
  void tick(Round done);
  void show(const NetworkFigures& figures, bool last);
  /// Ends the bar's line.
  void close();
  /// The run goes on after this round: nothing is said of those before it.
  void go_on_after(Round done) { before_ = done; }
  /// Learning ends after this round, as far as is known: lines and the bar say so from then on.
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
