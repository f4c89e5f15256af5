#include "data/serving/dataset.hpp"

#include <algorithm>
#include <string>

#include <zlib.h>

#include "core/check.hpp"
#include "core/links.hpp"
#include "data/reading.hpp"

namespace starling::dataset_test {

using namespace testing_support;

std::string csv_of(int count) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < count; ++i) {
    text += std::to_string(i) + ',' + std::to_string(i % 7) + ',' + std::to_string(i % 3) + '\n';
  }
  return text;
}

std::string svmlight_of(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += std::to_string(i % 3);
    if (i % 5 != 0) text += ' ' + std::to_string(1 + i % 4) + ":2 " + std::to_string(6 + i) + ':' + std::to_string(i);
    text += '\n';
  }
  return text;
}

std::string write_gzipped(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  EXPECT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  return path;
}

/// The source spec, the partition, and the records that are kept in memory.
struct Kind {
  std::string source;
  std::string partition;
  std::size_t memory = std::size_t{1} << 20;
  friend std::ostream& operator<<(std::ostream& out, const Kind& kind) {
    return out << kind.source << ' ' << kind.partition << ' ' << kind.memory;
  }
};

class Layouts : public testing::TestWithParam<Kind> {
 protected:
  Layouts() {
    settings_.partition = GetParam().partition;
    settings_.memory = GetParam().memory;
    settings_.batch = 3;
    settings_.epochs = 2;
    settings_.seed = 11;
    settings_.source = GetParam().source;
    if (settings_.source == "x.csv") settings_.source = folder_.write("x.csv", csv_of(101));
    if (settings_.source == "x.csv.gz") settings_.source = write_gzipped(folder_ / "x.csv.gz", csv_of(101));
    if (settings_.source == "x.svm") settings_.source = folder_.write("x.svm", svmlight_of(101));
  }
  /// What every client is served, with the clients dealt to `ranks` as the layout says.
  std::vector<std::vector<Plains>> serve_all(int ranks) const {
    const Layout layout(clients, ranks);
    std::vector<std::vector<Plains>> result;
    for (int rank = 0; rank < ranks; ++rank) {
      Dataset data = open_dataset(settings_, clients, layout.first(rank), layout.count(rank));
      EXPECT_EQ(data.streams.size(), static_cast<std::size_t>(layout.count(rank)));
      for (auto& stream : data.streams) result.push_back(serve(*stream, *data.shape.rounds + 1));
    }
    return result;
  }
  static constexpr Client clients = 7;
  TemporaryFolder folder_;
  DataSettings settings_;
};

TEST_P(Layouts, StreamsDoNotDependOnTheRanks) {
  const auto expected = serve_all(1);
  for (const int ranks : {2, 3, 7, 9}) EXPECT_EQ(serve_all(ranks), expected) << ranks << " ranks";
}

TEST_P(Layouts, AnEpochServesEveryRecordOnceInFileOrder) {
  if (settings_.source.starts_with("synthetic:")) GTEST_SKIP() << "nothing to compare with";
  settings_.epochs = 1;
  if (settings_.partition.starts_with("column:")) settings_.drop = {"b"};
  const Plains file = read_all(settings_.source, settings_);
  settings_.drop.clear();
  Plains served;
  for (const auto& batches : serve_all(1)) {
    std::size_t position = 0;
    for (const Plains& batch : batches) {
      for (const Plain& record : batch) {
        const auto found = std::find(file.begin() + static_cast<long>(position), file.end(), record);
        ASSERT_NE(found, file.end()) << "out of file order";
        position = static_cast<std::size_t>(found - file.begin()) + 1;
        served.push_back(record);
      }
    }
  }
  Plains expected = file;
  std::sort(served.begin(), served.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(served, expected);
}

std::vector<Kind> kinds() {
  std::vector<Kind> result{{"synthetic:drift:n=10", "contiguous"}};
  for (const std::string source : {"x.csv", "x.svm", "x.csv.gz"}) {
    for (const std::string partition :
         {"contiguous", "round-robin", "iid", "shards:2", "dirichlet:0.3", "dirichlet:0.3,balanced=0"}) {
      for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{0}}) {
        result.push_back({source, partition, memory});
      }
    }
  }
  result.push_back({"x.csv", "column:b"});
  result.push_back({"x.csv", "column:b", 0});
  return result;
}

