/// The published private algorithm, variant `private-paper` (docs/methods/renewable.md, "Privacy").
#pragma once

#include "privacy/mechanism/paper_perturbation.hpp"
#include "protocol/curvature/batch_sandwich.hpp"
#include "protocol/renewable/noisy_sum.hpp"
#include "protocol/renewable/renewable.hpp"

namespace starling {

/// Algorithm 2 of Guo et al. as printed. Rank 0 sees gradients and curvatures without noise. Construct, then call run()
/// once.
class PaperRenewable final : public Renewable {
 public:
  /// `rho` is ρ of equation (41).
  PaperRenewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
                 const Released<Vector>& start, PaperPerturbation& perturbation, double rho, const Codec& codec);
  void run(const std::vector<Observer*>& observers) override;
  void persist(Snapshot& snapshot) override {
    Renewable::persist(snapshot);
    snapshot.of_first_rank(root_.aggregates(), state_, records_, sandwich_, late_batches_);
  }
  /// On rank 0, with settings.with_slopes: variances of θ̂, which is the model after the last batch. They are published
  /// without noise of their own. Throws as BatchSandwich::estimate().
  [[nodiscard]] Vector variances();
  /// The batches behind them, a public number.
  [[nodiscard]] std::int64_t batches_of_variances() const { return late_batches_; }

 private:
  [[nodiscard]] Secret<Vector> collect();
  void renew(const Secret<Vector>& sums, double records);
  void take_estimate();

  PaperPerturbation& perturbation_;
  double rho_;
  const Codec& codec_;
  Secret<RenewableState> state_;
  Secret<BatchSandwich> sandwich_;
  double records_ = 0;
  std::int64_t late_batches_ = 0;
};

}  // namespace starling
