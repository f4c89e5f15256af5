#include "data/stream.hpp"

#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include <zlib.h>

#include "core/check.hpp"
#include "data/reading.hpp"
#include "support/allocations.hpp"

namespace starling::stream_test {

using namespace testing_support;

/// Records 0 … count − 1, whose label is their number.
std::string numbered_csv(int count) {
  std::string text = "a,y\n";
  for (int i = 0; i < count; ++i) text += std::to_string(10 * i) + ',' + std::to_string(i) + '\n';
  return text;
}

Vector labels(const Plains& batch) {
  Vector result;
  for (const Plain& record : batch) result.push_back(record.label);
  return result;
}

class Streams : public testing::Test {
 protected:
  DataSettings settings(int records, std::size_t batch, std::int64_t epochs) const {
    DataSettings result;
    result.source = folder_.write("x.csv", numbered_csv(records));
    result.batch = batch;
    result.epochs = epochs;
    return result;
  }
  TemporaryFolder folder_;
};

TEST_F(Streams, ServeFileOrderWithAShortLastBatchThenNothing) {
  const Dataset data = open_dataset(settings(5, 2, 1), 1, 0, 1);
  const auto batches = serve(*data.streams[0], 5);
  EXPECT_THAT(labels(batches[0]), ElementsAre(0, 1));
  EXPECT_THAT(labels(batches[1]), ElementsAre(2, 3));
  EXPECT_THAT(labels(batches[2]), ElementsAre(4));
  EXPECT_TRUE(batches[3].empty());
  EXPECT_TRUE(batches[4].empty());
  EXPECT_EQ(data.shape.rounds, 3);
  EXPECT_EQ(data.streams[0]->records(), 5);
  EXPECT_FALSE(data.is_public);
  EXPECT_EQ(data.digest, "");
}

TEST_F(Streams, EveryEpochEndsWithItsOwnShortBatch) {
  const Dataset data = open_dataset(settings(5, 2, 2), 1, 0, 1);
  const auto batches = serve(*data.streams[0], 8);
  EXPECT_THAT(sizes(batches), ElementsAre(2, 2, 1, 2, 2, 1, 0, 0));
  for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(batches[t], batches[t + 3]);
  EXPECT_EQ(data.shape.rounds, 6);
}

// Where records stay in memory, where they are read again, and of generators.
TEST_F(Streams, MayBePlannedAnew) {
  DataSettings again = settings(7, 1, 1);
  DataSettings synthetic;
  synthetic.source = "synthetic:drift:n=7";
  for (DataSettings each : {settings(7, 1, 1), again, synthetic}) {
    if (each.source == again.source) each.memory = 0;
    DataSettings wanted = each;
    wanted.batch = 3;
    wanted.epochs = 2;
    const Dataset as_opened = open_dataset(wanted, 2, 0, 2);
    Dataset data = open_dataset(each, 2, 0, 2);
    data.plan({5, 1}, data.most_records());
    for (const auto& stream : data.streams) static_cast<void>(serve(*stream, 2));  // and after a pass of others
    data.plan({3, 2}, data.most_records());
    EXPECT_EQ(data.shape.rounds, as_opened.shape.rounds);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(serve(*data.streams[k], 7), serve(*as_opened.streams[k], 7)) << k;
      EXPECT_EQ(data.streams[k]->rounds_of_pass(), as_opened.streams[k]->rounds_of_pass());
    }
  }
  EXPECT_EQ(open_dataset(settings(7, 1, 1), 2, 0, 2).most_records(), 4);
  EXPECT_EQ(open_dataset({}, 2, 0, 2).most_records(), std::nullopt);
}

TEST_F(Streams, HaveBatchesWhoseSizesChangeOverAPass) {
  const auto steps = std::make_shared<const BatchSizes>(std::vector<BatchSizes::Step>{{0, 2}, {2, 3}, {3, 1}});
  const Dataset data = open_dataset(settings(9, 4, 1), 1, 0, 1);
  Stream& stream = *data.streams[0];
  stream.plan({4, 2, {}, steps});
  EXPECT_EQ(stream.rounds_of_pass(), 5);
  EXPECT_THAT(sizes(serve(stream, 11)), ElementsAre(2, 2, 3, 1, 1, 2, 2, 3, 1, 1, 0));
  EXPECT_EQ(stream.planned(7), 3);
  EXPECT_EQ(stream.planned(10), 0);
  for (const auto& [records, rounds] :
       std::vector<std::pair<std::int64_t, Round>>{{0, 0}, {1, 1}, {4, 2}, {5, 3}, {7, 3}, {8, 4}, {100, 96}}) {
    EXPECT_EQ(steps->rounds_of(records), rounds) << records << " records";
  }
}

