/// Sums of Ψ̇ and ΨΨ' along the path for plug-in intervals, and who adds noise to them (method 4, "Intervals").
#pragma once

#include <memory>
#include <numbers>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/inference/plug_in.hpp"
#include "starling/model/mallows_model.hpp"
#include "starling/net/root/root.hpp"
#include "starling/privacy/mechanism/paired_mechanism.hpp"
#include "starling/protocol/aggregated/aggregated_clients.hpp"

namespace starling {

/// What plug-in intervals are made of, on rank 0.
///
/// A step goes along the mean of K clients' directions. What counts for the variance of the average is how that mean
/// varies from step to step. A client whose own optimum differs from the common one has a mean direction b_u that is
/// not zero; the b_u sum to zero, and they are the same in every step. So b_u b_u' is part of E ΨΨ' but no noise. With
/// m records a step and noise of variance σ² on a client's direction, the variance of the mean direction is
///
///   ((M − B)/m + σ² I)/K,  M = mean of ΨΨ' over records,  B = mean of (b_u − b̄)(b_u − b̄)' over clients.
///
/// B is estimated from the directions that clients release anyway, by analysis of variance: with n_u directions of sum
/// S_u from client u, N = Σ n_u, T = Σ S_u, and K_0 clients that took part,
///
///   Σ_u S_u S_u'/n_u − T T'/N  has the mean  N B + (K_0 − 1) ((M − B)/m) + Σ_u (1 − n_u/N) σ_u² I.
///
/// Solving that for B takes the bias off which the noise and the records' own variance bring. Of clients that are alike
/// the estimate is zero but for an error of about the meat's own size over N, so intervals are what they were; of a
/// single client it is exactly zero. Directions are released in each step under either trust, so this costs no privacy.
struct PlugInMeans {
  std::size_t dimension = 0;   ///< d
  Vector curvature;            ///< Â: mean of Ψ̇ over records, noisy; a packed triangle
  Vector moment;               ///< M: mean of ΨΨ' over records, noisy; likewise
  Vector between;              ///< B as estimated; likewise
  double curvature_noise = 0;  ///< standard deviation of the noise on a diagonal entry (others have 1/√2 of it)
  double moment_noise = 0;
  double direction_noise = 0;  ///< mean variance of the noise on a component of a client's direction
};

/// The variance of one step's mean direction, with `batch` records a client and `inverse_clients` the mean of 1/K.
[[nodiscard]] ReleasedMatrix influence_of(const PlugInMeans& means, std::size_t batch, double inverse_clients);

/// What of a record's curvature is released beside its direction.
enum class CurvatureParts {
  curvature,  ///< Ψ̇/B1 alone, of norm at most 1
  both,       ///< (Ψ̇/B1, ΨΨ'/B0²), of norm at most √2
};

/// A record's part in them is a vector of packed triangles, off-diagonal entries times √2, so that its norm is bounded.
class PlugInSums {
 public:
  /// Keeps references.
  PlugInSums(Root& root, AggregatedClients& clients, MallowsModel& model, CurvatureParts parts,
             const PairedMechanism& mechanism);
  virtual ~PlugInSums() = default;
  /// The second part of a release, for a mechanism that pays for both parts, with so much of the square of μ.
  [[nodiscard]] static SecondPart part(const MallowsModel& model, CurvatureParts parts, double share);
  /// Of it, where plug-in intervals take their three releases at one price each.
  static constexpr double share_of_both = 2.0 / 3;
  /// What a record pays in all, in multiples of the price of its step: √3 (method 4, "Plug-in").
  static constexpr double price_factor = std::numbers::sqrt3;

  /// The triangle of the last batch's noisy mean Ψ̇ into `triangle`, where each batch's is released by itself; else no
  /// numbers.
  virtual void last_curvature(Vector& triangle) const = 0;
  /// Standard deviation of the noise on one of its diagonal entries, at this price.
  [[nodiscard]] virtual double curvature_noise(double price) const = 0;
  /// Client k's batch of the round at hand, with the model before its step, and the direction that it releases.
  void add(std::size_t k, const ReleaseAddress& address, double price, View theta, const Released<Vector>& direction);
  /// **Collective.** Of all records so far; empty vectors elsewhere than on rank 0.
  [[nodiscard]] virtual PlugInMeans collect() = 0;
  virtual void persist(Snapshot& snapshot) { snapshot(directions_); }

 protected:
  virtual void add_curvature(std::size_t k, const ReleaseAddress& address, double price, View theta) = 0;
  /// **Collective.** PlugInMeans::between, on rank 0, of means that are complete but for it.
  void find_between(PlugInMeans& means);
  /// Of client k's batch, scaled as said above.
  [[nodiscard]] const Secret<Vector>& scaled(std::size_t k, View theta);
  /// Undoes the scaling of means over records, whose components have noise of this deviation.
  [[nodiscard]] PlugInMeans unscaled(View means, double deviation) const;

  /// Entries of a record's part.
  [[nodiscard]] std::size_t size() const;

  Root& root_;
  AggregatedClients& clients_;
  MallowsModel& model_;
  CurvatureParts parts_;
  double curvature_unit_;  ///< B1, or 1 if there is none
  double moment_unit_;     ///< B0², likewise

 private:
  const PairedMechanism& pair_;
  Secret<Vector> triangles_;
  std::vector<Released<Vector>> directions_;  ///< of each client: their sum, the variances of their noise, their number
};

/// `--trust local`: the client adds noise to every batch's part before it enters any sum. Whoever sees sums sees
/// post-processed releases, however often. With mechanism `none`, there is none.
class LocalPlugInSums final : public PlugInSums {
 public:
  LocalPlugInSums(Root& root, AggregatedClients& clients, MallowsModel& model, CurvatureParts parts,
                  PairedMechanism& mechanism);
  void last_curvature(Vector& triangle) const override;
  [[nodiscard]] double curvature_noise(double price) const override;
  [[nodiscard]] PlugInMeans collect() override;
  void persist(Snapshot& snapshot) override {
    PlugInSums::persist(snapshot);
    snapshot(totals_);
  }

 private:
  void add_curvature(std::size_t k, const ReleaseAddress& address, double price, View theta) override;

  PairedMechanism& mechanism_;
  Released<Vector> noisy_;
  std::vector<Released<Vector>> totals_;  ///< of each client: noisy means of its batches added up, their variances
};

/// `--trust central`: rank 0 is entrusted with sums over all records, and adds noise once. With mechanism `none`, there
/// is none.
class CentralPlugInSums final : public PlugInSums {
 public:
  /// `part` as above, released once of all records; `price` is that of all rounds, `steps` those that the run plans.
  CentralPlugInSums(Root& root, AggregatedClients& clients, MallowsModel& model, PairedMechanism& mechanism,
                    double price, Round steps);
  void last_curvature(Vector& triangle) const override { triangle.clear(); }
  [[nodiscard]] double curvature_noise(double /*price*/) const override { return 0; }
  [[nodiscard]] PlugInMeans collect() override;
  void persist(Snapshot& snapshot) override {
    PlugInSums::persist(snapshot);
    snapshot(totals_, batches_);
  }

 private:
  void add_curvature(std::size_t k, const ReleaseAddress& address, double price, View theta) override;

  /// The one release of the sums over so many batches, as means over records.
  [[nodiscard]] PlugInMeans means_of(const Secret<Vector>& sum, double batches);

  PairedMechanism& mechanism_;
  double price_;
  Round steps_;
  std::vector<Secret<Vector>> totals_;     ///< of each client
  std::vector<Released<Vector>> batches_;  ///< likewise: how many
};

}  // namespace starling
