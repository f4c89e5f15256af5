/// How the clients' gradients become one noisy sum at rank 0, whoever adds the noise.
#pragma once

#include <functional>
#include <vector>

#include "starling/net/root/root.hpp"
#include "starling/privacy/mechanism/masked_gaussian.hpp"
#include "starling/privacy/mechanism/paired_mechanism.hpp"
#include "starling/protocol/renewable/renewable_clients.hpp"

namespace starling {

/// Releases of one round: the price of each local client's, none for those that take no part.
using RoundPrices = std::vector<std::optional<double>>;

class NoisySum {
 public:
  /// Keeps references.
  NoisySum(Root& root, RenewableClients& clients, const CurvedModel& model)
      : root_(root), clients_(clients), model_(model) {}
  virtual ~NoisySum() = default;
  /// **Collective.** On rank 0 Σ over all clients of their clipped gradient sums at θ, with noise (d entries), then, if
  /// curvature is released, K triangles of curvature.
  [[nodiscard]] virtual Released<Vector> collect(Round t, View theta, const RoundPrices& prices) = 0;

 protected:
  Root& root_;
  RenewableClients& clients_;
  const CurvedModel& model_;
};

/// `--trust local`: every client adds noise before it sends.
class LocalNoise final : public NoisySum {
 public:
  /// A PairedMechanism releases curvature too.
  LocalNoise(Root& root, RenewableClients& clients, const CurvedModel& model, Mechanism& mechanism, const Codec& codec);
  [[nodiscard]] Released<Vector> collect(Round t, View theta, const RoundPrices& prices) override;

 private:
  Mechanism& mechanism_;
  PairedMechanism* pair_;
  const Codec& codec_;
};

/// `--trust central`: rank 0 is entrusted with the sums, and adds noise once, under client 0's key.
class CentralNoise final : public NoisySum {
 public:
  /// The mechanism's batch is that of all clients together; `price` is that of a round.
  CentralNoise(Root& root, RenewableClients& clients, const CurvedModel& model, Mechanism& mechanism,
               std::function<double(Round)> price, const Codec& codec);
  [[nodiscard]] Released<Vector> collect(Round t, View theta, const RoundPrices& prices) override;

 private:
  Mechanism& mechanism_;
  PairedMechanism* pair_;
  std::function<double(Round)> price_;
  const Codec& codec_;
};

/// `--trust masked`: every client adds its part of the noise, under masks that cancel in the sum.
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
