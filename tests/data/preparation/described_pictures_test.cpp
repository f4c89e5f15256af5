#include "core/check.hpp"
#include "data/binary_files.hpp"
#include "data/marking.hpp"
#include "data/preparation/gradient_histogram.hpp"
#include "data/reading.hpp"
#include "data/source.hpp"

namespace starling::described_pictures_test {

using namespace testing_support;

/// Seven pictures of 4 x 4 pixels, some of which are 0, in every format.
class DescribedPictures : public testing::Test {
 protected:
  DescribedPictures() {
    for (int i = 0; i < 7; ++i) {
      Vector picture(16, 0.0);
      for (int j = i % 3; j < 16; j += 1 + i % 2) picture[static_cast<std::size_t>(j)] = (37 * i + 11 * j * j) % 97;
      pictures_.push_back({picture, {}, static_cast<double>(i % 2)});
    }
    for (const Plain& picture : pictures_) {
      std::string row;
      std::string entries;
      for (std::size_t j = 0; j < 16; ++j) {
        row += fmt::format("{},", picture.values[j]);
        if (picture.values[j] != 0) entries += fmt::format(" {}:{}", j + 1, picture.values[j]);
      }
      text_ += fmt::format("{}{}\n", row, picture.label);
      sparse_ += fmt::format("{}{}\n", picture.label, entries);
    }
    hog_.features = ReadSettings::Features::hog;
  }

  [[nodiscard]] Plains expected() const {
    Plains records;
    for (const Plain& picture : pictures_) {
      Plain record{{}, {}, picture.label};
      EXPECT_TRUE(GradientHistogram(16).describe(picture.values, record.values));
      records.push_back(record);
    }
    return records;
  }

  TemporaryFolder folder_;
  Plains pictures_;
  std::string text_;
  std::string sparse_;
  DataSettings hog_;
};

TEST_F(DescribedPictures, AreTheSameFromEveryFormat) {
  EXPECT_EQ(read_all(folder_.write("a.csv", text_), hog_), expected());
  std::string pixels;
  std::string labels;
  for (const Plain& picture : pictures_) {
    for (const double pixel : picture.values) pixels += static_cast<char>(pixel);
    labels += fmt::format("{}\n", picture.label);
  }
  const std::string pair =
      folder_.write("a-ubyte", idx_file(0x08, {7, 4, 4}, pixels)) + "," + folder_.write("labels.csv", labels);
  EXPECT_EQ(read_all(pair, hog_), expected());
  EXPECT_EQ(expect_marks_lead_back(pair, hog_), 7U);
  DataSettings settings = hog_;
  settings.dimension = 16;
  const std::string sparse = folder_.write("a.svm", sparse_);
  EXPECT_EQ(read_all(sparse, settings), expected());
  const auto reader = open_reader(sparse, settings);
  EXPECT_FALSE(reader->sparse());
  EXPECT_EQ(reader->features(), GradientHistogram::features);
}

// Scaling by a power of two changes nothing at all; labels are mapped and left out as always.
TEST_F(DescribedPictures, ComposeWithTheOtherReadingOptions) {
  std::string text = "n,";
  for (int j = 0; j < 16; ++j) text += fmt::format("p{},", j);
  text += "y\n";
  for (std::size_t i = 0, from = 0; i < pictures_.size(); ++i) {
    const std::size_t end = text_.find('\n', from) + 1;
    text += fmt::format("{},", i) + text_.substr(from, end - from);
    from = end;
  }
  DataSettings settings = hog_;
  settings.drop = {"n"};
  settings.scale = 0.125;
  settings.ignore = {0};
  settings.positive = {1};
  const std::string file = folder_.write("named.csv", text);
  Plains ones;
  for (const Plain& record : expected()) {
    if (record.label == 1) ones.push_back(record);
  }
  EXPECT_EQ(read_all(file, settings), ones);
  EXPECT_EQ(open_reader(file, settings)->names()[9], "4x4 around 0.1 at 45");
}

TEST_F(DescribedPictures, MarksLeadBack) {
  EXPECT_EQ(expect_marks_lead_back(folder_.write("a.csv", text_), hog_), 7U);
}

// Kept in memory or read again, dealt to one client or several: the records of a data set are described once each.
TEST_F(DescribedPictures, ReachClientsAndTestSets) {
  DataSettings settings = hog_;
  settings.source = folder_.write("a.csv", text_);
  settings.batch = 7;
  for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 20}) {
    settings.memory = memory;
    settings.epochs = 2;
    const Dataset dataset = open_dataset(settings, 1, 0, 1);
    EXPECT_EQ(dataset.shape.features, GradientHistogram::features);
    EXPECT_FALSE(dataset.shape.sparse);
    EXPECT_EQ(serve(*dataset.streams[0], 2), std::vector<Plains>(2, expected()));
  }
  const DataShape shape = open_dataset(settings, 1, 0, 1).shape;
  EXPECT_EQ(plain(read_test_set(settings.source, settings, shape)), expected());
  settings.dimension = 16;
  EXPECT_EQ(plain(read_test_set(folder_.write("t.svm", sparse_), settings, shape)), expected());
  EXPECT_ERROR(UsageError, "--features", read_test_set("synthetic:drift:n=5", hog_, shape));
}

