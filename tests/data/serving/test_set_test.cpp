#include <cmath>
#include <string>

#include "core/check.hpp"
#include "data/reading.hpp"

namespace starling::test_set_test {

using namespace testing_support;

class TestSet : public testing::Test {
 protected:
  Batch read(const std::string& name, const std::string& text, std::size_t features) const {
    return read_test_set(folder_.write(name, text), settings_, {.features = features});
  }
  std::string error(const std::string& name, const std::string& text, std::size_t features) const {
    return message_of<DataError>([&] { return read(name, text, features); });
  }
  TemporaryFolder folder_;
  DataSettings settings_;
};

TEST_F(TestSet, ReadsAllRecordsWithMappedLabels) {
  settings_.label_map = [](double y) { return -y; };
  EXPECT_EQ(plain(read("x.csv", "a,b,y\n1,2,3\n4,5,6\n", 2)), (Plains{{{1, 2}, {}, -3}, {{4, 5}, {}, -6}}));
  EXPECT_EQ(plain(read("x.svm", "1 2:5\n2\n", 2)), (Plains{{{5}, {1}, -1}, {{}, {}, -2}}));
}

TEST_F(TestSet, DenseFeaturesMustMatch) {
  EXPECT_THAT(error("x.csv", "1,2,3\n", 3), HasSubstr("x.csv: row 1: 2 features: the training data has 3."));
  EXPECT_THAT(error("x.csv", "a,b,y\n1,2,3\n", 1), HasSubstr("x.csv: row 2: 2 features: the training data has 1."));
}

TEST_F(TestSet, SparseFeaturesMayBeFewerNotMore) {
  settings_.dimension = 3;  // of the training data
  EXPECT_EQ(read("x.svm", "1 2:5\n", 3).size(), 1U);
  EXPECT_THAT(error("x.svm", "1 3:1\n1 4:1\n", 3),
              HasSubstr("x.svm: row 2: index 4: the training data has 3 features."));
}

TEST_F(TestSet, FaultsNameTheirRow) {
  EXPECT_THAT(error("x.csv", "a,b,y\n1,nan,3\n", 2), HasSubstr("x.csv: row 2: column 'b' is 'nan'"));
  EXPECT_THAT(error("x.csv", "", 2), HasSubstr("x.csv: no records"));
  settings_.label_map = [](double) -> double { throw DataError("label (unfit) map it"); };
  EXPECT_THAT(error("x.csv", "1,2,3\n", 2), HasSubstr("x.csv: row 1: label (unfit) map it"));
}

TEST_F(TestSet, MayLackColumnsThatAreNoFeatures) {
  settings_.person = "who";
  settings_.id = "id";
  settings_.drop = {"note", "place"};
  const Plains records{{{1, 2}, {}, 3}};
  EXPECT_EQ(plain(read("x.csv", "a,b,y\n1,2,3\n", 2)), records);
  EXPECT_EQ(plain(read("x.csv", "a,who,b,id,place,y\n1,anna,2,7,here,3\n", 2)), records);
  settings_.person = "";
  settings_.partition = "column:who";
  EXPECT_EQ(plain(read("x.csv", "a,b,note,y\n1,2,none,3\n", 2)), records);
  EXPECT_EQ(plain(read("x.csv", "who,a,b,y\nanna,1,2,3\n", 2)), records);
}

TEST_F(TestSet, GeneratorsNeedAnEndAndDrawApartFromTheStreams) {
  const std::string source = "synthetic:drift:informative=1,n=50";
  const Plains test = plain(read_test_set(source, settings_, {.features = 5}));
  EXPECT_EQ(test.size(), 50U);
  EXPECT_EQ(plain(read_test_set(source, settings_, {.features = 5})), test);
  settings_.source = source;
  Dataset data = open_dataset(settings_, 1, 0, 1);
  EXPECT_NE(peek(data.streams[0]->next(0))[0], test[0]);
  EXPECT_ERROR(UsageError, "'synthetic:drift' as a test set has no end",
               read_test_set("synthetic:drift", settings_, {.features = 5}));
  EXPECT_ERROR(DataError, "5 features: the training data has 6.", read_test_set(source, settings_, {.features = 6}));
}

// With σ = 0 a record is y μ 1, so that its μ can be seen.
TEST_F(TestSet, ClientsThatDifferTakeTurnsInIt) {
  const std::string source = "synthetic:two-gaussians:p=1,mu=1..2,sigma=0,n=12";
  settings_.source = source;
  const Dataset data = open_dataset(settings_, 5, 1, 4);  // of one rank of two, say
  EXPECT_EQ(data.shape.clients, 5);
  const Batch test = read_test_set(source, settings_, data.shape);
  ASSERT_EQ(test.size(), 12U);
  for (std::size_t i = 0; i < test.size(); ++i) {
    if (i % 5 == 0) continue;
    const Plain own = peek(data.streams[i % 5 - 1]->next(static_cast<Round>(i))).front();
    EXPECT_EQ(std::abs(test.row(i).values[0]), std::abs(own.values[0])) << i;
  }
  EXPECT_NE(std::abs(test.row(1).values[0]), std::abs(test.row(2).values[0]));
  EXPECT_EQ(std::abs(test.row(0).values[0]), std::abs(test.row(10).values[0]));
}

}  // namespace starling::test_set_test
