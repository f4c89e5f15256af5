/// Newton's method on whole data with rank 0 as aggregator (docs/methods/inference.md, "Newton rounds").
///
/// In round t every client sums Ψ, Ψ̇ and ΨΨ' at θ_t over all of its records, and adds its own noise. Only that leaves
/// the client. Rank 0 takes the step
///
///   θ_{t+1} = θ_t − Â_t⁻¹ ḡ_t,      ḡ_t = mean of Ψ + noise,  Â_t = (Â_{t−1} + mean of Ψ̇ + noise)/2,
///
/// in coordinates in which features are uncorrelated and of one scale. Under noise the first round is for these: it
/// releases second moments in place of Ψ. Without noise, where scores predict labels themselves, the first round is one
/// of least squares, and those up to the middle have the curvature of parabolas above the loss; and steps after which
/// the mean of Ψ is longer are halved. The estimate is the mean of one-step estimates over the closing rounds,
///
///   θ̂ = mean of θ_t − Â⁻¹ mean of ḡ_t,   covariance  Â⁻¹ (Ŝ/N + v I) Â⁻¹,
///
/// with Â and Ŝ the means of Ψ̇ and ΨΨ' over N records and the closing rounds, Ŝ without its negative eigenvalues, and v
/// the known variance of the noise on the mean of the ḡ_t.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/numerics/dense.hpp"
#include "model/mallows_model.hpp"
#include "protocol/aggregated/aggregated_rounds.hpp"
#include "protocol/aggregated/plug_in_sums.hpp"
#include "protocol/aggregated/preconditioned.hpp"

namespace starling {

struct NewtonSettings {
  Round rounds = 1;          ///< that of the second moments included
  Round closing = 1;         ///< last rounds, which make the estimate
  bool finds_scales = true;  ///< whether the first round releases second moments
  bool intercept = true;     ///< whether the last parameter is one
  /// Features without a coefficient, ascending: all their values are 0, and only noise is released of them.
  std::vector<std::size_t> left_out = {};
};

/// What the closing rounds give.
struct NewtonEstimate {
  Vector estimate;                        ///< d
  Vector deviations;                      ///< of the estimate, d; infinite where it is not determined, 0 of left out
  Vector covariance;                      ///< packed upper triangle
  std::vector<std::size_t> undetermined;  ///< parameters that the records do not determine under this noise
  /// Records that count for the curvature, each as far as the loss bends there.
  double effective_records = 0;
  bool has_enough = true;  ///< effective records; else all parameters are undetermined
  bool fits_all = false;   ///< without noise: every label that is a number within roundings
  /// Largest step of the first closing round, over the parameters, in tolerances: of four deviations by the noise of
  /// two rounds and of the estimate; without noise, of a millionth of the parameter. Above 1 the rounds have not come
  /// to rest.
  double step = 0;
  std::size_t stepping = 0;  ///< the parameter that takes it
};

/// Newton rounds over the clients of all ranks. Construct, then call run() once; the other members report.
class NewtonRounds final : public AggregatedRounds {
 public:
  /// Effective records without which intervals mean nothing, of `records` for d parameters: 5 for each, or 15 where the
  /// loss bends at fewer than half of the records.
  [[nodiscard]] static double least_effective(double effective, double records, std::size_t d) {
    return (2 * effective < records ? 15 : 5) * static_cast<double>(d);
  }
  /// Share of the square of a round's price for curvatures and squares. They need less than directions do: their error
  /// moves the length of an interval, not its middle.
  static constexpr double share_of_curvature = 0.25;

  /// `clients` have `prepared`, a decorator of `model` by `preconditioner`, which these rounds replace. `mechanism`
  /// releases second_part(). `factors` are public, one for each local client's means; empty: 1 for all. Keeps
  /// references.
  NewtonRounds(Root& root, AggregatedClients& clients, MallowsModel& model, PreconditionedModel& prepared,
               Preconditioner& preconditioner, const NewtonSettings& settings, const Released<Vector>& start,
               PairedMechanism& mechanism, Vector factors = {});
  void run(const std::vector<Observer*>& observers) override;

  /// The second part of these rounds' releases.
  [[nodiscard]] static SecondPart second_part(const MallowsModel& model, const NewtonSettings& settings);

