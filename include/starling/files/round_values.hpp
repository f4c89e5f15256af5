/// Numbers that change over the rounds of a run: budgets, bit widths and the like.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "starling/core/links.hpp"

namespace starling {

/// A number for each round: the same in all, a line or a root curve between two, or steps from a file.
class RoundValues {
 public:
  RoundValues() = default;  ///< 0 in all rounds
  /// `text` is a number, `schedule:from=A,to=B,shape=linear|sqrt` or `schedule:FILE`, a CSV file of (round, value)
  /// whose first row is round 0; a value holds until the next row's round. Shapes go from A in round 0 to B in the last
  /// of `rounds` rounds, evenly in t or in √t. Throws UsageError, naming `what` or the file's line, for text that is
  /// none of these and for values that are not in [least, most].
  [[nodiscard]] static RoundValues parse(std::string_view text, std::string_view what, Round rounds, double least,
                                         double most);

  /// Of round t, from 0; t may be beyond the last round, whose value then holds.
  [[nodiscard]] double at(Round t) const;
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
  [[nodiscard]] bool constant() const { return least() == most(); }
  /// All that the values are made of, on one line: equal for equal values in all rounds of a run.
  [[nodiscard]] std::string text() const;

 private:
  enum class Shape { steps, linear, root };
  /// A value that holds from a round on (steps), or that is passed in it (the other shapes have two points).
  struct Point {
    Round round = 0;
    double value = 0;
  };
  Shape shape_ = Shape::steps;
  std::vector<Point> points_{{0, 0}};
};

/// What every schedule takes, for help texts.
[[nodiscard]] std::string schedule_help();

}  // namespace starling
