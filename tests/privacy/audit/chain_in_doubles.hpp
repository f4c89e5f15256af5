/// Correlated noise made in double precision, and faults in how it is made of integers; for tests.
#pragma once

#include <array>
#include <memory>

#include "privacy/noise/gaussian_noise.hpp"
#include "privacy/noise/grid.hpp"

namespace starling {

/// The chain of one client in doubles, x_t + N_t − Σ_j ω_j S_j with S_j ← θ_j S_j + N_t, N_t = round(σ Z_t), which
/// makes the claims of the honest mechanism. For tests of audits; not private.
class ChainInDoubles final : public Mechanism {
 public:
  enum class Fault {
    none,  ///< Σ_j ω_j S_j is rounded, and noise never meets another sum of earlier noise: as private as it claims
    unrounded,   ///< Σ_j ω_j S_j is not rounded: fractions of the release show N_t of before, and so the data
    same_noise,  ///< N_t is a function of address and x_t, so that N_t − Σ_j ω_j S_j and N_t alone can be released
  };

  /// Throws UsageError unless the settings of `honest` have a correlation and Gaussian noise can be drawn.
  ChainInDoubles(Fault fault, std::unique_ptr<Mechanism> honest);

  [[nodiscard]] Clip clip() const override { return honest_->clip(); }
  [[nodiscard]] Charge charge(double price) const override { return honest_->charge(price); }
  [[nodiscard]] PriceKind price_kind() const override { return honest_->price_kind(); }
  [[nodiscard]] std::string description() const override {
    return "A fault is planted: for tests of audits; not private.";
  }
  void release(const ReleaseAddress& address, double price, const NoiseKey& key, const Secret<Vector>& sum,
               Released<Vector>& noisy_mean) override;
  void persist(Snapshot& snapshot) override { snapshot(sums_); }
  void begin_chains() override;

 private:
  [[nodiscard]] double taken_back(std::size_t coordinate) const;

  Fault fault_;
  std::unique_ptr<Mechanism> honest_;
  NoiseCorrelation correlation_;
  GridRounding<Norm::l2> rounding_;
  GaussianNoise noise_;
  ReleaseKeys keys_;
  std::array<Vector, NoiseCorrelation::buffers> sums_;  ///< S_j by coordinate
};

}  // namespace starling
