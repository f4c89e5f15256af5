/// Groups of runs that are alike but for their seeds, and the options in which groups differ.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "app/report/tables.hpp"
#include "compared_runs.hpp"

namespace starling {

struct FigureSpread {
  double mean = 0;
  double deviation = std::nan("");  ///< of a sample; NaN for one value
  std::size_t count = 0;
};
[[nodiscard]] FigureSpread spread_of(const std::vector<double>& values);

/// Runs in groups, and the options that tell groups apart. Runs whose configurations differ by their seeds alone, and
/// by where their results go, are one group.
class RunGroups {
 public:
  using Group = std::vector<std::size_t>;  ///< indices of runs

  /// `by` are the keys that were asked for; none: options that differ. Throws UsageError for keys that no run has,
  /// DataError for damaged files.
  RunGroups(const std::vector<RunReport>& runs, const std::vector<std::string>& by);

  /// Name of the group's first run.
  [[nodiscard]] const std::string& first_name(const Group& group) const { return names_[group.front()]; }
  /// The same, with the number of runs if there are several.
  [[nodiscard]] std::string name(const Group& group) const;
  /// The figure of a run, or mean ± standard deviation; "(k of n)" follows where only k of n runs have it.
  [[nodiscard]] std::string cell(const Group& group, const ComparedFigure& figure) const;
  /// The figure of the runs that have it.
  [[nodiscard]] std::vector<double> numbers(const Group& group, const ComparedFigure& figure) const;
  /// The values of a key in the group's runs.
  [[nodiscard]] std::string key_cell(const Group& group, const std::string& key) const;
  /// The same as tables with names show it: numbers in short, words as they are.
  [[nodiscard]] std::string short_cell(const Group& group, const std::string& key) const;
  /// The mean value of a key; none if some run has no number.
  [[nodiscard]] std::optional<double> number(const Group& group, const std::string& key) const;
  /// The values of a key: numbers ascending, then words in the order of the runs.
  [[nodiscard]] std::vector<std::string> values(const std::string& key) const;
  /// "epsilon 1, topology ring-8", or "without epsilon". What else a group does not have is left out.
  [[nodiscard]] std::string label(const Group& group, const std::vector<std::string>& told) const;
  /// The label by all that tells this run's group from others; empty for one group.
  [[nodiscard]] std::string label_of_run(std::size_t run) const;

  std::vector<ComparedRun> runs;
  std::vector<Group> all;
  /// Options of which the groups have different values. Those that some run has chosen by itself come last.
  std::vector<std::string> differing;
  bool asked = false;  ///< whether keys were asked for
  /// Keys that were asked for, else the differing options without those that follow from others, as the number of
  /// clients from the graph.
  std::vector<std::string> keys;
  std::vector<std::string> rest;  ///< options that tell groups apart which the keys do not

 private:
  [[nodiscard]] std::vector<std::string> untold(const std::vector<std::string>& told) const;

  Cells names_;
};

}  // namespace starling
