#include <algorithm>
#include <cmath>
#include <utility>

#include "bundle.hpp"
#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

constexpr double ridge = 1e-15;  ///< keeps dependent vectors apart, relative

/// Solves a small dense system in place by elimination with pivots; rows of `a` have the right side at their end.
void eliminate(std::vector<Vector>& a) {
  const std::size_t n = a.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r) {
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    }
    std::swap(a[c], a[pivot]);
    if (a[c][c] == 0) continue;
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c || a[r][c] == 0) continue;
      const double factor = a[r][c] / a[c][c];
      for (std::size_t k = c; k <= n; ++k) a[r][k] -= factor * a[c][k];
    }
  }
  for (std::size_t r = 0; r < n; ++r) a[r][n] = a[r][r] == 0 ? 0 : a[r][n] / a[r][r];
}

class SharesProgram {
 public:
  SharesProgram(const std::vector<View>& vectors, View heights, std::size_t planes)
      : heights_(heights), planes_(planes), gram_(vectors.size(), Vector(vectors.size())), shares_(vectors.size()) {
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) gram_[i][j] = gram_[j][i] = dot(vectors[i], vectors[j]);
      scale_ = std::max({scale_, gram_[i][i], std::abs(heights[i])});
    }
    const auto first = std::max_element(heights.begin(), heights.begin() + static_cast<std::ptrdiff_t>(planes));
    active_.push_back(static_cast<std::size_t>(first - heights.begin()));
    shares_[active_.front()] = 1;
  }

  Vector run() {
    for (std::size_t left = 10 * shares_.size() + 50; left > 0; --left) {
      const Vector target = balanced();
      if (go_towards(target)) continue;
      const auto [entering, cost] = cheapest();
      if (cost >= -rounding * scale_) break;
      active_.push_back(entering);
    }
    double sum = 0;
    for (std::size_t i = 0; i < planes_; ++i) sum += shares_[i];
    scale(1 / sum, MutableView(shares_).first(planes_));
    return std::move(shares_);
  }

 private:
  /// Optimal shares of the active vectors if shares could be negative; sets the planes' common price.
  Vector balanced() {
    const std::size_t n = active_.size();
    std::vector<Vector> system(n + 1, Vector(n + 2, 0.0));
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < n; ++c) system[r][c] = gram_[active_[r]][active_[c]];
      system[r][r] += ridge * scale_;
      const double counts = active_[r] < planes_ ? 1 : 0;
      system[r][n] = counts;
      system[n][r] = counts;
      system[r][n + 1] = heights_[active_[r]];
    }
    system[n][n + 1] = 1;
    eliminate(system);
    Vector target(n);
    for (std::size_t r = 0; r < n; ++r) target[r] = system[r][n + 1];
    price_ = system[n][n + 1];
    return target;
  }

  /// Moves the shares to the target, or as far as none gets negative. Whether one that is then zero has left.
  bool go_towards(const Vector& target) {
    double length = 1;
    for (std::size_t r = 0; r < active_.size(); ++r) {
      const double share = shares_[active_[r]];
      if (target[r] < 0) length = std::min(length, share / (share - target[r]));
    }
    std::vector<std::size_t> staying;
    for (std::size_t r = 0; r < active_.size(); ++r) {
      double& share = shares_[active_[r]];
      const bool leaves = target[r] < 0 && share / (share - target[r]) <= length;
      share = leaves ? 0 : share + length * (target[r] - share);
      if (!leaves) staying.push_back(active_[r]);
    }
    const bool left = staying.size() < active_.size();
    active_ = std::move(staying);
    return left;
  }

  /// The inactive one that would lower the sum the most, and by how much per share.
  [[nodiscard]] std::pair<std::size_t, double> cheapest() const {
    std::pair<std::size_t, double> best{0, 0.0};
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      if (std::find(active_.begin(), active_.end(), i) != active_.end()) continue;
      double cost = (i < planes_ ? price_ : 0) - heights_[i];
      for (const std::size_t j : active_) cost += gram_[i][j] * shares_[j];
      if (cost < best.second) best = {i, cost};
    }
    return best;
  }

  View heights_;
  std::size_t planes_;
  std::vector<Vector> gram_;
  Vector shares_;
  std::vector<std::size_t> active_;
  double scale_ = 0;
  double price_ = 0;
};

}  // namespace

Vector solve_shares(const std::vector<View>& vectors, View heights, std::size_t planes) {
  return SharesProgram(vectors, heights, planes).run();
}

}  // namespace starling
