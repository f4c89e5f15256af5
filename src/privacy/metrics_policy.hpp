/// The policy for sharing metrics of private records without noise (`--metrics shared`).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/snapshot.hpp"

namespace starling {

/// The kinds of metrics that `MetricsPolicy::share` may share. Each has a row in shared_figure_table, from which the
/// privacy statement, summary.json and docs/privacy.md are made. There is no other way to share a metric, so a metric
/// without a row cannot be shared.
enum class SharedFigure {
  scores_of_run,
  scores_of_reports,
  scores_of_clients,
  spread_of_scores,
  violations,
  played_losses,
  hindsight_sums,
  regret_of_clients,
  record_sizes,
  rows_of_constraints,
  records_of_rounds,
  models_of_rounds,
  losses_of_rounds,
  scores_of_vertical_rounds,
  scores_of_vertical,
  predictions,
  columns_of_parties,
  labels,
  varying_columns,
  column_scales,
  record_sizes_of_clients,
};

struct SharedFigureRow {
  SharedFigure figure;
  const char* what;  ///< the numbers, as words for the privacy statement
  const char* whom;  ///< the recipients and the files
};

/// One row for each SharedFigure, in the order of the enumeration.
[[nodiscard]] std::span<const SharedFigureRow> shared_figure_table();
/// "what, to whom", for the statement and the summary.
[[nodiscard]] std::string words_for(SharedFigure figure);

/// The log of shared figures.
class SharedFigures {
 public:
  void note(SharedFigure figure) { bits_ |= std::uint64_t{1} << static_cast<unsigned>(figure); }
  [[nodiscard]] bool has(SharedFigure figure) const { return (bits_ >> static_cast<unsigned>(figure) & 1U) != 0; }
  /// The log as text, for another rank.
  [[nodiscard]] std::string text() const;
  void add(const std::string& text);
  /// The words for each figure, in the order of the table.
  [[nodiscard]] std::vector<std::string> words() const;
  /// Keeps the figures over a resumption: a figure shared before a process was killed stays named.
  void persist(Snapshot& snapshot) {
    std::uint64_t kept = bits_;
    snapshot.sums(kept);
    bits_ |= kept;
  }

 private:
  std::uint64_t bits_ = 0;
};

/// Whether numbers computed from private records (losses, accuracies) may be shown to others un-noised.
class MetricsPolicy {
 public:
  enum class Sharing { local, shared };
  /// `log`, where there is one, outlives the policy and its copies.
  explicit MetricsPolicy(Sharing sharing, SharedFigures* log = nullptr) : sharing_(sharing), log_(log) {}
  [[nodiscard]] bool shared() const { return sharing_ == Sharing::shared; }
  /// The value if metrics are shared (the log notes that); else nothing.
  template <class T>
  [[nodiscard]] std::optional<Released<T>> share(const Secret<T>& metric, SharedFigure figure) const {
    if (!shared()) return std::nullopt;
    if (log_ != nullptr) log_->note(figure);
    return Released<T>(ReleaseKey(), metric.open(OpenKey()));
  }

 private:
  Sharing sharing_;
  SharedFigures* log_;
};

}  // namespace starling
