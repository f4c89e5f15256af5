/// Domains and mirror maps (docs/methods/decentralized.md, "Mirror maps and domains").
#pragma once

#include <optional>
#include <string>

#include "core/columns.hpp"
#include "core/text/spec.hpp"

namespace starling {

/// A closed convex set X that models must stay in.
class Domain {
 public:
  virtual ~Domain() = default;
  /// Projects x onto X in the Euclidean norm, in place.
  virtual void project(MutableView x) = 0;
  /// Sets x to a centre of X: uniform mass on a simplex, else the point nearest to zero.
  virtual void centre(MutableView x) = 0;
  /// Largest amount by which x violates an inequality or equality that defines X; 0 inside.
  [[nodiscard]] virtual double violation(View x) const = 0;
  /// max_{s ∈ X} ⟨direction, s⟩; infinite if X is unbounded in this direction.
  [[nodiscard]] virtual double support(View direction) const = 0;
  /// The size that all coordinates of a d-dimensional point of X may have at once, with any signs. Noise that is much
  /// smaller is not cut off by the projection.
  [[nodiscard]] virtual double room(std::size_t d) const = 0;
  /// Whether X is all of R^d.
  [[nodiscard]] virtual bool is_everything() const { return false; }
  /// Mass of a simplex; 0 for other sets.
  [[nodiscard]] virtual double simplex_mass() const { return 0; }
  /// Radius of an L2 ball; 0 for other sets.
  [[nodiscard]] virtual double ball_radius() const { return 0; }
  /// Lower bound of every coordinate of a box; none of other sets.
  [[nodiscard]] virtual std::optional<double> low() const { return std::nullopt; }
  /// Radius of an L1 ball; 0 for other sets.
  [[nodiscard]] virtual double l1_radius() const { return 0; }
};

/// The table of domains.
[[nodiscard]] const Table<Domain>& domain_table();

/// The scale of steps of a mirror map, for settings from public numbers (docs/methods/learning-rule.md).
struct MapScale {
  double pace = 1;            ///< the move of a coordinate at the centre by a step of length 1 along a gradient of 1
  bool in_exponents = false;  ///< whether steps add up in the exponents of coordinates

  [[nodiscard]] bool is_euclidean() const { return !in_exponents && pace == 1; }
};

/// A distance-generating function R on a domain X, given by its step
///   z = argmin_{x ∈ X} ⟨η g, x⟩ + B_R(x ‖ x_t)      (docs/methods/decentralized.md).
/// The step acts on a *state*, which mixing averages. The state is the model for all maps but EG±.
class MirrorMap {
 public:
  virtual ~MirrorMap() = default;
  /// Entries of the state of a d-dimensional model. Throws UsageError where the map takes no model of this size.
  [[nodiscard]] virtual std::size_t state_size(std::size_t d) const { return d; }
  /// The model of a state: the state itself, or written to `scratch` (d entries).
  [[nodiscard]] virtual View model(View state, MutableView scratch) const {
    static_cast<void>(scratch);
    return state;
  }
  /// The scale of steps of a d-dimensional model.
  [[nodiscard]] virtual MapScale scale_of_steps(std::size_t d) const {
    static_cast<void>(d);
    return {};
  }
  /// Least value of a positive coordinate of a state; 0 if coordinates have no least value. Under steps a coordinate of
  /// exactly zero stays zero, and a positive one stays positive.
  [[nodiscard]] virtual double least_coordinate() const { return 0; }
  /// Writes the state of a start model: the model itself where both have as many entries. A larger state needs mass in
  /// all its coordinates, so a model near the border of X is first drawn inside.
  virtual void embed(View model, MutableView state) const {
    for (std::size_t i = 0; i < model.size(); ++i) state[i] = model[i];
  }
  /// Whether a step adds −η g to the state wherever the domain does not cut it off.
  [[nodiscard]] virtual bool is_linear() const { return false; }
  /// Whether the map adds a penalty to the loss: its steps are then those of the sum.
  [[nodiscard]] virtual bool has_penalty() const { return false; }
  /// Multiplies the penalty, if there is one, by the share that gradients have of means over a full batch.
  virtual void weigh_penalty(double share) { static_cast<void>(share); }
  /// One step of length η ≥ 0 along −gradient (d entries), in place.
  virtual void step(MutableView state, double eta, View gradient) = 0;
};

/// The table of mirror maps. A map keeps a reference to its domain.
[[nodiscard]] const Table<MirrorMap, Domain&>& mirror_table();

/// Spec of the domain that a run has when the user names none, for the mirror map that the spec `mirror` names. A map
/// may refuse it, where a domain needs a radius.
[[nodiscard]] std::string default_domain(const std::string& mirror);

}  // namespace starling
