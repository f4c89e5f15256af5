/// Records that are looked for among those of clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/batch.hpp"
#include "core/boundary.hpp"
#include "data/stream.hpp"

namespace starling {

/// Records that are known, such as those of `--test`. Two records are the same if their labels and all features are
/// equal; a sparse record may be the same as a dense one.
class KnownRecords {
 public:
  /// Keeps a reference.
  explicit KnownRecords(const Batch& records);
  /// Numbers of the known records that are in `batch` too, from 0, ascending.
  [[nodiscard]] std::vector<std::size_t> found_in(const Batch& batch) const;
  /// The same of a client's records. Reads one pass of a stream, which is then to be planned anew. Throws DataError.
  [[nodiscard]] Secret<std::vector<std::size_t>> found_in(Stream& stream) const;

 private:
  using Marks = std::vector<char>;
  void mark(const Batch& batch, Marks& marks) const;
  const Batch& records_;
  std::unordered_multimap<std::uint64_t, std::size_t> numbers_;  ///< by digest
};

}  // namespace starling
