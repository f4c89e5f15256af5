/// Exact moments and sizes of all clients' records: against sums over pooled records, on any number of ranks.
#include "run/tuning/releases/exact_moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <vector>

#include "core/numerics/kernels.hpp"
#include "regret/evaluated.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::exact_moments_test {

using namespace testing_support;

constexpr Client clients = 5;
constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

/// Records of client u: 1, 2, 0, 40 and 7 of them, with a mean that is far from 0 beside the deviation.
std::vector<Row1> records_of(Client u) {
  constexpr std::array<int, clients> counts{1, 2, 0, 40, 7};
  std::vector<Row1> records;
  for (int i = 0; i < counts[static_cast<std::size_t>(u)]; ++i) {
    const double x = 1e6 + u + 0.25 * i;
    records.push_back({{x, 3.0, -x * x * 1e-9}, 100.0 * u + i});
  }
  return records;
}

/// Streams of this rank's clients, in batches of three records.
std::vector<std::unique_ptr<Stream>> streams_here() {
  const Layout layout(clients, world().size());
  std::vector<std::unique_ptr<Stream>> streams;
  for (Client k = 0; k < layout.count(world().rank()); ++k) {
    streams.push_back(std::make_unique<ListStream>(records_of(layout.first(world().rank()) + k), 3));
  }
  return streams;
}

std::vector<Row1> pooled() {
  std::vector<Row1> all;
  for (Client u = 0; u < clients; ++u) std::ranges::copy(records_of(u), std::back_inserter(all));
  return all;
}

const MetricsPolicy shared(MetricsPolicy::Sharing::shared);

TEST(ExactMoments, AreThoseOfPooledRecords) {
  Agreement agreement(world());
  const std::vector<std::size_t> features{2, 0};
  const auto moments = client_moments(streams_here(), features);
  const auto found = moments_of_all(agreement, *shared.share(moments, SharedFigure::column_scales));
  ASSERT_EQ(found.size(), 3U);
  const std::vector<Row1> records = pooled();
  const auto value = [&](std::size_t column, const Row1& record) {
    return column < features.size() ? record.features[features[column]] : record.label;
  };
  for (std::size_t j = 0; j < found.size(); ++j) {
    double mean = 0;
    for (const Row1& each : records) mean += value(j, each) / static_cast<double>(records.size());
    double square = 0;
    for (const Row1& each : records) square += std::pow(value(j, each) - mean, 2) / static_cast<double>(records.size());
    EXPECT_NEAR(found[j].mean, mean, 1e-12 * std::abs(mean)) << j;
    EXPECT_NEAR(found[j].deviation, std::sqrt(square), 1e-6 * std::sqrt(square)) << j;
  }
}

TEST(ExactMoments, AColumnOfOneValueHasNoDeviation) {
  Agreement agreement(world());
  const auto moments = client_moments(streams_here(), {1});
  const auto found = moments_of_all(agreement, *shared.share(moments, SharedFigure::column_scales));
  EXPECT_EQ(found[0].mean, 3);
  EXPECT_EQ(found[0].deviation, 0);
}

TEST(ExactSizes, AreThoseOfPooledRecords) {
  Agreement agreement(world());
  const auto square_of = [](const Batch& batch, std::size_t i) {
    return dot(batch.row(i).values, batch.row(i).values) + 2;
  };
  const auto sizes = exact_sizes(agreement, streams_here(), square_of, most, shared);
  ASSERT_TRUE(sizes);
  double square = 0;
  double labels = 0;
  double largest = 0;
  const std::vector<Row1> records = pooled();
  for (const Row1& each : records) {
    const double own = dot(each.features, each.features) + 2;
    square += own / static_cast<double>(records.size());
    labels += each.label * each.label / static_cast<double>(records.size());
    largest = std::max(largest, own);
  }
  EXPECT_NEAR(sizes->norm, std::sqrt(square), 1e-9 * sizes->norm);
  EXPECT_NEAR(sizes->label, std::sqrt(labels), 1e-9 * sizes->label);
  EXPECT_EQ(sizes->largest, std::sqrt(largest));
  const Vector only = records_of(0).front().features;  // of the client with one record
  EXPECT_EQ(sizes->largest_share, std::sqrt(dot(only, only) + 2));
}

TEST(ExactSizes, StayWithTheirOwnersIfMetricsDo) {
  Agreement agreement(world());
  const auto one = [](const Batch&, std::size_t) { return 1.0; };
  EXPECT_FALSE(exact_sizes(agreement, streams_here(), one, most, MetricsPolicy(MetricsPolicy::Sharing::local)));
}

// Record 0 of each client does not count, so that record 1 is the first.
TEST(ExactSizes, OfTheFirstRecordsThatCount) {
  Agreement agreement(world());
  const auto square_of = [](const Batch& batch, std::size_t i) {
    const double x = batch.row(i).values[0];
    return x == std::floor(x) ? std::numeric_limits<double>::infinity() : x;
  };
  const auto sizes = exact_sizes(agreement, streams_here(), square_of, 1, shared);
  ASSERT_TRUE(sizes);
  const double mean = 1e6 + 0.25 + (1 + 3 + 4) / 3.0;
  EXPECT_NEAR(sizes->norm, std::sqrt(mean), 1e-9);
  EXPECT_EQ(sizes->largest, std::sqrt(1e6 + 4.25));
}

}  // namespace starling::exact_moments_test