  /// On rank 0, the estimate once a closing round has been played; none before, and elsewhere.
  [[nodiscard]] std::optional<NewtonEstimate> estimate() const;
  /// Records of the clients that took part in the last round, on rank 0.
  [[nodiscard]] double records() const { return records_; }

  void persist(Snapshot& snapshot) override;

 private:
  /// Sums over rounds of means over records.
  struct Means {
    Round rounds = 0;
    Vector model;             ///< θ_t, in the coordinates
    Vector direction;         ///< ḡ_t
    Vector curvature;         ///< a packed triangle
    Vector moment;            ///< likewise, of ΨΨ'
    double noise = 0;         ///< variances of the noise on entries of ḡ_t,
    double of_curvature = 0;  ///< on diagonal entries of the curvature,
    double of_records = 0;    ///< and 1/N
    void persist(Snapshot& snapshot) {
      snapshot(rounds, model, direction, curvature, moment, noise, of_curvature, of_records);
    }
  };

  [[nodiscard]] const Released<Vector>& part_of(std::size_t k);
  void release_moments(std::size_t k, const ReleaseAddress& address, double price, double factor);
  void release_directions(std::size_t k, const ReleaseAddress& address, double price, double factor);
  [[nodiscard]] bool finds_scales() const { return settings_.finds_scales && done_ == 0; }
  /// Whether this is the round of least squares.
  [[nodiscard]] bool fits_squares() const { return exact() && done_ == 0 && model_.link() == Link::identity; }
  /// Whether steps of this round go by parabolas above the loss.
  [[nodiscard]] bool majorises() const {
    return exact() && 2 * done_ < settings_.rounds && model_.link() == Link::identity;
  }
  [[nodiscard]] bool closes() const { return done_ + settings_.closing >= settings_.rounds; }
  [[nodiscard]] const Secret<Vector>& directions(std::size_t k);
  /// Entries of a second part, which moments and triangles fill from the first on.
  [[nodiscard]] std::size_t size_of_second() const { return std::max(moments_.size(), 2 * scale_.triangle()); }
  void find_scales(View sum);
  void step(View sum);
  void follow_curvature(const Means& means);
  [[nodiscard]] Vector next_model(const Means& means);
  [[nodiscard]] double effective_records(View curvature, double records) const;
  [[nodiscard]] bool suffices(double effective, double records) const {
    return effective >= least_effective(effective, records, parameters());
  }
  void close(const Means& means);
  [[nodiscard]] bool fits_within_roundings(const Means& means) const;
  /// Whether releases have no noise.
  [[nodiscard]] bool exact() const;
  [[nodiscard]] Means means_of(View sum) const;
  [[nodiscard]] bool is_left_out(std::size_t j) const {
    return std::binary_search(settings_.left_out.begin(), settings_.left_out.end(), j);
  }
  /// Number of parameters that are estimated: all of the model's but those left out.
  [[nodiscard]] std::size_t parameters() const { return model_.dimension() - settings_.left_out.size(); }
  [[nodiscard]] Vector parameters_of(View coordinates) const;
  [[nodiscard]] dense::MatrixXd image_of_coordinates() const;
  void take_coordinates();

  AggregatedClients& clients_;
  MallowsModel& model_;
  PreconditionedModel& prepared_;
  Preconditioner& preconditioner_;
  NewtonSettings settings_;
  PairedMechanism& pair_;
  Vector factors_;
  std::unique_ptr<CurvedLoss> squares_;  ///< the squared loss, and a model with it
  std::unique_ptr<MallowsModel> least_squares_;
  CurvatureScale scale_;
  MomentSums moments_;
  std::function<const Released<Vector>&(std::size_t k)> contribution_;
  Released<Vector> message_;
  Released<Vector> noisy_;
  Released<Vector> sum_;
  Released<Vector> coordinates_;  ///< numbers of the preconditioner
  Secret<Vector> directions_;
  Secret<Vector> second_;
  double records_ = 0;
  // On rank 0:
  Vector flat_;                 ///< without noise: the curvature of least squares
  Vector curvature_;            ///< Â_t, a packed triangle
  double curvature_noise_ = 0;  ///< variance of the noise on its diagonal
  Means closing_;
  std::optional<Vector> first_direction_;  ///< of the closing rounds
  Vector last_step_;                       ///< without noise: the step before, which is halved where it led away
  double last_length_ = 0;                 ///< and the length of its direction
};

}  // namespace starling
