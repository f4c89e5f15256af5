#include "starling/data/dataset.hpp"

#include "data/reading.hpp"
#include <algorithm>
#include <string>

#include "starling/core/check.hpp"
#include "starling/core/links.hpp"

namespace starling {
namespace {

using namespace testing_support;
using testing::HasSubstr;

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

/// The source spec, the partition.
using Kind = std::pair<std::string, std::string>;

class Layouts : public testing::TestWithParam<Kind> {
 protected:
  Layouts() {
    settings_.partition = GetParam().second;
    settings_.batch = 3;
    settings_.epochs = 2;
    settings_.seed = 11;
    settings_.source = GetParam().first;
    if (settings_.source == "x.csv") settings_.source = folder_.write("x.csv", csv_of(101));
    if (settings_.source == "x.svm") settings_.source = folder_.write("x.svm", svmlight_of(101));
  }
  /// What every client is served, with the clients dealt to `ranks` as the layout says.
  std::vector<std::vector<Plains>> serve_all(int ranks) const {
    const Layout layout(clients, ranks);
    std::vector<std::vector<Plains>> result;
    for (int rank = 0; rank < ranks; ++rank) {
      Dataset data = open_dataset(settings_, clients, layout.first(rank), layout.count(rank));
      EXPECT_EQ(data.streams.size(), static_cast<std::size_t>(layout.count(rank)));
      for (auto& stream : data.streams) result.push_back(serve(*stream, *data.rounds + 1));
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
  const Plains file = read_all(settings_.source);
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

INSTANTIATE_TEST_SUITE_P(Data, Layouts,
                         testing::Values(Kind{"x.csv", "contiguous"}, Kind{"x.csv", "iid"},
                                         Kind{"x.csv", "dirichlet:0.3"}, Kind{"x.svm", "contiguous"},
                                         Kind{"x.svm", "iid"}, Kind{"x.svm", "dirichlet:0.3"},
                                         Kind{"synthetic:drift:n=10", "contiguous"}),
                         [](const auto& instance) {
                           return test_name(instance.param.first + "_" + instance.param.second);
                         });

class Datasets : public testing::Test {
 protected:
  DataSettings file(const std::string& name, const std::string& text) const {
    DataSettings settings;
    settings.source = folder_.write(name, text);
    return settings;
  }
  static std::string error(const DataSettings& settings, Client clients = 1) {
    return message_of<DataError>([&] { static_cast<void>(open_dataset(settings, clients, 0, clients)); });
  }
  static std::string usage(const DataSettings& settings) {
    return message_of<UsageError>([&] { static_cast<void>(open_dataset(settings, 1, 0, 1)); });
  }
  TemporaryFolder folder_;
};

TEST_F(Datasets, LabelsAreMapped) {
  DataSettings settings = file("x.csv", "1,0\n2,1\n");
  settings.label_map = [](double y) { return 2 * y - 1; };
  Dataset data = open_dataset(settings, 1, 0, 1);
  EXPECT_EQ(data.features, 1U);
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
  EXPECT_EQ(message_of<DataError>([&] { static_cast<void>(open_dataset(settings, 2, 0, 1)); }), expected);
  settings.source = "synthetic:drift";
  settings.label_map = [](double) -> double { throw DataError("label (unfit) map it"); };
  EXPECT_EQ(error(settings), "synthetic:drift: label (unfit) map it");
}

TEST_F(Datasets, FaultsInOthersRowsAreFoundToo) {
  const DataSettings settings = file("x.csv", "a,y\n1,1\n2,nan\n");
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(open_dataset(settings, 2, 0, 1)); }),
              HasSubstr("x.csv: row 3: column 'y' is 'nan'"));
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(open_dataset(settings, 2, 0, 0)); }),
              HasSubstr("x.csv: row 3: column 'y' is 'nan'"));
}

TEST_F(Datasets, NothingToLearnFromIsAnError) {
  EXPECT_THAT(error(file("x.csv", "")), HasSubstr("x.csv: no records (nothing can be learned from it)"));
  EXPECT_THAT(error(file("y.csv", "a,y\n")), HasSubstr("y.csv: no records"));
  EXPECT_THAT(error(file("x.svm", "# nothing\n")), HasSubstr("x.svm: no records"));
  EXPECT_THAT(error(file("y.svm", "1\n-1\n")), HasSubstr("y.svm: no record has a feature"));
}

TEST_F(Datasets, MoreClientsThanRecordsLeavesSomeWithoutAny) {
  Dataset data = open_dataset(file("x.csv", "1,2\n3,4\n"), 5, 0, 5);
  EXPECT_EQ(data.rounds, 1);
  std::int64_t total = 0;
  for (auto& stream : data.streams) {
    total += *stream->records();
    EXPECT_EQ(peek(stream->next(0)).size(), static_cast<std::size_t>(*stream->records()));
  }
  EXPECT_EQ(total, 2);
}

TEST_F(Datasets, TheDimensionRulesSparseFiles) {
  DataSettings settings = file("x.svm", "1 3:1\n");
  EXPECT_EQ(open_dataset(settings, 1, 0, 1).features, 3U);
  settings.dimension = 9;
  EXPECT_EQ(open_dataset(settings, 1, 0, 1).features, 9U);
  settings.dimension = 2;
  EXPECT_THAT(error(settings), HasSubstr("row 1: index 3 (--dimension is 2)"));
}

TEST_F(Datasets, OnlyWhatCanBeReadTwiceIsASource) {
  std::filesystem::create_directory(folder_ / "folder.csv");
  DataSettings settings;
  settings.source = folder_ / "folder.csv";
  EXPECT_THAT(error(settings), HasSubstr("is not a regular file (a source is read twice)"));
  settings.source = "no-such.csv";
  EXPECT_THAT(error(settings), HasSubstr("cannot open 'no-such.csv' (No such file or directory)"));
}

TEST_F(Datasets, SyntheticSourcesArePublicAndHaveADigest) {
  DataSettings settings;
  const Dataset data = open_dataset(settings, 3, 1, 2);
  EXPECT_EQ(data.streams.size(), 2U);
  EXPECT_EQ(data.features, 5U);
  EXPECT_FALSE(data.rounds.has_value());
  EXPECT_FALSE(data.streams[0]->records().has_value());
  EXPECT_TRUE(data.is_public);
  EXPECT_EQ(data.digest.size(), 64U);
  settings.seed = 2;
  EXPECT_NE(open_dataset(settings, 3, 1, 2).digest, data.digest);
}

TEST_F(Datasets, BadSettingsAreUsageErrors) {
  DataSettings settings;
  settings.batch = 0;
  EXPECT_THAT(usage(settings), HasSubstr("batch=0"));
  settings.batch = 1;
  settings.epochs = 0;
  EXPECT_THAT(usage(settings), HasSubstr("epochs=0"));
  settings.epochs = 2;
  EXPECT_THAT(usage(settings), HasSubstr("epochs=2 ('synthetic:drift' has no end)"));
  settings.epochs = 1;
  settings.source = "synthetic:drip";
  EXPECT_EQ(usage(settings), "unknown generator 'drip' (known: drift)");
  settings = file("x.csv", "1,2\n");
  settings.partition = "half";
  EXPECT_THAT(usage(settings), HasSubstr("unknown partition 'half'"));
}

}  // namespace
}  // namespace starling