// Clients of a generator share their settings until one of them has batches of its own.
TEST_F(Streams, GeneratedOnesHaveSizesOfTheirOwn) {
  for (const std::string source : {"synthetic:drift:n=7", "synthetic:drift"}) {
    DataSettings settings;
    settings.source = source;
    settings.batch = 4;
    settings.batches = DataSettings::Batches::shared;
    const Dataset data = open_dataset(settings, 2, 0, 2);
    data.streams[1]->plan(
        {4, 1, {}, std::make_shared<const BatchSizes>(std::vector<BatchSizes::Step>{{0, 1}, {1, 2}})});
    EXPECT_THAT(sizes(serve(*data.streams[1], 3)), ElementsAre(1, 2, 2));
    EXPECT_EQ(data.streams[1]->planned(1), 2);
    EXPECT_THAT(sizes(serve(*data.streams[0], 1)), ElementsAre(4));
  }
}

// 11 records on 3 clients (4, 4, 3) in T = 5 batches of a pass: of 4 records one batch has none, of 3 two.
TEST_F(Streams, DealEveryClientsRecordsIntoAllBatchesOfAPass) {
  for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{0}}) {
    DataSettings wanted = settings(11, 1, 1);
    wanted.memory = memory;
    Dataset data = open_dataset(wanted, 3, 0, 3);
    data.plan({2, 2, 5});
    EXPECT_EQ(data.shape.rounds, 10);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto batches = serve(*data.streams[k], 11);
      if (k < 2) {
        EXPECT_THAT(sizes(batches), ElementsAre(0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0)) << k;
      } else {
        EXPECT_THAT(sizes(batches), ElementsAre(0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0));
      }
      EXPECT_EQ(data.streams[k]->rounds_of_pass(), 5);
      EXPECT_EQ(data.streams[k]->participations(), 2);
    }
    data.plan({2, 1, 1});  // batches have 2 at most, so that 4 records need two rounds
    EXPECT_THAT(sizes(serve(*data.streams[0], 3)), ElementsAre(2, 2, 0));
  }
}

TEST_F(Streams, DealsSizesThatDifferByOneAtMost) {
  for (const int count : {1, 2, 6, 7, 97, 100, 101}) {
    Dataset data = open_dataset(settings(count, 1, 1), 1, 0, 1);
    for (const Round rounds : {1, 3, 50, 100}) {
      data.plan({101, 1, rounds});
      const auto batches = serve(*data.streams[0], rounds);
      Vector all;
      for (const auto& batch : batches) {
        EXPECT_LE(batch.size(), static_cast<std::size_t>((count + rounds - 1) / rounds));
        EXPECT_GE(batch.size(), static_cast<std::size_t>(count / rounds));
        for (const double label : labels(batch)) all.push_back(label);
      }
      ASSERT_EQ(all.size(), static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<double>(i));
    }
  }
}

TEST_F(Streams, TheLongestClientSetsTheRounds) {
  // 7 records on 3 clients: 3, 2, 2.
  const Dataset data = open_dataset(settings(7, 2, 2), 3, 0, 3);
  EXPECT_EQ(data.shape.rounds, 4);
  EXPECT_THAT(sizes(serve(*data.streams[0], 5)), ElementsAre(2, 1, 2, 1, 0));
  EXPECT_THAT(sizes(serve(*data.streams[1], 5)), ElementsAre(2, 2, 0, 0, 0));
  EXPECT_EQ(open_dataset(settings(7, 2, 2), 3, 2, 1).shape.rounds, 4) << "on every rank";
}

