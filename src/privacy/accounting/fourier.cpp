#include "fourier.hpp"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/check.hpp"

namespace starling {

namespace {

using Complex = std::complex<double>;

/// Without the library's care for infinite factors, which would cost more than the product.
Complex product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// e^(−2πi k/N) for k <= N/8, where cosine and sine are computed; the others mirror those, exactly.
Complex root(const std::vector<Complex>& eighth, std::size_t k, std::size_t size) {
  const std::size_t quarter = size / 4;
  if (k > quarter) {
    const Complex mirrored = root(eighth, size / 2 - k, size);
    return {-mirrored.real(), mirrored.imag()};
  }
  if (k >= eighth.size()) {
    const Complex mirrored = eighth[quarter - k];
    return {-mirrored.imag(), -mirrored.real()};
  }
  return eighth[k];
}

std::vector<Complex> first_eighth(std::size_t size) {
  std::vector<Complex> roots;
  for (std::size_t k = 0; k <= size / 8; ++k) {
    const long double share = static_cast<long double>(k) / static_cast<long double>(size);
    const long double angle = -2 * std::numbers::pi_v<long double> * share;
    roots.emplace_back(static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle)));
  }
  return roots;
}

}  // namespace

Fourier::Fourier(std::size_t size) : size_(size), roots_(size) {
  check<FailureError>(size >= 8 && std::has_single_bit(size), "a transform of {} points: a power of two is needed.",
                      size);
  const std::vector<Complex> eighth = first_eighth(size);
  const std::size_t top = size / 2;
  for (std::size_t k = 0; k < top; ++k) roots_[top + k] = root(eighth, k, size);
  for (std::size_t half = top / 2; half >= 1; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) roots_[half + k] = roots_[2 * half + 2 * k];
  }
}

double Fourier::error() const {
  return 8 * 0x1.0p-53 * static_cast<double>(std::countr_zero(size_));
}

void Fourier::reorder(std::vector<Complex>& values) const {
  for (std::size_t i = 1, j = 0; i < size_; ++i) {
    std::size_t bit = size_ >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
}

void Fourier::transform(std::vector<Complex>& values) const {
  check<FailureError>(values.size() == size_, "{} values for a transform of {} points", values.size(), size_);
  reorder(values);
  for (std::size_t half = 1; half < size_; half *= 2) {
    const Complex* roots = &roots_[half];
    for (std::size_t begin = 0; begin < size_; begin += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const Complex even = values[begin + k];
        const Complex odd = product(roots[k], values[begin + k + half]);
        values[begin + k] = even + odd;
        values[begin + k + half] = even - odd;
      }
    }
  }
}

}  // namespace starling
