/// The parts of a vertical model that a run saves, and the score of its held-out records.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "model/score.hpp"
#include "run/stages/method.hpp"
#include "vertical_setting.hpp"

namespace starling {

class Summary;
struct SavedModel;

/// The networks of a run of vertical learning on one rank, for files.
class SavedParts {
 public:
  /// `embedding_clip` is the bound of a record's embedding. On shares there is none, and `row_bounds` has those of
  /// the parties' rows. Keeps references.
  SavedParts(const BegunRun& begun, const VerticalSetting& setting, Clip embedding_clip, Vector row_bounds = {})
      : begun_(begun),
        setting_(setting),
        config_(setting.config),
        embedding_clip_(embedding_clip),
        row_bounds_(std::move(row_bounds)) {}

  /// Writes model.h5, or the parts of this rank, whose parameters `blocks` has by client; the head is client 0.
  /// **Collective.**
  void save(const Summary& summary, const std::vector<std::pair<Client, Released<Vector>>>& blocks) const;

  /// Whether all may have the parties' networks.
  [[nodiscard]] bool are_shared() const;

 private:
  /// Whether the run ends with a model that can be applied to new records.
  [[nodiscard]] bool are_kept() const;
  [[nodiscard]] SavedModel part(Client client, View parameters) const;

  const BegunRun& begun_;
  const VerticalSetting& setting_;
  const VerticalConfig& config_;
  Clip embedding_clip_;
  Vector row_bounds_;
};

/// Makes one pass over held-out records, calls its argument for each on rank 0, and returns their score there.
/// **Collective.**
using HeldOutPass = std::function<Score(const std::function<void(View outputs, View targets)>& look)>;

/// Adds the metrics of the parties' predictions of --test. Returns their score. **Collective.**
[[nodiscard]] Score score_held_out(const RunContext& run, const VerticalSetting& setting, const HeldOutPass& predict,
                                   Summary& summary);

}  // namespace starling
