/// Discrete Fourier transform with a known bound on its rounding error.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace starling {

/// F_k = Σ_j x_j e^(−2πi jk/N), in place, N a power of two, by the radix-2 algorithm (Cooley and Tukey 1965).
///
/// Every output is a sum over all inputs along one path each through log2 N butterflies. A butterfly multiplies by a
/// root of unity, which errs by less than √2 u as cosine and sine are rounded from their exact values to within u (the
/// library's are), the multiplication by at most √5 u (Brent, Percival and Zimmermann 2007), and adds, by at most u:
/// together less than 5 u per butterfly. Roots have modulus 1 (to within those errors), so
///    |computed F_k − F_k| ≤ fourier_error(N) Σ_j |x_j|   for every k.
class Fourier {
 public:
  explicit Fourier(std::size_t size);  ///< throws FailureError unless `size` is a power of two, at least 8
  void transform(std::vector<std::complex<double>>& values) const;
  [[nodiscard]] std::size_t size() const { return size_; }
  /// 8 u log2 N.
  [[nodiscard]] double error() const;

 private:
  void reorder(std::vector<std::complex<double>>& values) const;

  std::size_t size_;
  std::vector<std::complex<double>> roots_;  // e^(−πi k/m) at m + k, for k < m = 1, 2, 4, …, N/2
};

}  // namespace starling