TEST_F(DescribedPictures, MayBeDealtByLabel) {
  DataSettings settings = hog_;
  settings.source = folder_.write("a.csv", text_);
  settings.partition = "shards:1";
  settings.batch = 7;
  Plains all;
  for (const Client u : {0, 1}) {
    const Plains own = serve(*open_dataset(settings, 2, u, 1).streams[0], 1)[0];
    all.insert(all.end(), own.begin(), own.end());
  }
  Plains sorted = expected();
  std::sort(sorted.begin(), sorted.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, sorted);
}

TEST_F(DescribedPictures, RefuseWhatDoesNotFit) {
  const auto refused = [&](const std::string& source, const DataSettings& settings) {
    return message_of<UsageError>([&] { read_all(source, settings); });
  };
  expect_all_in(refused(folder_.write("no.csv", "1,2,3,4,5,0\n"), hog_), {"--features hog", "5 features", "square"});
  expect_all_in(refused(folder_.write("a.svm", sparse_), hog_), {"--features hog", "sparse", "--dimension"});
  DataSettings settings = hog_;
  settings.dimension = 15;
  expect_all_in(refused(folder_.write("a.svm", sparse_), settings), {"15 features", "square"});
  std::string constants = "feature,mean,sd\n";
  for (int j = 0; j < 16; ++j) constants += fmt::format("{},0,1\n", j);
  settings = hog_;
  settings.standardise = folder_.write("constants.csv", constants);
  expect_all_in(refused(folder_.write("a.csv", text_), settings), {"--standardise", "--features hog"});
  settings = hog_;
  settings.source = "synthetic:drift:n=5";
  expect_all_in(message_of<UsageError>([&] { return open_dataset(settings, 1, 0, 1); }), {"--features", "generator"});
  // Pictures of another size have other features, though as many.
  settings = hog_;
  settings.source = folder_.write("small.csv", text_);
  std::string large;
  for (int j = 0; j < 25; ++j) large += fmt::format("{},", j);
  const std::string other = folder_.write("large.csv", large + "1\n");
  const DataShape shape = open_dataset(settings, 1, 0, 1).shape;
  expect_all_in(message_of<DataError>([&] { return read_test_set(other, settings, shape); }),
                {"4x4 around", "5x5 around"});
  std::string huge;
  for (int j = 0; j < 16; ++j) huge += j % 2 == 0 ? "1e308," : "-1e308,";
  expect_all_in(message_of<DataError>([&] { read_all(folder_.write("huge.csv", text_ + huge + "1\n"), hog_); }),
                {"huge.csv: row 8", "--scale"});
}

}  // namespace starling::described_pictures_test