INSTANTIATE_TEST_SUITE_P(Data, Layouts, testing::ValuesIn(kinds()), [](const auto& instance) {
  const Kind& kind = instance.param;
  return test_name(kind.source + "_" + kind.partition + (kind.memory == 0 ? "_read_again" : ""));
});

/// What is read again from a long file, past the places that were noted, is what was kept in memory.
TEST(ReadAgain, GivesTheSameRecordsAsMemory) {
  const TemporaryFolder folder;
  DataSettings settings;
  settings.source = folder.write("x.csv", csv_of(5000));
  settings.batch = 7;
  settings.epochs = 2;
  for (const std::string partition : {"contiguous", "round-robin", "iid", "dirichlet:0.3,balanced=0"}) {
    settings.partition = partition;
    settings.memory = std::size_t{1} << 20;
    const Dataset kept = open_dataset(settings, 3, 0, 3);
    settings.memory = 0;
    const Dataset read = open_dataset(settings, 3, 0, 3);
    ASSERT_EQ(kept.shape.rounds, read.shape.rounds);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(serve(*kept.streams[k], *kept.shape.rounds), serve(*read.streams[k], *kept.shape.rounds)) << partition;
    }
  }
}

TEST(ReadAgain, AFileThatShrankMeanwhileIsAnError) {
  const TemporaryFolder folder;
  DataSettings settings;
  settings.source = folder.write("x.csv", csv_of(50'000));
  settings.memory = 0;
  Dataset data = open_dataset(settings, 2, 1, 1);
  static_cast<void>(folder.write("x.csv", csv_of(30)));
  EXPECT_THAT(message_of<DataError>([&] {
                for (Round t = 0; t < *data.shape.rounds; ++t) static_cast<void>(data.streams[0]->next(t));
              }),
              HasSubstr("the number of records has changed while it was read"));
}

TEST(Fingerprints, TellFilesApartThatDifferInOneValue) {
  const TemporaryFolder folder;
  DataSettings settings;
  settings.source = folder.write("x.csv", csv_of(30));
  const std::string original = open_dataset(settings, 3, 0, 1).fingerprint;
  EXPECT_EQ(open_dataset(settings, 3, 1, 2).fingerprint, original) << "on every rank";
  std::string changed = csv_of(30);
  changed.replace(changed.find("\n17,"), 4, "\n18,");
  settings.source = folder.write("y.csv", changed);
  EXPECT_NE(open_dataset(settings, 3, 0, 1).fingerprint, original);
}

class PerClient : public testing::Test {
 protected:
  PerClient() {
    settings_.source = folder_ / "part-{client:1}.csv";
    settings_.batch = 2;
    static_cast<void>(folder_.write("part-1.csv", csv_of(5)));
    static_cast<void>(folder_.write("part-2.csv", csv_of(9)));
    static_cast<void>(folder_.write("part-3.csv", csv_of(1)));
  }
  TemporaryFolder folder_;
  DataSettings settings_;
};

TEST_F(PerClient, EachClientReadsItsOwnFileAndNoOther) {
  for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{0}}) {
    settings_.memory = memory;
    const Dataset data = open_dataset(settings_, 3, 0, 3);
    EXPECT_EQ(data.shape.rounds, 5);
    EXPECT_EQ(data.shape.features, 2U);
    EXPECT_THAT(sizes(serve(*data.streams[0], 5)), ElementsAre(2, 2, 1, 0, 0));
    EXPECT_THAT(sizes(serve(*data.streams[2], 2)), ElementsAre(1, 0));
    std::filesystem::remove(folder_ / "part-1.csv");
    EXPECT_EQ(open_dataset(settings_, 3, 1, 2).shape.rounds, 5) << "client 0 lives elsewhere";
    EXPECT_ERROR(UsageError, "part-1.csv", open_dataset(settings_, 3, 0, 1));
    static_cast<void>(folder_.write("part-1.csv", csv_of(5)));
  }
}

TEST_F(PerClient, FilesOfDifferentWidthAreRefused) {
  static_cast<void>(folder_.write("part-3.csv", "1,2,3,4\n"));
  EXPECT_ERROR(DataError, "have 2 features and another's 3", open_dataset(settings_, 3, 0, 3));
}

