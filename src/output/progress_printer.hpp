/// Progress of a run on stderr.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "files/terminal.hpp"
#include "output/directory/history.hpp"
#include "protocol/observer.hpp"

namespace starling {

enum class ProgressStyle { off, lines, bar, json };

/// The rank that has worked longest so far, without its waiting for others.
struct SlowestRank {
  int rank = 0;
  double times_mean = 1;  ///< its time over the mean of all ranks with models
};

/// The state of a run that progress shows.
struct ProgressMoment {
  Round done = 0;
  Round rounds = 0;     ///< planned
  Round before = 0;     ///< rounds of an earlier process
  double seconds = 0;   ///< since this process began
  std::string figures;  ///< loss, accuracy, …; each begins with two blanks

  /// Rounds in a second, and the seconds of the remaining rounds; none until this process has played a round.
  [[nodiscard]] std::optional<double> rate() const;
  [[nodiscard]] std::optional<double> seconds_left() const;
};

/// The text of the progress bar, shorter than `columns`: rounds and time, then as many figures as fit. The remaining
/// time is shown once a round has been played.
[[nodiscard]] std::string progress_bar(const ProgressMoment& moment, std::size_t columns);
/// The same as a line of a log.
[[nodiscard]] std::string progress_line(const ProgressMoment& moment);

/// The moments at which lines are due: `first` seconds after the start, then in gaps that grow by half from `gap` to
/// `longest` seconds.
class LinePace {
 public:
  LinePace(double first, double gap, double longest) : next_(first), gap_(gap), longest_(longest) {}
  /// Whether a line is due now, which then counts as written.
  [[nodiscard]] bool due(double seconds);

 private:
  double next_;
  double gap_;
  double longest_;
};

/// The progress display on stderr: a bar that is written over on a terminal, else lines in growing gaps of time, or one
/// JSON object a line for tools (docs/reference/progress.md).
class ProgressPrinter {
 public:
  ProgressPrinter(ProgressStyle style, Round rounds, double epsilon_per_release);
  /// Ends the bar's line, also where an error ends the run.
  ~ProgressPrinter();
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  /// Shows the state after a round, if it is time to. Cheap.
  void tick(Round done);
  /// Takes the newest figures.
  void show(const NetworkFigures& figures, const std::optional<SlowestRank>& slowest);
  /// Shows the last state.
  void close();
  /// Starts after this round, in a resumed run.
  void go_on_after(Round done) { before_ = done; }
  /// Announces that learning ends after this round, in all later lines and in the bar.
  void learning_ends_after(Round last) { learning_ends_ = last; }
  /// `spent` gives the loss of a record so far, or nothing.
  void epsilon_from(std::function<std::optional<double>()> spent) { spent_ = std::move(spent); }

 private:
  void write(Round done, bool last);
  void write_json(const ProgressMoment& moment, bool last);
  void look_at_epsilon(bool last);
  [[nodiscard]] bool learning_ended(Round done) const { return learning_ends_ && done > *learning_ends_; }
  [[nodiscard]] std::string describe(Round done) const;
  [[nodiscard]] double seconds() const;

  ProgressStyle style_;
  Round rounds_;
  double epsilon_;
  Round before_ = 0;  ///< rounds of an earlier process
  std::optional<Terminal> terminal_;
  LinePace pace_;
  std::optional<Round> learning_ends_;
  std::function<std::optional<double>()> spent_ = [] { return std::nullopt; };
  std::optional<double> epsilon_spent_;
  double next_spent_ = 0;  ///< seconds
  NetworkFigures latest_;
  std::optional<SlowestRank> slowest_;
  std::chrono::steady_clock::time_point start_;
  bool open_ = false;
};

}  // namespace starling