// Records 0, 3, 4 and 6 are left out: the others are in the rounds that they would be in with them.
TEST_F(Streams, KeepThePlacesOfRecordsThatAreLeftOut) {
  for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{0}}) {
    DataSettings all = settings(9, 2, 2);
    all.memory = memory;
    DataSettings some = all;
    some.ignore = {0, 3, 4, 6};
    for (const Client clients : {1, 2}) {
      const Dataset whole = open_dataset(all, clients, 0, clients);
      const Dataset partly = open_dataset(some, clients, 0, clients);
      EXPECT_EQ(whole.shape.rounds, partly.shape.rounds);
      for (std::size_t k = 0; k < whole.streams.size(); ++k) {
        EXPECT_EQ(whole.streams[k]->records(), partly.streams[k]->records());
        const auto batches = serve(*whole.streams[k], 12);
        const auto kept = serve(*partly.streams[k], 12);
        for (std::size_t t = 0; t < batches.size(); ++t) {
          Plains expected;
          for (const Plain& record : batches[t]) {
            if (std::ranges::find(some.ignore, record.label) == some.ignore.end()) expected.push_back(record);
          }
          EXPECT_EQ(kept[t], expected) << "round " << t << " of client " << k;
        }
      }
    }
  }
}

TEST_F(Streams, ABatchMayExceedTheData) {
  const Dataset data = open_dataset(settings(5, 100, 2), 1, 0, 1);
  EXPECT_THAT(sizes(serve(*data.streams[0], 3)), ElementsAre(5, 5, 0));
}

TEST_F(Streams, GeneratedOnesKeepTheSameRules) {
  DataSettings synthetic;
  synthetic.source = "synthetic:drift:n=5";
  synthetic.batch = 2;
  synthetic.epochs = 2;
  const Dataset data = open_dataset(synthetic, 2, 0, 2);
  EXPECT_EQ(data.shape.rounds, 6);
  EXPECT_EQ(data.streams[0]->records(), 5);
  const auto batches = serve(*data.streams[0], 8);
  EXPECT_THAT(sizes(batches), ElementsAre(2, 2, 1, 2, 2, 1, 0, 0));
  for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(batches[t], batches[t + 3]);
  EXPECT_NE(batches[0], batches[1]);
  EXPECT_NE(batches[0], serve(*data.streams[1], 1)[0]) << "clients draw apart";
}

// Clients in turn, as the protocol asks them.
TEST_F(Streams, ShareTheRoomForABatchIfAsked) {
  std::vector<DataSettings> sources{settings(11, 2, 2), {}};
  sources[1].source = "synthetic:drift:n=4";
  sources[1].batch = 2;
  for (DataSettings& each : sources) {
    const Dataset own = open_dataset(each, 3, 0, 3);
    each.batches = DataSettings::Batches::shared;
    const Dataset shared = open_dataset(each, 3, 0, 3);
    const Secret<Batch>* place = nullptr;
    for (Round t = 0; t < 5; ++t) {
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(shared.streams[k]->ended(t), own.streams[k]->ended(t));
        const Secret<Batch>& batch = shared.streams[k]->next(t);
        EXPECT_EQ(peek(batch), peek(own.streams[k]->next(t))) << each.source << " client " << k << " round " << t;
        EXPECT_EQ(shared.streams[k]->participations(), own.streams[k]->participations());
        EXPECT_TRUE(place == nullptr || place == &batch) << "each has room of its own";
        place = &batch;
      }
    }
  }
}

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

// Of more clients than a rank opens files for, whose rounds are asked for in turn, and which all begin anew together.
TEST_F(Streams, OfVeryManyClientsShareAReader) {
  for (const char* partition : {"contiguous", "iid"}) {
    DataSettings stored = settings(1000, 3, 2);
    stored.partition = partition;
    DataSettings read = stored;
    read.memory = 0;
    read.readers = 89;
    const Dataset from_memory = open_dataset(stored, 90, 0, 90);
    const auto before = open_files();
    const Dataset from_file = open_dataset(read, 90, 0, 90);
    EXPECT_EQ(open_files() - before, 1);
    for (Round t = 0; t < 9; ++t) {
      for (std::size_t k = t % 2 == 0 ? 0 : 1; k < 90; k += static_cast<std::size_t>(1 + t % 3)) {
        EXPECT_EQ(peek(from_file.streams[k]->next(t)), peek(from_memory.streams[k]->next(t))) << k << " " << t;
      }
    }
  }
}

TEST_F(Streams, HaveReadersOfTheirOwnWithinTheLimit) {
  DataSettings read = settings(1000, 3, 2);
  read.memory = 0;
  for (const std::optional<std::size_t> readers : {std::optional<std::size_t>(90), std::optional<std::size_t>()}) {
    read.readers = readers;
    const auto before = open_files();
    const Dataset data = open_dataset(read, 90, 0, 90);
    EXPECT_EQ(open_files() - before, 90) << "no test runs with a limit of fewer than 180 files";
    EXPECT_THAT(labels(serve(*data.streams[89], 1)[0]), ElementsAre(989, 990, 991));
  }
}

