/// Faults of several records in one error.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/record_error.hpp"
#include "data/source.hpp"

namespace starling {

/// Faults of a source's records, in the order of reading, so that its owner mends all of them at once. A fault and its
/// remedy are told once.
class Faults {
 public:
  static constexpr std::size_t most = 20;           ///< reading stops at this number,
  static constexpr std::size_t most_bytes = 1'500;  ///< or once the texts of all faults have so many bytes

  enum class Read { record, fault, end };
  /// Result of `read`, which reads a record of `reader` and is false at the end. A fault of text is noted: the next
  /// call reads the next row. Throws RecordError with all faults once they reach a limit, and for the fault of a binary
  /// file at once. After a fault, one of the whole file is not told: it may follow from the first.
  template <class F>
  [[nodiscard]] Read read(const RecordReader& reader, F&& read) {
    try {
      return std::forward<F>(read)() ? Read::record : Read::end;
    } catch (const RecordError& fault) {
      if (reader.records()) throw;
      add(fault, reader.where());
      return Read::fault;
    } catch (const DataError&) {
      throw_all();
      throw;
    }
  }
  /// Throws RecordError if there are faults: the fault itself if it is the only one, else a list of them.
  void throw_all() const;

 private:
  /// Messages with their numbers. Behind a message stand the places of further records with the same one.
  class List {
   public:
    void add(const std::string& place, const std::string& message);
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::string text() const;

   private:
    struct Kind {
      std::string message;              ///< of the first record, with its place
      std::string fault;                ///< the message without the place
      std::vector<std::string> places;  ///< of all records
    };
    std::vector<Kind> kinds_;
    std::size_t size_ = 0;
  };

  void add(const RecordError& fault, const std::string& place);
  [[noreturn]] void throw_list(std::string_view end) const;

  std::optional<RecordError> first_;
  List told_;   ///< what others may read: equal values of two records do not show
  List shown_;  ///< for the owner of the data
};

}  // namespace starling
