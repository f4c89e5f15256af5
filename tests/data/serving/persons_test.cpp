// Streams whose slots are persons.
#include <map>
#include <set>

#include <zlib.h>

#include "core/links.hpp"
#include "core/record_error.hpp"
#include "data/reading.hpp"
#include "data/serving/dataset.hpp"

namespace starling::persons_test {

using namespace testing_support;

/// The records of a batch, person by person.
std::vector<Plains> persons_of(const Secret<Batch>& secret) {
  const Batch batch = opened(secret);
  EXPECT_TRUE(batch.by_person() || batch.empty());
  std::vector<Plains> result;
  for (std::size_t k = 0; k < (batch.by_person() ? batch.units() : 0); ++k) {
    Batch own;
    own.show_persons(batch, k, 1);
    result.push_back(plain(own));
  }
  return result;
}

using Served = std::vector<std::vector<Plains>>;  ///< by round and person

Served serve_persons(Stream& stream) {
  Served result;
  for (Round t = 0; !stream.ended(t); ++t) result.push_back(persons_of(stream.next(t)));
  return result;
}

/// 11 persons with 1 to 20 records, whose records lie among each other. Record i has the features i and its person.
std::string table(std::vector<std::string>* names = nullptr) {
  std::string text = "a,b,who,y\n";
  for (int i = 0; i < 3000; ++i) {
    const int person = i < 1500 ? i % 7 : 10 - i % 11;
    const std::string name = "p" + std::to_string(person * 7 % 11);
    if (names != nullptr) names->push_back(name);
    text += std::to_string(i) + ',' + std::to_string(person) + ',' + name + ',' + std::to_string(i % 3) + '\n';
  }
  return text;
}

class PersonStreams : public testing::Test {
 protected:
  PersonStreams() {
    settings_.source = folder_.write("x.csv", table(&names_));
    settings_.person = "who";
    settings_.batch = 2;
  }
  [[nodiscard]] std::vector<Served> serve_all(Client clients, int ranks) const {
    const Layout layout(clients, ranks);
    std::vector<Served> result;
    for (int rank = 0; rank < ranks; ++rank) {
      Dataset data = open_dataset(settings_, clients, layout.first(rank), layout.count(rank));
      EXPECT_EQ(data.shape.features, 2U);
      for (auto& stream : data.streams) result.push_back(serve_persons(*stream));
    }
    return result;
  }
  TemporaryFolder folder_;
  std::vector<std::string> names_;
  DataSettings settings_;
};

TEST_F(PersonStreams, PersonsComeByFirstAppearanceWithAllTheirRecords) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> expected;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!expected.contains(names_[i])) order.push_back(names_[i]);
    expected[names_[i]].push_back(static_cast<double>(i));
  }
  Dataset data = open_dataset(settings_, 1, 0, 1);
  EXPECT_EQ(data.most_records(), 11);
  EXPECT_EQ(data.shape.rounds, 6);
  std::size_t place = 0;
  for (const std::vector<Plains>& round : serve_persons(*data.streams[0])) {
    for (const Plains& person : round) {
      std::vector<double> numbers;
      for (const Plain& record : person) numbers.push_back(record.values[0]);
      EXPECT_EQ(numbers, expected[order.at(place++)]);
    }
  }
  EXPECT_EQ(place, order.size());
}

// Whether records fit into memory depends on how many a person has: nothing that others see may follow from it.
TEST_F(PersonStreams, OfAGzippedFileAreServedWhateverMemoryTheyHave) {
  const std::vector<Served> expected = serve_all(3, 1);
  settings_.source = folder_ / "x.csv.gz";
  gzFile file = gzopen(settings_.source.c_str(), "wb");
  const std::string text = table();
  EXPECT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 20}) {
    settings_.memory = memory;
    settings_.readers = 1;
    EXPECT_EQ(serve_all(3, 1), expected) << memory;
  }
}

TEST_F(PersonStreams, DealsPersonsAsWholes) {
  for (const std::string partition : {"contiguous", "round-robin", "iid", "column:who"}) {
    settings_.partition = partition;
    std::set<double> seen;
    std::size_t records = 0;
    for (const Served& client : serve_all(3, 1)) {
      std::size_t persons = 0;
      for (const auto& round : client) {
        for (const Plains& person : round) {
          EXPECT_TRUE(seen.insert(person.at(0).values[1]).second) << partition << ": a person at two clients";
          records += person.size();
          ++persons;
        }
      }
      EXPECT_GE(persons, 3U) << partition;
    }
    EXPECT_EQ(seen.size(), 11U) << partition;
    EXPECT_EQ(records, names_.size()) << partition;
  }
}

