/// Helpers of the tests of readers: gzipped files, and checks that marks lead back.
#pragma once

#include <string>
#include <vector>

#include <zlib.h>

#include "reading.hpp"

namespace starling::testing_support {

/// Writes a gzipped file and returns its path.
inline std::string write_gzipped(const TemporaryFolder& folder, const std::string& name, const std::string& content) {
  const std::string path = folder / name;
  gzFile file = gzopen(path.c_str(), "wb");
  EXPECT_EQ(gzwrite(file, content.data(), static_cast<unsigned>(content.size())), static_cast<int>(content.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  return path;
}

/// All that a reader says of a record.
struct Read {
  Plain record;
  std::string key;
  std::string where;
  friend bool operator==(const Read&, const Read&) = default;
};

/// The next record; an empty one at the end.
inline Read read_one(RecordReader& reader) {
  Record record;
  if (!reader.next(record)) return {};
  return {plain(record.row(), record.label), record.key, reader.where()};
}

struct Marked {
  Mark mark;
  Read read;
};

/// Marks and records of a pass over what is left.
inline std::vector<Marked> read_marked(RecordReader& reader) {
  std::vector<Marked> result;
  while (true) {
    const Mark mark = reader.mark();
    const Read read = read_one(reader);
    if (read.where.empty()) return result;
    result.push_back({mark, read});
  }
}

/// Goes to the mark of each record, ascending, descending and crosswise, in the same reader and in a fresh one, and
/// reads two records there. Returns the number of records.
inline std::size_t expect_marks_lead_back(const std::string& source, const ReadSettings& settings = {}) {
  const auto first = open_reader(source, settings);
  const std::vector<Marked> marked = read_marked(*first);
  const std::size_t n = marked.size();
  const auto expect_at = [&](RecordReader& reader, std::size_t i) {
    reader.seek(marked[i].mark);
    EXPECT_EQ(read_one(reader), marked[i].read) << source << ": record " << i;
    EXPECT_EQ(read_one(reader), i + 1 < n ? marked[i + 1].read : Read{}) << source << ": record after " << i;
  };
  const auto fresh = open_reader(source, settings);
  for (RecordReader* reader : {first.get(), fresh.get()}) {
    for (std::size_t i = n; i-- > 0;) expect_at(*reader, i);
    for (std::size_t i = 0; i < n; ++i) expect_at(*reader, i);
    for (std::size_t i = 0; i < n; ++i) expect_at(*reader, (i * 7 + n / 2) % n);
  }
  if (const auto records = first->records()) {
    EXPECT_EQ(*records, static_cast<std::int64_t>(n)) << source;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(marked[i].mark.offset, i);
      EXPECT_EQ(marked[i].mark.row, static_cast<std::int64_t>(i));
    }
  }
  return n;
}

inline std::ostream& operator<<(std::ostream& out, const Read& read) {
  return out << read.where << " " << testing::PrintToString(read.record.values) << " " << read.record.label << " "
             << read.key;
}

}  // namespace starling::testing_support
