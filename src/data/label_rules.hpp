/// Rules for labels: `--ignore`, `--positive` and `--class-labels`.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/source.hpp"

namespace starling {

class LabelRules {
 public:
  /// Throws UsageError for a label in two lists, and for class labels that are not two different numbers.
  LabelRules(std::vector<double> ignore, std::vector<double> positive, std::vector<double> classes)
      : ignore_(std::move(ignore)), positive_(std::move(positive)), classes_(std::move(classes)) {
    for (const double label : positive_) {
      check(!ignores(label), "label {} stands in --positive and in --ignore: it cannot be both. Remove one.", label);
    }
    if (classes_.empty()) return;
    check(
        classes_.size() == 2 && classes_[0] != classes_[1] && std::isfinite(classes_[0]) && std::isfinite(classes_[1]),
        "--class-labels with {}: it takes two different numbers: the label that counts as -1, and the one that counts "
        "as 1. Write --class-labels 0,1.",
        classes_.size() == 2 ? fmt::format("{},{}", classes_[0], classes_[1])
                             : fmt::format("{} numbers", classes_.size()));
    for (const double label : classes_) {
      check(!ignores(label), "label {} stands in --class-labels and in --ignore: it cannot be both. Remove one.",
            label);
    }
  }

  [[nodiscard]] bool ignores(double label) const { return contains(ignore_, label); }
  [[nodiscard]] bool empty() const { return ignore_.empty() && positive_.empty() && classes_.empty(); }
  [[nodiscard]] const std::vector<double>& positive() const { return positive_; }
  [[nodiscard]] const std::vector<double>& classes() const { return classes_; }
  [[nodiscard]] const std::vector<double>& ignored() const { return ignore_; }
  /// 1 or −1 if there are positive labels or class labels; else the label itself. Throws RecordError at the place of
  /// `reader` for a label that is not a class label.
  [[nodiscard]] double mapped(double label, const RecordReader& reader) const {
    if (!classes_.empty()) return of_class(label, reader);
    if (positive_.empty()) return label;
    return contains(positive_, label) ? 1 : -1;
  }

 private:
  static bool contains(const std::vector<double>& labels, double label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  }

  [[nodiscard]] double of_class(double label, const RecordReader& reader) const {
    if (label == classes_[0]) return -1;
    if (label == classes_[1]) return 1;
    const std::string fault = fmt::format(
        "is neither {} nor {} of --class-labels. Correct it, name both labels there, or leave its records out: "
        "--ignore.",
        classes_[0], classes_[1]);
    throw RecordError(fmt::format("{}: a label {}", reader.where(), fault),
                      fmt::format("{}: label {} {}", reader.where(), label, fault));
  }

  std::vector<double> ignore_;
  std::vector<double> positive_;
  std::vector<double> classes_;
};

}  // namespace starling