TEST_F(PerClient, NothingIsDealtOut) {
  settings_.partition = "iid";
  EXPECT_ERROR(UsageError, "has a file of its own", open_dataset(settings_, 3, 0, 3));
  EXPECT_ERROR(UsageError, "not dealt out", check_saves_partition(settings_, folder_ / "p.csv"));
}

TEST(Shapes, AreJoinedOverRanks) {
  DataShape sparse{.features = 3, .sparse = true, .rounds = 10, .empty = false};
  DataShape named{.features = 3, .rounds = 10, .names = {"a", "b c", "d"}, .clients = 7};
  DataShape renamed = named;
  std::swap(renamed.names[0], renamed.names[2]);
  DataShape wider = sparse;
  wider.features = 8;
  wider.rounds = 4;
  const DataShape both = sparse.joined(wider);
  EXPECT_EQ(both.features, 8U);
  EXPECT_EQ(both.rounds, 10);
  wider.rounds.reset();
  EXPECT_FALSE(sparse.joined(wider).rounds.has_value()) << "nobody knows when a pipe ends";
  DataShape nothing;
  nothing.empty = true;
  EXPECT_EQ(nothing.joined(sparse).text(), sparse.text());
  EXPECT_EQ(sparse.joined(nothing).text(), sparse.text());
  for (const DataShape& shape : {sparse, wider, nothing, named}) {
    EXPECT_EQ(DataShape::parse(shape.text()).text(), shape.text());
    EXPECT_EQ(DataShape::parse(shape.text()).names, shape.names);
    EXPECT_EQ(DataShape::parse(shape.text()).clients, shape.clients);
  }
  EXPECT_EQ(named.joined(named).names, named.names);
  EXPECT_THAT(message_of<DataError>([&] { return named.joined(renamed); }),
              AllOf(HasSubstr("feature 0"), HasSubstr("'a'"), HasSubstr("'d'")));
  renamed.names.clear();
  EXPECT_EQ(renamed.joined(named).names, named.names) << "without names there is nothing to compare";
}

TEST(SavedPartitions, AreReadBack) {
  const TemporaryFolder folder;
  DataSettings settings;
  settings.source = folder.write("x.csv", csv_of(60));
  const std::string path = folder / "p.csv";
  for (const std::string partition : {"contiguous", "iid", "shards:2", "dirichlet:0.3", "column:b"}) {
    settings.partition = partition;
    std::filesystem::remove(path);
    check_saves_partition(settings, path);
    save_partition(settings, 4, path);
    const Dataset original = open_dataset(settings, 4, 0, 4);
    // Column b is a feature again where the file deals; the records are told by their first feature.
    settings.partition = "file:" + path;
    if (partition == "column:b") settings.drop = {"b"};
    const Dataset again = open_dataset(settings, 4, 0, 4);
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(serve(*original.streams[k], *original.shape.rounds), serve(*again.streams[k], *original.shape.rounds));
    }
  }
}

TEST(SavedPartitions, ReplaceNothing) {
  const TemporaryFolder folder;
  DataSettings settings;
  settings.source = folder.write("x.csv", csv_of(60));
  EXPECT_ERROR(UsageError, "exists", check_saves_partition(settings, settings.source));
  EXPECT_ERROR(FailureError, "x.csv", save_partition(settings, 4, settings.source));
  EXPECT_EQ(open_dataset(settings, 1, 0, 1).streams[0]->records(), 60) << "it is still the source";
  EXPECT_FALSE(std::filesystem::exists(settings.source + ".part"));
}

TEST(SavedPartitions, AreTheSameOnAllRanksOrTheFingerprintTells) {
  const TemporaryFolder folder;
  DataSettings settings;
  settings.source = folder.write("x.csv", "a,y\n1,1\n2,1\n");
  settings.partition = "file:" + folder.write("p.csv", "record,client\n0,0\n1,1\n");
  const std::string original = open_dataset(settings, 2, 0, 1).fingerprint;
  EXPECT_EQ(open_dataset(settings, 2, 1, 1).fingerprint, original);
  settings.partition = "file:" + folder.write("q.csv", "record,client\n0,1\n1,0\n");
  EXPECT_NE(open_dataset(settings, 2, 1, 1).fingerprint, original);
}

