/// Personal models: a model that one client fits to its own records around the common model
/// (docs/methods/learning-rule.md, "Personal models").
///
/// With x̄ the common model and (1/N) Σ_i f(x; i) the client's mean loss, a personal model is
///
///   x = argmin (1/N) Σ_i f(x; i) + (λ/2) ‖x − c‖²_D
///
/// for a centre c, which is a x̄ or the model that knows nothing (0, or the model's own start), and a λ of several
/// decades; or it is x̄ itself, a x̄, or a x̄ with intercepts of the client's own. D is the mean square of each feature,
/// so that units do not matter. The personal model is the mean of these candidates, weighted by
///
///   π_c exp(−½ Σ_i f(x_c; i)),
///
/// with losses in cross-validation. Σ π_c over the candidates of centre 0 is ½, or what is publicly expected of joining
/// makes it. A mean takes the place of a
/// choice because few records choose badly: 33 of them cannot tell models that differ by a point of accuracy. Losses
/// are halved, since the folds of cross-validation are not independent. Around a common model that noise has spoiled no
/// λ is as good as a model of the client's own: hence two centres.
///
/// For losses that are not convex in the model, as of networks, the candidates are the models along gradient steps from
/// c: stopping early takes the place of λ. Means of networks are no networks of small loss, so that the candidate of
/// most weight is the personal model.
///
/// All of it depends on the client's records without noise. It is never shared: callers keep it in a Secret.
#pragma once

#include <cstdint>

#include "core/batch.hpp"
#include "model/model.hpp"

namespace starling {

/// The origin of a candidate.
enum class PersonalCentre {
  joint,    ///< the common model itself
  scaled,   ///< the common model times a number
  shifted,  ///< the common model times a number, with intercepts of the client's own
  around,   ///< that is the centre
  alone,    ///< the centre knows nothing
};

/// "joint", "joint, scaled", "joint, scaled and shifted", "around the joint model", "alone".
[[nodiscard]] const char* name_of(PersonalCentre centre);

/// The common model, and what is known of the model's form.
struct PersonalTerms {
  View common;             ///< x̄, d numbers
  Vector ignorant = {};    ///< the centre that knows nothing; empty: 0
  bool convex = true;      ///< whether the loss is convex in the model
  std::size_t scores = 1;  ///< K of a linear model, whose parameters are K runs of weights and an intercept
  bool linear = true;      ///< whether the model is linear: D follows from the features
  bool intercept = false;  ///< of a linear model
  std::uint64_t seed = 0;  ///< decides the folds, together with the client
  std::uint64_t client = 0;
  double joining = 0;  ///< ln of the odds of candidates from the common model, before any record has spoken
};

/// Scores of a client's models on records of its own that none of them was fitted to.
struct PersonalScores {
  Score alone;
  Score joint;
  Score personal;
};

struct PersonalModel {
  Vector parameters;                              ///< d
  PersonalCentre centre = PersonalCentre::joint;  ///< of the candidate of most weight
  double strength = 0;      ///< its λ, or number of gradient steps; a of the scaled joint model; 0 of the joint one
  PersonalScores held_out;  ///< of models that a part of the records had no part in
};

/// Fewer records choose nothing: the personal model is the common one.
inline constexpr std::size_t least_personal_records = 10;

/// The personal model of a client with these records; persons stay together in folds. `held_out` comes from a fifth of
/// the records, kept apart from a fit of its own to the others; then all records make the model. Deterministic.
[[nodiscard]] PersonalModel fit_personal(Model& model, const Batch& records, const PersonalTerms& terms);

}  // namespace starling
