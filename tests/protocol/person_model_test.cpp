#include "protocol/person_model.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "model/linear_model.hpp"
#include "model/network/network_model.hpp"
#include "protocol/canary.hpp"
#include "support/testing.hpp"

namespace starling::person_model_test {

constexpr std::size_t features = 5;

Vector drawn_row(AddressedRandom& random, double size) {
  Vector row(features);
  for (double& x : row) x = size * (2 * random.uniform() - 1);
  return row;
}

/// Persons with so many records each, drawn; all records as well, without persons.
struct Drawn {
  explicit Drawn(const std::vector<std::size_t>& counts, std::uint64_t seed = 1, double size = 3) {
    AddressedRandom random(seed, Purpose::data, 0, 0);
    persons.clear();
    records.clear();
    for (const std::size_t count : counts) {
      persons.begin_person();
      for (std::size_t i = 0; i < count; ++i) {
        const Vector row = drawn_row(random, size);
        const double label = random.uniform() < 0.5 ? -1 : 1;
        persons.add({row, {}}, label);
        records.add({row, {}}, label);
      }
    }
  }
  Batch persons;
  Batch records;
};

/// Every kind of model, over the logistic loss.
std::vector<std::unique_ptr<Model>> models(const Loss& loss, const Loss& distance) {
  std::vector<std::unique_ptr<Model>> all;
  all.push_back(std::make_unique<LinearModel>(loss, features, true));
  all.push_back(std::make_unique<LocationModel>(distance, features));
  all.push_back(std::make_unique<NetworkModel<float>>(loss, perceptron({features, 4, 1})));
  all.push_back(std::make_unique<NetworkModel<double>>(loss, perceptron({features, 4, 1})));
  return all;
}

class PersonModels : public testing::Test {
 protected:
  template <class Use>
  void with_each(const Use& use) {
    for (const auto& model : models(*loss_, *distance_)) {
      const Vector start = model->initial(3).value_or(Vector(model->dimension(), 0.1));
      for (const Clip clip : {Clip{ClipKind::l1, 0.5}, Clip{ClipKind::l2, 0.25}, Clip{ClipKind::none, 1}}) {
        use(*model, start, clip);
      }
    }
  }
  std::unique_ptr<Loss> loss_ = loss_table().make("logistic");
  std::unique_ptr<Loss> distance_ = loss_table().make("squared");
};

double norm_of(const Vector& v, ClipKind kind) {
  return kind == ClipKind::l1 ? norm1(v) : std::sqrt(dot(v, v));
}

TEST_F(PersonModels, PersonsOfOneRecordAreRecords) {
  const Drawn drawn(std::vector<std::size_t>(300, 1));
  with_each([&](Model& model, const Vector& x, const Clip& clip) {
    PersonModel persons(model, PersonModel::Weighing::mean);
    Vector own;
    Vector expected;
    const Score score = persons.evaluate(x, drawn.persons, clip, own);
    const Score of_records = model.evaluate(x, drawn.records, clip, expected);
    EXPECT_EQ(own, expected);
    EXPECT_EQ(score.loss, of_records.loss);
    EXPECT_EQ(score.records, of_records.records);
  });
}

/// The gradient of a person is clip(mean) or clip(sum), computed here from unclipped gradients of single records.
TEST_F(PersonModels, MeanAndSumAreClippedAsAWhole) {
  const Drawn drawn({13});
  for (const auto weighing : {PersonModel::Weighing::mean, PersonModel::Weighing::sum}) {
    with_each([&](Model& model, const Vector& x, const Clip& clip) {
      PersonModel persons(model, weighing);
      Vector own;
      const Score score = persons.evaluate(x, drawn.persons, clip, own);
      EXPECT_EQ(score.records, 13);
      Vector sum(model.dimension());
      for (std::size_t i = 0; i < drawn.records.size(); ++i) {
        Batch one;
        one.show(drawn.records, i, 1);
        Vector gradient;
        static_cast<void>(model.evaluate(x, one, {ClipKind::none, 1}, gradient));
        axpy(weighing == PersonModel::Weighing::mean ? 1.0 / 13 : 1.0, gradient, sum);
      }
      const double norm = norm_of(sum, clip.kind);
      const double bound = clip.bound * (1 - model.summing().margin);
      const double factor = clip.kind == ClipKind::none || norm <= bound ? 1 : bound / norm;
      for (std::size_t j = 0; j < sum.size(); ++j) EXPECT_NEAR(own[j], factor * sum[j], 1e-5 * (1 + std::abs(sum[j])));
    });
  }
}

/// One person among 200 has 13 records, or one: the sums differ by at most twice the clip.
TEST_F(PersonModels, OnePersonMovesTheSumByTwiceTheClip) {
  std::vector<std::size_t> counts(200, 1);
  counts[7] = 4;
  counts[150] = 0;
  const Drawn few(counts, 1, 50);
  double most = 0;  // in clips
  for (const std::size_t place : {std::size_t{0}, std::size_t{90}, std::size_t{199}}) {
    for (const double scale : {-50.0, 1.0}) {
      Batch other;
      other.clear();
      AddressedRandom random(9, Purpose::data, 0, place);
      for (std::size_t k = 0; k < few.persons.units(); ++k) {
        other.begin_person();
        const Batch::Range own = few.persons.person(k);
        for (std::size_t i = own.first; k != place && i < own.first + own.count; ++i) {
          other.add(few.persons.row(i), few.persons.label(i));
        }
        for (int i = 0; k == place && i < 13; ++i) {
          Vector row(few.persons.row(own.first).values.begin(), few.persons.row(own.first).values.end());
          for (double& entry : row) entry *= scale;
          other.add({row, {}}, i % 3 == 0 ? -1 : 1);
        }
      }
      with_each([&](Model& model, const Vector& x, const Clip& clip) {
        if (clip.kind == ClipKind::none) return;
        PersonModel persons(model, PersonModel::Weighing::sum);
        Vector one;
        Vector two;
        static_cast<void>(persons.evaluate(x, few.persons, clip, one));
        static_cast<void>(persons.evaluate(x, other, clip, two));
        axpy(-1, one, two);
        most = std::max(most, norm_of(two, clip.kind) / clip.bound);
        EXPECT_LE(norm_of(two, clip.kind), 2 * clip.bound * (1 + 0x1p-30));
      });
    }
  }
  EXPECT_GT(most, 1.8);
}

TEST_F(PersonModels, RecordsOutOfRangeAndPersonsWithoutRecordsAddNothing) {
  const Vector row{1, -1, 0.5, 0, 2};
  const Vector huge(features, 1e300);
  Batch batch;
  batch.clear();
  batch.begin_person();
  batch.begin_person();
  batch.add({row, {}}, 1);
  batch.add({huge, {}}, 1);
  batch.begin_person();
  batch.add({huge, {}}, -1);
  batch.add({huge, {}}, 1);
  Batch alone;
  alone.clear();
  alone.add({row, {}}, 1);
  LinearModel model(*loss_, features, false);
  PersonModel persons(model, PersonModel::Weighing::mean);
  Vector gradient;
  Vector expected;
  const Vector x(features, 0.0);
  const Clip clip{ClipKind::l2, 100};
  const Score score = persons.evaluate(x, batch, clip, gradient);
  static_cast<void>(model.evaluate(x, alone, clip, expected));
  EXPECT_EQ(gradient, expected);
  EXPECT_EQ(score.records, 1);
  EXPECT_EQ(score.out_of_range, 3);
}

TEST_F(PersonModels, ACanaryTakesThePlaceOfAPerson) {
  Drawn drawn({13, 1, 2});
  LinearModel model(*loss_, features, false);
  PersonModel persons(model, PersonModel::Weighing::mean);
  CanaryLog log;
  CanaryModel canary(persons, 0, NoiseKey::from_seed(1, 0), log);
  const Clip clip{ClipKind::l2, 0.5};
  Batch others;
  others.show_persons(drawn.persons, 1, 2);
  Vector gradient;
  Vector expected;
  const Vector x(features, 0.2);
  EXPECT_EQ(canary.evaluate(x, drawn.persons, clip, gradient).records, 16);
  static_cast<void>(persons.evaluate(x, others, clip, expected));
  expected[0] += 0.5 * log.signs.at(0);
  EXPECT_EQ(gradient, expected);
}

}  // namespace starling::person_model_test
