/// The privacy loss of one release on a lattice, rounded such that the lattice never understates the loss.
///
/// Points are i·h. A loss L = ln dP/dQ that lies between two of them is split: its mass under P and its mass under Q
/// both go to the two neighbours, which one pair of shares does (Doroshenko et al. 2022, "Connect the dots"). That is a
/// mean-preserving spread of the likelihood ratio, under which no hockey-stick divergence falls (they are convex in the
/// ratio): the pair on the lattice dominates. All shares are sums and products of positive terms.
///
/// Masses are kept tilted by e^(λL), λ > 0, and normalised: then the few losses that decide about δ are the likely
/// ones, and whatever is lost to rounding is small relative to δ itself, however small that is.
#pragma once

#include <cstddef>
#include <vector>

#include "loss_classes.hpp"

namespace starling {

/// Lattice points and weights of losses.
struct Lattice {
  double width = 1;           ///< h
  std::size_t points = 2;     ///< N, a power of two: point i is kept at i mod N
  long double lambda = 1;     ///< the tilt
  long double theta = 1;      ///< moments are also computed at λ + θ, for the tail
  double negligible = 1e-30;  ///< mass under P that may be taken for an infinite loss
};

/// One release.
struct LatticeLoss {
  std::vector<double> masses;   ///< tilted; they sum to 1
  long double log_moment = 0;   ///< ln Σ p_i e^(λ i h): the masses were divided by its exponential
  long double log_further = 0;  ///< the same at λ + θ
  double largest = 0;           ///< index of the largest loss that is not infinite
  double infinite = 0;          ///< mass under P of an infinite loss, below `negligible`
};

/// Each mass has a relative error below `mass_error`, each loss one of at most `loss_error` times the largest.
[[nodiscard]] LatticeLoss on_lattice(const LossClass& one, const Lattice& lattice);
constexpr double mass_error = 1e-12;
constexpr double loss_error = 1e-15;

}  // namespace starling
