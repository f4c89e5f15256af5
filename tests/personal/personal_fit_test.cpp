// Personal models: what a client's own records choose, and that the model chosen solves its problem.
#include "personal/personal_fit.hpp"

#include <cmath>
#include <memory>

#include "core/random.hpp"
#include "model/linear_model.hpp"
#include "support/testing.hpp"

namespace starling::personal_fit_test {

constexpr std::size_t features = 4;

/// Records of a logistic model, the last column 1 in place of an intercept.
Batch records_of(const Vector& theta, std::size_t count, std::uint64_t seed, double unit = 1) {
  AddressedRandom random(seed, Purpose::experiment, 0, 0);
  Batch batch;
  batch.clear();
  for (std::size_t i = 0; i < count; ++i) {
    Vector row(features);
    double score = 0;
    for (std::size_t j = 0; j < features; ++j) {
      row[j] = random.normal();
      score += theta[j] * row[j];
    }
    const double label = random.uniform() < 1 / (1 + std::exp(-score)) ? 1 : -1;
    row[0] *= unit;
    batch.add({row, {}}, label);
  }
  return batch;
}

class PersonalFit : public testing::Test {
 protected:
  PersonalModel fit(const Batch& records, const Vector& common) {
    PersonalTerms terms;
    terms.common = common;
    return fit_personal(model_, records, terms);
  }
  double loss(const Vector& parameters, const Batch& records) {
    const Score score = model_.score(parameters, records);
    return score.loss / static_cast<double>(score.records);
  }

  std::unique_ptr<Loss> loss_ = loss_table().make("logistic");
  LinearModel model_{*loss_, features, false};
  const Vector truth_{1.5, -1, 0.5, 0};
  const Batch fresh_ = records_of(truth_, 20000, 99);
};

TEST_F(PersonalFit, AGoodCommonModelStays) {
  for (const std::size_t count : {20u, 100u, 500u}) {
    const PersonalModel own = fit(records_of(truth_, count, count), truth_);
    EXPECT_NE(own.centre, PersonalCentre::alone) << count;
    EXPECT_NEAR(loss(own.parameters, fresh_), loss(truth_, fresh_), 0.5 / count) << count;
  }
}

TEST_F(PersonalFit, FewRecordsChooseNothing) {
  const Vector common{9, 9, 9, 9};
  const PersonalModel own = fit(records_of(truth_, least_personal_records - 1, 1), common);
  EXPECT_EQ(own.centre, PersonalCentre::joint);
  EXPECT_EQ(own.parameters, common);
  EXPECT_EQ(own.held_out.joint.records, 0);
}

TEST_F(PersonalFit, ASpoiledCommonModelIsLeft) {
  const Vector spoiled{-20, 30, 10, -25};
  const Batch records = records_of(truth_, 500, 5);
  const PersonalModel own = fit(records, spoiled);
  EXPECT_EQ(own.centre, PersonalCentre::alone);
  EXPECT_LT(loss(own.parameters, fresh_), loss(truth_, fresh_) + 0.02);
  EXPECT_GT(loss(spoiled, fresh_), 1);
}

/// But for the weights of neighbouring penalties, which count a little.
TEST_F(PersonalFit, ItIsTheMinimumOfItsProblem) {
  const Batch records = records_of(truth_, 400, 8);
  const PersonalModel own = fit(records, {-20, 30, 10, -25});
  ASSERT_EQ(own.centre, PersonalCentre::alone);
  // The gradient of the mean loss and the penalty, by formula.
  Vector gradient(features);
  Vector squares(features);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const View x = records.row(i).values;
    double score = 0;
    for (std::size_t j = 0; j < features; ++j) score += own.parameters[j] * x[j];
    const double slope = -records.label(i) / (1 + std::exp(records.label(i) * score));
    for (std::size_t j = 0; j < features; ++j) {
      gradient[j] += slope * x[j] / 400;
      squares[j] += x[j] * x[j] / 400;
    }
  }
  for (std::size_t j = 0; j < features; ++j) {
    EXPECT_NEAR(gradient[j] + own.strength * squares[j] * own.parameters[j], 0, 3e-3) << j;
  }
}

