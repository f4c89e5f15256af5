#include "starling/core/gram.hpp"

#include <cmath>

namespace starling {

void add_weighted_gram(View rows, std::size_t n, std::size_t p, View weights, MutableView triangle) {
  for (std::size_t r = 0; r < n; ++r) {
    const View row = rows.subspan(r * p, p);
    for (std::size_t i = 0; i < p; ++i) {
      const double scaled = weights[r] * row[i];
      for (std::size_t j = i; j < p; ++j) {
        double& entry = triangle[triangle_at(i, j, p)];
        entry = std::fma(scaled, row[j], entry);
      }
    }
  }
}

}  // namespace starling
