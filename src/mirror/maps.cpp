#include <algorithm>
#include <limits>

#include "core/numerics/dense.hpp"
#include "core/numerics/exponential.hpp"
#include "core/numerics/kernels.hpp"
#include "member.hpp"

namespace starling {

namespace {

/// The penalty r(x) = λ‖x‖₁ + γ Σ_G ‖x_G‖₂ over groups G of neighbouring coordinates; the last group may be smaller.
struct SparsePenalty {
  double lambda = 0;
  double gamma = 0;
  std::size_t size = 1;  ///< coordinates of a group

  /// x ← argmin_z ½‖z − x‖² + t r(z): coordinates first, then groups (Friedman, Hastie and Tibshirani 2010).
  void shrink(MutableView x, double t) const {
    if (lambda > 0) {
      for (double& value : x) value = std::copysign(std::max(std::abs(value) - t * lambda, 0.0), value);
    }
    if (gamma == 0) return;
    for (std::size_t first = 0; first < x.size(); first += size) {
      const MutableView group = x.subspan(first, std::min(size, x.size() - first));
      const double norm = norm2(group);
      scale(norm > t * gamma ? 1 - t * gamma / norm : 0, group);
    }
  }
};

/// R = ½‖x‖²: a gradient step, the proximal step of the penalty, then the projection. On the domains that the table
/// admits these are the step of the penalised loss over X (Yu 2013, "On decomposing the proximal map").
class Euclidean final : public MirrorMap {
 public:
  Euclidean(Domain& domain, const SparsePenalty& penalty) : domain_(domain), penalty_(penalty) {}
  void step(MutableView state, double eta, View gradient) override {
    axpy(-eta, gradient, state);
    if (has_penalty()) penalty_.shrink(state, eta * share_);
    domain_.project(state);
  }
  [[nodiscard]] bool is_linear() const override { return !has_penalty(); }
  [[nodiscard]] bool has_penalty() const override { return penalty_.lambda > 0 || penalty_.gamma > 0; }
  void weigh_penalty(double share) override { share_ = share; }

 private:
  Domain& domain_;
  SparsePenalty penalty_;
  double share_ = 1;
};

/// R = ½‖x‖_p² on R^d, 1 < p ≤ 2 (Gentile 2003): near p = 1 for models with few large coordinates. With `rows` > 0 the
/// model is a matrix of so many rows, coordinate by coordinate along rows, and ‖·‖_p is that of its singular values
/// (Schatten): near p = 1 for models of low rank.
constexpr double least_power_of_matrix = 1.25;  ///< rounding of 1e-16 becomes 1e-16^(p - 1) in the gradient of R

class PNorm final : public MirrorMap {
 public:
  PNorm(double p, std::size_t rows) : p_(p), q_(p / (p - 1)), rows_(rows) {}
  [[nodiscard]] std::size_t state_size(std::size_t d) const override {
    check(rows_ == 0 || d % rows_ == 0,
          "mirror map 'p-norm' with rows={}: a model of {} numbers has no such rows. Name a divisor: the linear model "
          "of K scores has K rows.",
          rows_, d);
    return d;
  }
  /// The step of length 1 from zero along a gradient of ±1 in all coordinates; of a matrix, one with equal singular
  /// values.
  [[nodiscard]] MapScale scale_of_steps(std::size_t d) const override {
    const std::size_t terms = rows_ == 0 ? d : std::min(rows_, d / rows_);
    return {std::pow(static_cast<double>(terms), (2 - q_) / q_), false};
  }
  void step(MutableView state, double eta, View gradient) override {
    link(p_, state);
    axpy(-eta, gradient, state);
    link(q_, state);
  }

