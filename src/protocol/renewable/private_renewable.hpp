/// Private renewable estimation, variant `private` (docs/methods/renewable.md, "Privacy").
#pragma once

#include "protocol/curvature/batch_sandwich.hpp"
#include "protocol/renewable/noisy_sum.hpp"
#include "protocol/renewable/renewable.hpp"

namespace starling {

/// Curvature of one record that depends on no record: `multiple` I plus a packed upper triangle, the same for each
/// class.
struct PublicCurvature {
  double multiple = 0;
  Vector triangle{};  ///< empty for none
};

/// Renewable estimation from noisy sums of gradients. Each record enters one sum, and the models are post-processing.
/// Construct, then call run() once.
class PrivateRenewable final : public Renewable {
 public:
  /// `public_curvature` is H of H̄ = n_b (H + λ I). Without a value, curvature comes with the sums.
  PrivateRenewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
                   const Released<Vector>& start, NoisySum& sum, std::optional<PublicCurvature> public_curvature);
  void run(const std::vector<Observer*>& observers) override;
  void persist(Snapshot& snapshot) override {
    Renewable::persist(snapshot);
    snapshot.of_first_rank(root_.aggregates(), j_, sandwich_);
    snapshot(sum_);
  }
  /// On rank 0, with settings.with_slopes and released curvature: sums for θ̂ and its variances. θ̂ is the model after
  /// the last batch.
  [[nodiscard]] const BatchSandwich& sandwich() const { return sandwich_; }
  /// Other records follow: old noise must not be taken back from them.
  void leave_out(Round end) override {
    Renewable::leave_out(end);
    sum_.begin_chains();
  }

 private:
  void renew(View total, double records);
  void take_estimate();

  NoisySum& sum_;
  std::optional<PublicCurvature> public_curvature_;
  BlockCurvature j_;
  BatchSandwich sandwich_;
};

}  // namespace starling
