/// Rules for labels: `--ignore` and `--positive`.
#pragma once

#include <algorithm>
#include <vector>

#include "starling/core/check.hpp"

namespace starling {

class LabelRules {
 public:
  /// Throws UsageError for a label in both lists.
  LabelRules(std::vector<double> ignore, std::vector<double> positive)
      : ignore_(std::move(ignore)), positive_(std::move(positive)) {
    for (const double label : positive_) {
      check(!ignores(label), "label {} stands in --positive and in --ignore (it cannot be both) remove one", label);
    }
  }

  [[nodiscard]] bool ignores(double label) const { return contains(ignore_, label); }
  [[nodiscard]] bool empty() const { return ignore_.empty() && positive_.empty(); }
  [[nodiscard]] const std::vector<double>& positive() const { return positive_; }
  [[nodiscard]] const std::vector<double>& ignored() const { return ignore_; }
  /// 1 or −1 if there are positive labels; else the label itself.
  [[nodiscard]] double mapped(double label) const {
    if (positive_.empty()) return label;
    return contains(positive_, label) ? 1 : -1;
  }

 private:
  static bool contains(const std::vector<double>& labels, double label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  }

  std::vector<double> ignore_;
  std::vector<double> positive_;
};

}  // namespace starling
