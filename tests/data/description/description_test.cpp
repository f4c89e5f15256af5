#include "data/description/description.hpp"

#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "core/random.hpp"
#include "data/reading.hpp"

namespace starling::description_test {

using namespace testing_support;
using testing::Pair;

constexpr auto ignore_ticks = [] {};

Description describe(const std::vector<std::string>& paths, const DataSettings& settings = {}) {
  Describer describer;
  for (const std::string& path : paths) describer.read(*open_reader(path, settings), ignore_ticks);
  return describer.finish();
}

/// The two-pass figures of a list.
struct Direct {
  double mean = 0;
  double deviation = 0;
};

Direct direct(const Vector& values) {
  Direct result;
  for (const double value : values) result.mean += value / static_cast<double>(values.size());
  for (const double value : values)
    result.deviation += (value - result.mean) * (value - result.mean) / static_cast<double>(values.size());
  result.deviation = std::sqrt(result.deviation);
  return result;
}

TEST(Moments, AreThoseOfTwoPassesFarFromZero) {
  AddressedRandom random(1, Purpose::experiment, 0, 0);
  Vector values(1000);
  for (double& value : values) value = 1e9 + random.normal();  // Σ x² − n x̄² would have no digit left
  Moments moments;
  for (const double value : values) moments.add(value);
  const Direct expected = direct(values);
  EXPECT_NEAR(moments.mean(), expected.mean, 1e-6);
  EXPECT_NEAR(moments.deviation(), expected.deviation, 1e-6);
  EXPECT_EQ(moments.min(), *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(moments.max(), *std::max_element(values.begin(), values.end()));
}

TEST(Moments, ZerosMayComeAllAtOnce) {
  Vector values{3, 4, -1, 7};
  Moments moments;
  for (const double value : values) moments.add(value);
  moments.add_zeros(6);
  values.resize(10);
  EXPECT_EQ(moments.count(), 10);
  EXPECT_NEAR(moments.mean(), direct(values).mean, 1e-14);
  EXPECT_NEAR(moments.deviation(), direct(values).deviation, 1e-14);
  Moments positive;
  positive.add(5);
  positive.add_zeros(0);
  EXPECT_EQ(positive.min(), 5);
  positive.add_zeros(1);
  EXPECT_EQ(positive.min(), 0);
  EXPECT_EQ(positive.max(), 5);
}

TEST(LogQuantiles, AreGoodToOnePercentOverAllMagnitudes) {
  AddressedRandom random(2, Purpose::experiment, 0, 0);
  Vector values(5001);
  for (double& value : values) value = std::exp(150 * random.normal());
  LogQuantiles quantiles;
  for (const double value : values) quantiles.add(value);
  std::sort(values.begin(), values.end());
  for (const double p : {0.01, 0.5, 0.95, 1.0}) {
    const double exact = values[static_cast<std::size_t>(std::ceil(p * 5001)) - 1];
    EXPECT_NEAR(quantiles.at(p) / exact, 1, 0.01);
  }
}

TEST(LogQuantiles, TakeZerosTheSmallestAndTheLargestNumbers) {
  LogQuantiles quantiles;
  EXPECT_EQ(quantiles.at(0.5), 0);
  for (const double value : {0.0, 0.0, 5e-324, 1.7e308}) quantiles.add(value);
  EXPECT_EQ(quantiles.at(0.5), 0);
  EXPECT_GT(quantiles.at(0.75), 0);
  EXPECT_LT(quantiles.at(0.75), 1e-320);
  EXPECT_NEAR(quantiles.at(1) / 1.7e308, 1, 0.01);
}

TEST(Describe, SaysWhatAFileHolds) {
  const TemporaryFolder folder;
  const auto found = describe({folder.write("a.csv", "a,b,c,y\n3,0,1,1\n-4,0,2,0\n0,0,1,1\n")});
  EXPECT_EQ(found.records, 3);
  EXPECT_EQ(found.features, 3U);
  EXPECT_FALSE(found.sparse);
  EXPECT_EQ(found.nonzeros, 5);
  EXPECT_THAT(found.labels, ElementsAre(Pair(0, 1), Pair(1, 2)));
  EXPECT_THAT(found.columns[0].values, ElementsAre(-4, 0, 3));
  EXPECT_TRUE(found.columns[1].constant());
  EXPECT_FALSE(found.columns[2].constant());
  EXPECT_NEAR(found.columns[0].moments.mean(), -1.0 / 3, 1e-15);
  EXPECT_EQ(found.l1.moments.min(), 1);
  EXPECT_EQ(found.l1.moments.max(), 6);
  EXPECT_NEAR(found.l2.moments.max(), std::sqrt(20), 1e-14);
  EXPECT_NEAR(found.l1.moments.mean(), (4.0 + 6 + 1) / 3, 1e-14);
}

TEST(Describe, SparseAndDenseFilesOfTheSameRecordsAreAlike) {
  const TemporaryFolder folder;
  const auto dense = describe({folder.write("a.csv", "0,2,0,1\n0,0,-3,0\n0,2.5,0,1\n")});
  DataSettings settings;
  settings.dimension = 3;
  const auto sparse = describe({folder.write("a.svm", "1 2:2\n0 3:-3\n1 2:2.5\n")}, settings);
  EXPECT_TRUE(sparse.sparse);
  EXPECT_EQ(sparse.features, dense.features);
  EXPECT_EQ(sparse.nonzeros, dense.nonzeros);
  EXPECT_EQ(sparse.labels, dense.labels);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(sparse.columns[j].values, dense.columns[j].values);
    EXPECT_EQ(sparse.columns[j].moments.count(), 3);
    EXPECT_NEAR(sparse.columns[j].moments.mean(), dense.columns[j].moments.mean(), 1e-15);
    EXPECT_NEAR(sparse.columns[j].moments.deviation(), dense.columns[j].moments.deviation(), 1e-15);
    EXPECT_EQ(sparse.columns[j].moments.min(), dense.columns[j].moments.min());
    EXPECT_EQ(sparse.columns[j].moments.max(), dense.columns[j].moments.max());
  }
  EXPECT_EQ(sparse.l2.moments.max(), dense.l2.moments.max());
}

TEST(Describe, StopsCountingWhereThereAreMany) {
  const TemporaryFolder folder;
  const auto rows = [&folder](int count) {
    std::string text = "a,y\n";
    for (int i = 0; i < count; ++i) text += fmt::format("{},{}\n", i * 17 % count, i);
    return folder.write("a.csv", text);
  };
  const auto few = describe({rows(20)});
  EXPECT_EQ(few.columns[0].values.size(), 20U);
  const auto more = describe({rows(21)});
  EXPECT_TRUE(more.columns[0].many);
  EXPECT_TRUE(more.columns[0].values.empty());
  EXPECT_EQ(more.labels.size(), 21U);
  EXPECT_EQ(describe({rows(1000)}).labels.size(), 1000U);
  const auto many = describe({rows(1001)});
  EXPECT_TRUE(many.many_labels);
  EXPECT_TRUE(many.labels.empty());
  EXPECT_EQ(many.label.max(), 1000);
}

TEST(Describe, SeesColumnsThatCountUp) {
  const TemporaryFolder folder;
  std::string text = "row,time,steps,y\n";
  for (int i = 0; i < 30; ++i) text += fmt::format("{},{},{},1\n", i, 0.5 * i, i % 29);
  const std::string path = folder.write("a.csv", text);
  const auto found = describe({path, path});
  EXPECT_TRUE(found.columns[0].counts_up());
  EXPECT_FALSE(found.columns[1].counts_up());
  EXPECT_FALSE(found.columns[2].counts_up());
  EXPECT_THAT(found.records_of_files, ElementsAre(30, 30));
}

TEST(Describe, JoinsFilesAndRefusesThoseThatDiffer) {
  const TemporaryFolder folder;
  const std::string two = folder.write("2.csv", "1,2,1\n3,4,0\n");
  const std::string three = folder.write("3.csv", "1,2,3,1\n");
  const std::string sparse = folder.write("2.svm", "1 1:1\n");
  EXPECT_EQ(describe({two, two}).records, 4);
  expect_all_in(message_of<DataError>([&] { describe({two, three}); }), {"3.csv: row 1", "3 features", "have 2"});
  expect_all_in(message_of<DataError>([&] { describe({two, sparse}); }), {"2.svm: row 1", "sparse"});
  EXPECT_EQ(describe({sparse, folder.write("9.svm", "1 9:1\n")}).features, 9U);
}

TEST(Describe, RefusesSourcesWithoutRecordsOrFeatures) {
  const TemporaryFolder folder;
  EXPECT_ERROR(DataError, "no records", describe({folder.write("a.csv", "a,y\n")}));
  EXPECT_ERROR(DataError, "feature", describe({folder.write("a.svm", "1\n0\n")}));
  expect_all_in(message_of<DataError>([&] { describe({folder.write("b.csv", "1,1\nnan,1\n")}); }), {"b.csv: row 2"});
}

TEST(Describe, RefusesFeaturesBeyondMemory) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.svm", "1 1:1\n1 2000000000:1\n");
  expect_all_in(message_of<DataError>([&] { describe({path}); }), {"a.svm: row 2", "2000000000 features", "10000000"});
  DataSettings settings;
  settings.dimension = 2'000'000'000;
  expect_all_in(message_of<DataError>([&] { describe({folder.write("b.svm", "1 1:1\n")}, settings); }), {"b.svm"});
}

