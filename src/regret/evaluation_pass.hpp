/// The evaluation pass: all ranks evaluate losses on the played records, after the rounds.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/round_set.hpp"
#include "data/stream.hpp"
#include "mirror/mirror.hpp"
#include "model/model.hpp"
#include "model/squared_penalty.hpp"
#include "net/agreement.hpp"
#include "privacy/metrics_policy.hpp"

namespace starling {

/// The played rounds and losses of one rank's clients.
struct EvaluationData {
  std::vector<std::unique_ptr<Stream>> streams;  ///< one per local client, at its first round
  std::vector<RoundSet> rounds;                  ///< rounds that each client played
  /// Rounds after which regret is computed, rising; the last is that of the run. Empty: after all rounds only.
  std::vector<Round> marks;
  std::vector<Secret<Vector>> played;  ///< Σ f_u,t(x_u,t) of each client over the rounds before each mark
  std::size_t batch = 1;               ///< m
  SquaredPenalty l2;
};

/// The records of the rounds between two marks.
struct RecordSpan {
  Batch records;
  std::vector<std::size_t> ends{0};  ///< end of each played round's records, relative to the begin of the first
};

/// The records of one rank's clients, kept in memory.
class ReplayedRecords {
 public:
  /// Reads all played rounds from the streams. Throws DataError if a stream has fewer rounds.
  explicit ReplayedRecords(const EvaluationData& data);

  [[nodiscard]] std::size_t clients() const { return clients_.size(); }
  /// Number of spans between marks, the same for each client.
  [[nodiscard]] std::size_t spans() const { return spans_; }
  [[nodiscard]] const Secret<RecordSpan>& span(std::size_t k, std::size_t s) const { return clients_[k].spans[s]; }
  /// The rounds that local client k played, rising. The rounds of span s begin at index first_of(k, s).
  [[nodiscard]] const std::vector<Round>& rounds(std::size_t k) const { return clients_[k].rounds; }
  [[nodiscard]] std::size_t first_of(std::size_t k, std::size_t s) const { return clients_[k].firsts[s]; }
  /// Overwrites `batch` with the records of played round number i of client k.
  void read(std::size_t k, std::size_t i, Secret<Batch>& batch) const;

 private:
  struct ClientRecords {
    std::vector<Round> rounds;
    std::vector<std::size_t> firsts;  ///< first index of each span, and the end of the last
    std::vector<Secret<RecordSpan>> spans;
  };
  static void append(const Secret<Batch>& batch, Secret<RecordSpan>& span);

  std::size_t spans_;
  std::vector<ClientRecords> clients_;
};

/// The loss f(x) = (1/m) Σ_i ℓ_i(x) + rounds · the penalty at x, over the records of some rounds of a client.
class RoundLoss {
 public:
  RoundLoss(Model& model, const EvaluationData& data)
      : model_(model), batch_(static_cast<double>(data.batch)), l2_(data.l2) {}

  /// Adds value and gradient to `part`: d entries of the gradient, then the value.
  void add(View x, const Batch& records, double rounds, MutableView part);
  [[nodiscard]] double value(View x, const Batch& records, double rounds);

 private:
  Model& model_;
  double batch_;
  SquaredPenalty l2_;
  Vector gradient_;
};

/// The records and sums from which regrets are computed. Sums are taken in client order: bits are equal on every rank
/// and for every layout.
class EvaluationPass {
 public:
  /// **Collective.** Reads the records again. References are kept, except to the function. `interrupted` is called now
  /// and then; the pass ends if it returns true on any rank. Throws UsageError unless `policy` shares metrics and a
  /// client has played, DataError if a stream has fewer rounds than were played.
  EvaluationPass(Agreement& agreement, const MetricsPolicy& policy, Model& model, Domain& domain,
                 const EvaluationData& data, std::function<bool()> interrupted);

  [[nodiscard]] Agreement& agreement() const { return agreement_; }
  [[nodiscard]] const MetricsPolicy& policy() const { return policy_; }
  [[nodiscard]] Model& model() const { return model_; }
  [[nodiscard]] Domain& domain() const { return domain_; }
  [[nodiscard]] const EvaluationData& data() const { return data_; }
  [[nodiscard]] const ReplayedRecords& records() const { return *records_; }
  [[nodiscard]] bool interrupted() const { return interrupted_(); }

  /// Number of marks; at least one, the last round.
  [[nodiscard]] const std::vector<Round>& marks() const { return marks_; }
  /// Σ_t Σ_u f_u,t(x_u,t) over all clients before each mark, and the number of the f_u,t.
  [[nodiscard]] const Vector& played() const { return played_; }
  [[nodiscard]] const Vector& client_rounds() const { return client_rounds_; }

  /// **Collective.** The sum over all clients of columns of shared metrics; `columns` has one per local client.
  [[nodiscard]] Vector total(const Secret<Columns>& columns, SharedFigure figure) const;
  /// **Collective.** The sum over all clients of one vector per local client.
  [[nodiscard]] Vector total(const std::vector<Secret<Vector>>& vectors, std::size_t length, SharedFigure figure) const;

 private:
  Agreement& agreement_;
  const MetricsPolicy& policy_;
  Model& model_;
  Domain& domain_;
  const EvaluationData& data_;
  std::function<bool()> interrupted_;
  std::optional<ReplayedRecords> records_;
  std::vector<Round> marks_;
  Vector played_;
  Vector client_rounds_;
};

}  // namespace starling
