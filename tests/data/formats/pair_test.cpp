#include <map>
#include <string>

#include "core/check.hpp"
#include "data/binary_files.hpp"
#include "data/marking.hpp"

namespace starling::pair_test {

using namespace testing_support;

class Pair : public testing::Test {
 protected:
  std::string pair(const std::string& features, const std::string& labels) const {
    return folder_.write("x.dat", features) + "," + folder_.write("y.dat", labels);
  }
  Plains read(const std::string& features, const std::string& labels) const {
    return read_all(pair(features, labels), settings_);
  }
  std::string error(const std::string& features, const std::string& labels) const {
    return message_of([&] { read(features, labels); });
  }
  TemporaryFolder folder_;
  DataSettings settings_;
};

const Plains two_rows{{{1, 2}, {}, 0.5}, {{-3, 4e2}, {}, 1}};

TEST_F(Pair, JoinsFeaturesAndLabels) {
  EXPECT_EQ(read("1 2\n-3 4e2\n", "0.5\n1\n"), two_rows);
  EXPECT_EQ(read("a,y\n1,2\n-3,4e2\n", "\"the label\"\n0.5\n\n1"), two_rows) << "headers; no y among the features";
  EXPECT_EQ(read("1\n2\n", "3\n4\n"), (Plains{{{1}, {}, 3}, {{2}, {}, 4}})) << "one feature";
  EXPECT_TRUE(read("", "").empty());
  EXPECT_EQ(read_all(write_gzipped(folder_, "x.txt.gz", "1 2\n-3 4e2\n") + "," + folder_.write("y", "0.5\n1\n")),
            two_rows);
}

TEST_F(Pair, FeatureColumnsMayBeLeftOut) {
  settings_.drop = {"0"};
  settings_.key = "2";
  EXPECT_EQ(read("9 1 k 2\n9 -3 l 4e2\n", "0.5\n1\n"), two_rows);
  settings_ = {};
  settings_.id = "id";
  const auto reader = open_reader(pair("id,a,b\n9,1,2\n", "1\n"), settings_);
  EXPECT_THAT(reader->names(), ElementsAre("a", "b"));
  EXPECT_EQ(reader->features(), 2U);
}

TEST_F(Pair, LengthsMustAgree) {
  EXPECT_EQ(error("1 2\n3 4\n5 6\n7 8\n", "0\n1\n"),
            pair("1 2\n3 4\n5 6\n7 8\n", "0\n1\n") +
                ": 4 records of features and 2 labels: each record has one label. Give files that belong together.");
  EXPECT_THAT(error("1 2\n", "0\n1\n"), HasSubstr(": 1 records of features and 2 labels"));
  const std::string labels = "," + folder_.write("y.csv", "1\n2\n");
  const std::string known = folder_.write("x.idx", idx_bytes(3, 2)) + labels;
  EXPECT_ERROR(DataError, ": 3 records of features and 2 labels", open_reader(known, {}))
      << "at once where it is known";
}

TEST_F(Pair, WhatIsWrongIsTold) {
  EXPECT_THAT(error("1 2\n", "7 5\n"), HasSubstr("y.dat: 2 columns: the second file of a pair has one value"));
  EXPECT_THAT(error("1 2\n1 x\n", "0\n1\n"), HasSubstr("x.dat: row 2: column 1 (from 0) is 'x': not a number."));
  EXPECT_THAT(error("1 2\n1 2\n", "0\nnan\n"), HasSubstr("y.dat: row 2: column 0 (from 0) is 'nan': not finite"));
  settings_.format = "svmlight";
  EXPECT_THAT(error("1 2:3\n", "1 2:3\n"), HasSubstr("svmlight in a pair: its rows hold both"));
  settings_ = {};
  settings_.label = "0";
  EXPECT_THAT(error("1 2\n", "0\n"), HasSubstr("--label 0: the labels of a pair are its second file. Leave it out"));
  for (const std::string source : {"a,b,c", ",b", "a,"}) {
    EXPECT_EQ(message_of<UsageError>([&] { read_all(source); }),
              "'" + source +
                  "' is not a pair of files: a pair is FEATURES,LABELS. Give two names with one comma between. "
                  "Files of several clients are one name with {client} in it, such as site-{client}.csv.");
  }
  EXPECT_ERROR(UsageError, "cannot open 'no-such.csv'", read_all(folder_.write("x.csv", "1\n") + ",no-such.csv"));
}

TEST_F(Pair, TextOptionsNeedText) {
  settings_.header = ReadSettings::Header::no;
  const std::string binary = folder_.write("x.idx", idx_bytes(2, 2));
  EXPECT_EQ(read_all(binary + "," + folder_.write("y.csv", "1\n2\n"), settings_).size(), 2U);
  const std::string labels = folder_.write("y.idx", idx_file(8, {2}, "ab"));
  EXPECT_ERROR(UsageError, "--header: the file is not delimited text.", read_all(binary + "," + labels, settings_));
}

TEST_F(Pair, ACommaInTheNameOfAFileIsItsOwn) {
  EXPECT_EQ(read_all(folder_.write("a,b.csv", "1,2,0.5\n-3,4e2,1\n")), two_rows);
}

TEST_F(Pair, MarksLeadBackInBothFiles) {
  std::string features = "a b\n\n";
  std::string labels;
  for (int i = 0; i < 40; ++i) {
    features += fmt::format("{} {}\r\n", i, -i);
    labels += fmt::format("{}\n\n", 100 + i);
    if (i % 9 == 0) features += "\n";
  }
  EXPECT_EQ(expect_marks_lead_back(pair(features, labels)), 40U);
  const std::string gzipped =
      write_gzipped(folder_, "x.dat.gz", features) + "," + write_gzipped(folder_, "y.dat.gz", labels);
  EXPECT_EQ(expect_marks_lead_back(gzipped), 40U);
  settings_.ignore = {103, 104, 139};
  settings_.scale = 2;
  EXPECT_EQ(expect_marks_lead_back(gzipped, settings_), 40U);
}

TEST_F(Pair, WhereCountsRecords) {
  const std::string source = pair("a b\n1 2\n", "3\n");
  const auto reader = open_reader(source, {});
  Record record;
  ASSERT_TRUE(reader->next(record));
  EXPECT_EQ(reader->where(), source + ": record 1");
}

std::map<double, int> count_labels(const std::string& source, std::size_t features, const ReadSettings& settings = {}) {
  const auto reader = open_reader(source, settings);
  EXPECT_EQ(reader->features(), features) << source;
  std::map<double, int> counts;
  Record record;
  while (reader->next(record)) {
    EXPECT_EQ(record.values.size(), features);
    ++counts[record.label];
  }
  return counts;
}

TEST(RealData, Elec2IsAPairOfText) {
  const std::string folder = shared_folder() + "/data/elec2/";
  if (!std::filesystem::exists(folder + "elec2_data.dat.gz")) GTEST_SKIP() << "the reference data is not here";
  const auto counts = count_labels(folder + "elec2_data.dat.gz," + folder + "elec2_label.dat.gz", 8);
  EXPECT_EQ(counts, (std::map<double, int>{{0, 19237}, {1, 26075}}));
}

TEST(RealData, HarChestHasItsCounterDropped) {
  const std::string path = shared_folder() + "/data/har_chest_uci287/1.csv.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the reference data is not here";
  ReadSettings settings;
  settings.drop = {"0"};
  int records = 0;
  for (const auto& [label, count] : count_labels(path, 3, settings)) {
    EXPECT_TRUE(label >= 0 && label <= 7) << label;
    records += count;
  }
  EXPECT_EQ(records, 162501);
}

struct Table {
  std::string name;
  std::string id;
  int records;
  std::size_t features;
  std::size_t labels;  // different ones; 0: not counted
};

TEST(RealData, VflFateHasItsIdsSetAside) {
  const std::string folder = shared_folder() + "/data/vfl_fate/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the reference data is not here";
  const std::vector<Table> tables{
      {"breast_hetero_guest", "id", 569, 10, 2},
      {"breast_hetero_host", "id", 569, 19, 0},
      {"default_credit_hetero_guest", "id", 30000, 13, 2},
      {"default_credit_hetero_host", "id", 30000, 9, 0},
      {"dvisits_hetero_guest", "id", 5190, 3, 0},
      {"dvisits_hetero_host", "id", 5190, 8, 0},
      {"motor_hetero_guest", "idx", 800, 4, 0},
      {"motor_hetero_host", "idx", 800, 6, 0},
      {"vehicle_scale_hetero_guest", "id", 846, 9, 4},
      {"vehicle_scale_hetero_host", "id", 846, 8, 0},
  };
  for (const Table& table : tables) {
    ReadSettings settings;
    settings.id = table.id;
    int records = 0;
    const auto counts = count_labels(folder + table.name + ".csv.gz", table.features, settings);
    for (const auto& [label, count] : counts) records += count;
    EXPECT_EQ(records, table.records) << table.name;
    EXPECT_TRUE(table.labels == 0 || counts.size() == table.labels) << table.name;
  }
}

}  // namespace starling::pair_test
