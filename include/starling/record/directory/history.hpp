/// A run's history: the network's figures at recorded rounds, in history.csv, which grows while the run goes on.
#pragma once

#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "starling/core/links.hpp"

namespace starling {

/// One line of a run's history; NaN where a figure is unknown or withheld.
struct NetworkFigures {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  Round done = 0;
  double loss = unknown;       ///< mean progressive loss per record since the line before
  double accuracy = unknown;   ///< progressive, likewise
  double test_loss = unknown;  ///< on --test, mean over clients
  double test_accuracy = unknown;
  double consensus_error = unknown;  ///< Σ_u ‖x_u − x̄‖² / n
  double mass = unknown;             ///< Σ w
  double in_flight = unknown;        ///< mass in messages that are known not to have arrived
  double present = unknown;          ///< share of the clients that took part in the round
};

/// Writes history.csv: rounds, loss, accuracy, test_loss, test_accuracy, consensus_error, mass, in_flight, present; an
/// empty field is unknown or withheld. As long as it lives it holds a lock on the file, by which others see that the
/// run goes on.
class HistoryFile {
 public:
  /// Makes the file with its header line. Throws FailureError.
  explicit HistoryFile(std::string path);
  /// Writes what waits: a run that ends by an error keeps all its lines.
  ~HistoryFile();
  HistoryFile(const HistoryFile&) = delete;
  HistoryFile& operator=(const HistoryFile&) = delete;

  void append(const NetworkFigures& figures);
  /// Writes waiting lines if the last writing is 0.2 s ago; cheap, to be called often. Throws FailureError.
  void flush_if_due();
  void flush();

 private:
  void write(const std::string& text) const;

  std::string path_;
  int file_;
  std::string waiting_;
  std::chrono::steady_clock::time_point flushed_;
};

/// The lines of a history.csv; one that is not ended yet, as while a run writes it, is left out. Throws DataError, with
/// the line, for what is no history.
[[nodiscard]] std::vector<NetworkFigures> read_history(const std::string& path);

/// As history.csv writes it, with its header line.
[[nodiscard]] std::string to_csv(const std::vector<NetworkFigures>& history);

/// The same with one line for each round: what several lines know of it together.
[[nodiscard]] std::vector<NetworkFigures> one_line_each(const std::vector<NetworkFigures>& history);

/// Whether a run holds the lock of this history. `unknown` where the file system has no locks.
enum class Holding { held, free, unknown };
[[nodiscard]] Holding holding_of(const std::string& path);

}  // namespace starling
