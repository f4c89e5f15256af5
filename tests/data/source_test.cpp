#include "data/reading.hpp"
#include <string>

#include "starling/core/check.hpp"

namespace starling {
namespace {

using namespace testing_support;
using testing::HasSubstr;

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

TEST(Source, UnknownFormatsListTheKnown) {
  DataSettings settings;
  EXPECT_EQ(
      message_of<UsageError>([&] { static_cast<void>(open_reader("x.h6", settings)); }),
      "x.h6: the name does not tell the format (known: csv: .csv .tsv .tab; svmlight: .svm .libsvm .svmlight; each "
      "also with .gz) give --format");
  settings.format = "parquet";
  EXPECT_THAT(message_of<UsageError>([&] { static_cast<void>(open_reader("x.csv", settings)); }),
              HasSubstr("unknown format 'parquet' (known: auto; csv: .csv"));
}

TEST(Source, AMissingFileIsABadDataError) {
  EXPECT_EQ(message_of<DataError>([&] { static_cast<void>(open_reader("no/such.csv", {})); }),
            "cannot open 'no/such.csv' (No such file or directory) check the path and its permissions");
}

TEST(Source, AFolderIsNotAFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "x.csv");
  EXPECT_EQ(message_of<DataError>([&] { static_cast<void>(open_reader(folder / "x.csv", {})); }),
            "cannot read '" + (folder / "x.csv") + "' (Is a directory)");
}

}  // namespace
}  // namespace starling
