/// Records of online vertical federated learning (docs/methods/vertical.md).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/snapshot.hpp"
#include "output/directory/owners_file.hpp"
#include "output/rounds.hpp"
#include "privacy/metrics_policy.hpp"
#include "protocol/observer.hpp"

namespace starling {

class RunDirectory;
class Vertical;
struct Prediction;
struct RocArea;

/// The recorder of rounds.csv on rank 0: round, loss, accuracy, test_loss, test_accuracy, uplink_bits, downlink_bits,
/// out_of_range. A line has the means over the round's records in range (before the step; of test records after the
/// step), the bits of its messages, and the number of records out of range. Private metrics go to private/0/rounds.csv.
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
  /// Writes or reads the length of the file. Reading truncates the file to this length.
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

/// The area under the ROC curve of predictions (roc.hpp).
[[nodiscard]] RocArea area_under_roc(const std::vector<Prediction>& predictions);

/// Writes the parameters of this rank's networks to networks/<rank>.h5: one data set for each client; /0 is the head.
/// Throws FailureError.
void write_networks(const RunDirectory& directory, int rank,
                    const std::vector<std::pair<Client, Released<Vector>>>& blocks);

/// Writes counts of this rank's parties to private/<rank>/out-of-range.csv, which only the owner can read; `what` says
/// what was counted. Throws FailureError.
void write_out_of_range(const RunDirectory& directory, int rank, const std::string& what,
                        const std::vector<std::pair<Client, Secret<std::int64_t>>>& counts);

}  // namespace starling
