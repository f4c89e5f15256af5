#include "data/formats/writer.hpp"

#include <bit>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/check.hpp"
#include "data/reading.hpp"
#include "hdf5/file.hpp"

namespace starling::writer_test {

using namespace testing_support;

/// Numbers that are easily spoilt on their way through text.
Vector delicate() {
  using Limits = std::numeric_limits<double>;
  return {0.1,
          1.0 / 3,
          -0.0,
          0.0,
          5e-324,
          Limits::max(),
          -Limits::min(),
          1e22,
          123456789.0,
          Limits::epsilon(),
          0x1.fffffffffffffp-1,
          1e-7,
          -2.5e300};
}

std::vector<std::uint64_t> bits(const Vector& values) {
  std::vector<std::uint64_t> result;
  for (const double value : values) result.push_back(std::bit_cast<std::uint64_t>(value));
  return result;
}

WriteSettings settings_for(std::size_t features) {
  WriteSettings settings;
  settings.features = features;
  settings.source = "source.csv";
  settings.command = "starling data convert source.csv";
  return settings;
}

void write_all(const std::string& path, const Plains& records, const WriteSettings& settings) {
  const auto writer = open_writer(path, settings);
  for (const Plain& record : records) writer->add({record.values, record.index}, record.label);
  writer->finish();
  writer->publish();
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

class CsvFile : public testing::TestWithParam<const char*> {};

TEST_P(CsvFile, ReadsBackToTheSameBits) {
  const TemporaryFolder folder;
  const std::string path = folder / GetParam();
  const Vector values = delicate();
  Plains records;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Vector turned = values;
    std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(i), turned.end());
    records.push_back({turned, {}, values[i]});
  }
  write_all(path, records, settings_for(values.size()));
  const Plains back = read_all(path);
  ASSERT_EQ(back.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(bits(back[i].values), bits(records[i].values));
    EXPECT_EQ(bits({back[i].label}), bits({records[i].label}));
  }
}
INSTANTIATE_TEST_SUITE_P(PlainAndGzipped, CsvFile, testing::Values("a.csv", "a.csv.gz"),
                         [](const auto& file) { return test_name(file.param); });

TEST(CsvFile, FillsTheZerosOfSparseRecords) {
  const TemporaryFolder folder;
  write_all(folder / "a.csv", {{{2, 3}, {1, 3}, 1}, {{}, {}, -1}, {{5}, {0}, 1}}, settings_for(5));
  EXPECT_EQ(read_all(folder / "a.csv"),
            (Plains{{{0, 2, 0, 3, 0}, {}, 1}, {{0, 0, 0, 0, 0}, {}, -1}, {{5, 0, 0, 0, 0}, {}, 1}}));
}

