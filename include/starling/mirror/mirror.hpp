/// Domains and mirror maps (method 1, "Mirror maps and domains").
#pragma once

#include <memory>
#include <string>

#include "starling/core/columns.hpp"
#include "starling/core/table.hpp"

namespace starling {

/// A closed convex set X that models must stay in.
class Domain {
 public:
  virtual ~Domain() = default;
  /// Euclidean projection onto X, in place.
  virtual void project(MutableView x) = 0;
  /// A centre of X: uniform mass on a simplex, else the point nearest to zero.
  virtual void centre(MutableView x) = 0;
  /// How far x violates X's defining inequalities and equalities; 0 inside.
  [[nodiscard]] virtual double violation(View x) const = 0;
  /// max_{s ∈ X} ⟨direction, s⟩; infinite where X has no end in that direction.
  [[nodiscard]] virtual double support(View direction) const = 0;
  /// Mass of a simplex; 0 for other sets.
  [[nodiscard]] virtual double simplex_mass() const { return 0; }
  /// Radius of an L2 ball; 0 for other sets.
  [[nodiscard]] virtual double ball_radius() const { return 0; }
  /// Radius of an L1 ball; 0 for other sets.
  [[nodiscard]] virtual double l1_radius() const { return 0; }
};

/// free, ball, box, simplex, l1ball.
[[nodiscard]] const Table<Domain>& domain_table();

/// A distance-generating function R on a domain, known by its step
///   z = argmin_{x ∈ X} ⟨η g, x⟩ + B_R(x ‖ x_t)      (method 1, round, item 3).
/// The step acts on a *state*, which mixing averages; for all maps but EG± the state is the model.
class MirrorMap {
 public:
  virtual ~MirrorMap() = default;
  /// Entries of the state of a d-dimensional model.
  [[nodiscard]] virtual std::size_t state_size(std::size_t d) const { return d; }
  /// The model of a state; may be the state itself or be written to `scratch` (d entries).
  [[nodiscard]] virtual View model(View state, MutableView scratch) const {
    static_cast<void>(scratch);
    return state;
  }
  /// Least value of a coordinate of a state that is positive; 0: coordinates have no least value. A coordinate that is
  /// exactly zero at the start stays zero under steps, one that is positive stays positive.
  [[nodiscard]] virtual double least_coordinate() const { return 0; }
  /// State of a given model: the model itself where it has as many entries. Used at the start only. A model that would
  /// leave coordinates of a larger state without mass is drawn inside first.
  virtual void embed(View model, MutableView state) const {
    for (std::size_t i = 0; i < model.size(); ++i) state[i] = model[i];
  }
  /// One step of length η ≥ 0 along −gradient (d entries), in place.
  virtual void step(MutableView state, double eta, View gradient) = 0;
};

/// euclidean, entropic, entropic-signed; a map keeps a reference to its domain.
[[nodiscard]] const Table<MirrorMap, Domain&>& mirror_table();

/// The domain that a map has when none is named: "simplex" for entropic, "free" for euclidean. EG± needs a radius.
[[nodiscard]] std::string default_domain(const std::string& mirror);

}  // namespace starling
