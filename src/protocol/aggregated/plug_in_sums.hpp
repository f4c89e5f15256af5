/// Sums of Ψ̇ and ΨΨ' along the path for plug-in intervals, with noise of the client or of rank 0
/// (docs/methods/inference.md, "Intervals").
#pragma once

#include <numbers>
#include <utility>
#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"
#include "inference/plug_in.hpp"

namespace starling {

class AggregatedClients;
class MallowsModel;
class PairedMechanism;
class Root;
struct ReleaseAddress;
struct SecondPart;

/// The means that plug-in intervals are computed from, on rank 0.
///
/// A step goes along the mean of K clients' directions, and the variance of that mean over steps counts. A client whose
/// own optimum differs from the common one has a mean direction b_u that is not zero. The b_u sum to zero and are the
/// same in every step, so b_u b_u' is part of E ΨΨ' but no noise. With m records a step and noise of variance σ² on a
/// client's direction, the variance of the mean direction is
///
///   ((M − B)/m + σ² I)/K,  M = mean of ΨΨ' over records,  B = mean of (b_u − b̄)(b_u − b̄)' over clients.
///
/// B is estimated from the directions that clients release anyway, by analysis of variance: with n_u directions of sum
/// S_u from client u, N = Σ n_u, T = Σ S_u, and K_0 clients that took part,
///
///   Σ_u S_u S_u'/n_u − T T'/N  has the mean  N B + (K_0 − 1) ((M − B)/m) + Σ_u (1 − n_u/N) σ_u² I.
///
/// Solving this for B removes the bias from noise and from the records' own variance. For equal clients the estimate is
/// zero up to an error of order M/N, and for a single client it is exactly zero. Directions are released in each step
/// under either trust, so B costs no privacy.
struct PlugInMeans {
  std::size_t dimension = 0;   ///< d
  Vector curvature;            ///< Â: mean of Ψ̇ over records, noisy; a packed triangle
  Vector moment;               ///< M: mean of ΨΨ' over records, noisy; a packed triangle
  Vector between;              ///< estimate of B; a packed triangle
  double curvature_noise = 0;  ///< standard deviation of the noise on a diagonal entry (others have 1/√2 of it)
  double moment_noise = 0;
  double direction_noise = 0;  ///< mean variance of the noise on a component of a client's direction
};

/// The variance of one step's mean direction, with `batch` records a client and `inverse_clients` the mean of 1/K.
[[nodiscard]] ReleasedMatrix influence_of(const PlugInMeans& means, std::size_t batch, double inverse_clients);

/// The parts of a record's curvature that are released beside its direction.
enum class CurvatureParts {
  curvature,  ///< Ψ̇/B1 alone, of norm at most 1
  both,       ///< (Ψ̇/B1, ΨΨ'/B0²), of norm at most √2
};

/// The scale in which (Ψ̇, ΨΨ') of a record is released: in units of their bounds B1 and B0², or 1 where there is none,
/// off-diagonal entries times √2.
class CurvatureScale {
 public:
  explicit CurvatureScale(const MallowsModel& model);
  /// Entries of a triangle.
  [[nodiscard]] std::size_t triangle() const;
  /// Scales the two triangles of MallowsModel::curvature.
  void scale(Vector& triangles) const;
  /// Undoes that for one triangle, or two, whose components have noise of this deviation; the rest of the members stay.
  [[nodiscard]] PlugInMeans unscaled(View triangles, double deviation) const;
  [[nodiscard]] double curvature_unit() const { return curvature_unit_; }

 private:
  std::size_t order_;
  double curvature_unit_;  ///< B1, or 1 if there is none
  double moment_unit_;     ///< B0², or 1 if there is none
};

/// Sums over records. A record's part is a vector of packed triangles with off-diagonal entries times √2, so that its
/// norm is the Frobenius norm, which is bounded. Call add() for each client and step, then collect().
class PlugInSums {
 public:
  /// Keeps references.
  PlugInSums(Root& root, AggregatedClients& clients, MallowsModel& model, CurvatureParts parts,
             const PairedMechanism& mechanism);
  virtual ~PlugInSums() = default;
  /// The second part of a release, for a mechanism that pays for both parts. `share` is its share of μ².
  [[nodiscard]] static SecondPart part(const MallowsModel& model, CurvatureParts parts, double share);
  /// The share for plug-in intervals, with three releases at one price each.
  static constexpr double share_of_both = 2.0 / 3;
  /// Whole price of a record, in multiples of the price of its step (docs/methods/inference.md, "Intervals").
  static constexpr double price_factor = std::numbers::sqrt3;

