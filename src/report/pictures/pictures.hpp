/// Pictures drawn by gnuplot, beside those of a run's course (picture.hpp), and the tables of what some of them show.
///
/// Each function draws FOLDER/NAME.svg, and with `formats` .png and .pdf too. It returns a sentence that says why
/// there is no picture, if gnuplot is missing or fails, else an empty string. Tables throw FailureError.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/columns.hpp"
#include "output/directory/history.hpp"
#include "output/figures/test_metrics.hpp"

namespace starling {

class GraphSample;
struct AuditHistogram;
struct AuditResult;
struct ConstraintReport;
struct IntervalsAt;
struct NetworkRecords;
struct SpectrumScene;

/// The formats in which a picture is drawn, each a file of its own.
struct PictureFormats {
  bool svg = true;
  bool png = false;
  bool pdf = false;
};

/// FOLDER/audit-histogram.csv: edges of the bins, and counts of both sides.
void write_histogram(const std::string& folder, const AuditHistogram& histogram);
/// audit.svg: how often each value was seen under either side, and the logarithm of the likelihood ratio with the
/// claimed ±ε.
[[nodiscard]] std::string draw_audit(const std::string& folder, const AuditResult& result);

/// calibration.svg: observed frequencies against mean predicted probabilities, with two standard errors, and the shares
/// of records. Tenths with fewer than 10 records are left out.
[[nodiscard]] std::string draw_calibration(const std::string& folder, const Calibration& calibration);

/// A survival curve at the end of an interval, with its band; low and high are NaN without one.
struct SurvivalPoint {
  double time = 0;
  double survival = 1;
  double low = 1;
  double high = 1;
};

/// survival.svg: the curve of a person, from 1 at time 0, with its band. Formats as `formats`. Returns as draw_audit.
[[nodiscard]] std::string draw_survival(const std::string& folder, const std::string& person,
                                        const std::vector<SurvivalPoint>& points, PictureFormats formats);

/// Runs that share one line: they differ by their seeds alone.
struct ComparedRuns {
  std::string label;
  std::vector<std::vector<NetworkFigures>> histories;
};

/// compare.svg: losses, accuracies and consensus errors over the rounds, as far as they are known. The line of several
/// runs is their mean at the rounds that all of them have. A band around it is mean ± standard deviation; of two runs,
/// from the lower to the higher.
[[nodiscard]] std::string draw_courses(const std::string& folder, const std::vector<ComparedRuns>& lines,
                                       PictureFormats formats);

/// The values of a figure in runs that differ by their seeds alone.
struct ComparedValues {
  std::string panel;             ///< title of its panel
  std::string line;              ///< label of its line; equal labels have one colour
  std::string at;                ///< place on the horizontal axis, as text
  std::optional<double> number;  ///< the same as a number; none of a word
  Vector values;                 ///< none where they are withheld or unknown
};

/// A figure in all runs.
struct ComparedMetric {
  std::string label;
  std::vector<ComparedValues> points;
};

/// compare.svg: figures against an option. A figure has a panel for each title, all with one vertical axis. Several
/// runs are drawn as mean and band, as in `draw_courses`. An axis of numbers is logarithmic where the greatest is at
/// least three times the least and all are positive; runs without a number are dashed lines across. If no run has a
/// number, its places are words.
[[nodiscard]] std::string draw_metrics(const std::string& folder, const std::string& option,
                                       const std::vector<ComparedMetric>& metrics, PictureFormats formats);

/// graph.svg: a panel for each of the first six phases, with senders from top to bottom and receivers from left to
/// right. The colour is the mean weight that a sender of the row gives the column. Cells join neighbouring clients
/// where there are more than 200.
[[nodiscard]] std::string draw_graph(const std::string& folder, const GraphSample& sample, PictureFormats formats);

/// intervals.svg: estimates against the records that they rest on, with a band for each method and level, the first
/// filled and the others as lines; a panel for each of the first twelve coefficients, as in Figure 2 of Xie, Shi,
/// Jiang, Kong and He. Of clients who have their own, the first one's. The axis has at most three decades, up to the
/// last record; a panel shows what lies in its last two thirds whole, and of the rest what fits. Nothing is drawn of an
/// empty path.
[[nodiscard]] std::string draw_intervals(const std::string& folder, const std::vector<IntervalsAt>& path,
                                         PictureFormats formats);

/// mass.svg, total mass and that of up to ten clients over rounds, unless every client's was 1 all along; and
/// presence.svg, which clients took part when, unless all always did. Removes nothing.
[[nodiscard]] std::string draw_network(const std::string& folder, const NetworkRecords& records,
                                       const std::vector<NetworkFigures>& history, PictureFormats formats);

/// odds.svg: the certainties of something about one record that are possible once everything of a run is seen, against
/// those beforehand.
[[nodiscard]] std::string draw_odds(const std::string& folder, double epsilon);

/// FOLDER/scene.csv: kind (transmitter or receiver), number (from 1), round (from 1; empty for transmitters), x, y in
/// metres; and FOLDER/shadowing.csv: x, y, loss in dB at the centres of cells.
void write_scene(const std::string& folder, const SpectrumScene& scene);
/// scene.svg: where receivers walk among the transmitters, and the map of shadowing (Wang and Xu 2023, Figs. 3 and 4).
[[nodiscard]] std::string draw_scene(const std::string& folder, const SpectrumScene& scene);

/// FOLDER/violation.csv: round, constraint, violation, dual_mean, dual_max; and violation.svg.
[[nodiscard]] std::string write_violations(const std::string& folder, const ConstraintReport& report);

}  // namespace starling
