/// Faults of several records in one error.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "starling/core/record_error.hpp"
#include "starling/data/source.hpp"

namespace starling {

/// Faults of a source's records, in the order of reading, so that its owner mends all of them at once.
class Faults {
 public:
  static constexpr std::size_t most = 20;  ///< reading stops at this number

  enum class Read { record, fault, end };
  /// Result of `read`, which reads a record of `reader` and is false at the end. A fault of text is noted: the next
  /// call reads the next row. Throws RecordError with all faults once there are `most`, and for the fault of a binary
  /// file at once. After a fault, one of the whole file is not told: it may follow from the first.
  template <class F>
  [[nodiscard]] Read read(const RecordReader& reader, F&& read) {
    try {
      return std::forward<F>(read)() ? Read::record : Read::end;
    } catch (const RecordError& fault) {
      if (reader.records()) throw;
      add(fault);
      return Read::fault;
    } catch (const DataError&) {
      throw_all();
      throw;
    }
  }
  /// Throws RecordError if there are faults: the fault itself if it is the only one, else a list of them.
  void throw_all() const;

 private:
  void add(const RecordError& fault);
  [[noreturn]] void throw_list(const std::string& end) const;

  std::vector<RecordError> faults_;
};

}  // namespace starling
