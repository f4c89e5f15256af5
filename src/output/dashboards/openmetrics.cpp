#include "output/dashboards/openmetrics.hpp"

#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "files/text_files.hpp"

namespace starling {

namespace {

constexpr auto between_files = std::chrono::seconds(1);

/// A label's value: a backslash stands before backslashes and quotation marks, and line ends become \n.
std::string label_value(const std::string& text) {
  std::string value;
  for (const char c : text) {
    if (c == '\\' || c == '"') value += '\\';
    value += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return value;
}

std::string gauge(const std::string& name, const std::string& meaning, const std::string& label,
                  const std::string& value) {
  return fmt::format("# HELP starling_{0} {1}.\n# TYPE starling_{0} gauge\nstarling_{0}{2} {3}\n", name, meaning, label,
                     value);
}

}  // namespace

OpenMetricsFile::OpenMetricsFile(std::string path, const std::string& run, Round planned)
    : HistoryWriter(between_files),
      path_(std::move(path)),
      label_(fmt::format("{{run=\"{}\"}}", label_value(run))),
      planned_(planned) {
  write();
}

void OpenMetricsFile::try_path(const std::string& path) {
  const std::optional<std::string> place = replaced_file(path);
  if (!place) return;  // a pipe or a device
  require_replaceable(path, "# ");
  const int problem = try_file(*place);
  check<FailureError>(problem == 0, "--openmetrics: cannot write '{}' ({}). Name another file.", path,
                      std::strerror(problem));
}

void OpenMetricsFile::take(const NetworkFigures& figures) {
  latest_.done = figures.done;
  for (const HistoryFigure& each : history_figures) {
    if (!std::isnan(figures.*each.figure)) latest_.*each.figure = figures.*each.figure;
  }
  recorded_ = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void OpenMetricsFile::write() {
  std::string text = gauge("rounds", "Rounds completed at the last record", label_, fmt::format("{}", latest_.done)) +
                     gauge("rounds_planned", "Rounds planned", label_, fmt::format("{}", planned_));
  if (recorded_ > 0) {
    text += gauge("last_record_timestamp_seconds", "Time of the last record, in seconds since 1970", label_,
                  fmt::format("{:.3f}", recorded_));
  }
  for (const HistoryFigure& each : history_figures) {
    const double value = latest_.*each.figure;
    if (!std::isnan(value)) text += gauge(each.column, each.meaning, label_, fmt::format("{:.10g}", value));
  }
  write_text(path_, text + "# EOF\n");
}

}  // namespace starling
