/// The networks of online vertical federated learning: a feature network for each party and a head over all embeddings
/// (docs/methods/vertical.md, "Algorithm"; Wang and Xu 2023, section IV).
///
/// The embeddings of M records are an M × K e matrix, row after row: row i is (h_1(x_i), …, h_K(x_i)), e numbers each.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "core/snapshot.hpp"
#include "model/model.hpp"
#include "model/network/network_block.hpp"

namespace starling {

enum class OptimiserKind;
class TargetLoss;
struct VerticalArchitecture;

/// An optimiser of the parameters of one block. Its state is made of released gradients only.
class Optimiser {
 public:
  virtual ~Optimiser() = default;
  /// A step of length η along −direction. Both vectors have the same number of entries in all calls.
  virtual void step(double eta, View direction, MutableView parameters) = 0;
  virtual void persist(Snapshot& snapshot) = 0;
};

[[nodiscard]] std::unique_ptr<Optimiser> make_optimiser(OptimiserKind kind);

/// A network with its current parameters, which are made of released gradients only.
class LearningBlock {
 public:
  /// The block of party k, or for k = 0 the head.
  LearningBlock(const VerticalArchitecture& architecture, std::size_t k);

  [[nodiscard]] NetworkBlock& network() { return *network_; }
  [[nodiscard]] const NetworkBlock& network() const { return *network_; }
  [[nodiscard]] const Released<Vector>& parameters() const { return parameters_; }
  /// Overwrites the parameters.
  void set(const Released<Vector>& parameters) { parameters_ = parameters; }
  /// A step of length η along −direction. Throws DataError if a parameter is then not finite or beyond 1e8 in magnitude
  /// (double precision: 1e100); that depends on released values only.
  void step(double eta, const Released<Vector>& direction);
  void persist(Snapshot& snapshot) { snapshot(parameters_, *optimiser_); }

 private:
  std::unique_ptr<NetworkBlock> network_;
  Released<Vector> parameters_;
  std::unique_ptr<Optimiser> optimiser_;
  double largest_;
};

/// The loss of a head on embeddings. Call play(), then outputs(), gradient() or embedding_derivatives().
class HeadLoss {
 public:
  /// Keeps references.
  HeadLoss(NetworkBlock& head, const TargetLoss& loss) : head_(head), loss_(loss) {}

  /// Score of M records at these parameters and embeddings (M × inputs of the head). A record out of range has no loss
  /// and derivatives of 0.
  Score play(View parameters, View embeddings, View targets);
  /// Outputs of the head, M × outputs.
  [[nodiscard]] View outputs() const { return outputs_; }
  /// ∂ℓ_i/∂outputs of the records played, M × outputs.
  [[nodiscard]] View output_derivatives() const { return d_outputs_; }
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

/// Copies party k's columns (k from 0, `width` = e) of a matrix of embeddings to `part`, M × e.
void take_part(View embeddings, std::size_t parties, std::size_t k, std::size_t width, Vector& part);
/// Copies `part`, M × e, to party k's columns of a matrix of embeddings.
void put_part(View part, std::size_t parties, std::size_t k, std::size_t width, MutableView embeddings);

/// All blocks on one rank, for the baseline `central`. Call play(), then outputs() or gradients().
class JointNetwork {
 public:
  explicit JointNetwork(const VerticalArchitecture& architecture, const TargetLoss& loss);

  /// The head, then the parties' blocks.
  [[nodiscard]] std::vector<LearningBlock>& blocks() { return blocks_; }
  [[nodiscard]] const std::vector<LearningBlock>& blocks() const { return blocks_; }

  /// Score of M records, given by each party's columns.
  Score play(const std::vector<View>& columns, View targets);
  [[nodiscard]] View outputs() const { return head_.outputs(); }
  /// Σ_i ∂ℓ_i of every block. Equal bit for bit to the gradients of vertical learning in its first local step with
  /// float32 messages, since blocks compute the same products in both.
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
