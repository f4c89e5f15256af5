#include "krylov.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>

namespace starling::spectral {

namespace {

// The error is measured against the distance to one, which is what the rate depends on.
constexpr double fine = 1e-4;
constexpr double coarse = 0.1;

bool is_within(double share, double residual, double modulus) {
  return residual < share * std::max(1 - modulus, 1e-12);
}

void set_second(double modulus, double residual, Spectrum& spectrum) {
  spectrum.second = is_within(coarse, residual, modulus) ? modulus : unknown;
  spectrum.tolerance = is_within(fine, residual, modulus) ? 0 : residual;
}

/// Eigenvalue of largest modulus of a deflated symmetric map by Lanczos iterations, of which three vectors are kept:
/// what rounding does to the others repeats eigenvalues that are found and adds none (Paige 1980).
class Lanczos {
 public:
  Lanczos(const Map& map, const Deflation& deflate) : map_(map), deflate_(deflate) {}

  void find(VectorXd v, double cost, Spectrum& spectrum) {
    const auto per_step = cost + 4 * static_cast<double>(v.size());
    const auto most = std::clamp<Index>(static_cast<Index>(2 * work_limit / per_step), 4, most_steps);
    VectorXd before = VectorXd::Zero(v.size());
    v.normalize();
    for (Index step = 1; step <= most; ++step) {
      extend(before, v);
      const bool invariant = beside_.back() < 1e-14;
      const bool last = invariant || step == most;
      if (!last && step % between_looks != 0) continue;
      look();
      if (last || is_within(fine, residual_, modulus_)) break;
    }
    set_second(modulus_, residual_, spectrum);
  }

 private:
  static constexpr Index most_steps = 2'000;
  static constexpr Index between_looks = 50;

  void extend(VectorXd& before, VectorXd& v) {
    VectorXd next = map_(v);
    deflate_.apply(next);
    diagonal_.push_back(v.dot(next));
    next -= diagonal_.back() * v;
    if (!beside_.empty()) next -= beside_.back() * before;
    beside_.push_back(next.norm());
    before.swap(v);
    v = next / beside_.back();
  }

  void look() {
    const auto count = static_cast<Index>(diagonal_.size());
    const Eigen::Map<const VectorXd> diagonal(diagonal_.data(), count);
    const Eigen::Map<const VectorXd> beside(beside_.data(), count - 1);
    Eigen::SelfAdjointEigenSolver<MatrixXd> solver;
    solver.computeFromTridiagonal(diagonal, beside, Eigen::EigenvaluesOnly);
    Index largest = 0;
    modulus_ = solver.eigenvalues().cwiseAbs().maxCoeff(&largest);
    residual_ = beside_.back() * last_entry(solver.eigenvalues()[largest]);
  }

  /// Of the tridiagonal matrix's normalised eigenvector: by its recurrence from the last entry to the first, the way in
  /// which entries grow once an eigenvalue has been found.
  [[nodiscard]] double last_entry(double eigenvalue) const {
    constexpr double enough = 1e100;
    double after = 0;
    double entry = 1;
    double squares = 1;
    for (std::size_t k = diagonal_.size() - 1; k > 0 && squares < enough; --k) {
      const double coupling = k + 1 < diagonal_.size() ? beside_[k] : 0;
      const double before = ((eigenvalue - diagonal_[k]) * entry - coupling * after) / beside_[k - 1];
      after = entry;
      entry = before;
      squares += entry * entry;
    }
    return 1 / std::sqrt(squares);
  }

  const Map& map_;
  const Deflation& deflate_;
  std::vector<double> diagonal_;
  std::vector<double> beside_;
  double modulus_ = 0;
  double residual_ = std::numeric_limits<double>::infinity();
};

/// Eigenvalue of largest modulus of a deflated map by restarted Arnoldi iterations.
class Arnoldi {
 public:
  Arnoldi(const Map& map, const Deflation& deflate, Index n)
      : map_(map), deflate_(deflate), n_(n), steps_(std::clamp<Index>(15'000'000 / n, 8, 100)) {}

  /// Sets the modulus and its tolerance; NaN where the work that is allowed has not even come near.
  void find(VectorXd start, double cost, Spectrum& spectrum) {
    const double per_restart = (cost + static_cast<double>(n_ * steps_)) * static_cast<double>(steps_);
    for (auto left = std::max(1L, static_cast<long>(2 * work_limit / per_restart)); left > 0; --left) {
      build(start);
      if (is_within(fine, residual_, modulus_)) break;
      start = basis_.leftCols(built_) * (ritz_.real() + ritz_.imag());
    }
    set_second(modulus_, residual_, spectrum);
  }

 private:
  void build(VectorXd v) {
    basis_ = MatrixXd::Zero(n_, steps_ + 1);
    projected_ = MatrixXd::Zero(steps_ + 1, steps_);
    deflate_.apply(v);
    basis_.col(0) = v.normalized();
    for (built_ = 0; built_ < steps_;) {
      extend();
      if (projected_(built_, built_ - 1) < 1e-14) break;  // an invariant space: its eigenvalues are exact
    }
    solve();
  }

  void extend() {
    VectorXd v = map_(basis_.col(built_));
    deflate_.apply(v);
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough (Kahan)
      const VectorXd shares = basis_.leftCols(built_ + 1).transpose() * v;
      v -= basis_.leftCols(built_ + 1) * shares;
      projected_.col(built_).head(built_ + 1) += shares;
    }
    ++built_;
    projected_(built_, built_ - 1) = v.norm();
    basis_.col(built_) = v.normalized();
  }

  void solve() {
    const Eigen::EigenSolver<MatrixXd> solver(projected_.topLeftCorner(built_, built_));
    Index largest = 0;
    modulus_ = solver.eigenvalues().cwiseAbs().maxCoeff(&largest);
    ritz_ = solver.eigenvectors().col(largest).normalized();
    residual_ = projected_(built_, built_ - 1) * std::abs(ritz_[built_ - 1]);
  }

  const Map& map_;
  const Deflation& deflate_;
  Index n_;
  Index steps_;
  Index built_ = 0;
  MatrixXd basis_;
  MatrixXd projected_;
  Eigen::VectorXcd ritz_;
  double modulus_ = 0;
  double residual_ = std::numeric_limits<double>::infinity();
};

}  // namespace

void find_by_lanczos(const Map& map, const Deflation& deflate, VectorXd start, double cost, Spectrum& spectrum) {
  Lanczos(map, deflate).find(std::move(start), cost, spectrum);
}

void find_by_arnoldi(const Map& map, const Deflation& deflate, VectorXd start, double cost, Spectrum& spectrum) {
  const Index n = start.size();
  Arnoldi(map, deflate, n).find(std::move(start), cost, spectrum);
}

}  // namespace starling::spectral
