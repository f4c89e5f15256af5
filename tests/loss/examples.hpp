/// For each row of the loss table, specs and labels for the conformance tests of the modules loss and model. A new row
/// needs an entry here: without one the tests fail and say so.
#pragma once

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "loss/loss.hpp"

namespace starling::testing_support {

struct LossExample {
  std::string spec;
  std::vector<double> labels;   ///< labels of the data inside the loss's set; all of them if the loss classifies
  std::vector<double> outside;  ///< labels that must be refused
  std::string set;              ///< the refusal's words for the set
};

/// gtest's text of an example.
inline void PrintTo(const LossExample& example, std::ostream* out) {
  *out << example.spec;
}

inline const std::vector<LossExample>& loss_examples() {
  static const std::vector<LossExample> examples{
      {"logistic", {-1, 1}, {2, -2, 0.5, 1 + 1e-15, std::nan(""), INFINITY}, "{-1, 1} or {0, 1}"},
      {"hazard", {-1, 1}, {2, -2, 0.5, std::nan("")}, "{-1, 1} or {0, 1}"},
      {"hazard:most=5", {-1, 1}, {3}, "{-1, 1} or {0, 1}"},
      {"dwd", {-1, 1}, {2, -2, 0.5, std::nan("")}, "{-1, 1} or {0, 1}"},
      {"dwd:q=0.5,smoothing=0.2", {-1, 1}, {3}, "{-1, 1} or {0, 1}"},
      {"dwd:2,0", {-1, 1}, {3}, "{-1, 1} or {0, 1}"},
      {"squared", {-3.5, 0, 0.25, 7}, {}, ""},
      {"huber:0.7", {-3.5, 0, 0.25, 7}, {}, ""},
      {"expectile:0.7,0.9", {-3.5, 0, 0.25, 7}, {}, ""},
      {"expectile:tau=0.1", {-3.5, 0, 0.25, 7}, {}, ""},
      {"poisson", {0, 1, 2.5, 40}, {-1, 101, std::nan(""), INFINITY}, "numbers from 0"},
      {"poisson:20", {0, 1, 7, 20}, {-1e-9, INFINITY}, "numbers from 0"},
      {"gamma", {0.5, 1, 2.5, 40}, {0, -1, std::nan(""), INFINITY}, "numbers above 0"},
      {"gamma:most=3", {0.25, 7}, {0}, "numbers above 0"},
      {"absolute", {-3.5, 0, 0.25, 7}, {}, ""},
      {"quantile:0.9", {-3.5, 0, 0.25, 7}, {}, ""},
      {"hinge", {-1, 1}, {2, -2, 0.5, std::nan("")}, "{-1, 1} or {0, 1}"},
      {"linear", {0, 3}, {}, ""},
      {"softmax:2", {0, 1}, {-1, 2, 0.5, std::nan(""), INFINITY}, "0 to 1"},
      {"softmax:5", {0, 1, 2, 3, 4}, {-1, 5, 1.5, 1e300, std::nan("")}, "0 to 4"},
  };
  return examples;
}

/// The row of the table that a spec names.
inline std::string row_of(const std::string& spec) {
  return spec.substr(0, spec.find(':'));
}

/// Rows of the table that no example names.
inline std::string rows_without_example() {
  std::string missing;
  for (const auto& row : loss_table().rows()) {
    bool found = false;
    for (const LossExample& example : loss_examples()) found = found || row_of(example.spec) == row.name;
    if (!found) missing += " '" + row.name + "'";
  }
  return missing;
}

}  // namespace starling::testing_support