/// The common model is right but for one feature, which counts the other way here: neither alone nor joint is best.
TEST_F(PersonalFit, AClientThatDiffersALittleIsBetterOffThanAloneOrJoint) {
  const Vector common{1.5, -1, 0.5, 2};
  double personal = 0;
  double joint = 0;
  double alone = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Batch records = records_of(truth_, 60, seed);
    personal += loss(fit(records, common).parameters, fresh_) / 20;
    joint += loss(common, fresh_) / 20;
    alone += loss(fit(records, {-20, 30, 10, -25}).parameters, fresh_) / 20;
  }
  EXPECT_LT(personal, joint - 0.1);
  EXPECT_LT(personal, alone + 0.03);
}

/// Clients of 33 records and 31 parameters, as a simulation with fixed seeds. A joint model may be good, spoiled by
/// noise, or that of clients with other shares of classes; a mean over clients is known to 0.5 points.
class FewRecords : public testing::Test {
 protected:
  static constexpr std::size_t width = 30;
  static constexpr std::size_t clients = 40;

  /// Features of 0 and 1. The last parameter is the intercept.
  static Batch drawn(const Vector& theta, std::size_t count, std::uint64_t seed) {
    AddressedRandom random(seed, Purpose::experiment, 3, 0);
    Batch batch;
    batch.clear();
    for (std::size_t i = 0; i < count; ++i) {
      Vector row(width);
      double score = theta[width];
      for (std::size_t j = 0; j < width; ++j) {
        row[j] = random.uniform() < 0.3 ? 1 : 0;
        score += theta[j] * row[j];
      }
      batch.add({row, {}}, random.uniform() < 1 / (1 + std::exp(-score)) ? 1 : -1);
    }
    return batch;
  }
  static Vector with_noise(Vector theta, double deviation) {
    AddressedRandom random(8, Purpose::experiment, 4, 0);
    for (double& x : theta) x += deviation * random.normal();
    return theta;
  }
  Vector truth(double intercept) const {
    Vector theta(width + 1, intercept);
    for (std::size_t j = 0; j < width; ++j) theta[j] = 2 * std::cos(1.7 * static_cast<double>(j));
    return theta;
  }
  PersonalModel fit(const Batch& records, const Vector& common, std::uint64_t client, double joining = 0) {
    PersonalTerms terms;
    terms.common = common;
    terms.intercept = true;
    terms.client = client;
    terms.joining = joining;
    return fit_personal(model_, records, terms);
  }
  struct Means {
    double accuracy = 0;  ///< in points
    double loss = 0;
  };
  void add(Means& means, const Vector& parameters, const Batch& fresh) {
    const Score score = model_.score(parameters, fresh);
    const auto each = static_cast<double>(score.records) * clients;
    means.accuracy += 100 * static_cast<double>(score.correct) / each;
    means.loss += score.loss / each;
  }

  std::unique_ptr<Loss> loss_ = loss_table().make("logistic");
  LinearModel model_{*loss_, width, true};
};

TEST_F(FewRecords, PersonalModelsAreHardlyWorseThanTheBetterOfAloneAndJoint) {
  struct Case {
    const char* name;
    double intercept;  ///< of the clients; that of the others is −2
    double deviation;  ///< of the joint model's noise
    double least;      ///< accuracy
  };
  // Alone clients have about 70 and, of other classes, 73; jointly 86, 76, 56 and 61.
  for (const Case& each : {Case{"good", -2, 0, 85}, Case{"noisy", -2, 1, 77}, Case{"spoiled", -2, 4, 70},
                           Case{"other classes", 2, 0, 84}}) {
    const Vector theirs = truth(each.intercept);
    const Vector common = with_noise(truth(-2), each.deviation);
    const Batch fresh = drawn(theirs, 4000, 1'000'000);
    Means alone, joint, personal;
    for (std::uint64_t u = 0; u < clients; ++u) {
      const Batch records = drawn(theirs, 33, u);
      add(alone, fit(records, Vector(width + 1), u).parameters, fresh);
      add(joint, common, fresh);
      add(personal, fit(records, common, u).parameters, fresh);
    }
    EXPECT_GT(personal.accuracy, each.least) << each.name << ": " << alone.accuracy << ", " << joint.accuracy;
    EXPECT_LT(personal.loss, std::min(alone.loss, joint.loss) + 0.05) << each.name;
  }
}

