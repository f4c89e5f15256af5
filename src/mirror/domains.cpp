#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/numerics/kernels.hpp"
#include "mirror/mirror.hpp"

namespace starling {

namespace {

/// Euclidean projection onto {x ≥ 0, Σ x = mass} (Duchi et al. 2008, fig. 1). `sorted` is scratch memory. A common
/// shift changes nothing: the largest coordinate moves to zero, since beside coordinates above 2^53 mass the mass would
/// be lost in rounding.
void project_on_simplex(MutableView x, double mass, Vector& sorted) {
  const double top = *std::max_element(x.begin(), x.end());
  for (double& value : x) value -= top;
  sorted.assign(x.begin(), x.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double total = 0;
  double threshold = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    total += sorted[i];
    const double candidate = (total - mass) / static_cast<double>(i + 1);
    if (sorted[i] <= candidate) break;
    threshold = candidate;
  }
  for (double& value : x) value = std::max(value - threshold, 0.0);
}

class Free final : public Domain {
 public:
  [[nodiscard]] bool is_everything() const override { return true; }
  [[nodiscard]] double room(std::size_t) const override { return std::numeric_limits<double>::infinity(); }
  void project(MutableView) override {}
  void centre(MutableView x) override { std::fill(x.begin(), x.end(), 0.0); }
  [[nodiscard]] double violation(View) const override { return 0; }
  [[nodiscard]] double support(View direction) const override {
    return norm1(direction) == 0 ? 0 : std::numeric_limits<double>::infinity();
  }
};

class Ball final : public Domain {
 public:
  explicit Ball(double radius) : radius_(radius) {}
  void project(MutableView x) override {
    double norm = norm2(x);
    if (norm <= radius_) return;
    if (std::isinf(norm)) {  // the squares overflow, the coordinates do not
      double largest = 0;
      for (const double value : x) largest = std::max(largest, std::abs(value));
      for (double& value : x) value /= largest;
      norm = norm2(x);
    }
    scale(radius_ / norm, x);
  }
  void centre(MutableView x) override { std::fill(x.begin(), x.end(), 0.0); }
  [[nodiscard]] double violation(View x) const override { return std::max(norm2(x) - radius_, 0.0); }
  [[nodiscard]] double support(View direction) const override { return radius_ * norm2(direction); }
  [[nodiscard]] double ball_radius() const override { return radius_; }
  [[nodiscard]] double room(std::size_t d) const override { return radius_ / std::sqrt(static_cast<double>(d)); }

 private:
  double radius_;
};

class Box final : public Domain {
 public:
  Box(double low, double high) : low_(low), high_(high) {}
  void project(MutableView x) override {
    for (double& value : x) value = std::clamp(value, low_, high_);
  }
  void centre(MutableView x) override { std::fill(x.begin(), x.end(), std::clamp(0.0, low_, high_)); }
  [[nodiscard]] double violation(View x) const override {
    double worst = 0;
    for (const double value : x) worst = std::max({worst, low_ - value, value - high_});
    return worst;
  }
  [[nodiscard]] double support(View direction) const override {
    return lane_sum(direction.size(), [&](std::size_t i) { return direction[i] * (direction[i] > 0 ? high_ : low_); });
  }
  [[nodiscard]] double room(std::size_t) const override { return std::max(0.0, std::min(-low_, high_)); }
  [[nodiscard]] std::optional<double> low() const override { return low_; }

 private:
  double low_;
  double high_;
};

class Simplex final : public Domain {
 public:
  explicit Simplex(double mass) : mass_(mass) {}
  void project(MutableView x) override { project_on_simplex(x, mass_, sorted_); }
  void centre(MutableView x) override { std::fill(x.begin(), x.end(), mass_ / static_cast<double>(x.size())); }
  [[nodiscard]] double violation(View x) const override {
    double worst = std::abs(sum(x) - mass_);
    for (const double value : x) worst = std::max(worst, -value);
    return worst;
  }
  [[nodiscard]] double support(View direction) const override {
    return mass_ * *std::max_element(direction.begin(), direction.end());
  }
  [[nodiscard]] double simplex_mass() const override { return mass_; }
  [[nodiscard]] double room(std::size_t) const override { return 0; }

 private:
  double mass_;
  Vector sorted_;
};

class L1Ball final : public Domain {
 public:
  explicit L1Ball(double radius) : radius_(radius) {}
  /// sign(x_i) times the projection of |x| onto the simplex (Duchi et al. 2008, section 4).
  void project(MutableView x) override {
    if (norm1(x) <= radius_) return;
    magnitude_.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) magnitude_[i] = std::abs(x[i]);
    project_on_simplex(magnitude_, radius_, sorted_);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::copysign(magnitude_[i], x[i]);
  }
  void centre(MutableView x) override { std::fill(x.begin(), x.end(), 0.0); }
  [[nodiscard]] double violation(View x) const override { return std::max(norm1(x) - radius_, 0.0); }
  [[nodiscard]] double support(View direction) const override {
    double largest = 0;
    for (const double value : direction) largest = std::max(largest, std::abs(value));
    return radius_ * largest;
  }
  [[nodiscard]] double l1_radius() const override { return radius_; }
  [[nodiscard]] double room(std::size_t d) const override { return radius_ / static_cast<double>(d); }

 private:
  double radius_;
  Vector magnitude_;
  Vector sorted_;
};

double positive(const Spec& spec, std::string_view key, double value) {
  check(value > 0 && std::isfinite(value), "'{}': {} = {}: must be positive and finite.", spec.text(), key, value);
  return value;
}

}  // namespace

const Table<Domain>& domain_table() {
  static const Table<Domain> table(
      "domain",
      {{"free", "all of R^d", {}, [](const Spec&) -> std::unique_ptr<Domain> { return std::make_unique<Free>(); }},
       {"ball",
        "Euclidean ball around 0",
        {{"radius", "its radius"}},
        [](const Spec& spec) -> std::unique_ptr<Domain> {
          return std::make_unique<Ball>(positive(spec, "radius", spec.number("radius")));
        }},
       {"box",
        "every coordinate between two bounds",
        {{"low", "lower bound"}, {"high", "upper bound"}},
        [](const Spec& spec) -> std::unique_ptr<Domain> {
          const double low = spec.number("low");
          const double high = spec.number("high");
          check(low < high, "'{}': the lower bound of a box must be below the upper.", spec.text());
          return std::make_unique<Box>(low, high);
        }},
       {"orthant",
        "non-negative coordinates",
        {},
        [](const Spec&) -> std::unique_ptr<Domain> {
          return std::make_unique<Box>(0, std::numeric_limits<double>::infinity());
        }},
       {"simplex",
        "non-negative coordinates with a given sum",
        {{"mass", "the sum (1)"}},
        [](const Spec& spec) -> std::unique_ptr<Domain> {
          return std::make_unique<Simplex>(positive(spec, "mass", spec.number("mass", 1)));
        }},
       {"l1ball",
        "sum of absolute values at most a radius",
        {{"radius", "its radius"}},
        [](const Spec& spec) -> std::unique_ptr<Domain> {
          return std::make_unique<L1Ball>(positive(spec, "radius", spec.number("radius")));
        }}});
  return table;
}

}  // namespace starling