/// One record per key.
class KeyReader final : public RecordReader {
 public:
  explicit KeyReader(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  bool next(Record& record) override {
    if (next_ == keys_.size()) return false;
    record.values = {1};
    record.key = keys_[next_++];
    return true;
  }
  [[nodiscard]] std::size_t features() const override { return 1; }
  [[nodiscard]] std::string where() const override { return "keys"; }
  [[nodiscard]] Mark mark() const override { return {}; }
  void seek(const Mark&) override { next_ = 0; }

 private:
  std::vector<std::string> keys_;
  std::size_t next_ = 0;
};

TEST(Describe, CountsRecordsWhoseKeyStoodBefore) {
  const auto repeated = [](const std::vector<std::vector<std::string>>& files) {
    Describer describer;
    for (const auto& keys : files) {
      KeyReader reader(keys);
      describer.read(reader, ignore_ticks);
    }
    return describer.finish().repeated_keys;
  };
  EXPECT_EQ(repeated({{"a", "b", "c"}}), 0);
  EXPECT_EQ(repeated({{"a", "b", "a", "a", "b"}}), 3);
  EXPECT_EQ(repeated({{"a", "b"}, {"b", "c"}}), 1);
  EXPECT_EQ(repeated({{"", "", ""}}), 0);
}

}  // namespace starling::description_test
