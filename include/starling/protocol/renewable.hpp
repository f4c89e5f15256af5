/// Renewable estimation: streaming second-order learning with rank 0 as aggregator (method 3; Guo, Xie, Lu, Jiang, Dai
/// and Kong, "Online federated learning framework for classification"). The objective over n records is
///
///   F(θ) = Σ_i ℓ(y_i, x̄_i·θ) + (nλ/2) θᵀPθ,  P = I (`full`) or W, which leaves intercepts out (`slopes`).
#pragma once

#include <optional>
#include <vector>

#include "starling/net/root.hpp"
#include "starling/protocol/block_curvature.hpp"
#include "starling/protocol/mixing.hpp"
#include "starling/protocol/observer.hpp"
#include "starling/protocol/renewable_clients.hpp"

namespace starling {

enum class Penalty { full, slopes };

struct RenewableSettings {
  Round rounds = 1;  ///< batches; of `offline`, passes over the data at most
  double l2 = 0;     ///< λ
  Penalty penalty = Penalty::full;
  bool safe_start = true;    ///< minimise over the first batch, then go online
  double forget = 1;         ///< ρ that J is multiplied by with each batch
  bool with_slopes = false;  ///< keep Σ ℓ'² x̄x̄ᵀ, for sandwich standard errors
};

/// What rank 0 keeps between batches, all of it renewed from sums over one batch.
struct RenewableState {
  Vector theta;
  BlockCurvature j;
  double records = 0;   ///< N_b
  double residual = 0;  ///< Σ over batches of the losses at the model before, less what the step gains on them
  Score later = {};     ///< losses of all batches but the first, each at the model before it
  Vector slopes = {};   ///< K triangles of Σ ℓ'² x̄x̄ᵀ; empty if not asked for
};

/// What the variants share: the model that all clients have, and who looks at it.
class Renewable : public RoundView {
 public:
  /// `start` has d entries. Keeps references.
  Renewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
            const Released<Vector>& start);

  /// **Collective.** Plays all rounds, or fewer if a signal stops the run.
  virtual void run(const std::vector<Observer*>& observers) = 0;

  [[nodiscard]] Round done() const override { return done_; }
  [[nodiscard]] Released<Columns> models() const override;
  [[nodiscard]] View masses() const override { return ones_; }
  [[nodiscard]] bool was_present(std::size_t) const override { return true; }
  [[nodiscard]] double mass_in_flight() const override { return 0; }
  [[nodiscard]] std::span<const Arrival> arrivals() const override { return {}; }
  [[nodiscard]] const std::vector<Secret<Score>>& tallies() const override { return clients_.tallies(); }
  [[nodiscard]] const std::vector<Secret<double>>& played() const override { return played_; }
  [[nodiscard]] const std::vector<RoundSet>& rounds_played() const override { return clients_.rounds_played(); }
  [[nodiscard]] const TimeShares& time_shares() const { return shares_; }
  /// The model, the same everywhere.
  [[nodiscard]] const Released<Vector>& theta() const { return theta_; }

 protected:
  /// Whether round done() is played; starts it.
  [[nodiscard]] bool goes_on();
  void completed(const std::vector<Observer*>& observers);
  void show(const std::vector<Observer*>& observers);
  /// f(), whose time counts as learning (clients' sums over records) or mixing (what rank 0 makes of them).
  template <class F>
  decltype(auto) timed(double TimeShares::*share, F&& f) {
    watch_.lap(shares_.exchange);
    const Lap lap{watch_, shares_.*share};
    return std::forward<F>(f)();
  }
  /// nλPθ.
  [[nodiscard]] Vector penalty_gradient(View theta, double records) const;
  /// (nλ/2) θᵀPθ.
  [[nodiscard]] double penalty_value(View theta, double records) const;
  void add_penalty(BlockCurvature& curvature, double records) const;

  Root& root_;
  RenewableClients& clients_;
  CurvedModel& model_;
  RenewableSettings settings_;
  Released<Vector> theta_;
  Round done_ = 0;
  TimeShares shares_;

 private:
  struct Lap {
    Stopwatch& watch;
    double& seconds;
    ~Lap() { watch.lap(seconds); }
  };
  Stopwatch watch_{false};
  Vector ones_;
  std::vector<Secret<double>> played_;
};

}  // namespace starling
