/// The networks of online vertical federated learning: a feature network for each party and a head over all their
/// embeddings (method 5; Wang and Xu 2023, section IV).
///
/// The embeddings of M records are an M × K e matrix, row after row: row i is (h_1(x_i), …, h_K(x_i)), e numbers each.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/core/snapshot.hpp"
#include "starling/data/vertical/vertical.hpp"
#include "starling/loss/target_loss.hpp"
#include "starling/model/model.hpp"
#include "starling/model/network/network_block.hpp"
#include "starling/protocol/aggregated/optimiser.hpp"

namespace starling {

/// Of a run; the same on all ranks.
struct VerticalArchitecture {
  std::vector<Architecture> features;  ///< of parties 1, …, K; all have e outputs
  Architecture head;                   ///< from K e inputs
  Precision precision = Precision::single;
  std::uint64_t seed = 1;  ///< of start values; block k, from 0 for the head, has its own
  OptimiserKind optimiser = OptimiserKind::sgd;

  [[nodiscard]] std::size_t parties() const { return features.size(); }
};

/// A network with the parameters that it has learned so far. They are made of released gradients alone.
class LearningBlock {
 public:
  /// Of party k, or for k = 0 the head.
  LearningBlock(const VerticalArchitecture& architecture, std::size_t k);

  [[nodiscard]] NetworkBlock& network() { return *network_; }
  [[nodiscard]] const NetworkBlock& network() const { return *network_; }
  [[nodiscard]] const Released<Vector>& parameters() const { return parameters_; }
  /// Overwrites them.
  void set(const Released<Vector>& parameters) { parameters_ = parameters; }
  /// Throws DataError for parameters that are then not finite or beyond 1e8 (double precision: 1e100) in magnitude:
  /// they are made of released values alone.
  void step(double eta, const Released<Vector>& direction);
  void persist(Snapshot& snapshot) { snapshot(parameters_, *optimiser_); }

 private:
  std::unique_ptr<NetworkBlock> network_;
  Released<Vector> parameters_;
  std::unique_ptr<Optimiser> optimiser_;
  double largest_;
};

/// The loss of what a head makes of embeddings.
class HeadLoss {
 public:
  /// Keeps references.
  HeadLoss(NetworkBlock& head, const TargetLoss& loss) : head_(head), loss_(loss) {}

  /// ℓ of M records at these parameters and embeddings (M × inputs of the head); what the others below speak of.
  /// Records out of range have no loss, and derivatives of 0.
  Score play(View parameters, View embeddings, View targets);
  /// M × outputs of the head.
  [[nodiscard]] View outputs() const { return outputs_; }
  /// Σ_i clip(∂ℓ_i/∂θ_0).
  void gradient(const Clip& clip, Vector& gradient) { head_.gradient(d_outputs_, clip, gradient); }
  /// ∂ℓ_i/∂h of all embeddings, M × inputs of the head.
  void embedding_derivatives(Vector& derivatives) { head_.input_derivatives(d_outputs_, derivatives); }

 private:
  NetworkBlock& head_;
  const TargetLoss& loss_;
  Vector outputs_;
  Vector d_outputs_;
};

/// Party k's columns of a matrix of embeddings (k from 0, `width` = e): into `part`, M × e, or from there.
void take_part(View embeddings, std::size_t parties, std::size_t k, std::size_t width, Vector& part);
void put_part(View part, std::size_t parties, std::size_t k, std::size_t width, MutableView embeddings);

/// All of them in one place, as where columns are sent to rank 0 (the baseline `central`).
class JointNetwork {
 public:
  explicit JointNetwork(const VerticalArchitecture& architecture, const TargetLoss& loss);

  /// The head, then the parties' blocks.
  [[nodiscard]] std::vector<LearningBlock>& blocks() { return blocks_; }
  [[nodiscard]] const std::vector<LearningBlock>& blocks() const { return blocks_; }

  /// Of M records, each party's columns in turn.
  Score play(const std::vector<View>& columns, View targets);
  [[nodiscard]] View outputs() const { return head_.outputs(); }
  /// Σ_i ∂ℓ_i of every block, after `play`: vertical learning's own when each rank has made one local step from what
  /// float32 has brought, bit for bit, since blocks compute the same products in both.
  void gradients(std::vector<Vector>& sums);

  void persist(Snapshot& snapshot) { snapshot(blocks_); }

 private:
  std::vector<LearningBlock> blocks_;
  HeadLoss head_;
  std::size_t width_;  ///< e
  Vector embeddings_;
  Vector derivatives_;
  Vector part_;
};

}  // namespace starling
