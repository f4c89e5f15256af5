/// A run's history: the network's figures at recorded rounds, in history.csv, which grows while the run goes on.
#pragma once

#include <array>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "files/durable_file.hpp"

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

/// A figure of a history's lines, beside the round.
struct HistoryFigure {
  const char* column;  ///< of history.csv
  double NetworkFigures::*figure;
  const char* meaning;
};

/// All figures, in the order of their columns.
inline constexpr std::array<HistoryFigure, 8> history_figures{
    {{"loss", &NetworkFigures::loss, "Mean loss of a record before learning from it, since the record before"},
     {"accuracy", &NetworkFigures::accuracy, "Share of correct predictions before learning, since the record before"},
     {"test_loss", &NetworkFigures::test_loss, "Mean loss on the test records, over all clients' models"},
     {"test_accuracy", &NetworkFigures::test_accuracy, "Share of correct predictions on the test records"},
     {"consensus_error", &NetworkFigures::consensus_error, "Mean squared distance of a model to the mean model"},
     {"mass", &NetworkFigures::mass, "Sum of the clients' push-sum masses"},
     {"in_flight", &NetworkFigures::in_flight, "Mass in messages that have not arrived"},
     {"present", &NetworkFigures::present, "Share of the clients that took part in the round"}}};

/// A follower of a run's history on rank 0. All of them get the same lines: what a line holds may be shown. Members
/// throw FailureError.
class HistoryWriter {
 public:
  /// Between two writings lies such a time at least, unless flush() is called.
  explicit HistoryWriter(std::chrono::milliseconds between) : between_(between) {}
  virtual ~HistoryWriter() = default;
  HistoryWriter(const HistoryWriter&) = delete;
  HistoryWriter& operator=(const HistoryWriter&) = delete;

  void append(const NetworkFigures& figures);
  /// Writes waiting lines if the last writing is some time ago; cheap, to be called often.
  void flush_if_due();
  void flush();

 protected:
  /// Writes what waits, in the destructor: a run that ends by an error keeps all its lines.
  void finish() noexcept;

 private:
  virtual void take(const NetworkFigures& figures) = 0;
  /// Writes what was taken.
  virtual void write() = 0;

  std::chrono::milliseconds between_;
  bool waits_ = false;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
};

/// Writes history.csv: rounds, loss, accuracy, test_loss, test_accuracy, consensus_error, mass, in_flight, present; an
/// empty field is unknown or withheld. As long as it lives it holds a lock on the file, by which others see that the
/// run goes on.
class HistoryFile final : public HistoryWriter {
 public:
  /// Makes the file with its header line. Throws FailureError.
  explicit HistoryFile(std::string path);
  ~HistoryFile() override { finish(); }

 private:
  void take(const NetworkFigures& figures) override;
  void write() override;

  std::string path_;
  Descriptor file_;
  std::string waiting_;
};

/// The lines of a history.csv; one that is not ended yet, as while a run writes it, is left out. Throws DataError, with
/// the line, for what is no history.
[[nodiscard]] std::vector<NetworkFigures> read_history(const std::string& path);

/// The content of history.csv, with its header line.
[[nodiscard]] std::string to_csv(const std::vector<NetworkFigures>& history);

/// The same with one line for each round: what several lines know of it together.
[[nodiscard]] std::vector<NetworkFigures> one_line_each(const std::vector<NetworkFigures>& history);

/// Whether a run holds the lock of this history; `no_locks` where the file system has none.
enum class Holding { held, free, no_locks };
[[nodiscard]] Holding holding_of(const std::string& path);

}  // namespace starling
