#include <algorithm>
#include <cmath>
#include <limits>

#include "starling/core/exponential.hpp"
#include "starling/core/kernels.hpp"
#include "starling/mirror/mirror.hpp"

namespace starling {

namespace {

/// R = ½‖x‖²: a gradient step, then the projection.
class Euclidean final : public MirrorMap {
 public:
  explicit Euclidean(Domain& domain) : domain_(domain) {}
  void step(MutableView state, double eta, View gradient) override {
    axpy(-eta, gradient, state);
    domain_.project(state);
  }

 private:
  Domain& domain_;
};

/// The largest term(i), i < n; −∞ if there is none. Eight at a time: which comes first makes no difference.
template <class Term>
double largest(std::size_t n, Term term) {
  double lane[reduction_lanes];
  std::fill(lane, lane + reduction_lanes, -std::numeric_limits<double>::infinity());
  const std::size_t whole = n / reduction_lanes * reduction_lanes;
  for (std::size_t i = 0; i < whole; i += reduction_lanes) {
    for (std::size_t k = 0; k < reduction_lanes; ++k) lane[k] = std::max(lane[k], term(i + k));
  }
  for (std::size_t i = whole; i < n; ++i) lane[i - whole] = std::max(lane[i - whole], term(i));
  return *std::max_element(lane, lane + reduction_lanes);
}

/// z_i ∝ x_i exp(exponent_i), Σ z = mass. Subtracting the largest exponent among coordinates with mass keeps the sum
/// positive; a zero coordinate stays zero.
template <class Exponent>
void exponentiate(MutableView x, double mass, Exponent exponent) {
  const double top = largest(
      x.size(), [&](std::size_t i) { return x[i] > 0 ? exponent(i) : -std::numeric_limits<double>::infinity(); });
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = x[i] > 0 ? x[i] * exponential(exponent(i) - top) : 0;
  const double total = sum(x);
  for (double& value : x) value = value / total * mass;
}

/// R = Σ x_i ln x_i on a simplex: exponentiated gradient (Kivinen and Warmuth 1997).
class Entropic final : public MirrorMap {
 public:
  explicit Entropic(double mass) : mass_(mass) {}
  void step(MutableView state, double eta, View gradient) override {
    exponentiate(state, mass_, [eta, gradient](std::size_t i) { return -eta * gradient[i]; });
  }

 private:
  double mass_;
};

/// EG±: the entropic map over [x⁺, x⁻] of mass R, model x⁺ − x⁻ (Kivinen and Warmuth 1997, section 4).
class EntropicSigned final : public MirrorMap {
 public:
  explicit EntropicSigned(double radius) : radius_(radius) {}
  [[nodiscard]] std::size_t state_size(std::size_t d) const override { return 2 * d; }
  [[nodiscard]] View model(View state, MutableView scratch) const override {
    const std::size_t d = scratch.size();
    for (std::size_t i = 0; i < d; ++i) scratch[i] = state[i] - state[d + i];
    return scratch;
  }
  void embed(View model, MutableView state) const override {
    const std::size_t d = model.size();
    const double slack = std::max(radius_ - norm1(model), 0.0) / static_cast<double>(2 * d);
    for (std::size_t i = 0; i < d; ++i) {
      state[i] = std::max(model[i], 0.0) + slack;
      state[d + i] = std::max(-model[i], 0.0) + slack;
    }
  }
  void step(MutableView state, double eta, View gradient) override {
    const std::size_t d = gradient.size();
    exponentiate(state, radius_,
                 [eta, gradient, d](std::size_t i) { return i < d ? -eta * gradient[i] : eta * gradient[i - d]; });
  }

 private:
  double radius_;
};

}  // namespace

const Table<MirrorMap, Domain&>& mirror_table() {
  static const Table<MirrorMap, Domain&> table(
      "mirror map",
      {{"euclidean",
        "R = |x|^2/2: gradient step and projection; domains free, ball, box, simplex, l1ball",
        {},
        [](const Spec&, Domain& domain) -> std::unique_ptr<MirrorMap> { return std::make_unique<Euclidean>(domain); }},
       {"entropic",
        "R = sum x ln x: exponentiated gradient; domain simplex",
        {},
        [](const Spec& spec, Domain& domain) -> std::unique_ptr<MirrorMap> {
          check(domain.simplex_mass() > 0, "mirror map '{}' has no step on this domain (it needs --domain simplex)",
                spec.name());
          return std::make_unique<Entropic>(domain.simplex_mass());
        }},
       {"entropic-signed",
        "EG+-: exponentiated gradient for weights of both signs; domain l1ball",
        {},
        [](const Spec& spec, Domain& domain) -> std::unique_ptr<MirrorMap> {
          check(domain.l1_radius() > 0, "mirror map '{}' has no step on this domain (it needs --domain l1ball:RADIUS)",
                spec.name());
          return std::make_unique<EntropicSigned>(domain.l1_radius());
        }}});
  return table;
}

std::string default_domain(const std::string& mirror) {
  return mirror == "entropic" ? "simplex" : "free";
}

}  // namespace starling
