/// Files of labelled records: written record by record, in flat memory, under a temporary name until they are complete.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "starling/data/source.hpp"

namespace starling {

/// How features are stored; labels are always float64.
enum class Precision { float64, float32 };

struct WriteSettings {
  std::size_t features = 0;        ///< of every record; formats of non-zeros do not need it
  std::vector<std::string> names;  ///< of the features; empty where they have none
  Precision precision = Precision::float64;
  std::string source;  ///< kept with the records where the format has a place for it, like `command`
  std::string command;
  unsigned permissions = 0666;  ///< of the file, less what the umask takes away
  bool replace = false;         ///< an existing file gives way
};

/// Writes one file. Until `publish`, the file is in the same folder under a temporary name, readable by its owner
/// alone; it is removed if the writer goes before that.
class RecordWriter {
 public:
  virtual ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Appends a record. Throws DataError (without a place: the reader knows it) for values that are not finite or do not
  /// fit the precision and for sparse indices beyond `WriteSettings::features`; FailureError when writing fails.
  void add(const Row& row, double label);
  /// Everything is on the disk when this returns; nothing can be added any more. Throws FailureError.
  void finish();
  /// Gives the finished file its name. Throws FailureError, also if the name is taken by now and may not be replaced.
  void publish();

  [[nodiscard]] std::int64_t records() const { return records_; }
  /// Bytes written so far, before compression.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// Least number of features with which a reader will see the file: that of the format, or the largest index of a
  /// format of non-zeros.
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

/// Opens a file for writing; its ending tells the format: `.h5`, `.hdf5` (/x records × features, /y), `.csv[.gz]` (a
/// line of names, then the features and last the label `y`, as the shortest text that reads back to the same number),
/// or
/// `.svm[.gz]`, `.libsvm[.gz]`, `.svmlight[.gz]` (non-zeros, indices from 1). Throws UsageError for other endings,
/// FailureError if the file cannot be made.
[[nodiscard]] std::unique_ptr<RecordWriter> open_writer(const std::string& path, const WriteSettings& settings);

/// Whether files of this name hold non-zeros only, and so need no number of features. Throws UsageError for unknown
/// endings.
[[nodiscard]] bool writes_nonzeros(const std::string& path);

/// Copies the reader's remaining records; `tick` is called after each. Throws what both throw, with the record's place.
void copy_records(RecordReader& reader, RecordWriter& writer, const std::function<void()>& tick);

}  // namespace starling