 private:
  /// x ← ∇ ½‖x‖_r². Those of p and of q undo each other.
  void link(double r, MutableView x) const {
    double top = 0;
    for (const double value : x) top = std::max(top, std::abs(value));
    if (top == 0) return;
    for (double& value : x) value /= top;
    rows_ == 0 ? link_of_entries(r, x) : link_of_matrix(r, x);
    scale(top, x);
  }
  /// sign(x_i) |x_i|^(r − 1) ‖x‖_r^(2 − r), for a largest entry near 1.
  static void link_of_entries(double r, MutableView x) {
    const double total = lane_sum(x.size(), [&](std::size_t i) { return std::pow(std::abs(x[i]), r); });
    const double factor = std::pow(total, (2 - r) / r);
    for (double& value : x) value = std::copysign(factor * std::pow(std::abs(value), r - 1), value);
  }
  /// The same of the singular values, between the same singular vectors (Lewis 1995).
  void link_of_matrix(double r, MutableView x) const {
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Map<Rows> matrix(x.data(), static_cast<Eigen::Index>(rows_), static_cast<Eigen::Index>(x.size() / rows_));
    dense::Singular parts = dense::singular(matrix);
    link_of_entries(r, {parts.values.data(), static_cast<std::size_t>(parts.values.size())});
    matrix = dense::product(parts.left * parts.values.asDiagonal(), parts.right.transpose());
  }

  double p_;
  double q_;
  std::size_t rows_;
};

/// R = Σ (x_i + s) ln(x_i + s) − x_i on a box: the generalised Kullback–Leibler divergence of x + s. R is a sum over
/// coordinates, so the step over the box is the free one, cut off. The shift s lets coordinates leave a bound of 0.
class KullbackLeibler final : public MirrorMap {
 public:
  KullbackLeibler(Domain& domain, double shift) : domain_(domain), low_(*domain.low()), shift_(shift) {}
  [[nodiscard]] MapScale scale_of_steps(std::size_t d) const override {
    Vector centre(std::min<std::size_t>(d, 1));
    domain_.centre(centre);
    return {centre.empty() ? shift_ : centre.front() + shift_, true};
  }
  void step(MutableView state, double eta, View gradient) override {
    for (std::size_t i = 0; i < state.size(); ++i) {
      const double grown = (std::max(state[i], low_) + shift_) * exponential(-eta * gradient[i]);
      state[i] = std::min(grown, most) - shift_;
    }
    domain_.project(state);
  }

 private:
  static constexpr double most = 1e300;  ///< of coordinates without an upper bound
  Domain& domain_;
  double low_;
  double shift_;
};

/// The largest term(i), i < n; −∞ for n = 0. Eight lanes at a time, since the order of a maximum does not matter.
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

/// Least positive coordinate of an entropic state of this mass: the least normal number, both absolutely and as a share
/// of the mass. A smaller coordinate would lose its logarithm, and no later gradient could restore it.
double least_positive(double mass) {
  return std::numeric_limits<double>::min() * std::max(mass, 1.0);
}

/// Factor on coordinates during multiplications. It keeps coordinates at the floor normal numbers, which are fast.
constexpr double headroom = 0x1p64;

/// Sets x_i ∝ x_i exp(exponent_i) with Σ x = mass. A positive coordinate stays at least least_positive(mass), a zero
/// coordinate stays zero. The sum stays positive since the largest exponent of a positive coordinate is subtracted.
template <class Exponent>
void exponentiate(MutableView x, double mass, Exponent exponent) {
  const double top = largest(
      x.size(), [&](std::size_t i) { return x[i] > 0 ? exponent(i) : -std::numeric_limits<double>::infinity(); });
  constexpr double above_zero = std::numeric_limits<double>::min();
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = x[i] > 0 ? std::max(x[i] * headroom * exponential(exponent(i) - top), above_zero) : 0;
  }
  const double total = sum(x);
  const double least = least_positive(mass) / mass * total * (1 + 0x1p-50);  // more than the division rounds off
  for (double& value : x) value = value == 0 ? 0 : std::max(value, least) / total * mass;
}

/// `mass`, if its products with states neither overflow nor fall under the floor. Throws UsageError otherwise.
double usable(double mass, std::string_view mirror) {
  check(mass >= 1e-200 && mass <= 1e200,
        "mirror map '{}' on a domain of size {}: its logarithms need one between 1e-200 and 1e200. Rescale the model.",
        mirror, mass);
  return mass;
}

/// R = Σ x_i ln x_i on a simplex: exponentiated gradient (Kivinen and Warmuth 1997).
class Entropic final : public MirrorMap {
 public:
  explicit Entropic(double mass) : mass_(mass) {}
  [[nodiscard]] double least_coordinate() const override { return least_positive(mass_); }
  [[nodiscard]] MapScale scale_of_steps(std::size_t d) const override { return {mass_ / static_cast<double>(d), true}; }
  void step(MutableView state, double eta, View gradient) override {
    exponentiate(state, mass_, [eta, gradient](std::size_t i) { return -eta * gradient[i]; });
  }

