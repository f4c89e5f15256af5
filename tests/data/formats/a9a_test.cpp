#include <string>

#include "data/reading.hpp"

namespace starling::a9a_test {

using namespace testing_support;

class A9a : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = shared_folder() + "/data/a9a/";
    if (!std::filesystem::exists(folder_ + "a9a.gz")) GTEST_SKIP() << "the reference data is not here";
    settings_.source = folder_ + "a9a.gz";
    settings_.format = "svmlight";
  }
  std::string folder_;
  DataSettings settings_;
};

struct Totals {
  std::size_t records = 0;
  std::size_t positives = 0;
  std::size_t values = 0;
  std::size_t dense = 0;
};

Totals count(const Plains& records) {
  Totals totals;
  for (const Plain& record : records) {
    ++totals.records;
    totals.positives += record.label == 1 ? 1 : 0;
    totals.values += record.values.size();
    totals.dense += record.index.size() == record.values.size() ? 0 : 1;
  }
  return totals;
}

void expect_training_totals(const Totals& totals) {
  EXPECT_EQ(totals.records, 32561U);
  EXPECT_EQ(totals.positives, 7841U);
  EXPECT_EQ(totals.values, 451592U);
  EXPECT_EQ(totals.dense, 0U);
}

TEST_F(A9a, HasThePublishedTotals) {
  const auto reader = open_reader(settings_.source, settings_);
  expect_training_totals(count(read_all(*reader)));
  EXPECT_EQ(reader->features(), 123U);
}

TEST_F(A9a, StreamsServeItWholeAndSparse) {
  settings_.partition = "dirichlet:0.5";
  settings_.batch = 1000;
  Dataset data = open_dataset(settings_, 5, 0, 5);
  EXPECT_EQ(data.shape.features, 123U);
  Plains served;
  for (auto& stream : data.streams) {
    for (const Plains& batch : serve(*stream, *data.shape.rounds))
      served.insert(served.end(), batch.begin(), batch.end());
  }
  expect_training_totals(count(served));
}

TEST_F(A9a, TheTestFileHasOneFeatureLess) {
  if (!std::filesystem::exists(folder_ + "a9a.t.gz")) GTEST_SKIP() << "the test file is not here";
  const Totals totals = count(plain(read_test_set(folder_ + "a9a.t.gz", settings_, {.features = 123})));
  EXPECT_EQ(totals.records, 16281U);
  EXPECT_EQ(totals.positives, 3846U);
  EXPECT_EQ(totals.values, 225731U);
}

}  // namespace starling::a9a_test
