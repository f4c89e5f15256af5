#include "output/report_tree.hpp"

#include <utility>

namespace starling {

void ReportTree::add(Vector node) {
  while (!nodes_.empty()) {
    Vector& left = nodes_.back();
    const auto size = static_cast<Client>(node[clients]);
    const auto from = static_cast<Client>(left[first]);
    const bool halves =
        left[clients] == node[clients] && from % (2 * size) == 0 && from + size == static_cast<Client>(node[first]);
    if (!halves) break;
    join(left, node);
    node = std::move(left);
    nodes_.pop_back();
  }
  nodes_.push_back(std::move(node));
}

/// Spreads are joined by Chan, Golub and LeVeque (1979): Σ of both and ‖difference of the means‖² n m / (n + m).
void ReportTree::join(Vector& left, const Vector& right) const {
  const double n = left[clients];
  const double m = right[clients];
  double apart = 0;
  for (std::size_t i = head_; i < left.size(); ++i) {
    const double difference = right[i] / m - left[i] / n;
    apart += difference * difference;
    left[i] += right[i];
  }
  left[spread] += right[spread] + apart * (n * m / (n + m));
  left[clients] += m;
  for (std::size_t i = figures; i < head_; ++i) left[i] += right[i];
}

Vector ReportTree::total() const {
  Vector total = nodes_.front();
  for (std::size_t i = 1; i < nodes_.size(); ++i) join(total, nodes_[i]);
  return total;
}

}  // namespace starling
