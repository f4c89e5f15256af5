#include <memory>

#include "data/generators/synthetic.hpp"
#include "data/reading.hpp"

namespace starling::generated_source_test {

using namespace testing_support;

std::unique_ptr<RecordReader> open(const std::string& spec, std::uint64_t seed, Client client, std::int64_t batch,
                                   std::int64_t records) {
  return open_generated(generator_table().make(spec, {4, seed}), "synthetic:" + spec, seed, client, batch, records);
}

/// All records that a run serves to a client, in order.
Plains served(const std::string& spec, std::uint64_t seed, Client client, std::size_t batch) {
  DataSettings settings;
  settings.source = "synthetic:" + spec;
  settings.seed = seed;
  settings.batch = batch;
  const Dataset dataset = open_dataset(settings, 4, client, 1);
  Plains all;
  for (Round t = 0; !dataset.streams[0]->ended(t); ++t) {
    for (Plain& record : peek(dataset.streams[0]->next(t))) all.push_back(record);
  }
  return all;
}

TEST(GeneratedSource, GivesWhatARunServes) {
  for (const auto& row : generator_table().rows()) {
    const std::string spec = row.name + ":n=11";
    for (const Client client : {0, 3}) {
      for (const std::size_t batch : {1U, 4U, 20U}) {
        const Plains expected = served(spec, 5, client, batch);
        ASSERT_EQ(expected.size(), 11U);
        EXPECT_EQ(read_all(*open(spec, 5, client, static_cast<std::int64_t>(batch), 11)), expected);
      }
    }
    EXPECT_NE(read_all(*open(spec, 5, 0, 1, 11)), read_all(*open(spec, 6, 0, 1, 11)));
    EXPECT_NE(read_all(*open(spec, 5, 0, 1, 11)), read_all(*open(spec, 5, 1, 1, 11)));
  }
}

TEST(GeneratedSource, GoesBackToItsMarks) {
  const auto reader = open("drift", 1, 0, 3, 8);
  std::vector<Mark> marks;
  Plains records;
  for (Record record; marks.push_back(reader->mark()), reader->next(record);)
    records.push_back(plain(record.row(), record.label));
  ASSERT_EQ(records.size(), 8U);
  EXPECT_EQ(reader->records(), 8);
  for (const std::size_t i : {5U, 0U, 7U, 2U, 3U}) {
    reader->seek(marks[i]);
    Record record;
    ASSERT_TRUE(reader->next(record));
    EXPECT_EQ(plain(record.row(), record.label), records[i]);
    EXPECT_EQ(reader->where(), fmt::format("synthetic:drift: record {}", i + 1));
  }
  reader->seek(marks[8]);
  Record record;
  EXPECT_FALSE(reader->next(record));
}

}  // namespace starling::generated_source_test
