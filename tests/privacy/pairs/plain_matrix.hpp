/// Small matrices, worked out in the plainest way: tests compare the program's figures with these.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "privacy/pairs/pair_graph.hpp"

namespace starling::testing_support {

using Rows = std::vector<std::vector<double>>;

/// I + r² L of the clients of a graph that `gone` leaves.
inline Rows matrix_of(const PairGraph& graph, double ratio, const std::vector<char>& gone) {
  std::vector<Client> left;
  for (Client u = 0; u < graph.clients(); ++u) {
    if (gone[static_cast<std::size_t>(u)] == 0) left.push_back(u);
  }
  Rows rows(left.size(), std::vector<double>(left.size(), 0));
  for (std::size_t i = 0; i < left.size(); ++i) {
    rows[i][i] = 1;
    for (std::size_t j = 0; j < left.size(); ++j) {
      for (const Client v : graph.partners(left[i])) {
        if (v != left[j]) continue;
        rows[i][i] += ratio * ratio;
        rows[i][j] -= ratio * ratio;
      }
    }
  }
  return rows;
}

/// The inverse by Gauss and Jordan, for matrices that need no pivoting.
inline Rows inverse_of(Rows a) {
  const std::size_t n = a.size();
  Rows inverse(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i) inverse[i][i] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double pivot = a[i][i];
    for (std::size_t j = 0; j < n; ++j) {
      a[i][j] /= pivot;
      inverse[i][j] /= pivot;
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (k == i) continue;
      const double factor = a[k][i];
      for (std::size_t j = 0; j < n; ++j) {
        a[k][j] -= factor * a[i][j];
        inverse[k][j] -= factor * inverse[i][j];
      }
    }
  }
  return inverse;
}

/// The largest diagonal entry of the inverse, over all coalitions of `colluding` clients, one after the other.
inline double enumerated_exposure(const PairGraph& graph, double ratio, Client colluding, Client from = 0,
                                  std::vector<char> gone = {}) {
  gone.resize(static_cast<std::size_t>(graph.clients()), 0);
  double most = 0;
  if (colluding == 0) {
    const Rows inverse = inverse_of(matrix_of(graph, ratio, gone));
    for (std::size_t i = 0; i < inverse.size(); ++i) most = std::max(most, inverse[i][i]);
    return most;
  }
  for (Client c = from; c < graph.clients(); ++c) {
    gone[static_cast<std::size_t>(c)] = 1;
    most = std::max(most, enumerated_exposure(graph, ratio, colluding - 1, c + 1, gone));
    gone[static_cast<std::size_t>(c)] = 0;
  }
  return most;
}

}  // namespace starling::testing_support
