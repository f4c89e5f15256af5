/// What runs of online vertical federated learning record beside what all do.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/privacy/metrics_policy.hpp"
#include "starling/protocol/vertical/vertical.hpp"
#include "starling/record/directory/run_directory.hpp"
#include "starling/record/rounds.hpp"

namespace starling {

/// What such a run comes to.
struct VerticalFigures {
  double rounds = 0;
  RoundBits bits;                   ///< of all rounds
  bool broadcast = true;            ///< what comes down is one message for all, else each party has its own
  std::optional<double> mse;        ///< progressive, where that is the loss
  std::optional<double> auc;        ///< progressive, of two classes; none where withheld too
  std::optional<double> hindsight;  ///< Σ_t F_t of the best fixed networks that were found
  std::optional<double> played;     ///< Σ_t F_t of those that were played
  std::string hindsight_method = {};
};

/// Rank 0's rounds.csv: round, loss, accuracy, test_loss, test_accuracy, uplink_bits, downlink_bits, out_of_range, a
/// line for each round: means over its records in range (before their labels were used; of test records after), the
/// bits of its messages, and the records that were out of range. Where metrics are private it is private/0/rounds.csv.
class RoundsRecorder final : public Observer {
 public:
  /// Keeps a reference.
  RoundsRecorder(const Vertical& protocol, const RunDirectory& directory, const MetricsPolicy& policy, bool classifies);
  ~RoundsRecorder() override;
  RoundsRecorder(const RoundsRecorder&) = delete;
  RoundsRecorder& operator=(const RoundsRecorder&) = delete;
  void after(const RoundView& view) override;
  /// Writes what waits.
  void flush();
  /// How long the file is; what was written later is cut off when it is read.
  void persist(Snapshot& snapshot);
  [[nodiscard]] std::vector<std::string> files() const { return {path_}; }

 private:
  void write(const Secret<std::string>& text) const;

  const Vertical& protocol_;
  MetricsPolicy policy_;
  bool classifies_;
  std::string path_;
  std::optional<OwnersFile> owners_;  ///< where metrics are private
  Secret<std::string> waiting_;
  Round flushed_ = 0;
};

/// The area under the ROC curve: how often a record of the larger class has the larger margin, of all pairs of one
/// record of each class; ties count half. NaN unless there are both. O(n log n).
[[nodiscard]] double area_under_roc(std::vector<Prediction> predictions);

/// Parameters of this rank's networks, to networks/<rank>.h5: a data set for each client, the head being /0. Throws
/// FailureError.
void write_networks(const RunDirectory& directory, int rank,
                    const std::vector<std::pair<Client, Released<Vector>>>& blocks);

/// Times that records of this rank's parties were out of range, to private/<rank>/out-of-range.csv, which the owner
/// alone can read. Throws FailureError.
void write_out_of_range(const RunDirectory& directory, int rank,
                        const std::vector<std::pair<Client, Secret<std::int64_t>>>& counts);

}  // namespace starling
