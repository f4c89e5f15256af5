/// Writers of files of labelled records. Memory does not grow with the number of records.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/source.hpp"

namespace starling {

/// How features are stored; labels are always float64.
enum class StoredPrecision { float64, float32 };

/// Layout and description of a file of records.
struct WriteSettings {
  std::size_t features = 0;        ///< of every record; formats that store non-zeros only do not need the number
  std::vector<std::string> names;  ///< of the features; empty if they have none
  StoredPrecision precision = StoredPrecision::float64;
  std::string source;  ///< stored in the file, like `command`, if the format has a place for it
  std::string command;
  unsigned permissions = 0666;  ///< of the file, before the umask
  bool replace = false;         ///< whether to replace an existing file
};

/// Writes one file. Order of calls: `add` for each record, `finish`, `publish`. Until `publish` the file has a
/// temporary name in the same folder, and only its owner can read it. A writer that is destroyed before `publish`
/// removes it.
class RecordWriter {
 public:
  virtual ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Appends a record. Throws DataError, without the record's place, for a value that is not finite or does not fit the
  /// precision and for a sparse index beyond `WriteSettings::features`. Throws FailureError when writing fails.
  void add(const Row& row, double label);
  /// Ends the file. All records are on the disk when this returns. Throws FailureError.
  void finish();
  /// Gives the finished file its name. Throws FailureError, also if a file of this name exists by now and may not be
  /// replaced.
  void publish();

  [[nodiscard]] std::int64_t records() const { return records_; }
  /// Bytes written so far, before compression.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// Number of features that a reader of the file will see: for formats that store non-zeros only, the largest index.
  [[nodiscard]] virtual std::size_t visible_features() const { return settings_.features; }

 protected:
  /// Makes the temporary file. Throws FailureError.
  RecordWriter(std::string path, WriteSettings settings);
  virtual void write(const Row& row, double label) = 0;
  virtual void close() = 0;

  [[nodiscard]] const WriteSettings& settings() const { return settings_; }
  [[nodiscard]] const std::string& temporary() const { return temporary_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void check_value(double value, double most, std::size_t feature) const;

  std::string path_;
  WriteSettings settings_;
  std::string temporary_;  // empty once it has its name
  std::int64_t records_ = 0;
};

/// Opens a file for writing. The ending of its name tells the format:
///
/// - `.h5`, `.hdf5`: /x, records × features, and /y;
/// - `.csv[.gz]`: a line of names, then the features and last the label `y`, as the shortest texts that read back to
/// the
///   same numbers;
/// - `.svm[.gz]`, `.libsvm[.gz]`, `.svmlight[.gz]`: non-zeros, with indices from 1.
///
/// Throws UsageError for other endings, FailureError if the file cannot be made.
[[nodiscard]] std::unique_ptr<RecordWriter> open_writer(const std::string& path, const WriteSettings& settings);

/// Whether files of this name store non-zeros only, and so need no number of features. Throws UsageError for unknown
/// endings.
[[nodiscard]] bool writes_nonzeros(const std::string& path);

/// Copies the reader's remaining records and calls `tick` after each. Throws the errors of both, with the record's
/// place.
void copy_records(RecordReader& reader, RecordWriter& writer, const std::function<void()>& tick);

}  // namespace starling