class Datasets : public testing::Test {
 protected:
  DataSettings file(const std::string& name, const std::string& text) const {
    DataSettings settings;
    settings.source = folder_.write(name, text);
    return settings;
  }
  static std::string error(const DataSettings& settings, Client clients = 1) {
    return message_of<DataError>([&] { return open_dataset(settings, clients, 0, clients); });
  }
  static std::string usage(const DataSettings& settings) {
    return message_of<UsageError>([&] { return open_dataset(settings, 1, 0, 1); });
  }
  TemporaryFolder folder_;
};

TEST_F(Datasets, LabelsAreMapped) {
  DataSettings settings = file("x.csv", "1,0\n2,1\n");
  settings.label_map = [](double y) { return 2 * y - 1; };
  Dataset data = open_dataset(settings, 1, 0, 1);
  EXPECT_EQ(data.shape.features, 1U);
  const auto batches = serve(*data.streams[0], 2);
  EXPECT_EQ(batches[0][0].label, -1);
  EXPECT_EQ(batches[1][0].label, 1);
}

TEST_F(Datasets, LabelsThatDoNotFitNameTheirRowOnEveryRank) {
  DataSettings settings = file("x.csv", "a,y\n1,1\n2,3\n");
  settings.label_map = [](double y) {
    check<DataError>(y == 1, "label {} (this loss needs -1 or 1) map it", y);
    return y;
  };
  const std::string expected = settings.source + ": row 3: label 3 (this loss needs -1 or 1) map it";
  EXPECT_EQ(error(settings), expected);
  EXPECT_EQ(message_of<DataError>([&] { return open_dataset(settings, 2, 0, 1); }), expected);
  settings.source = "synthetic:drift";
  settings.label_map = [](double) -> double { throw DataError("label (unfit) map it"); };
  EXPECT_EQ(error(settings), "synthetic:drift: label (unfit) map it");
}

TEST_F(Datasets, FaultsInOthersRowsAreFoundToo) {
  const DataSettings settings = file("x.csv", "a,y\n1,1\n2,nan\n");
  EXPECT_ERROR(DataError, "x.csv: row 3: column 'y' is 'nan'", open_dataset(settings, 2, 0, 1));
  EXPECT_ERROR(DataError, "x.csv: row 3: column 'y' is 'nan'", open_dataset(settings, 2, 0, 0));
}

TEST_F(Datasets, NothingToLearnFromIsAnError) {
  EXPECT_THAT(error(file("x.csv", "")), HasSubstr("x.csv: no records: nothing can be learned from it."));
  EXPECT_THAT(error(file("y.csv", "a,y\n")), HasSubstr("y.csv: no records"));
  EXPECT_THAT(error(file("x.svm", "# nothing\n")), HasSubstr("x.svm: no records"));
  EXPECT_THAT(error(file("y.svm", "1\n-1\n")), HasSubstr("y.svm: no record has a feature"));
}

TEST_F(Datasets, MoreClientsThanRecordsLeavesSomeWithoutAny) {
  Dataset data = open_dataset(file("x.csv", "1,2\n3,4\n"), 5, 0, 5);
  EXPECT_EQ(data.shape.rounds, 1);
  std::int64_t total = 0;
  for (auto& stream : data.streams) {
    total += *stream->records();
    EXPECT_EQ(peek(stream->next(0)).size(), static_cast<std::size_t>(*stream->records()));
  }
  EXPECT_EQ(total, 2);
}

TEST_F(Datasets, TheDimensionRulesSparseFiles) {
  DataSettings settings = file("x.svm", "1 3:1\n");
  EXPECT_EQ(open_dataset(settings, 1, 0, 1).shape.features, 3U);
  settings.dimension = 9;
  EXPECT_EQ(open_dataset(settings, 1, 0, 1).shape.features, 9U);
  settings.dimension = 2;
  EXPECT_THAT(error(settings), HasSubstr("row 1: index 3: --dimension is 2."));
}

