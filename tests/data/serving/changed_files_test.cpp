// Files that another program changes while their records are read again and again.
#include <bit>
#include <fstream>
#include <functional>
#include <string>

#include "core/check.hpp"
#include "data/formats/writer.hpp"
#include "data/reading.hpp"
#include "data/serving/dataset.hpp"

namespace starling::changed_files_test {

using namespace testing_support;

/// More records than a reader of this format keeps.
int records_of(const std::string& path) {
  return path.ends_with(".h5") || path.ends_with(".npy") ? 100'000 : 20'000;
}

/// Record i is (i, i mod 7, i mod 11) with label i mod 2, but for one that is changed, or none.
std::vector<double> numbers_of(int i, int changed) {
  return {static_cast<double>(i == changed ? i + 1 : i), static_cast<double>(i % 7), static_cast<double>(i % 11),
          static_cast<double>(i % 2)};
}

void write_by_writer(const std::string& path, int changed) {
  WriteSettings settings;
  settings.features = 3;
  settings.names = {"a", "b", "c"};
  const auto writer = open_writer(path, settings);
  for (int i = 0; i < records_of(path); ++i) {
    const Vector numbers = numbers_of(i, changed);
    if (writes_nonzeros(path)) {
      writer->add({View(numbers).first(1), std::vector<std::int32_t>{0}}, numbers[3]);
    } else {
      writer->add({View(numbers).first(3), {}}, numbers[3]);
    }
  }
  writer->finish();
  writer->publish();
}

void write_npy(const std::string& path, int changed) {
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 4), }}", records_of(path));
  header.resize(117, ' ');
  std::string bytes = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n";
  for (int i = 0; i < records_of(path); ++i) {
    for (const double number : numbers_of(i, changed)) {
      const auto word = std::bit_cast<std::uint64_t>(number);
      for (unsigned byte = 0; byte < 8; ++byte) bytes += static_cast<char>(word >> (8 * byte) & 0xFFU);
    }
  }
  std::ofstream(path, std::ios::binary) << bytes;
}

void write_file(const std::string& path, int changed) {
  path.ends_with(".npy") ? write_npy(path, changed) : write_by_writer(path, changed);
}

/// Gives a file another content, in its place.
void overwrite(const std::string& path, const std::string& other) {
  std::ifstream from(other, std::ios::binary);
  std::ofstream to(path, std::ios::binary | std::ios::trunc);
  to << from.rdbuf();
}

class ChangedFiles : public testing::TestWithParam<std::string> {
 protected:
  ChangedFiles() {
    write_file(path_, -1);
    settings_.source = path_;
    settings_.batch = 100;
    settings_.epochs = 2;
    settings_.memory = 0;
  }
  /// All records of a pass that begins after the file was changed.
  static Plains serve_pass(Dataset& data) {
    Plains served;
    for (auto& stream : data.streams) {
      const Round rounds = *stream->rounds_of_pass();
      for (Round t = rounds; t < 2 * rounds; ++t) {
        const Plains batch = peek(stream->next(t));
        served.insert(served.end(), batch.begin(), batch.end());
      }
    }
    return served;
  }
  void change(int record) {
    const TemporaryFolder elsewhere;
    write_file(elsewhere / GetParam(), record);
    overwrite(path_, elsewhere / GetParam());
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / GetParam();
  int records_ = records_of(path_);
  DataSettings settings_;
};

// What a reader still has of the file as it was may be served.
TEST_P(ChangedFiles, GiveNoRecordThatWasAnotherAtFirst) {
  Dataset unchanged = open_dataset(settings_, 2, 0, 2);
  const Plains expected = serve_pass(unchanged);
  for (const int record : {records_ - 1, records_ / 2, 3}) {
    change(-1);  // as at first
    Dataset data = open_dataset(settings_, 2, 0, 2);
    static_cast<void>(data.streams[0]->next(0));
    change(record);
    try {
      EXPECT_EQ(serve_pass(data), expected) << record;
    } catch (const DataError&) {  // as the next test wants it of a record far away
    }
  }
}

TEST_P(ChangedFiles, SayThatAnotherProgramHasChangedThem) {
  for (const std::string partition : {"contiguous", "iid"}) {
    settings_.partition = partition;
    change(-1);
    Dataset data = open_dataset(settings_, 2, 0, 2);
    static_cast<void>(data.streams[0]->next(0));
    change(records_ - 1);
    const bool has_checksum = GetParam().ends_with(".gz");  // which may say so first
    EXPECT_ERROR(DataError, has_checksum ? GetParam() : "the record is not what it was at first", serve_pass(data))
        << partition;
  }
}

TEST_P(ChangedFiles, MayBeWrittenAnewAsTheyWere) {
  Dataset data = open_dataset(settings_, 2, 0, 2);
  static_cast<void>(data.streams[0]->next(0));
  change(-1);
  EXPECT_NO_THROW(serve_pass(data));
}

TEST_P(ChangedFiles, HaveOtherContentsOnceTheyAreOpenedAgain) {
  const auto contents = [this](Client first, Client count) {
    return open_dataset(settings_, 2, first, count).contents;
  };
  const std::vector<std::uint64_t> before = contents(0, 2);
  settings_.memory = std::size_t{1} << 30;
  EXPECT_EQ(contents(0, 2), before) << "however they are kept";
  change(records_ - 1);
  const std::vector<std::uint64_t> after = contents(0, 2);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_NE(after[1], before[1]);
  EXPECT_EQ(contents(1, 1), (std::vector{after[1]})) << "on another rank";
}

INSTANTIATE_TEST_SUITE_P(Formats, ChangedFiles, testing::Values("x.csv", "x.csv.gz", "x.svm", "x.h5", "x.npy"),
                         [](const auto& instance) { return test_name(instance.param); });

// Persons' records are read by number.
TEST(ChangedFilesOfPersons, GiveNoRecordThatWasAnotherAtFirst) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.csv";
  write_by_writer(path, -1);
  DataSettings settings;
  settings.source = path;
  settings.person = "b";
  settings.batch = 2;
  settings.epochs = 2;
  settings.memory = 0;
  Dataset data = open_dataset(settings, 1, 0, 1);
  static_cast<void>(data.streams[0]->next(0));
  write_by_writer(folder / "other.csv", records_of(path) - 1);
  overwrite(path, folder / "other.csv");
  const auto serve_all = [&] {
    for (Round t = 1; t < *data.streams[0]->rounds(); ++t) static_cast<void>(data.streams[0]->next(t));
  };
  EXPECT_ERROR(DataError, "the record is not what it was at first", serve_all());
}

}  // namespace starling::changed_files_test
