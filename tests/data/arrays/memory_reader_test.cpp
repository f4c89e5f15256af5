#include <limits>

#include "core/digest.hpp"
#include "core/record_error.hpp"
#include "data/memory_records.hpp"
#include "data/reading.hpp"

namespace starling::memory_reader_test {

using namespace testing_support;

class MemoryReaders : public testing::Test {
 protected:
  /// Three records with two columns and labels, which stand one after the other.
  [[nodiscard]] MemoryRecords records() {
    MemoryRecords result;
    result.records = 3;
    result.columns = 2;
    result.x = numbers_.data();
    result.x_row = 2;
    result.y = numbers_.data() + 6;
    result.names = {"a", "b"};
    return result;
  }
  Vector numbers_{1, 10, 2, 20, 3, 30, 1, -1, 1};
};

TEST_F(MemoryReaders, GiveTheNumbers) {
  const OfferedRecords offered("mine", records());
  EXPECT_EQ(read_all("memory:mine"), (Plains{{{1, 10}, {}, 1}, {{2, 20}, {}, -1}, {{3, 30}, {}, 1}}));
  const auto reader = open_reader("memory:mine", {});
  EXPECT_EQ(reader->names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(reader->label_name(), "y");
  EXPECT_EQ(reader->records(), 3);
  Record record;
  ASSERT_TRUE(reader->next_label(record));
  EXPECT_EQ(record.label, 1);
  reader->seek({2, 2});
  ASSERT_TRUE(reader->next(record));
  EXPECT_EQ(record.values, (Vector{3, 30}));
  EXPECT_EQ(reader->where(), "memory:mine: record 3");
}

// By columns, and from the last record to the first.
TEST_F(MemoryReaders, FollowStrides) {
  MemoryRecords turned = records();
  turned.x = numbers_.data() + 4;
  turned.x_row = -2;
  turned.y = numbers_.data() + 8;
  turned.y_row = -1;
  const OfferedRecords backwards("backwards", turned);
  EXPECT_EQ(read_all("memory:backwards"), (Plains{{{3, 30}, {}, 1}, {{2, 20}, {}, -1}, {{1, 10}, {}, 1}}));
  MemoryRecords columns = records();
  columns.records = 2;
  columns.columns = 3;
  columns.x_row = 1;
  columns.x_column = 2;
  columns.names = {};
  const OfferedRecords offered("columns", columns);
  EXPECT_EQ(read_all("memory:columns"), (Plains{{{1, 2, 3}, {}, 1}, {{10, 20, 30}, {}, -1}}));
}

TEST_F(MemoryReaders, TakeALabelFromTheColumns) {
  MemoryRecords without = records();
  without.y = nullptr;
  const OfferedRecords offered("table", without);
  DataSettings settings;
  settings.label = "a";
  EXPECT_EQ(read_all("memory:table", settings), (Plains{{{10}, {}, 1}, {{20}, {}, 2}, {{30}, {}, 3}}));
  settings.label = "c";
  EXPECT_NE(message_of<UsageError>([&] { read_all("memory:table", settings); }), "");
}

TEST_F(MemoryReaders, RefuseWhatIsNotFiniteAndKeepTheValueFromOthers) {
  numbers_[3] = std::numeric_limits<double>::infinity();
  const OfferedRecords offered("mine", records());
  try {
    read_all("memory:mine");
    FAIL() << "no error";
  } catch (const RecordError& error) {
    EXPECT_THAT(error.what(), HasSubstr("memory:mine: record 2: column 1 (from 0) of X"));
    EXPECT_THAT(error.what(), Not(HasSubstr("inf")));
    EXPECT_THAT(error.shown(), HasSubstr("inf"));
  }
}

TEST_F(MemoryReaders, AreKnownByANameWhileTheyAreOffered) {
  {
    const OfferedRecords offered("mine", records());
    EXPECT_TRUE(is_in_memory("memory:mine"));
    EXPECT_THROW(OfferedRecords("mine", records()), UsageError);
    const std::string digest = digest_of_memory("memory:mine");
    numbers_[0] = 7;
    EXPECT_NE(digest_of_memory("memory:mine"), digest);
  }
  EXPECT_THROW(read_all("memory:mine"), UsageError);
  EXPECT_THROW(OfferedRecords("a,b", records()), UsageError);
  MemoryRecords forgotten = records();
  forgotten.x = {};
  EXPECT_THROW(OfferedRecords("forgotten", forgotten), UsageError);
  for (const std::size_t names : {1, 3}) {  // of two columns
    MemoryRecords named = records();
    named.names.assign(names, "a");
    EXPECT_THROW(OfferedRecords("named", named), UsageError) << names;
  }
}

TEST_F(MemoryReaders, TakeTheLabelOfATableAsOfAFile) {
  MemoryRecords named = records();
  named.y = nullptr;
  const OfferedRecords last("last", named);
  EXPECT_EQ(read_all("memory:last"), (Plains{{{1}, {}, 10}, {{2}, {}, 20}, {{3}, {}, 30}}));
  named.names = {"Label", "b"};
  const OfferedRecords label("label", named);
  EXPECT_EQ(read_all("memory:label"), (Plains{{{10}, {}, 1}, {{20}, {}, 2}, {{30}, {}, 3}}));
  named.names = {};
  const OfferedRecords nameless("nameless", named);
  EXPECT_THROW((void)read_all("memory:nameless"), DataError);
}

TEST_F(MemoryReaders, ReadATableOfText) {
  const TemporaryFolder folder;
  const std::string path = folder.write("table", "a,1,y\n\"one, two\",5,1\n");
  MemoryRecords table;
  table.table = path;
  const OfferedRecords offered("text", table);
  DataSettings settings;
  settings.drop = {"a"};
  EXPECT_EQ(read_all("memory:text", settings), (Plains{{{5}, {}, 1}}));
  EXPECT_EQ(digest_of_memory("memory:text"), sha256_of_file(path));
  settings.delimiter = "tab";
  EXPECT_THROW((void)read_all("memory:text", settings), UsageError);
}

}  // namespace starling::memory_reader_test
