/// Parties that apply a vertical model together, each from its own file and its own part of the model.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/quantiser.hpp"
#include "methods/vertical/records/party_records.hpp"
#include "methods/vertical/setting/model_parts.hpp"
#include "model_source.hpp"
#include "net/root/root.hpp"
#include "output/model_file/scorer.hpp"
#include "run/identity/introductions.hpp"

namespace starling {

/// The records of all parties and their scores, on one rank. Rank 0 has the head, and the other ranks the parties; one
/// process has all. The order of records is that of the labels' file. The records are public by declaration: their
/// embeddings go to rank 0 without noise.
class PartiesTogether {
 public:
  /// Opens parts and files. `labels` tells whether the labels' file has labels, or only the order. Throws UsageError
  /// and DataError. **Collective.**
  PartiesTogether(World& world, const ModelSource& choice, ScoredSource::Labels labels);

  /// Calls `look` on the rank that takes the results for some records after the other, with labels, scores and the
  /// texts of --id. **Collective.**
  void score(const std::function<void(const ScoredRecords& records)>& look);

  /// Whether this rank takes the results: rank 0; but the party with the labels' file where records were matched in
  /// private and labels are not needed, since nobody else may name its records.
  [[nodiscard]] bool takes_results() const { return agreement_.rank() == taker_; }
  /// Runs `step` on every rank and agrees on the outcome. **Collective.**
  void together(const std::function<void()>& step) { agreement_.together(step); }
  /// The head, on rank 0; on another rank that takes the results or reads the labels, without its parameters.
  [[nodiscard]] const SavedModel& head() const { return *head_; }
  [[nodiscard]] const Loss& loss() const { return **loss_; }

 private:
  /// With --members the owners prove who they are; messages are sealed from then on. **Collective.**
  void introduce(const ModelSource& choice);
  void read_parts(const ModelSource& choice);
  void agree_on_parts(const ModelSource& choice);
  void open_records(const ModelSource& choice, ScoredSource::Labels labels);
  [[nodiscard]] VerticalSettings settings_of(const ModelSource& choice, ScoredSource::Labels labels) const;
  void find_labels(const VerticalSettings& settings);
  void match_records(const ModelSource& choice, RankKey& key);
  /// Gives the head without its parameters to the ranks that need what it says of labels. **Collective.**
  void spread_head(RankKey& key);
  /// Gives all scores to the rank that takes the results, which looks at them in the order of its file.
  /// **Collective.**
  void hand_scores_over(const Vector& scores, const std::function<void(const ScoredRecords& records)>& look);
  void open_loss();
  [[nodiscard]] const Introductions* introductions() const { return introductions_ ? &*introductions_ : nullptr; }
  [[nodiscard]] bool is_first() const { return agreement_.rank() == 0; }
  /// Scores, on rank 0, the records whose embeddings were received.
  void apply_head(const std::vector<Vector>& received, ScoredRecords& records);
  [[nodiscard]] std::size_t first_party() const;

  World& world_;
  Agreement agreement_;
  Layout layout_;
  ScoredSource::Labels labels_;
  std::optional<Introductions> introductions_;  ///< with --members
  std::string run_;                             ///< whose parts this rank has; empty on a rank without
  std::optional<SavedModel> head_;              ///< as `head`
  std::vector<SavedModel> parts_;               ///< of this rank's parties
  std::vector<Embedder> embedders_;             ///< likewise
  std::size_t width_ = 0;                       ///< numbers of an embedding
  std::string label_;                           ///< name of the labels' column in the model's own records
  std::optional<ModelLoss> loss_;               ///< on rank 0
  std::optional<LabelUnits> units_;             ///< likewise
  std::unique_ptr<NetworkBlock> network_;       ///< of the head, on rank 0
  std::unique_ptr<Quantiser> quantiser_;
  VerticalDataset records_;
  bool in_private_ = false;    ///< records are matched by blinded ids
  std::size_t labels_at_ = 0;  ///< then: the party with the labels' file, from 0
  int taker_ = 0;              ///< the rank that takes the results
  Secret<Vector> embedding_;
  Vector embeddings_;
};

}  // namespace starling
