#include "output/figures/roc.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace starling {

namespace {

/// Records with equal scores, and those with smaller ones.
struct Tie {
  double larger = 0;         ///< records of the larger class
  double smaller = 0;        ///< records of the other class
  double larger_below = 0;   ///< records of the larger class with smaller scores
  double smaller_below = 0;  ///< records of the other class with smaller scores
};

/// Calls f(tie) for each different score, in ascending order. Both arguments are sorted.
template <class F>
void for_each_tie(View larger, View smaller, F&& f) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < larger.size() || j < smaller.size()) {
    const bool from_larger = j == smaller.size() || (i < larger.size() && larger[i] <= smaller[j]);
    const double score = from_larger ? larger[i] : smaller[j];
    const std::size_t first_i = i;
    const std::size_t first_j = j;
    while (i < larger.size() && larger[i] == score) ++i;
    while (j < smaller.size() && smaller[j] == score) ++j;
    f(Tie{static_cast<double>(i - first_i), static_cast<double>(j - first_j), static_cast<double>(first_i),
          static_cast<double>(first_j)});
  }
}

}  // namespace

RocArea area_under_roc(Vector larger, Vector smaller) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  if (larger.empty() || smaller.empty()) return {unknown, unknown};
  std::ranges::sort(larger);
  std::ranges::sort(smaller);
  const auto m = static_cast<double>(larger.size());
  const auto n = static_cast<double>(smaller.size());
  double pairs_won = 0;
  for_each_tie(larger, smaller,
               [&](const Tie& tie) { pairs_won += tie.larger * (tie.smaller_below + tie.smaller / 2); });
  RocArea result{pairs_won / (m * n), unknown};
  if (m < 2 || n < 2) return result;
  // DeLong et al. 1988, (5) and (6): the spread of each record's own share of pairs.
  double spread_larger = 0;
  double spread_smaller = 0;
  for_each_tie(larger, smaller, [&](const Tie& tie) {
    const double of_larger = (tie.smaller_below + tie.smaller / 2) / n - result.area;
    const double of_smaller = (m - tie.larger_below - tie.larger / 2) / m - result.area;
    spread_larger += tie.larger * of_larger * of_larger;
    spread_smaller += tie.smaller * of_smaller * of_smaller;
  });
  result.standard_error = std::sqrt(spread_larger / (m - 1) / m + spread_smaller / (n - 1) / n);
  return result;
}

}  // namespace starling
