/// Numbers that change over the rounds of a run: budgets, bit widths and the like.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/links.hpp"

namespace starling {

/// A number for each round: constant, linear or square-root between two values, or steps from a file.
class RoundValues {
 public:
  RoundValues() = default;  ///< 0 in all rounds
  /// `text` is a number, `schedule:from=A,to=B,shape=linear|sqrt` or `schedule:FILE`, a CSV file of (round, value)
  /// whose first row is round 0; a value holds until the next row's round. Shapes go from A in round 0 to B in the last
  /// of `rounds` rounds, evenly in t or in √t. Throws UsageError, naming `what` or the file's line, for text that is
  /// none of these and for values that are not in [least, most].
  [[nodiscard]] static RoundValues parse(std::string_view text, std::string_view what, Round rounds, double least,
                                         double most);

  /// Value of round t, from 0. Beyond the last round, the last round's value holds.
  [[nodiscard]] double at(Round t) const;
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
  [[nodiscard]] bool constant() const { return least() == most(); }
  /// Description of all values on one line. Equal values in all rounds of a run give equal texts.
  [[nodiscard]] std::string text() const;

 private:
  enum class Shape { steps, linear, root };
  /// Steps: a value that holds from `round` on. Other shapes: one of two points of the curve.
  struct Point {
    Round round = 0;
    double value = 0;
  };
  Shape shape_ = Shape::steps;
  std::vector<Point> points_{{0, 0}};
};

/// Help text about the forms that every schedule accepts.
[[nodiscard]] std::string schedule_help();

}  // namespace starling