TEST_F(Streams, DoNotShareAGzippedFile) {
  DataSettings read = settings(20, 3, 2);
  read.source = folder_ / "x.csv.gz";
  gzFile file = gzopen(read.source.c_str(), "wb");
  const std::string text = numbered_csv(20);
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
  read.memory = 0;
  read.readers = 5;
  EXPECT_THAT(labels(serve(*open_dataset(read, 5, 0, 5).streams[4], 1)[0]), ElementsAre(16, 17, 18));
  EXPECT_THAT(
      message_of<UsageError>([&] { return open_dataset(read, 6, 0, 6); }),
      AllOf(HasSubstr("x.csv.gz': 6 clients of a rank"), HasSubstr("for 5 at most"), HasSubstr("raise --memory")));
  EXPECT_EQ(open_dataset(read, 6, 0, 5).streams.size(), 5U) << "another rank has the sixth";
  read.memory = std::size_t{1} << 20;
  EXPECT_EQ(open_dataset(read, 6, 0, 6).streams.size(), 6U);
}

TEST_F(Streams, RoundsGoForwardAndMayBeLeftOut) {
  auto in_order = open_dataset(settings(9, 2, 1), 1, 0, 1);
  const auto batches = serve(*in_order.streams[0], 5);
  auto resumed = open_dataset(settings(9, 2, 1), 1, 0, 1);
  EXPECT_EQ(peek(resumed.streams[0]->next(3)), batches[3]);
  EXPECT_EQ(peek(resumed.streams[0]->next(4)), batches[4]);
  EXPECT_ERROR(FailureError, "round 4 was asked for after round 4", resumed.streams[0]->next(4));
}

/// What the stream says after each of the rounds 0 … rounds − 1.
std::vector<std::int64_t> participations(Stream& stream, Round rounds) {
  std::vector<std::int64_t> result{stream.participations()};
  for (Round t = 0; t < rounds; ++t) {
    static_cast<void>(stream.next(t));
    result.push_back(stream.participations());
  }
  return result;
}

TEST_F(Streams, TellTheirEndAndCountWhatTheyServed) {
  const Dataset data = open_dataset(settings(3, 2, 2), 1, 0, 1);
  EXPECT_FALSE(data.streams[0]->ended(3));
  EXPECT_TRUE(data.streams[0]->ended(4));
  EXPECT_THAT(participations(*data.streams[0], 5), ElementsAre(0, 1, 1, 2, 2, 2));
  const Dataset resumed = open_dataset(settings(3, 2, 2), 1, 0, 1);
  static_cast<void>(resumed.streams[0]->next(2));
  EXPECT_EQ(resumed.streams[0]->participations(), 2) << "rounds that were left out count as served";
}

TEST_F(Streams, WithoutRecordsEndAtOnce) {
  const Dataset data = open_dataset(settings(1, 1, 1), 2, 1, 1);
  EXPECT_TRUE(data.streams[0]->ended(0));
  EXPECT_THAT(participations(*data.streams[0], 2), ElementsAre(0, 0, 0));
}

TEST_F(Streams, WithoutEndNeverEnd) {
  const Dataset data = open_dataset({}, 1, 0, 1);
  EXPECT_FALSE(data.streams[0]->ended(Round{1} << 40));
  EXPECT_THAT(participations(*data.streams[0], 3), ElementsAre(0, 1, 1, 1));
}

void expect_no_allocation(Stream& stream) {
  Round t = 0;
  for (; t < 50; ++t) static_cast<void>(stream.next(t));
  const long before = allocations();
  for (; t < 150; ++t) static_cast<void>(stream.next(t));
  EXPECT_EQ(allocations() - before, 0);
}

TEST_F(Streams, NothingIsAllocatedAfterTheFirstPass) {
  expect_no_allocation(*open_dataset(settings(100, 2, 4), 1, 0, 1).streams[0]);
  DataSettings sparse = settings(1, 2, 100);
  sparse.source = folder_.write("x.svm", "1 1:2 5:4\n-1\n1 2:3\n");
  expect_no_allocation(*open_dataset(sparse, 1, 0, 1).streams[0]);
  DataSettings synthetic;
  synthetic.batch = 3;
  expect_no_allocation(*open_dataset(synthetic, 1, 0, 1).streams[0]);
}

}  // namespace starling::stream_test
