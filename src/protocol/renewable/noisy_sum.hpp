/// One noisy sum of all clients' gradients at rank 0, with noise of the clients or of rank 0
/// (docs/methods/renewable.md, "Privacy").
#pragma once

#include <functional>
#include <vector>

#include "net/root/root.hpp"
#include "privacy/mechanism/masked_gaussian.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "protocol/renewable/renewable_clients.hpp"

namespace starling {

/// A noisy sum in each round. Call collect() once per round.
class NoisySum {
 public:
  /// Keeps references.
  NoisySum(Root& root, RenewableClients& clients, const CurvedModel& model)
      : root_(root), clients_(clients), model_(model) {}
  virtual ~NoisySum() = default;
  /// **Collective.** On rank 0: Σ over all clients of their clipped gradients at θ, with noise (d entries), then K
  /// triangles of curvature if curvature is released.
  [[nodiscard]] virtual Released<Vector> collect(Round t, View theta, const RoundPrices& prices) = 0;
  /// The noise that later sums take back.
  virtual void persist(Snapshot& /*snapshot*/) {}
  /// Later sums take back no noise of earlier ones.
  virtual void begin_chains() {}

 protected:
  Root& root_;
  RenewableClients& clients_;
  const CurvedModel& model_;
};

/// `--trust local`: every client adds noise before it sends. Correlated noise has a chain for each client.
class LocalNoise final : public NoisySum {
 public:
  /// A PairedMechanism releases curvature too.
  LocalNoise(Root& root, RenewableClients& clients, const CurvedModel& model, Mechanism& mechanism, const Codec& codec);
  [[nodiscard]] Released<Vector> collect(Round t, View theta, const RoundPrices& prices) override;
  void persist(Snapshot& snapshot) override { mechanism_.persist(snapshot); }
  void begin_chains() override { mechanism_.begin_chains(); }

 private:
  Mechanism& mechanism_;
  PairedMechanism* pair_;
  const Codec& codec_;
};

/// `--trust central`: rank 0 is entrusted with the sums, and adds noise once, under client 0's key. Correlated noise
/// has one chain.
class CentralNoise final : public NoisySum {
 public:
  /// The batch of the mechanism is that of all clients together; `price` is the price of a round.
  CentralNoise(Root& root, RenewableClients& clients, const CurvedModel& model, Mechanism& mechanism,
               std::function<double(Round)> price, const Codec& codec);
  [[nodiscard]] Released<Vector> collect(Round t, View theta, const RoundPrices& prices) override;
  void persist(Snapshot& snapshot) override { mechanism_.persist(snapshot); }
  void begin_chains() override { mechanism_.begin_chains(); }

 private:
  Mechanism& mechanism_;
  PairedMechanism* pair_;
  std::function<double(Round)> price_;
  const Codec& codec_;
};

/// `--trust masked`: every client adds its share of the noise, under masks that cancel in the sum.
class MaskedNoise final : public NoisySum {
 public:
  /// One masker per local client.
  MaskedNoise(Root& root, RenewableClients& clients, const CurvedModel& model, MaskedGaussian& mechanism,
              std::vector<Masker> maskers, std::function<double(Round)> price);
  [[nodiscard]] Released<Vector> collect(Round t, View theta, const RoundPrices& prices) override;

 private:
  MaskedGaussian& mechanism_;
  std::vector<Masker> maskers_;
  std::function<double(Round)> price_;
};

}  // namespace starling
