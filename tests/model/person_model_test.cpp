/// Persons with several records, whose gradients are clipped together.
#include "starling/model/person_model.hpp"

#include <cmath>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "starling/core/numerics/kernels.hpp"
#include "starling/loss/loss.hpp"
#include "starling/model/network/network_model.hpp"

namespace starling {
namespace {

constexpr std::size_t features = 4;

struct Records {
  std::vector<Vector> x;
  Vector y;
};

Records some_records(std::size_t count, unsigned seed, double size = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, size);
  Records records;
  for (std::size_t i = 0; i < count; ++i) {
    Vector row(features);
    for (double& value : row) value = normal(random);
    records.y.push_back(row[0] > 0 ? 1 : -1);
    records.x.push_back(std::move(row));
  }
  return records;
}

/// Persons with so many of the records each, in order.
Batch grouped(const Records& records, const std::vector<std::size_t>& sizes) {
  Batch batch;
  std::size_t next = 0;
  for (const std::size_t size : sizes) {
    for (std::size_t i = 0; i < size; ++i, ++next) batch.add({records.x[next], {}}, records.y[next]);
    batch.end_unit();
  }
  return batch;
}

Batch plain(const Records& records) {
  Batch batch;
  for (std::size_t i = 0; i < records.x.size(); ++i) batch.add({records.x[i], {}}, records.y[i]);
  return batch;
}

class PersonModelTest : public testing::Test {
 protected:
  PersonModel persons(PersonGradient of = PersonGradient::mean) const {
    return {std::make_unique<LinearModel>(*loss_, features, true), of};
  }

  std::unique_ptr<Loss> loss_ = loss_table().make("logistic");
  LinearModel records_{*loss_, features, true};
  Vector point_ = Vector(features + 1, 0.25);
};

TEST_F(PersonModelTest, OneRecordEachHasTheBitsOfRecords) {
  const Records records = some_records(40, 1);
  for (const Clip clip : {Clip{}, Clip{ClipKind::l1, 0.3}, Clip{ClipKind::l2, 0.3}}) {
    Vector by_records;
    Vector by_persons;
    const Score a = records_.evaluate(point_, plain(records), clip, by_records);
    const Score b = persons().evaluate(point_, grouped(records, std::vector<std::size_t>(40, 1)), clip, by_persons);
    EXPECT_EQ(by_records, by_persons);
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.correct, b.correct);
  }
}

TEST_F(PersonModelTest, ClipsTheMeanOfAPersonsRecords) {
  const Records records = some_records(3, 2);
  Vector sum;
  static_cast<void>(records_.evaluate(point_, plain(records), Clip{}, sum));
  scale(1.0 / 3, sum);
  const double norm = norm2(sum);
  Vector found;
  static_cast<void>(persons().evaluate(point_, grouped(records, {3}), {ClipKind::l2, norm / 2}, found));
  for (std::size_t j = 0; j < sum.size(); ++j) EXPECT_NEAR(found[j], sum[j] / 2, 1e-15);
  static_cast<void>(persons().evaluate(point_, grouped(records, {3}), {ClipKind::l2, 2 * norm}, found));
  for (std::size_t j = 0; j < sum.size(); ++j) EXPECT_NEAR(found[j], sum[j], 1e-15);
  static_cast<void>(
      persons(PersonGradient::sum).evaluate(point_, grouped(records, {3}), {ClipKind::l2, 2 * norm}, found));
  for (std::size_t j = 0; j < sum.size(); ++j) EXPECT_NEAR(found[j], 2 * sum[j], 1e-15);
}

// One person with 13 records against the same person with one, others the same: at most twice the clip.
TEST_F(PersonModelTest, APersonMovesTheSumByTwiceTheClipAtMost) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Records others = some_records(6, 10 + seed, 5);
    for (const Clip clip : {Clip{ClipKind::l1, 0.5}, Clip{ClipKind::l2, 0.5}}) {
      for (const PersonGradient of : {PersonGradient::mean, PersonGradient::sum}) {
        Vector sums[2];
        for (const std::size_t own : {std::size_t{0}, std::size_t{1}}) {
          Records all = others;
          const Records more = some_records(own == 0 ? 13 : 1, 100 + 2 * seed + static_cast<unsigned>(own), 20);
          all.x.insert(all.x.end(), more.x.begin(), more.x.end());
          all.y.insert(all.y.end(), more.y.begin(), more.y.end());
          static_cast<void>(persons(of).evaluate(point_, grouped(all, {3, 0, 1, 2, more.x.size()}), clip, sums[own]));
        }
        axpy(-1, sums[1], sums[0]);
        const double moved = clip.kind == ClipKind::l1 ? norm1(sums[0]) : norm2(sums[0]);
        EXPECT_LE(moved, 2 * clip.bound * (1 + 1e-14));
      }
    }
  }
}

TEST_F(PersonModelTest, LeavesOutRecordsAndPersonsOutOfRange) {
  Records records = some_records(4, 3);
  records.x[1][0] = 1e308;
  records.x[1][1] = 1e308;
  Records usable = some_records(4, 3);
  usable.x.erase(usable.x.begin() + 1);
  usable.y.erase(usable.y.begin() + 1);
  Vector found;
  const Score score = persons().evaluate(point_, grouped(records, {2, 2}), {ClipKind::l2, 0.5}, found);
  EXPECT_GE(score.out_of_range, 1);
  EXPECT_EQ(score.records + score.out_of_range, 4);
  for (const double entry : found) EXPECT_TRUE(std::isfinite(entry));
  EXPECT_LE(norm2(found), 1.0 + 1e-14);
}

TEST_F(PersonModelTest, GroupsTheRecordsOfNetworksToo) {
  const auto softmax = loss_table().make("softmax:2");
  PersonModel model(std::make_unique<NetworkModel<float>>(*softmax, perceptron({features, 3, 2})),
                    PersonGradient::mean);
  const Vector start = *model.initial(5);
  Records records = some_records(13, 4, 10);
  for (double& label : records.y) label = label > 0 ? 1 : 0;
  Vector found;
  static_cast<void>(model.evaluate(start, grouped(records, {12, 1}), {ClipKind::l2, 0.01}, found));
  EXPECT_LE(norm2(found), 0.02 * (1 + 1e-12));
  EXPECT_GT(norm2(found), 0);
}

TEST(BatchUnits, AreShownByAView) {
  const Records records = some_records(6, 5);
  const Batch store = grouped(records, {2, 0, 3, 1});
  Batch view;
  view.show_units(store, 1, 3);
  EXPECT_EQ(view.units(), 3U);
  EXPECT_EQ(view.size(), 4U);
  EXPECT_EQ(view.unit_size(0), 0U);
  EXPECT_EQ(view.unit_size(1), 3U);
  EXPECT_EQ(view.row(0).values[0], records.x[2][0]);
  Batch one;
  one.show_unit(view, 2);
  EXPECT_EQ(one.size(), 1U);
  EXPECT_FALSE(one.grouped());
  EXPECT_EQ(one.row(0).values[0], records.x[5][0]);
  view.show_units(store, 4, 0);
  EXPECT_TRUE(view.empty());
  EXPECT_EQ(view.units(), 0U);
}

}  // namespace
}  // namespace starling