TEST_F(PersonStreams, RanksAndMemoryChangeNothing) {
  settings_.epochs = 2;
  for (const auto batches : {DataSettings::Batches::own, DataSettings::Batches::shared}) {
    settings_.batches = batches;
    settings_.partition = "iid";
    settings_.memory = std::size_t{1} << 20;
    const std::vector<Served> expected = serve_all(5, 1);
    for (const int ranks : {2, 4, 7}) EXPECT_EQ(serve_all(5, ranks), expected) << ranks << " ranks";
    settings_.memory = 0;
    EXPECT_EQ(serve_all(5, 1), expected);
    EXPECT_EQ(serve_all(5, 4), expected);
  }
}

TEST_F(PersonStreams, APersonWhoseRecordsAreLeftOutKeepsThePlace) {
  settings_.source = folder_.write("left-out.csv", "a,who,y\n1,z,1\n2,x,7\n3,y,0\n4,x,7\n5,z,7\n6,y,1\n");
  settings_.ignore = {7};
  for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{0}}) {
    settings_.memory = memory;
    const Served expected{{{Plain{{1}, {}, 1}}, {}}, {{Plain{{3}, {}, 0}, Plain{{6}, {}, 1}}}};
    Dataset data = open_dataset(settings_, 1, 0, 1);
    EXPECT_EQ(serve_persons(*data.streams[0]), expected);
  }
}

// Nobody is no person: such records are not one person's, and each keeps the place that a person would have.
TEST_F(PersonStreams, ARecordWithoutAPersonIsRefusedOrLeftOutInItsPlace) {
  settings_.source = folder_.write("nobody.csv", "a,who,y\n1,z,1\n2,,1\n3,NA,0\n4,z,1\n5,nan,1\n6,y,1\n");
  expect_all_in(message_of<RecordError>([&] { return open_dataset(settings_, 1, 0, 1); }),
                {"3 faulty records", "row 3: the person is missing", "also row 4, row 6", "--missing-person drop"});
  settings_.missing_person = ReadSettings::MissingKey::drop;
  const Served expected{{{Plain{{1}, {}, 1}, Plain{{4}, {}, 1}}, {}}, {{}, {}}, {{Plain{{6}, {}, 1}}}};
  for (const std::string partition : {"contiguous", "column:who"}) {
    for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{0}}) {
      settings_.partition = partition;
      settings_.memory = memory;
      Dataset data = open_dataset(settings_, 1, 0, 1);
      EXPECT_EQ(serve_persons(*data.streams[0]), expected);
    }
  }
  settings_.partition = "contiguous";
  settings_.source = folder_.write("with.csv", "a,b,who,y\n1,0,1,1\n2,0,2,1\n3,0,3,0\n");
  const auto all = serve_all(3, 1);
  settings_.source = folder_.write("without.csv", "a,b,who,y\n1,0,1,1\n2,0,,1\n3,0,3,0\n");
  const auto without = serve_all(3, 1);
  EXPECT_EQ(without[0], all[0]);
  EXPECT_EQ(without[1], (Served{{{}}}));
  EXPECT_EQ(without[2], all[2]) << "moved by another's missing value";
}

TEST_F(PersonStreams, EachFileOfAClientHasPersonsOfItsOwn) {
  folder_.write("part-0.csv", "a,who,y\n1,z,1\n2,x,0\n3,z,0\n");
  folder_.write("part-1.csv", "a,who,y\n4,z,1\n");
  settings_.source = folder_ / "part-{client}.csv";
  Dataset data = open_dataset(settings_, 2, 0, 2);
  EXPECT_EQ(serve_persons(*data.streams[0]), (Served{{{Plain{{1}, {}, 1}, Plain{{3}, {}, 0}}, {Plain{{2}, {}, 0}}}}));
  EXPECT_EQ(serve_persons(*data.streams[1]), (Served{{{Plain{{4}, {}, 1}}}}));
}

TEST_F(PersonStreams, Faults) {
  const auto message = [&](const std::string& partition, const std::string& column, const std::string& source) {
    DataSettings settings = settings_;
    settings.partition = partition;
    settings.person = column;
    if (!source.empty()) settings.source = source;
    return message_of<UsageError>([&] { return open_dataset(settings, 2, 0, 2); });
  };
  EXPECT_THAT(message("contiguous", "nobody", ""), HasSubstr("--person"));
  EXPECT_THAT(message("column:b", "who", ""), HasSubstr("column:who"));
  EXPECT_THAT(message("dirichlet:1", "who", ""), HasSubstr("labels"));
  EXPECT_THAT(message("contiguous", "who", "synthetic:drift"), HasSubstr("--unit person"));
  const std::string sparse = folder_.write("x.svm", "1 1:2\n0 2:1\n");
  EXPECT_THAT(message("contiguous", "who", sparse), HasSubstr("--person"));
}

}  // namespace starling::persons_test
