#include <bit>
#include <string>

#include "core/check.hpp"
#include "data/binary_files.hpp"
#include "data/marking.hpp"

namespace starling::idx_test {

using namespace testing_support;
using namespace std::string_literals;

class Idx : public testing::Test {
 protected:
  /// Records of the file as features, with labels 0, 1, …
  Plains read(const std::string& content, std::size_t records) const {
    return read_all(pair(folder_.write("x-ubyte", content), records));
  }
  std::string pair(const std::string& features, std::size_t records) const {
    std::string labels;
    for (std::size_t i = 0; i < records; ++i) labels += std::to_string(i) + "\n";
    return features + "," + folder_.write("labels.csv", labels);
  }
  std::string error(const std::string& content, std::size_t records = 2) const {
    return message_of<DataError>([&] { read(content, records); });
  }
  TemporaryFolder folder_;
};

TEST_F(Idx, ReadsAllTypes) {
  const auto one_value = [this](unsigned char type, const std::string& bytes) {
    return read(idx_file(type, {1}, bytes), 1).at(0).values.at(0);
  };
  EXPECT_EQ(one_value(0x08, "\xFE"), 254);
  EXPECT_EQ(one_value(0x09, "\xFE"), -2);
  EXPECT_EQ(one_value(0x0B, "\xFE\x01"), -511);
  EXPECT_EQ(one_value(0x0C, "\x80\0\0\x01"s), -2147483647.0);
  EXPECT_EQ(one_value(0x0D, big_endian(std::bit_cast<std::uint32_t>(-1.5F), 4)), -1.5);
  EXPECT_EQ(one_value(0x0E, big_endian(std::bit_cast<std::uint64_t>(0.1), 8)), 0.1);
}

TEST_F(Idx, FlattensAllButTheFirstSize) {
  const Plains expected{{{1, 2, 3, 4, 5, 6}, {}, 0}, {{7, 8, 9, 10, 11, 12}, {}, 1}};
  const std::string values = "\1\2\3\4\5\6\7\10\11\12\13\14";
  EXPECT_EQ(read(idx_file(8, {2, 6}, values), 2), expected);
  EXPECT_EQ(read(idx_file(8, {2, 2, 3}, values), 2), expected);
  EXPECT_EQ(read(idx_file(8, {2, 1, 2, 3, 1}, values), 2), expected);
  EXPECT_TRUE(read(idx_file(8, {0, 6}, ""), 0).empty());
}

TEST_F(Idx, TheContentTellsIt) {
  const std::string content = idx_bytes(3, 2);
  const Plains expected = read(content, 3);
  EXPECT_EQ(read_all(pair(folder_.write("plain", content), 3)), expected);
  EXPECT_EQ(read_all(pair(write_gzipped(folder_, "gzipped", content), 3)), expected);
  for (const std::string name : {"a.idx", "a.idx2", "a.idx1-ubyte.gz"}) {
    EXPECT_EQ(read_all(pair(folder_.write(name, content), 3)), expected) << name;
  }
}

TEST_F(Idx, MarksLeadBack) {
  for (const std::string& path :
       {folder_.write("x.idx", idx_bytes(40, 3)), write_gzipped(folder_, "x.idx.gz", idx_bytes(40, 3))}) {
    const std::string source = pair(path, 40);
    EXPECT_EQ(expect_marks_lead_back(source), 40U);
    EXPECT_EQ(open_reader(source, {})->records(), 40);
  }
}

TEST_F(Idx, LabelsAreReadWithoutFeatures) {
  for (const std::string& path :
       {folder_.write("x.idx", idx_bytes(5, 3)), write_gzipped(folder_, "x.idx.gz", idx_bytes(5, 3))}) {
    const auto whole = open_reader(pair(path, 5), {});
    const Plains expected = read_all(*whole);
    const auto reader = open_reader(pair(path, 5), {});
    Record record;
    ASSERT_TRUE(reader->next_label(record));
    EXPECT_EQ(record.label, 0);
    ASSERT_TRUE(reader->next(record));
    EXPECT_EQ(plain(record.row(), record.label), expected[1]);
    for (double label = 2; label < 5; ++label) {
      ASSERT_TRUE(reader->next_label(record));
      EXPECT_EQ(record.label, label);
    }
    EXPECT_FALSE(reader->next_label(record));
    EXPECT_FALSE(reader->next(record));
  }
}

TEST_F(Idx, StandsInAPair) {
  const std::string path = folder_.write("x-ubyte", idx_bytes(2, 2));
  EXPECT_EQ(message_of<DataError>([&] { read_all(path); }),
            path + ": an IDX file alone: it holds features or labels, not both. Give the pair FEATURES,LABELS.");
}

TEST_F(Idx, HoldsLabelsToo) {
  const std::string features = folder_.write("x.csv", "1,2\n3,4\n");
  const Plains expected{{{1, 2}, {}, 5}, {{3, 4}, {}, 0}};
  EXPECT_EQ(read_all(features + "," + folder_.write("y-ubyte", idx_file(8, {2}, "\5\0"s))), expected);
  EXPECT_EQ(read_all(features + "," + folder_.write("y-ubyte", idx_file(8, {2, 1}, "\5\0"s))), expected);
  EXPECT_ERROR(DataError, "y-ubyte: 2 values per record: the second file of a pair has one",
               read_all(features + "," + folder_.write("y-ubyte", idx_file(8, {2, 2}, "\5\0\1\2"s))));
}

TEST_F(Idx, ThereAreNoColumnsToChoose) {
  DataSettings settings;
  settings.drop = {"0"};
  const std::string source = pair(folder_.write("x-ubyte", idx_bytes(2, 2)), 2);
  EXPECT_ERROR(UsageError, "x-ubyte: --drop: an IDX file", read_all(source, settings));
  settings = {};
  settings.dimension = 3;
  EXPECT_ERROR(UsageError, "2 features: --dimension says 3", read_all(source, settings));
}

TEST_F(Idx, WhatIsWrongIsTold) {
  EXPECT_THAT(error(""), HasSubstr("x-ubyte: the file ends inside its header"));
  EXPECT_THAT(error("\0\0\x08\x02\0\0"s), HasSubstr("x-ubyte: the file ends inside its header"));
  EXPECT_THAT(error("1,2,3\n"), HasSubstr("x-ubyte: not an IDX file: it does not start with two zero bytes."));
  EXPECT_THAT(error(idx_file(0x0A, {2}, "ab")), HasSubstr("values of type 0x0A: IDX knows 08, 09, 0B"));
  EXPECT_THAT(error(idx_file(8, {}, "a")), HasSubstr("a single value: rank 0;"));
  EXPECT_THAT(error(idx_file(8, {2, 0}, "")), HasSubstr("records without values: one of its sizes is 0."));
  EXPECT_THAT(error(idx_file(8, {2, 0, 3}, "")), HasSubstr("records without values: one of its sizes is 0."));
  for (const std::vector<std::uint32_t>& sizes :
       {std::vector<std::uint32_t>{1, 65536, 65536, 65536, 65536}, {1, 4294967295U, 4294967295U}, {1, 20'000'000}}) {
    EXPECT_THAT(error(idx_file(8, sizes, "abc")), HasSubstr("more than 16777216 values per record"));
  }
  EXPECT_THAT(error(idx_file(8, {4294967295U, 16777216}, "abc")),
              HasSubstr(": 4294967295 records need 72057594021150732"));
}

TEST_F(Idx, AFileMustBeAsLongAsItsHeaderSays) {
  const std::string content = idx_bytes(2, 3);
  const std::string cut = content.substr(0, content.size() - 1);
  EXPECT_THAT(error(cut), HasSubstr("x-ubyte: 17 bytes: 2 records need 18: the file is truncated."));
  EXPECT_THAT(error(content + "a"), HasSubstr("x-ubyte: 19 bytes: 2 records end at 18: bytes are left over."));
  const auto gzipped_error = [this](const std::string& bytes) {
    return message_of<DataError>([&] { read_all(pair(write_gzipped(folder_, "x.idx.gz", bytes), 2)); });
  };
  EXPECT_THAT(gzipped_error(cut), HasSubstr("x.idx.gz: record 2: the file ends inside it: the header promises 2"));
  EXPECT_THAT(gzipped_error(content + "a"), HasSubstr("x.idx.gz: bytes are left over: after 2 records"));
  const auto reader = open_reader(pair(write_gzipped(folder_, "x.idx.gz", content + "a"), 2), {});
  Record record;
  EXPECT_TRUE(reader->next(record));
  EXPECT_ERROR(DataError, "left over", reader->next(record)) << "also where nobody reads beyond the last record";
}

TEST_F(Idx, ValuesMustBeFinite) {
  const std::string one = big_endian(std::bit_cast<std::uint32_t>(1.0F), 4);
  EXPECT_THAT(error(idx_file(0x0D, {2, 2}, one + one + one + "\x7F\xC0\0\0"s)),
              HasSubstr("x-ubyte: record 2: value 1 (from 0) is nan: every value must be a finite number"));
  EXPECT_THAT(error(idx_file(0x0D, {2, 2}, "\xFF\x80\0\0"s + one + one + one)),
              HasSubstr("x-ubyte: record 1: value 0 (from 0) is -inf: every value must be a finite number"));
}

TEST(IdxData, Mnist) {
  const std::string folder = shared_folder() + "/data/mnist/";
  if (!std::filesystem::exists(folder + "train-images-idx3-ubyte.gz")) GTEST_SKIP() << "the reference data is not here";
  const auto reader = open_reader(folder + "train-images-idx3-ubyte.gz," + folder + "train-labels-idx1-ubyte.gz", {});
  EXPECT_EQ(reader->features(), 784U);
  EXPECT_EQ(reader->records(), 60000);
  std::vector<int> counts(10);
  Record record;
  double brightest = 0;
  int records = 0;
  while (reader->next(record)) {
    EXPECT_TRUE(records > 0 || record.label == 5) << "the first is a five";
    ++records;
    ++counts.at(static_cast<std::size_t>(record.label));
    for (const double value : record.values) brightest = std::max(brightest, value);
  }
  EXPECT_EQ(records, 60000);
  EXPECT_EQ(counts, (std::vector<int>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}));
  EXPECT_EQ(brightest, 255);
}

}  // namespace starling::idx_test