 private:
  double mass_;
};

/// EG±: the entropic map over [x⁺, x⁻] of mass R, model x⁺ − x⁻ (Kivinen and Warmuth 1997, section 4).
///
/// A model x leaves the slack R − ‖x‖₁, which is spread over both signs of all coordinates. A start on the border has
/// no slack: x⁺ or x⁻ of each coordinate would be zero, and no step could change it. So a start whose slack is below
/// R/1024 is scaled down until its slack is R/1024.
class EntropicSigned final : public MirrorMap {
 public:
  explicit EntropicSigned(double radius) : radius_(radius) {}
  [[nodiscard]] double least_coordinate() const override { return least_positive(radius_); }
  [[nodiscard]] MapScale scale_of_steps(std::size_t d) const override {
    return {radius_ / static_cast<double>(d), true};
  }
  [[nodiscard]] std::size_t state_size(std::size_t d) const override { return 2 * d; }
  [[nodiscard]] View model(View state, MutableView scratch) const override {
    const std::size_t d = scratch.size();
    for (std::size_t i = 0; i < d; ++i) scratch[i] = state[i] - state[d + i];
    return scratch;
  }
  void embed(View model, MutableView state) const override {
    const std::size_t d = model.size();
    const double norm = norm1(model);
    const double most = radius_ * (1 - least_slack);
    const double share = norm > most ? most / norm : 1;
    const double slack = (radius_ - std::min(norm, most)) / static_cast<double>(2 * d);
    for (std::size_t i = 0; i < d; ++i) {
      state[i] = std::max(share * model[i], 0.0) + slack;
      state[d + i] = std::max(-share * model[i], 0.0) + slack;
    }
  }
  void step(MutableView state, double eta, View gradient) override {
    const std::size_t d = gradient.size();
    exponentiate(state, radius_,
                 [eta, gradient, d](std::size_t i) { return i < d ? -eta * gradient[i] : eta * gradient[i - d]; });
  }

