#include <string>
#include <sys/stat.h>

#include "core/check.hpp"
#include "data/marking.hpp"

namespace starling::source_test {

using namespace testing_support;

TEST(Source, TheNameTellsTheFormat) {
  const TemporaryFolder folder;
  for (const std::string name : {"x.csv", "x.tsv", "x.csv.gz"}) {
    EXPECT_EQ(read_all(folder.write(name, "1\t2\n")), (Plains{{{1}, {}, 2}})) << name;
  }
  for (const std::string name : {"x.svm", "x.libsvm", "x.svmlight.gz"}) {
    EXPECT_EQ(read_all(folder.write(name, "1\t2:3\n")), (Plains{{{3}, {1}, 1}})) << name;
  }
}

TEST(Source, AFormatThatIsGivenWins) {
  const TemporaryFolder folder;
  DataSettings settings;
  settings.format = "svmlight";
  EXPECT_EQ(read_all(folder.write("x", "1 2:3\n"), settings).size(), 1U);
  EXPECT_EQ(read_all(folder.write("x.csv", "1 2:3\n"), settings).size(), 1U);
  settings.format = "csv";
  EXPECT_EQ(read_all(folder.write("x", "1 2\n"), settings).size(), 1U);
}

TEST(Source, TheContentTellsTheFormatWhereTheNameDoesNot) {
  const TemporaryFolder folder;
  const auto records = [&folder](const std::string& content) {
    const Plains plain_records = read_all(folder.write("x.unknown", content));
    EXPECT_EQ(read_all(write_gzipped(folder, "x", content)), plain_records);
    return plain_records;
  };
  const Plains sparse{{{3}, {1}, 1}};
  EXPECT_EQ(records("1\t2:3\n"), sparse);
  EXPECT_EQ(records("\n# c 1:1\n+1   2:3 # 1 2\r\n"), sparse);
  EXPECT_EQ(records("1 qid:4 2:3\n"), sparse);
  EXPECT_EQ(records("-1\n1 2:3\n"), (Plains{{{}, {}, -1}, {{3}, {1}, 1}})) << "a row without features first";
  EXPECT_EQ(records("1 2\n"), (Plains{{{1}, {}, 2}}));
}

TEST(Source, MoreEndingsMeanText) {
  const TemporaryFolder folder;
  for (const std::string name : {"x.dat", "x.txt", "x.data.gz"}) {
    EXPECT_EQ(read_all(folder.write(name, "1 2\n")), (Plains{{{1}, {}, 2}})) << name;
  }
}

TEST(Source, UnknownFormatsListTheKnown) {
  const TemporaryFolder folder;
  const std::string known =
      "hdf5: .h5 .hdf5; idx: -ubyte .idx .idx1 .idx2 .idx3 .idx4; npy: .npy; npz: .npz; svmlight: .svm .libsvm "
      ".svmlight; csv: .csv .tsv "
      ".tab "
      ".dat .txt .data";
  const std::string path = folder.write("x.h6", std::string("PNG\0\1\2", 6));
  EXPECT_EQ(message_of<DataError>([&] { return open_reader(path, {}); }),
            path + ": neither its name nor its content tells the format: known are " + known +
                "; text also gzipped. Give --format.");
  DataSettings settings;
  settings.format = "parquet";
  EXPECT_EQ(message_of<UsageError>([&] { return open_reader("x.csv", settings); }),
            "unknown format 'parquet': known are auto; " + known + ". Give --format one of them.");
}

TEST(Source, TablesOfOtherProgramsAreRefusedWithAWayToConvertThem) {
  EXPECT_EQ(
      message_of<DataError>([] { static_cast<void>(open_reader("a/x.parquet", {})); }),
      "a/x.parquet: tables of the format parquet are not read. Make a CSV file of it: python3 -c \"import pandas; "
      "pandas.read_parquet('a/x.parquet').to_csv('a/x.csv', index=False)\"");
  EXPECT_THAT(message_of<DataError>([] { static_cast<void>(open_reader("x.xlsx", {})); }),
              HasSubstr("pandas.read_excel('x.xlsx').to_csv('x.csv'"));
}

TEST(Source, APipeIsNotLookedInto) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_ERROR(UsageError, "neither a regular file nor a name that tells the format", open_reader(folder / "pipe", {}));
}

