/// The data of an evaluation pass: the records that clients played, read again after the rounds.
#pragma once

#include <memory>
#include <vector>

#include "core/round_set.hpp"
#include "data/stream.hpp"
#include "model/model.hpp"

namespace starling {

/// The played rounds and losses of one rank's clients.
struct EvaluationData {
  std::vector<std::unique_ptr<Stream>> streams;  ///< one per local client, at its first round
  std::vector<RoundSet> rounds;                  ///< rounds that each client played
  /// Rounds after which regret is computed, rising; the last is that of the run. Empty: after all rounds only.
  std::vector<Round> marks;
  std::vector<Secret<Vector>> played;  ///< Σ f_u,t(x_u,t) of each client over the rounds before each mark
  std::size_t batch = 1;               ///< m
  double l2 = 0;                       ///< λ
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

/// The loss f(x) = (1/m) Σ_i ℓ_i(x) + rounds · (λ/2)‖x‖² over the records of some rounds of a client.
class RoundLoss {
 public:
  RoundLoss(Model& model, const EvaluationData& data)
      : model_(model), batch_(static_cast<double>(data.batch)), l2_(data.l2) {}

  /// Adds value and gradient to `part`: d entries of the gradient, then the value.
  void add(View x, const Batch& records, double rounds, MutableView part);
  [[nodiscard]] double value(View x, const Batch& records, double rounds);
  [[nodiscard]] double l2() const { return l2_; }

 private:
  Model& model_;
  double batch_;
  double l2_;
  Vector gradient_;
};

}  // namespace starling
