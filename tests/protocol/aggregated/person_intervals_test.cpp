// Coverage of random-scaling intervals where a slot is a person (docs/methods/inference.md, "Persons").
#include <algorithm>
#include <numeric>

#include "privacy/mechanism.hpp"
#include "protocol/aggregated/ldp_sgd.hpp"
#include "protocol/person_model.hpp"
#include "protocol/regression.hpp"
#include "support/testing.hpp"

namespace starling::person_intervals_test {

using namespace testing_support;

constexpr std::size_t persons = 1500;
constexpr std::size_t most_records = 10;
constexpr int replications = 300;
const Vector truth{1.0, -0.5};  // slope, intercept

/// A person's part of a regression: records with a common part in feature and error, so that they are alike.
Batch person_of(AddressedRandom& random) {
  Batch batch;
  batch.clear();
  batch.begin_person();
  const std::size_t count = 1 + random.below(most_records);
  const double common_feature = random.normal();
  const double common_error = random.normal();
  for (std::size_t i = 0; i < count; ++i) {
    const double x = 0.8 * common_feature + 0.6 * random.normal();
    const double error = 0.5 * (0.8 * common_error + 0.6 * random.normal());
    batch.add({Vector{x}, {}}, truth[0] * x + truth[1] + error);
  }
  return batch;
}

/// The records of all persons, one a batch, in random order.
Batches scattered(const Batches& all, AddressedRandom& random) {
  Batches records;
  for (const Batch& person : all) {
    for (std::size_t i = 0; i < person.size(); ++i) {
      Batch one;
      one.clear();
      one.add(person.row(i), person.label(i));
      records.push_back(std::move(one));
    }
  }
  for (std::size_t i = records.size(); i > 1; --i) std::swap(records[i - 1], records[random.below(i)]);
  return records;
}

/// Whether the 95 % intervals of slope and intercept hold the truth, after one pass over these batches of one slot.
std::array<int, 2> covers(const Batches& batches, const std::string& mechanism, double mu) {
  const auto loss = make_curved_loss("huber:1.345");
  MallowsModel model(*loss, 1, true, RowWeights::mallows);
  PersonModel learned(model, PersonModel::Weighing::mean);
  const auto steps = static_cast<Round>(batches.size());
  ReleaseSettings release = release_of(mechanism, model, 1, PriceRange::of(mu));
  release.unit = PrivacyUnit::person;
  const auto made = mechanism_table().make(mechanism, release);
  RegressionRank rank(world(), {batches}, learned, *made, steps, 1, fmt::format("{}", mu));
  LdpSgdSettings settings;
  settings.steps = steps;
  settings.step = 2;  // so that a path forgets its beginning some hundred times over
  LdpSgd sgd(rank.root, *rank.clients, settings, declare_public(truth), *made, nullptr, mu);
  PathScaling seen(2);
  sgd.run({&seen});
  const Spread spread = seen.scaling.spread();
  const double z = random_scaling_quantile(0.95);
  std::array<int, 2> result{};
  for (std::size_t j = 0; j < 2; ++j) {
    result[j] = std::abs(spread.estimate[j] - truth[j]) <= z * spread.spread[j] ? 1 : 0;
  }
  return result;
}

// 300 replications of a method that covers 95 % have a standard error of 1.26 points: for one seed in 800 a right
// method would cover less than 91 % of either coefficient, or more than 99 %. The seed is fixed. Records that pass for
// independent cover far less: a person's 5.5 records on average tell hardly more than two.
TEST(PersonIntervals, CoverWherePersonsAreIndependentAndTheirRecordsAreNot) {
  std::array<int, 2> by_person{};
  std::array<int, 2> with_noise{};
  std::array<int, 2> by_record{};
  const auto count = [](std::array<int, 2>& total, const std::array<int, 2>& more) {
    for (std::size_t j = 0; j < 2; ++j) total[j] += more[j];
  };
  for (int r = 0; r < replications; ++r) {
    AddressedRandom random(77, Purpose::data, 0, static_cast<std::uint64_t>(r));
    Batches all;
    for (std::size_t i = 0; i < persons; ++i) all.push_back(person_of(random));
    count(by_person, covers(all, "none", 1));
    count(with_noise, covers(all, "gaussian", 40));
    count(by_record, covers(scattered(all, random), "none", 1));
  }
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_GE(by_person[j], 0.91 * replications) << j;
    EXPECT_LE(by_person[j], 0.99 * replications) << j;
    EXPECT_GE(with_noise[j], 0.91 * replications) << j;
    EXPECT_LE(with_noise[j], 0.99 * replications) << j;
    EXPECT_LE(by_record[j], 0.85 * replications) << j;
  }
}

}  // namespace starling::person_intervals_test