TEST(Source, OptionsThatAFormatCannotHeedAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x.svm", "1 2:3\n");
  const auto error = [&path](const auto& set) {
    ReadSettings settings;
    set(settings);
    return message_of<UsageError>([&] { return open_reader(path, settings); });
  };
  EXPECT_EQ(error([](ReadSettings& s) { s.label = "y"; }),
            path + ": --label: svmlight has no columns: the label stands first. Leave it out.");
  EXPECT_THAT(error([](ReadSettings& s) { s.id = "y"; }), HasSubstr("--id: svmlight"));
  EXPECT_THAT(error([](ReadSettings& s) { s.drop = {"y"}; }), HasSubstr("--drop: svmlight"));
  EXPECT_THAT(error([](ReadSettings& s) { s.key = "y"; }), HasSubstr("--partition column:: svmlight"));
  EXPECT_THAT(error([](ReadSettings& s) { s.delimiter = "tab"; }), HasSubstr("--delimiter: the file is not"));
  EXPECT_THAT(error([](ReadSettings& s) { s.header = ReadSettings::Header::no; }), HasSubstr("--header: the file is"));
}

class Prepared : public testing::Test {
 protected:
  Plains read() const { return read_all(path_, settings_); }
  std::string error() const {
    return message_of<UsageError>([&] { read(); });
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.write("x.csv", "1,0\n2,3\n3,4\n4,0\n5,-1\n6,0\n");
  DataSettings settings_;
};

TEST_F(Prepared, LeavesOutIgnoredLabels) {
  settings_.ignore = {0, 4};
  EXPECT_EQ(read(), (Plains{{{2}, {}, 3}, {{5}, {}, -1}}));
  const auto reader = open_reader(path_, settings_);
  Record record;
  ASSERT_TRUE(reader->next_label(record));
  EXPECT_TRUE(record.left_out);
  ASSERT_TRUE(reader->next_label(record));
  EXPECT_FALSE(record.left_out);
  EXPECT_EQ(record.label, 3);
  EXPECT_EQ(reader->where(), path_ + ": row 2");
}

TEST_F(Prepared, PicksThePositiveLabels) {
  settings_.positive = {3, 4};
  settings_.ignore = {0};
  EXPECT_EQ(read(), (Plains{{{2}, {}, 1}, {{3}, {}, 1}, {{5}, {}, -1}}));
  settings_.ignore = {0, 4};
  EXPECT_THAT(error(), HasSubstr("label 4 stands in --positive and in --ignore"));
}

TEST_F(Prepared, ScalesFeaturesAlone) {
  settings_.scale = -0.5;
  EXPECT_EQ(read().front(), (Plain{{-0.5}, {}, 0}));
  EXPECT_EQ(read()[1], (Plain{{-1}, {}, 3}));
  EXPECT_EQ(read_all(folder_.write("x.svm", "3 2:4\n"), settings_), (Plains{{{-2}, {1}, 3}}));
}

TEST_F(Prepared, ScalesThatCannotBeAreRefused) {
  settings_.scale = 0;
  EXPECT_THAT(error(), HasSubstr("scale=0: must be finite and not 0"));
  settings_.scale = 1e300;
  const std::string path = folder_.write("y.csv", "1,1\n1e10,1\n");
  EXPECT_ERROR(DataError, "y.csv: row 2: a feature times --scale 1e+300 is beyond the range",
               read_all(path, settings_));
}

TEST(Source, AMissingFileIsAnErrorOfUsage) {
  EXPECT_EQ(message_of<UsageError>([&] { return open_reader("no/such.csv", {}); }),
            "cannot open 'no/such.csv': No such file or directory. Check the path and its permissions.");
}

TEST(Source, AFolderIsNotAFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "x.csv");
  EXPECT_EQ(message_of<DataError>([&] { return open_reader(folder / "x.csv", {}); }),
            "cannot read '" + (folder / "x.csv") + "': Is a directory. Check the path and its permissions.");
}

}  // namespace starling::source_test
