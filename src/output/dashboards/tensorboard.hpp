/// Event files that TensorBoard reads.
#pragma once

#include <string>

#include "files/durable_file.hpp"
#include "output/directory/history.hpp"

namespace starling {

/// Writes a run's history into a folder as scalars, each named by its column of history.csv, with rounds as steps.
/// Files are TFRecords (length, masked CRC-32C, data, masked CRC-32C) of protocol buffers `Event`
/// (docs/reference/dashboards.md). A file begins with a restart at step 0: TensorBoard drops the curves of earlier
/// files in the folder. So a resumed run, which hands in its history from the start, shows one curve.
class TensorBoardFile final : public HistoryWriter {
 public:
  /// Makes the folder if it is not there, and a new file in it. Throws FailureError.
  explicit TensorBoardFile(const std::string& folder);
  /// Makes the folder if it is not there. Throws FailureError if it cannot, or if no file can be made in it.
  static void try_folder(const std::string& folder);
  ~TensorBoardFile() override { finish(); }

 private:
  void take(const NetworkFigures& figures) override;
  void write() override;

  std::string path_;
  Descriptor file_;
  std::string waiting_;
};

/// A TFRecord with this content.
[[nodiscard]] std::string tf_record(const std::string& content);

}  // namespace starling
