#include "data/serving/known_records.hpp"

#include "data/reading.hpp"

namespace starling::known_records_test {

using namespace testing_support;

class KnownRecordsOf : public testing::Test {
 protected:
  /// The numbers of the known records that each client has.
  std::vector<std::vector<std::size_t>> found(const Batch& known, const DataSettings& settings,
                                              Client clients = 1) const {
    const Dataset data = open_dataset(settings, clients, 0, clients);
    const Dataset as_opened = open_dataset(settings, clients, 0, clients);
    std::vector<std::vector<std::size_t>> all;
    for (std::size_t k = 0; k < data.streams.size(); ++k) {
      Stream& stream = *data.streams[k];
      all.push_back(opened(KnownRecords(known).found_in(stream)));
      stream.plan(settings.batching());
      EXPECT_EQ(serve(stream, 2), serve(*as_opened.streams[k], 2));
    }
    return all;
  }
  Batch read(const std::string& file) const { return read_test_set(file, {}, {.features = 3}); }

  TemporaryFolder folder_;
  std::string table_ = folder_.write("t.csv", "1,0,2,1\n3,4,0,-1\n0,0,0,1\n5,6,7,1\n1,0,2,1\n8,8,8,-1\n");
};

TEST_F(KnownRecordsOf, AreFoundByAllFeaturesAndTheLabel) {
  const Batch known = read(folder_.write("k.csv", "5,6,7,1\n5,6,7,-1\n1,0,2,1\n-0,0,0,1\n1,2,0,1\n1,0,2,1\n"));
  DataSettings settings;
  settings.source = table_;
  for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{0}}) {
    settings.memory = memory;
    EXPECT_THAT(found(known, settings), ElementsAre(ElementsAre(0, 2, 3, 5)));
    EXPECT_THAT(found(known, settings, 2), ElementsAre(ElementsAre(2, 3, 5), ElementsAre(0, 2, 5)));
  }
}

TEST_F(KnownRecordsOf, AreFoundWhateverTheFormat) {
  const Batch dense = read(table_);
  const Batch sparse = read(folder_.write("k.svm", "1 1:1 3:2\n-1 1:3 2:4\n1 1:1 2:2\n"));
  DataSettings settings;
  settings.source = folder_.write("s.svm", "-1 1:8 2:8 3:8\n1 1:1 2:0 3:2\n");
  settings.dimension = 3;
  EXPECT_THAT(found(dense, settings), ElementsAre(ElementsAre(0, 4, 5)));
  EXPECT_THAT(found(sparse, settings), ElementsAre(ElementsAre(0)));
  settings = {};
  settings.source = table_;
  EXPECT_THAT(found(sparse, settings), ElementsAre(ElementsAre(0, 1)));
}

TEST_F(KnownRecordsOf, OfPersonsAreFoundToo) {
  DataSettings settings;
  settings.source = folder_.write("p.csv", "who,a,b,c,y\nx,1,0,2,1\nz,5,6,7,1\nx,8,8,8,-1\n");
  settings.person = "who";
  EXPECT_THAT(found(read(table_), settings), ElementsAre(ElementsAre(0, 3, 4, 5)));
}

}  // namespace starling::known_records_test