 private:
  static constexpr double least_slack = 0x1p-10;  ///< least slack of a start, as a share of R
  double radius_;
};

SparsePenalty sparse_penalty(const Spec& spec, const Domain& domain) {
  const SparsePenalty penalty{spec.number("l1", 0), spec.number("group", 0),
                              static_cast<std::size_t>(std::max(spec.integer("size", 1), 0LL))};
  const auto fits = [](double weight) { return weight >= 0 && weight <= 1e12; };
  check(fits(penalty.lambda) && fits(penalty.gamma) && penalty.size >= 1,
        "mirror map '{}': weights of penalties are 0 to 10^12, and a group has a coordinate at least. Correct it.",
        spec.text());
  check(penalty.lambda == 0 || domain.simplex_mass() == 0,
        "mirror map '{}' on a simplex: the sum of coordinates is the same everywhere there. Leave l1 out.",
        spec.text());
  check(penalty.gamma == 0 || domain.is_everything() || domain.ball_radius() > 0,
        "mirror map '{}' on this domain: the step of a penalty on groups is known on --domain free and ball. Choose "
        "one.",
        spec.text());
  return penalty;
}

MirrorMember euclidean_map() {
  return {{"euclidean",
           "R = |x|^2/2: gradient step and projection; any domain",
           {{"l1", "adds L1 times the sum of |x_j| to the loss, by proximal steps: coordinates become zero (0)"},
            {"group", "adds GROUP times the sum of the norms of groups likewise: they become zero together (0)"},
            {"size", "coordinates of a group: groups are neighbours, from the first coordinate on (1)"}},
           [](const Spec& spec, Domain& domain) -> std::unique_ptr<MirrorMap> {
             return std::make_unique<Euclidean>(domain, sparse_penalty(spec, domain));
           }}};
}

MirrorMember p_norm_map() {
  return {{"p-norm",
           "R = |x|_p^2/2: between euclidean (p = 2) and sparse models (p near 1); domain free",
           {{"p", "above 1.01, 2 at most (1.5)"},
            {"rows",
             "the norm is that of the singular values of the model as a matrix of ROWS rows, for p of 1.25 or more: "
             "of softmax:K as many as classes (0: that of the coordinates)"}},
           [](const Spec& spec, Domain& domain) -> std::unique_ptr<MirrorMap> {
             const double p = spec.number("p", 1.5);
             const long long rows = spec.integer("rows", 0);
             check(p >= 1.01 && p <= 2, "mirror map '{}': p={}: it must lie between 1.01 and 2.", spec.text(), p);
             check(domain.is_everything(), "mirror map '{}' has no step on this domain: it needs --domain free.",
                   spec.name());
             check(rows >= 0, "mirror map '{}': rows={}: it must be at least 0.", spec.text(), rows);
             check(rows == 0 || p >= least_power_of_matrix,
                   "mirror map '{}': p={} with rows: rounding takes small singular values, of which so near 1 much is "
                   "made again. Take p={} or more.",
                   spec.text(), p, least_power_of_matrix);
             return std::make_unique<PNorm>(p, static_cast<std::size_t>(rows));
           }}};
}

MirrorMember kullback_leibler_map() {
  return {{"kl",
           "R = sum (x + S) ln(x + S) - x: multiplicative steps for non-negative models; domains orthant, box",
           {{"shift", "S: coordinates below it move by sums, far above it by factors (1)"}},
           [](const Spec& spec, Domain& domain) -> std::unique_ptr<MirrorMap> {
             const double shift = spec.number("shift", 1);
             check(domain.low().has_value(),
                   "mirror map '{}' has no step on this domain: it needs --domain orthant or "
                   "box:LO,HI.",
                   spec.name());
             check(*domain.low() + shift > 0 && shift <= 1e200,
                   "mirror map '{}' with a shift of {} on a domain from {}: a coordinate at this bound would never "
                   "move. Their sum must be above 0, and the shift 1e200 at most.",
                   spec.name(), shift, *domain.low());
             return std::make_unique<KullbackLeibler>(domain, shift);
           }},
          "orthant"};
}

MirrorMember entropic_map() {
  return {{"entropic",
           "R = sum x ln x: exponentiated gradient; domain simplex",
           {},
           [](const Spec& spec, Domain& domain) -> std::unique_ptr<MirrorMap> {
             check(domain.simplex_mass() > 0, "mirror map '{}' has no step on this domain: it needs --domain simplex.",
                   spec.name());
             return std::make_unique<Entropic>(usable(domain.simplex_mass(), spec.name()));
           }},
          "simplex"};
}

MirrorMember entropic_signed_map() {
  return {{"entropic-signed",
           "EG+-: exponentiated gradient for weights of both signs; domain l1ball (a start within 1/1024 of its "
           "border is drawn in that far)",
           {},
           [](const Spec& spec, Domain& domain) -> std::unique_ptr<MirrorMap> {
             check(domain.l1_radius() > 0,
                   "mirror map '{}' has no step on this domain: it needs --domain l1ball:RADIUS.", spec.name());
             return std::make_unique<EntropicSigned>(usable(domain.l1_radius(), spec.name()));
           }}};
}

}  // namespace

// To add a mirror map in a file of its own, declare its function here and list it in members().

static const std::vector<MirrorMember>& members() {
  static const std::vector<MirrorMember> all{euclidean_map(), p_norm_map(), kullback_leibler_map(), entropic_map(),
                                             entropic_signed_map()};
  return all;
}

const Table<MirrorMap, Domain&>& mirror_table() {
  static const Table<MirrorMap, Domain&> table("mirror map", [] {
    std::vector<Table<MirrorMap, Domain&>::Row> rows;
    for (const MirrorMember& member : members()) rows.push_back(member.row);
    return rows;
  }());
  return table;
}

std::string default_domain(const std::string& mirror) {
  const std::string name = Spec::parse(mirror).name();
  for (const MirrorMember& member : members()) {
    if (member.row.name == name) return member.default_domain;
  }
  return MirrorMember().default_domain;  // mirror_table refuses the name
}

}  // namespace starling
