/// A text file of metrics in the format OpenMetrics, as Prometheus's node exporter collects them.
#pragma once

#include <string>

#include "output/directory/history.hpp"

namespace starling {

/// Keeps one file with the latest known figures of a run, each a gauge with the label `run`. The file is replaced in
/// one step, at most once a second, and at the end. Metrics have no time stamps, which the node exporter refuses.
class OpenMetricsFile final : public HistoryWriter {
 public:
  /// Writes the file before the first round. Throws FailureError.
  OpenMetricsFile(std::string path, const std::string& run, Round planned);
  /// Throws UsageError and FailureError if no such file can be written. Changes no file.
  static void try_path(const std::string& path);
  ~OpenMetricsFile() override { finish(); }

 private:
  void take(const NetworkFigures& figures) override;
  void write() override;

  std::string path_;
  std::string label_;
  Round planned_;
  NetworkFigures latest_;
  double recorded_ = 0;  ///< when, in seconds since 1970
};

}  // namespace starling
