/// Rules for labels: `--ignore`, `--positive` and `--class-labels`.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

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
    for (std::size_t k = 0; k < classes_.size(); ++k) {
      const auto before = classes_.begin() + static_cast<std::ptrdiff_t>(k);
      check(classes_.size() > 1 && std::isfinite(*before) && std::find(classes_.begin(), before, *before) == before,
            "--class-labels {}: it takes different numbers, a label for each class. Write --class-labels 0,1, or 1,2,3 "
            "with a loss of three classes.",
            fmt::join(classes_, ","));
    }
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
  /// 1 or −1 if there are positive labels or two class labels, and the place of the label, from 0, among more class
  /// labels; else the label itself. Throws RecordError at the place of `reader` for a label that is not a class label.
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
    const auto found = std::find(classes_.begin(), classes_.end(), label);
    if (found != classes_.end()) {
      const auto place = static_cast<double>(found - classes_.begin());
      return classes_.size() == 2 ? 2 * place - 1 : place;
    }
    const std::string fault = fmt::format(
        "is none of {} (--class-labels). Correct it, name the labels of all classes there, or leave its records out: "
        "--ignore.",
        fmt::join(classes_, ", "));
    throw RecordError(fmt::format("{}: a label {}", reader.where(), fault),
                      fmt::format("{}: label {} {}", reader.where(), label, fault));
  }

  std::vector<double> ignore_;
  std::vector<double> positive_;
  std::vector<double> classes_;
};

}  // namespace starling