TEST(CsvFile, NamesItsColumnsSoThatTheLabelIsFound) {
  const TemporaryFolder folder;
  WriteSettings settings = settings_for(6);
  settings.names = {"age", "Label", "y", "a,b; \"c\"", "two\nlines", ""};
  write_all(folder / "a.csv", {{{1, 2, 3, 4, 5, 6}, {}, 7}}, settings);
  EXPECT_EQ(first_line(folder / "a.csv"), R"(age,feature_Label,feature_y,"a,b; ""c""","two lines",x5,y)");
  EXPECT_EQ(read_all(folder / "a.csv"), (Plains{{{1, 2, 3, 4, 5, 6}, {}, 7}}));
}

TEST(SvmlightFile, HoldsTheNonzerosAlone) {
  const TemporaryFolder folder;
  for (const char* name : {"a.svm", "a.libsvm.gz"}) {
    write_all(folder / name, {{{0.1, 0, -2}, {}, 1}, {{0, 0, 0}, {}, 0.5}}, settings_for(3));
    EXPECT_EQ(read_all(folder / name), (Plains{{{0.1, -2}, {0, 2}, 1}, {{}, {}, 0.5}}));
  }
  EXPECT_EQ(first_line(folder / "a.svm"), "1 1:0.1 3:-2");
}

TEST(SvmlightFile, KnowsHowManyFeaturesAReaderWillSee) {
  const TemporaryFolder folder;
  const auto writer = open_writer(folder / "a.svm", settings_for(9));
  writer->add(Row{Vector{1, 2}, std::vector<std::int32_t>{0, 4}}, 1);
  EXPECT_EQ(writer->visible_features(), 5U);
}

/// As many records as fill several blocks, so that their ends are crossed.
Plains many_records(std::size_t count, std::size_t features) {
  Plains records;
  for (std::size_t i = 0; i < count; ++i) {
    Vector values(features);
    for (std::size_t j = 0; j < features; ++j) values[j] = static_cast<double>(i) + static_cast<double>(j) / 1024;
    records.push_back({values, {}, static_cast<double>(i % 3)});
  }
  return records;
}

hdf5::Sizes chunk_of(const std::string& path, const char* name, std::size_t rank) {
  const hdf5::File file(path, hdf5::File::Mode::read);
  const hdf5::Handle set(H5Dopen2(file.id(), name, H5P_DEFAULT), H5Dclose, name);
  const hdf5::Handle properties(H5Dget_create_plist(set), H5Pclose, name);
  hdf5::Sizes chunk(rank);
  EXPECT_EQ(H5Pget_chunk(properties, static_cast<int>(rank), chunk.data()), static_cast<int>(rank));
  return chunk;
}

std::vector<std::string> texts_of(const std::string& path, const char* object, const char* name) {
  const hdf5::File file(path, hdf5::File::Mode::read);
  const hdf5::Handle attribute(H5Aopen_by_name(file.id(), object, name, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
  const hdf5::Handle space(H5Aget_space(attribute), H5Sclose, name);
  const hdf5::Handle type(H5Aget_type(attribute), H5Tclose, name);
  std::vector<char*> texts(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  EXPECT_GE(H5Aread(attribute, type, texts.data()), 0);
  std::vector<std::string> result(texts.begin(), texts.end());
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data());
  return result;
}

TEST(Hdf5File, HoldsRecordsAcrossBlocks) {
  const TemporaryFolder folder;
  constexpr std::size_t features = 1000;
  const Plains records = many_records(500, features);
  write_all(folder / "a.h5", records, settings_for(features));
  const hdf5::File file(folder / "a.h5", hdf5::File::Mode::read);
  const auto [sizes, values] = file.read<double>("x");
  const auto [label_sizes, labels] = file.read<double>("y");
  EXPECT_THAT(sizes, ElementsAre(500, features));
  EXPECT_THAT(label_sizes, ElementsAre(500));
  for (std::size_t i = 0; i < records.size(); ++i) {
    ASSERT_EQ(labels[i], records[i].label);
    for (std::size_t j = 0; j < features; ++j) ASSERT_EQ(values[i * features + j], records[i].values[j]);
  }
  EXPECT_THAT(chunk_of(folder / "a.h5", "x", 2), ElementsAre((1 << 20) / 8 / features, features));
}

TEST(Hdf5File, IsNoLargerThanItsFewRecords) {
  const TemporaryFolder folder;
  write_all(folder / "a.h5", many_records(3, 2), settings_for(2));
  EXPECT_THAT(chunk_of(folder / "a.h5", "x", 2), ElementsAre(3, 2));
  EXPECT_LT(std::filesystem::file_size(folder / "a.h5"), 16'000U);
}

TEST(Hdf5File, SplitsRowsThatAreLongerThanABlock) {
  const TemporaryFolder folder;
  constexpr std::size_t features = 300'000;
  const Plains records{{{7}, {299'999}, 1}, {{8}, {0}, 2}};
  write_all(folder / "a.h5", records, settings_for(features));
  EXPECT_THAT(chunk_of(folder / "a.h5", "x", 2), ElementsAre(1, (1 << 20) / 8));
  const Vector values = hdf5::File(folder / "a.h5", hdf5::File::Mode::read).read<double>("x").second;
  EXPECT_EQ(values[features - 1], 7);
  EXPECT_EQ(values[features], 8);
}

TEST(Hdf5File, KeepsNamesAndWhereItIsFrom) {
  const TemporaryFolder folder;
  constexpr std::size_t features = 12'000;  // more names than an attribute of 64 kB holds
  WriteSettings settings = settings_for(features);
  for (std::size_t j = 0; j < features; ++j) settings.names.push_back(fmt::format("größe {}", j));
  write_all(folder / "a.h5", {{Vector(features), {}, 1}}, settings);
  EXPECT_EQ(texts_of(folder / "a.h5", "x", "names"), settings.names);
  EXPECT_THAT(texts_of(folder / "a.h5", "/", "source"), ElementsAre("source.csv"));
  EXPECT_THAT(texts_of(folder / "a.h5", "/", "command"), ElementsAre("starling data convert source.csv"));
}

TEST(Hdf5File, SinglePrecisionHalvesTheFeaturesAlone) {
  const TemporaryFolder folder;
  WriteSettings settings = settings_for(1);
  settings.precision = StoredPrecision::float32;
  write_all(folder / "a.h5", {{{0.1}, {}, 0.1}, {{-0x1.fffffep127}, {}, 1e300}}, settings);
  const hdf5::File file(folder / "a.h5", hdf5::File::Mode::read);
  EXPECT_THAT(file.read<double>("x").second, ElementsAre(static_cast<double>(0.1F), -0x1.fffffep127));
  EXPECT_THAT(file.read<double>("y").second, ElementsAre(0.1, 1e300));
}

TEST(Writer, RefusesWhatItCannotHold) {
  const TemporaryFolder folder;
  const double infinity = std::numeric_limits<double>::infinity();
  WriteSettings settings = settings_for(2);
  const auto refusal = [&](const Row& row) {
    return message_of<DataError>([&] { open_writer(folder / "a.h5", settings)->add(row, 1); });
  };
  expect_all_in(refusal({Vector{1, infinity}, {}}), {"feature 1", "inf", "--scale"});
  expect_all_in(refusal({Vector{std::nan(""), 1}, {}}), {"feature 0", "nan"});
  expect_all_in(refusal({Vector{1, 2, 3}, {}}), {"3 features", "2 were expected"});
  expect_all_in(refusal({Vector{1}, {}}), {"1 features", "2 were expected"});
  expect_all_in(refusal({Vector{1}, std::vector<std::int32_t>{2}}), {"3 features", "2 were expected"});
  settings.precision = StoredPrecision::float32;
  expect_all_in(refusal({Vector{1, 1e39}, {}}), {"feature 1", "1e+39", "--precision"});
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(folder / "a.h5").parent_path()));
}

TEST(Writer, NamesThePlaceOfWhatItRefuses) {
  const TemporaryFolder folder;
  const auto reader = open_reader(folder.write("a.csv", "a,y\n1,1\n1e39,1\n"), {});
  WriteSettings settings = settings_for(1);
  settings.precision = StoredPrecision::float32;
  const auto writer = open_writer(folder / "a.h5", settings);
  int ticks = 0;
  const auto message = message_of<DataError>([&] { copy_records(*reader, *writer, [&ticks] { ++ticks; }); });
  expect_all_in(message, {"a.csv: row 3: feature 0", "1e+39"});
  EXPECT_EQ(ticks, 1);
}

class AnyFile : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, AnyFile, testing::Values("a.h5", "a.csv", "a.csv.gz", "a.svm"),
                         [](const auto& file) { return test_name(file.param); });

TEST_P(AnyFile, HasItsNameWhenItIsCompleteAndNotBefore) {
  const TemporaryFolder folder;
  const std::string path = folder / GetParam();
  const std::string place = std::filesystem::path(path).parent_path();
  const auto mode = [](const std::string& file) {
    struct stat status {};
    EXPECT_EQ(::stat(file.c_str(), &status), 0);
    return status.st_mode & 0777U;
  };
  {
    WriteSettings settings = settings_for(1);
    settings.permissions = 0640;
    const auto writer = open_writer(path, settings);
    writer->add({Vector{1}, {}}, 1);
    writer->finish();
    EXPECT_FALSE(std::filesystem::exists(path));
    ASSERT_EQ(names_in(place).size(), 1U);
    EXPECT_EQ(mode(folder / names_in(place)[0]), 0600U);
    writer->publish();
    EXPECT_EQ(names_in(place), std::vector<std::string>{GetParam()});
    EXPECT_EQ(mode(path) & ~0640U, 0U);
    EXPECT_EQ(mode(path) & 0600U, 0600U);
  }
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_P(AnyFile, LeavesNothingBehindUnlessPublished) {
  const TemporaryFolder folder;
  const std::string path = folder / GetParam();
  open_writer(path, settings_for(1))->add({Vector{1}, {}}, 1);
  open_writer(path, settings_for(1))->finish();
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
}

TEST_P(AnyFile, TakesTheNameOfAnotherOnlyIfItMay) {
  const TemporaryFolder folder;
  const std::string path = folder.write(GetParam(), "precious");
  WriteSettings settings = settings_for(1);
  const auto write = [&] { write_all(path, {{{1}, {}, 1}}, settings); };
  expect_all_in(message_of<FailureError>(write), {path, "exists", "--force"});
  EXPECT_EQ(first_line(path), "precious");
  settings.replace = true;
  write();
  EXPECT_NE(first_line(path), "precious");
  EXPECT_EQ(names_in(std::filesystem::path(path).parent_path()).size(), 1U);
}

TEST_P(AnyFile, SaysThatTheFolderIsMissing) {
  const TemporaryFolder folder;
  const std::string path = folder / "nowhere/" + GetParam();
  expect_all_in(message_of<FailureError>([&] { return open_writer(path, settings_for(1)); }), {path, "No such file"});
}

/// The process may write files of this size at most, as on a disk that is full.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() { setrlimit(RLIMIT_FSIZE, &before_); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
};

TEST_P(AnyFile, FailsCleanlyWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const std::string path = folder / GetParam();
  Plains records = many_records(40, 20'000);
  for (std::size_t i = 0; i < records.size(); ++i) {
    for (double& value : records[i].values) value = std::sin(value * static_cast<double>(i + 1));
  }
  std::string message;
  {
    const SmallDisk disk(3'000'000);
    message = message_of<FailureError>([&] { write_all(path, records, settings_for(20'000)); });
  }
  expect_all_in(message, {"cannot write", path, "disk"});
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
  write_all(path, records, settings_for(20'000));  // and nothing is left broken in the process
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(Writer, TellsTheFormatsByTheirEndings) {
  for (const char* name : {"a.txt", "a", "a.h5.gz", "h5"}) {
    expect_all_in(message_of<UsageError>([name] { return writes_nonzeros(name); }), {name, ".h5", ".csv.gz", ".svm"});
  }
  EXPECT_TRUE(writes_nonzeros("a.svm.gz"));
  EXPECT_FALSE(writes_nonzeros("a.hdf5"));
}

}  // namespace starling::writer_test