  /// Copies the last batch's noisy mean Ψ̇ to `triangle`; empty if batches are not released one by one.
  virtual void last_curvature(Vector& triangle) const = 0;
  /// Standard deviation of the noise on a diagonal entry of that mean, at this price.
  [[nodiscard]] virtual double curvature_noise(double price) const = 0;
  /// Adds client k's batch of this round. `theta` is the model before the step, `direction` the released direction.
  void add(std::size_t k, const ReleaseAddress& address, double price, View theta, const Released<Vector>& direction);
  /// **Collective.** Means over all records so far; empty vectors on ranks other than 0.
  [[nodiscard]] virtual PlugInMeans collect() = 0;
  /// Keeps this rank's sums of this moment for collect_noted(), where they are released already.
  virtual void note(Round /*steps*/) {}
  /// **Collective.** Numbers of steps and means of the moments that were noted, in their order; all ranks have noted
  /// the same moments.
  [[nodiscard]] virtual std::vector<std::pair<Round, PlugInMeans>> collect_noted() { return {}; }
  virtual void persist(Snapshot& snapshot) { snapshot.of_clients(directions_); }

 protected:
  virtual void add_curvature(std::size_t k, const ReleaseAddress& address, double price, View theta) = 0;
  /// **Collective.** Completes PlugInMeans::between, on rank 0.
  void find_between(PlugInMeans& means);
  /// Sum over client k's batch, in the scale of a release.
  [[nodiscard]] const Secret<Vector>& scaled(std::size_t k, View theta);
  /// Entries of a record's part.
  [[nodiscard]] std::size_t size() const;
  /// Per client: Σ of directions, Σ of noise variances, their number.
  [[nodiscard]] std::vector<Released<Vector>>& directions() { return directions_; }

  Root& root_;
  AggregatedClients& clients_;
  MallowsModel& model_;
  CurvatureParts parts_;
  CurvatureScale scale_;

 private:
  const PairedMechanism& pair_;
  Secret<Vector> triangles_;
  std::vector<Released<Vector>> directions_;  ///< per client: Σ of directions, Σ of noise variances, their number
};

/// `--trust local`: the client adds noise to the part of every batch before it enters a sum. Sums are post-processing
/// of releases. Mechanism `none` adds no noise.
class LocalPlugInSums final : public PlugInSums {
 public:
  LocalPlugInSums(Root& root, AggregatedClients& clients, MallowsModel& model, CurvatureParts parts,
                  PairedMechanism& mechanism);
  void last_curvature(Vector& triangle) const override;
  [[nodiscard]] double curvature_noise(double price) const override;
  [[nodiscard]] PlugInMeans collect() override;
  void note(Round steps) override;
  [[nodiscard]] std::vector<std::pair<Round, PlugInMeans>> collect_noted() override;
  void persist(Snapshot& snapshot) override {
    PlugInSums::persist(snapshot);
    snapshot.of_clients(totals_, noted_);
    snapshot(moments_);
  }

 private:
  void add_curvature(std::size_t k, const ReleaseAddress& address, double price, View theta) override;

  PairedMechanism& mechanism_;
  Released<Vector> noisy_;
  std::vector<Released<Vector>> totals_;  ///< per client: Σ of noisy means of batches, and their variances
  std::vector<Round> moments_;            ///< numbers of steps, noted on all ranks alike
  std::vector<Released<Vector>> noted_;   ///< per client and moment: its directions, then its totals
};

/// `--trust central`: rank 0 is entrusted with sums over all records, and adds noise once. Mechanism `none` adds no
/// noise.
class CentralPlugInSums final : public PlugInSums {
 public:
  /// The part is released once for all records, at `price`. `steps` is the number of planned steps.
  CentralPlugInSums(Root& root, AggregatedClients& clients, MallowsModel& model, PairedMechanism& mechanism,
                    double price, Round steps);
  void last_curvature(Vector& triangle) const override { triangle.clear(); }
  [[nodiscard]] double curvature_noise(double /*price*/) const override { return 0; }
  [[nodiscard]] PlugInMeans collect() override;
  void persist(Snapshot& snapshot) override {
    PlugInSums::persist(snapshot);
    snapshot.of_clients(totals_, batches_);
  }

 private:
  void add_curvature(std::size_t k, const ReleaseAddress& address, double price, View theta) override;

  /// Releases the sums over `batches` batches, as means over records.
  [[nodiscard]] PlugInMeans means_of(const Secret<Vector>& sum, double batches);

  PairedMechanism& mechanism_;
  double price_;
  Round steps_;
  std::vector<Secret<Vector>> totals_;     ///< per client
  std::vector<Released<Vector>> batches_;  ///< number of batches per client
};

}  // namespace starling
