/// The variants of renewable estimation under which records are to be protected.
#pragma once

#include "starling/privacy/mechanism/paper_perturbation.hpp"
#include "starling/protocol/renewable/noisy_sum.hpp"
#include "starling/protocol/renewable/renewable.hpp"

namespace starling {

/// `private`: noisy sums of gradients; what follows is post-processing. Each record enters one sum.
class PrivateRenewable final : public Renewable {
 public:
  /// `public_curvature` is c of H̄ = n_b (c + λ) I; where it is none, curvature comes with the sums.
  PrivateRenewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
                   const Released<Vector>& start, NoisySum& sum, std::optional<double> public_curvature);
  void run(const std::vector<Observer*>& observers) override;
  void persist(Snapshot& snapshot) override {
    Renewable::persist(snapshot);
    snapshot(j_);
  }

 private:
  void renew(const Released<Vector>& sums, double records);

  NoisySum& sum_;
  std::optional<double> public_curvature_;
  BlockCurvature j_;
};

/// `private-paper`: Algorithm 2 as printed. Rank 0 sees gradients and curvatures un-noised.
class PaperRenewable final : public Renewable {
 public:
  /// `rho` is ρ of (41).
  PaperRenewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
                 const Released<Vector>& start, PaperPerturbation& perturbation, double rho, const Codec& codec);
  void run(const std::vector<Observer*>& observers) override;
  void persist(Snapshot& snapshot) override {
    Renewable::persist(snapshot);
    snapshot(state_, records_);
  }

 private:
  void renew(double records);

  PaperPerturbation& perturbation_;
  double rho_;
  const Codec& codec_;
  Secret<RenewableState> state_;
  double records_ = 0;
};

/// **Collective.** Records of all clients in round t, on rank 0, as far as all may know them.
[[nodiscard]] double count_records(Root& root, const RenewableClients& clients, Round t, const RoundPrices& prices);

}  // namespace starling