TEST_F(Datasets, OnlyWhatCanBeReadTwiceIsASource) {
  std::filesystem::create_symlink("/dev/null", folder_ / "null.csv");
  DataSettings settings;
  settings.source = folder_ / "null.csv";
  EXPECT_THAT(error(settings), HasSubstr("is not a regular file: starling reads it more than once."));
  std::filesystem::create_directory(folder_ / "folder.csv");
  settings.source = folder_ / "folder.csv";
  EXPECT_THAT(usage(settings), HasSubstr("folder.csv' is a folder. Name a file of records in it"));
  settings.source = "no-such.csv";
  EXPECT_THAT(usage(settings), HasSubstr("cannot open 'no-such.csv': No such file or directory."));
}

TEST_F(Datasets, SyntheticSourcesArePublicAndHaveADigest) {
  DataSettings settings;
  const Dataset data = open_dataset(settings, 3, 1, 2);
  EXPECT_EQ(data.streams.size(), 2U);
  EXPECT_EQ(data.shape.features, 5U);
  EXPECT_FALSE(data.shape.rounds.has_value());
  EXPECT_FALSE(data.streams[0]->records().has_value());
  EXPECT_TRUE(data.is_public);
  EXPECT_EQ(data.digest.size(), 64U);
  settings.seed = 2;
  EXPECT_NE(open_dataset(settings, 3, 1, 2).digest, data.digest);
}

// Clients 0 and 1 share one file, and clients 2 to 4, which join after 10 rounds, another one.
TEST_F(Datasets, RecordsOfClientsThatJoinAreDealtToThemAlone) {
  DataSettings settings = file("old.csv", csv_of(6));
  DataSettings joining = file("new.csv", csv_of(9));
  joining.earlier = 2;
  const auto all = [&](Client first, Client count) {
    const Client of_old = std::clamp<Client>(2 - first, 0, count);
    Dataset data = open_dataset(settings, 2, std::min<Client>(first, 2), of_old);
    data.append(open_dataset(joining, 5, std::max<Client>(first, 2), count - of_old), 10);
    return data;
  };
  Dataset together = all(0, 5);
  ASSERT_EQ(together.streams.size(), 5U);
  EXPECT_EQ(together.shape.rounds, 3);
  EXPECT_EQ(together.of_joined.rounds, 13);
  EXPECT_EQ(together.streams[1]->rounds(), 3);
  EXPECT_EQ(together.streams[4]->rounds(), 13);
  EXPECT_EQ(together.streams[4]->rounds_of_pass(), 3);
  EXPECT_FALSE(together.streams[4]->ended(12));
  EXPECT_TRUE(together.streams[4]->ended(13));
  EXPECT_EQ(together.fingerprints.size(), 5U);
  Dataset apart = all(3, 2);
  ASSERT_EQ(apart.streams.size(), 2U);
  EXPECT_EQ(apart.fingerprints[1], together.fingerprints[4]);
  EXPECT_EQ(apart.joined_fingerprint, together.joined_fingerprint);
  const Plains old = read_all(settings.source, settings);
  const Plains added = read_all(joining.source, joining);
  EXPECT_EQ(peek(together.streams[1]->next(0)), Plains{old[3]}) << "as before";
  EXPECT_EQ(peek(together.streams[3]->next(10)), Plains{added[3]});
  EXPECT_EQ(peek(apart.streams[0]->next(10)), Plains{added[3]}) << "on any rank";
  EXPECT_EQ(peek(together.streams[4]->next(11)), Plains{added[7]});
}

TEST_F(Datasets, BadSettingsAreUsageErrors) {
  DataSettings settings;
  settings.batch = 0;
  EXPECT_THAT(usage(settings), HasSubstr("batch=0"));
  settings.batch = 1;
  settings.epochs = 0;
  EXPECT_THAT(usage(settings), HasSubstr("epochs=0"));
  settings.epochs = 2;
  EXPECT_THAT(usage(settings), HasSubstr("epochs=2: 'synthetic:drift' has no end."));
  settings.epochs = 1;
  settings.source = "synthetic:drip";
  EXPECT_EQ(usage(settings),
            "unknown generator 'drip': known are drift, tracking, two-gaussians, linear, logistic, counts, "
            "expectile, insurance, rides. Choose one of them.");
  settings = file("x.csv", "1,2\n");
  settings.partition = "half";
  EXPECT_THAT(usage(settings), HasSubstr("unknown partition 'half'"));
}

}  // namespace starling::dataset_test
