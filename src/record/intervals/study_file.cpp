// study.csv.
#include <fmt/format.h>

#include "starling/files/text_files.hpp"
#include "starling/record/intervals/study.hpp"

namespace starling {

namespace {

std::string csv_figure(const MeanFigure& figure) {
  return fmt::format(",{},{}", csv_exact(figure.mean), csv_exact(figure.error));
}

}  // namespace

void write_study(const std::string& folder, const std::vector<StudyCell>& cells) {
  std::string text =
      "method,level,steps,records,coefficient,replications,unknown,not_settled,coverage,coverage_error,length,length_"
      "error,bias,"
      "bias_error\n";
  for (const StudyCell& cell : cells) {
    const std::string where =
        fmt::format("{},{},{},{},", csv_text(cell.method), csv_exact(cell.level), cell.steps, csv_exact(cell.records));
    text += fmt::format("{},{},{},{}{}{},,\n", where, cell.replications, cell.unknown, cell.not_settled,
                        csv_figure(cell.coverage), csv_figure(cell.length));
    for (const CoefficientFigures& one : cell.coefficients) {
      text += fmt::format("{}{},{},,{}{}{}\n", where, csv_text(one.name), cell.replications, csv_figure(one.coverage),
                          csv_figure(one.length), csv_figure(one.bias));
    }
  }
  write_text(folder + "/study.csv", text);
}

}  // namespace starling