/// What is expected of joining helps where it is right, and costs little where clients differ from each other.
TEST_F(FewRecords, WhatIsExpectedOfJoiningCountsBesideRecords) {
  struct Case {
    double intercept;
    double deviation;
    double joining;
    double least;  ///< gain in accuracy by the expectation
  };
  for (const Case& each : {Case{-2, 0, 5, 0.1}, Case{-2, 4, -5, 0.1}, Case{2, 0, 5, -2}, Case{2, 0, -5, -12}}) {
    const Batch fresh = drawn(truth(each.intercept), 4000, 1'000'000);
    const Vector common = with_noise(truth(-2), each.deviation);
    Means without, with;
    for (std::uint64_t u = 0; u < clients; ++u) {
      const Batch records = drawn(truth(each.intercept), 33, u);
      add(without, fit(records, common, u).parameters, fresh);
      add(with, fit(records, common, u, each.joining).parameters, fresh);
    }
    EXPECT_GT(with.accuracy, without.accuracy + each.least)
        << each.intercept << ", " << each.joining << ": " << with.accuracy << ", " << without.accuracy;
  }
}

TEST_F(PersonalFit, UnitsOfAFeatureDoNotMatter) {
  constexpr double unit = 1e6;
  const Vector common{1, 0, 0, 0};
  const Vector in_units{1 / unit, 0, 0, 0};
  const PersonalModel own = fit(records_of(truth_, 200, 3), common);
  const PersonalModel scaled = fit(records_of(truth_, 200, 3, unit), in_units);
  EXPECT_EQ(own.centre, scaled.centre);
  EXPECT_EQ(own.strength, scaled.strength);
  EXPECT_NEAR(own.parameters[0], scaled.parameters[0] * unit, 0.05 * std::abs(own.parameters[0]));
}

/// Each person has one record ten times, with features of its own and a label by chance: who has a person's other
/// records predicts it, and nobody else can.
TEST_F(PersonalFit, PersonsStayTogether) {
  constexpr std::size_t persons = 40;
  LinearModel model(*loss_, persons, false);
  AddressedRandom random(4, Purpose::experiment, 0, 0);
  Batch together;
  together.clear();
  Batch apart;
  apart.clear();
  for (std::size_t k = 0; k < persons; ++k) {
    Vector row(persons);
    row[k] = 1;
    const double label = random.uniform() < 0.5 ? 1 : -1;
    together.begin_person();
    for (int i = 0; i < 10; ++i) {
      together.add({row, {}}, label);
      apart.add({row, {}}, label);
    }
  }
  PersonalTerms terms;
  const Vector common(persons);
  terms.common = common;
  EXPECT_EQ(fit_personal(model, together, terms).centre, PersonalCentre::joint);
  EXPECT_NE(fit_personal(model, apart, terms).centre, PersonalCentre::joint);
}

TEST_F(PersonalFit, ARecordOutOfRangeCountsForNothing) {
  const Vector spoiled{-20, 30, 10, -25};
  Batch records = records_of(truth_, 300, 21);
  const PersonalModel without = fit(records, spoiled);
  records.add({Vector{1e200, 0, 0, 0}, {}}, 1);
  const PersonalModel own = fit(records, spoiled);
  EXPECT_EQ(own.centre, without.centre);
  EXPECT_LT(loss(own.parameters, fresh_), loss(truth_, fresh_) + 0.03);
}

TEST_F(PersonalFit, HeldOutScoresAreOfRecordsThatTheModelsDoNotHave) {
  const PersonalModel own = fit(records_of(truth_, 1000, 6), {-20, 30, 10, -25});
  for (const Score& score : {own.held_out.alone, own.held_out.joint, own.held_out.personal}) {
    EXPECT_EQ(score.records, 200);
  }
  EXPECT_NEAR(own.held_out.personal.loss / 200, loss(own.parameters, fresh_), 0.06);
  EXPECT_GT(own.held_out.joint.loss, 2 * own.held_out.alone.loss);
}

TEST_F(PersonalFit, StoppingEarlyTakesThePlaceOfAPenalty) {
  const Vector spoiled{-20, 30, 10, -25};
  PersonalTerms terms;
  terms.common = spoiled;
  terms.convex = false;
  const PersonalModel own = fit_personal(model_, records_of(truth_, 500, 2), terms);
  EXPECT_EQ(own.centre, PersonalCentre::alone);
  EXPECT_LT(loss(own.parameters, fresh_), loss(truth_, fresh_) + 0.03);
}

TEST_F(PersonalFit, TheSameRecordsGiveTheSameBits) {
  const Vector common{1, 1, 0, 0};
  const Batch records = records_of(truth_, 150, 12);
  EXPECT_EQ(fit(records, common).parameters, fit(records, common).parameters);
}

}  // namespace starling::personal_fit_test
