/// A cache of the first pass over a run's files, so that each is read once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "data/source.hpp"

namespace starling {

/// Records of text files, before they are prepared, and digests of files. Records are kept while those of all sources
/// fit into the memory for them. Formats that find a record by its number are read where their records lie.
class FirstReading {
 public:
  struct Source;

  /// `memory`: bytes for records.
  explicit FirstReading(std::size_t memory) : room_(memory) {}

  /// A reader of the records of `source`; `open` opens its files. The first one that is read from start to end keeps
  /// the records, and later ones give these.
  [[nodiscard]] std::unique_ptr<RecordReader> open(const std::string& source, const ReadSettings& settings,
                                                   const std::function<std::unique_ptr<RecordReader>()>& open);
  /// Keeps no more records, and forgets those that nobody reads.
  void forget_records();

  /// Notes the SHA-256 of the bytes of a file that have been read.
  void note_digest(const std::string& file, const std::string& digest) { of_bytes_read_[file] = digest; }
  /// SHA-256 of a file: of the bytes that were read, else of those that are there.
  [[nodiscard]] std::string digest(const std::string& file);
  /// Whether files still have the digests that were made beside reading them.
  [[nodiscard]] bool files_stayed() const;

 private:
  friend class KeepingReader;

  std::size_t room_;
  std::map<std::string, std::shared_ptr<const Source>> sources_;  ///< null: it is not kept
  std::map<std::string, std::string> of_bytes_read_;
  std::map<std::string, std::string> of_files_;
};

}  // namespace starling
