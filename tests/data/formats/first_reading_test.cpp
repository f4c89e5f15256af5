#include "data/formats/first_reading.hpp"

#include <memory>
#include <string>
#include <vector>

#include "core/digest.hpp"
#include "data/marking.hpp"

namespace starling::first_reading_test {

using namespace testing_support;

const std::string text = "a,who,y\n1,x,0\n\n2.5,y,1\n-3,x,0\n";
const std::string sparse_text = "1 2:0.5 7:1\n0\n1 1:3\n";

/// Reads files that are replaced once they were read: what comes from memory is still there.
class AFirstReading : public testing::Test {
 protected:
  std::vector<Read> read(const std::string& source) const {
    const auto reader = open_reader(source, settings_);
    std::vector<Read> result;
    for (Marked& each : read_marked(*reader)) result.push_back(std::move(each.read));
    return result;
  }
  void limit(std::size_t memory) { settings_.first_reading = std::make_shared<FirstReading>(memory); }

  TemporaryFolder folder_;
  ReadSettings settings_ = [] {
    ReadSettings settings;
    settings.key = "who";
    settings.first_reading = std::make_shared<FirstReading>(std::size_t{1} << 20);
    return settings;
  }();
};

TEST_F(AFirstReading, KeepsRecordsKeysAndRows) {
  const std::string path = folder_.write("x.csv", text);
  const std::vector<Read> first = read(path);
  ASSERT_EQ(first.size(), 3U);
  EXPECT_THAT(first[1].where, testing::EndsWith("x.csv: row 4"));
  folder_.write("x.csv", "a,who,y\n9,z,1\n");
  EXPECT_EQ(read(path), first);
  EXPECT_EQ(open_reader(path, settings_)->names(), std::vector<std::string>{"a"});
}

TEST_F(AFirstReading, KeepsSparseRecordsAndPairs) {
  settings_.key.clear();
  const std::string sparse = folder_.write("x.svm", sparse_text);
  const std::string pair = folder_.write("f.csv", "1,2\n3,4\n") + "," + folder_.write("l.csv", "0\n1\n");
  const std::vector<Read> of_sparse = read(sparse);
  const std::vector<Read> of_pair = read(pair);
  ASSERT_EQ(of_sparse.size(), 3U);
  EXPECT_EQ(of_sparse[0].record.index, (std::vector<std::int32_t>{1, 6}));
  for (const char* name : {"x.svm", "f.csv", "l.csv"}) folder_.write(name, "");
  EXPECT_EQ(read(sparse), of_sparse);
  EXPECT_EQ(read(pair), of_pair);
  EXPECT_EQ(open_reader(sparse, settings_)->features(), 7U);
  EXPECT_TRUE(open_reader(sparse, settings_)->sparse());
}

TEST_F(AFirstReading, PreparesKeptRecordsByLaterConstants) {
  const std::string path = folder_.write("x.csv", text);
  const std::vector<Read> raw = read(path);
  folder_.write("x.csv", "");
  settings_.standardise = "values:1/2";
  const std::vector<Read> standardised = read(path);
  ASSERT_EQ(standardised.size(), raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i)
    EXPECT_DOUBLE_EQ(standardised[i].record.values[0], (raw[i].record.values[0] - 1) / 2);
}

TEST_F(AFirstReading, MarksOfTheFileLeadToKeptRecords) {
  const std::string path = folder_.write("x.csv", text);
  const std::vector<Marked> of_file = read_marked(*open_reader(path, settings_));
  folder_.write("x.csv", "");
  const auto kept = open_reader(path, settings_);
  for (std::size_t i = of_file.size(); i-- > 0;) {
    kept->seek(of_file[i].mark);
    EXPECT_EQ(read_one(*kept), of_file[i].read) << i;
  }
  EXPECT_EQ(expect_marks_lead_back(path, settings_), 3U);
}

TEST_F(AFirstReading, DigestsAreOfTheBytesThatWereRead) {
  const std::string plain = folder_.write("x.csv", text);
  const std::string packed = write_gzipped(folder_, "y.csv", text);
  const std::string other = folder_.write("z.txt", "not read");
  std::vector<std::string> expected;
  for (const std::string& path : {plain, packed, other}) expected.push_back(sha256_of_file(path));
  EXPECT_EQ(read(plain), read(plain));
  EXPECT_EQ(read(packed).size(), 3U);
  EXPECT_EQ(settings_.first_reading->digest(other), expected[2]);
  for (const char* name : {"x.csv", "y.csv"}) folder_.write(name, "changed");
  EXPECT_EQ(settings_.first_reading->digest(plain), expected[0]);
  EXPECT_EQ(settings_.first_reading->digest(packed), expected[1]);
  EXPECT_TRUE(settings_.first_reading->files_stayed()) << "records are those of their digests";
  folder_.write("z.txt", "changed");
  EXPECT_FALSE(settings_.first_reading->files_stayed());
  EXPECT_EQ(settings_.first_reading->digest(other), expected[2]);
}

TEST_F(AFirstReading, ReadsFilesAgainThatItDoesNotKeep) {
  const std::string path = folder_.write("x.csv", text);
  const auto reads_new_file = [&] {
    folder_.write("x.csv", "a,who,y\n9,z,1\n");
    return read(path).size() == 1;
  };
  limit(50);  // there is no room
  EXPECT_EQ(read(path).size(), 3U);
  EXPECT_TRUE(reads_new_file());

  folder_.write("x.csv", text);
  limit(1000);  // somebody goes back
  const auto reader = open_reader(path, settings_);
  const Mark start = reader->mark();
  static_cast<void>(read_one(*reader));
  reader->seek(start);
  EXPECT_EQ(read_marked(*reader).size(), 3U);
  EXPECT_TRUE(reads_new_file());

  folder_.write("x.csv", text);
  limit(1000);  // other columns are asked for
  EXPECT_EQ(read(path).size(), 3U);
  settings_.key.clear();
  settings_.drop = {"who"};
  EXPECT_TRUE(reads_new_file());

  folder_.write("x.csv", text);
  limit(1000);  // the records are forgotten
  EXPECT_EQ(read(path).size(), 3U);
  settings_.first_reading->forget_records();
  EXPECT_TRUE(reads_new_file());
}

TEST_F(AFirstReading, AFaultIsFoundEachTime) {
  const std::string path = folder_.write("x.csv", "a,who,y\n1,x,0\nwhat,y,1\n");
  for (int k = 0; k < 2; ++k)
    EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(read(path)); }), HasSubstr("row 3")) << k;
}

}  // namespace starling::first_reading_test
