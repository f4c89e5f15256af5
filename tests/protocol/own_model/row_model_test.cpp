#include "protocol/own_model/row_model.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "core/record_error.hpp"
#include "model/linear_model.hpp"
#include "privacy/clip_rows.hpp"
#include "support/testing.hpp"

namespace starling::row_model_test {

using namespace testing_support;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr Clip unclipped{ClipKind::none, 1};

/// Logistic regression on labels ±1, with what a test changes.
class OwnLogistic : public OwnModel {
 public:
  using Change = std::function<void(const RecordTable&, MutableView losses, MutableView gradients)>;
  explicit OwnLogistic(Change change = nullptr) : change_(std::move(change)) {}

  std::size_t dimension(std::size_t features) override { return features; }
  std::optional<Vector> start(std::uint64_t /*seed*/, std::size_t /*dimension*/) override { return own_start; }
  bool gradients(View point, const RecordTable& records, MutableView losses, MutableView gradients,
                 MutableView predictions) override {
    most_rows = std::max(most_rows, records.rows);
    for (std::size_t i = 0; i < records.rows; ++i) {
      const View x(records.x + i * records.stride, records.features);
      const double score = dot(x, point);
      losses[i] = std::log1p(std::exp(-records.y[i] * score));
      const double slope = -records.y[i] / (1 + std::exp(records.y[i] * score));
      for (std::size_t j = 0; j < x.size(); ++j) gradients[i * x.size() + j] = slope * x[j];
    }
    if (change_) change_(records, losses, gradients);
    if (predicts_at_once && !predictions.empty()) predict(point, records, predictions);
    return predicts_at_once;
  }
  [[nodiscard]] bool predicts() const override { return true; }
  [[nodiscard]] bool classifies() const override { return true; }
  void predict(View point, const RecordTable& records, MutableView predictions) override {
    ++calls_of_predict;
    for (std::size_t i = 0; i < records.rows; ++i) {
      predictions[i] = dot(View(records.x + i * records.stride, records.features), point) > 0 ? 1 : -1;
    }
  }
  [[nodiscard]] std::optional<double> slope() const override { return std::nullopt; }
  [[nodiscard]] std::string identity() const override { return "logistic"; }

  std::optional<Vector> own_start;
  bool predicts_at_once = false;
  int calls_of_predict = 0;
  std::size_t most_rows = 0;

 private:
  Change change_;
};

/// Records with `features` features, drawn; sparse ones have every other feature.
Batch drawn(std::size_t records, std::size_t features, bool sparse = false) {
  AddressedRandom random(7, Purpose::data, 0, 0);
  Batch batch;
  batch.clear();
  std::vector<std::int32_t> index;
  for (std::size_t j = 0; j < features; j += 2) index.push_back(static_cast<std::int32_t>(j));
  for (std::size_t i = 0; i < records; ++i) {
    Vector row(sparse ? index.size() : features);
    for (double& x : row) x = 4 * random.uniform() - 2;
    batch.add(sparse ? Row{row, index} : Row{row, {}}, random.uniform() < 0.5 ? -1 : 1);
  }
  return batch;
}

struct Evaluated {
  Score score;
  Vector gradient;
};

Evaluated evaluated(Model& model, const Vector& x, const Batch& batch, const Clip& clip) {
  Evaluated result;
  result.score = model.evaluate(x, batch, clip, result.gradient);
  return result;
}

RowModel model_with(OwnLogistic::Change change, std::size_t features = 3) {
  return {std::make_shared<OwnLogistic>(std::move(change)), features};
}

// A linear model scales rows before it adds them, so roundings differ.
TEST(RowModel, EqualsTheBuiltInLogisticRegression) {
  const auto loss = loss_table().make("logistic");
  for (const bool sparse : {false, true}) {
    const Batch batch = drawn(50, 7, sparse);
    LinearModel linear(*loss, 7, false);
    RowModel own(std::make_shared<OwnLogistic>(), 7);
    const Vector x{0.1, -0.2, 0.3, 0, 0.5, 1, -1};
    for (const Clip clip : {Clip{ClipKind::l2, 0.3}, Clip{ClipKind::l1, 0.3}, Clip{ClipKind::component, 0.1},
                            Clip{ClipKind::l2, 100}, unclipped}) {
      const Evaluated a = evaluated(linear, x, batch, clip);
      const Evaluated b = evaluated(own, x, batch, clip);
      EXPECT_NEAR(a.score.loss, b.score.loss, 1e-12);
      EXPECT_EQ(a.score.correct, b.score.correct);
      EXPECT_EQ(b.score.records, 50);
      for (std::size_t j = 0; j < x.size(); ++j) EXPECT_NEAR(a.gradient[j], b.gradient[j], 1e-12);
    }
    EXPECT_NEAR(own.score(x, batch).loss, linear.score(x, batch).loss, 1e-12);
    EXPECT_EQ(own.score(x, batch).correct, linear.score(x, batch).correct);
  }
}

constexpr Clip clips[] = {{ClipKind::l2, 0.3}, {ClipKind::l1, 0.3}, {ClipKind::component, 0.1}, unclipped};

// 13 rows of 300 numbers are a block.
TEST(RowModel, AddsClippedRowsInTheOrderOfRecords) {
  constexpr std::size_t d = 300;
  const Batch batch = drawn(50, d);
  const Vector x(d, 0.01);
  OwnLogistic own;
  Vector losses(batch.size());
  for (const Clip clip : clips) {
    Vector rows(batch.size() * d);
    own.gradients(x, {batch.size(), d, batch.values_from(0), d, batch.labels().data()}, losses, rows, {});
    clip_rows(rows, d, clip);
    Vector sum(d, 0.0);
    for (std::size_t i = 0; i < batch.size(); ++i) axpy(1, View(rows).subspan(i * d, d), sum);
    RowModel model(std::make_shared<OwnLogistic>(), d);
    EXPECT_EQ(evaluated(model, x, batch, clip).gradient, sum);
  }
}

/// Keeps its rows.
class Keeping final : public OwnLogistic {
 public:
  using OwnLogistic::OwnLogistic;
  bool gradients(View point, const RecordTable& records, MutableView losses, MutableView gradients,
                 MutableView predictions) override {
    EXPECT_TRUE(gradients.empty());
    rows_.resize(records.rows * point.size());
    return OwnLogistic::gradients(point, records, losses, rows_, predictions);
  }
  [[nodiscard]] bool keeps_rows() const override { return true; }
  [[nodiscard]] View kept_rows() const override { return rows_; }

 private:
  Vector rows_;
};

TEST(RowModel, TakesRowsThatAreKept) {
  constexpr std::size_t d = 300;
  const OwnLogistic::Change faulty = [](const RecordTable&, MutableView losses, MutableView gradients) {
    losses[3] = nan_value;
    gradients[20 * d + 2] = nan_value;
  };
  for (const bool sparse : {false, true}) {
    const Batch batch = drawn(50, d, sparse);
    const Vector x(d, 0.01);
    for (const Clip clip : clips) {
      RowModel writing(std::make_shared<OwnLogistic>(faulty), d);
      RowModel keeping(std::make_shared<Keeping>(faulty), d);
      const Evaluated a = evaluated(writing, x, batch, clip);
      const Evaluated b = evaluated(keeping, x, batch, clip);
      EXPECT_EQ(a.gradient, b.gradient);
      EXPECT_EQ(a.score.loss, b.score.loss);
      EXPECT_EQ(a.score.correct, b.score.correct);
      EXPECT_EQ(b.score.records, 48);
      EXPECT_EQ(b.score.out_of_range, 2);
    }
  }
}

TEST(RowModel, LeavesOutRecordsThatAreNotFinite) {
  const Batch batch = drawn(4, 3);
  const Vector x{0, 0, 0};
  const Clip clip{ClipKind::l2, 1};
  RowModel honest = model_with(nullptr);
  Batch last;
  last.show(batch, 3, 1);
  const Vector of_last = evaluated(honest, x, last, clip).gradient;
  RowModel faulty = model_with([](const RecordTable&, MutableView losses, MutableView gradients) {
    losses[0] = nan_value;
    gradients[1 * 3 + 2] = std::numeric_limits<double>::infinity();
    gradients[2 * 3] = 1e200;
  });
  const Evaluated result = evaluated(faulty, x, batch, clip);
  EXPECT_EQ(result.score.out_of_range, 3);
  EXPECT_EQ(result.score.records, 1);
  EXPECT_EQ(result.gradient, of_last);
}

// Rows that are left as they were could be another client's.
TEST(RowModel, WhatIsNotWrittenIsOutOfRange) {
  bool writes = true;
  class Silent final : public OwnLogistic {
   public:
    explicit Silent(const bool& writes) : writes_(writes) {}
    bool gradients(View point, const RecordTable& records, MutableView losses, MutableView gradients,
                   MutableView predictions) override {
      return writes_ && OwnLogistic::gradients(point, records, losses, gradients, predictions);
    }

   private:
    const bool& writes_;
  };
  RowModel model(std::make_shared<Silent>(writes), 3);
  const Batch batch = drawn(4, 3);
  EXPECT_EQ(evaluated(model, {0, 0, 0}, batch, unclipped).score.records, 4);
  writes = false;
  const Evaluated silent = evaluated(model, {0, 0, 0}, batch, unclipped);
  EXPECT_EQ(silent.score.out_of_range, 4);
  EXPECT_EQ(silent.gradient, (Vector{0, 0, 0}));
}

// Nor are gradients of a call before it, whether they were added or out of range.
TEST(RowModel, GradientsThatAreNotWrittenAreOutOfRange) {
  class Forgetful final : public OwnLogistic {
   public:
    using OwnLogistic::OwnLogistic;
    bool gradients(View point, const RecordTable& records, MutableView losses, MutableView gradients,
                   MutableView predictions) override {
      const bool first = calls_++ == 0;
      Vector own(gradients.begin(), gradients.end());
      return OwnLogistic::gradients(point, records, losses, first ? gradients : MutableView(own), predictions);
    }

   private:
    int calls_ = 0;
  };
  RowModel model(std::make_shared<Forgetful>([](const RecordTable&, MutableView losses, MutableView gradients) {
                   losses[0] = nan_value;
                   gradients[1 * 3 + 2] = std::numeric_limits<double>::infinity();
                 }),
                 3);
  const Batch batch = drawn(4, 3);
  EXPECT_EQ(evaluated(model, {0, 0, 0}, batch, unclipped).score.records, 2);
  const Evaluated silent = evaluated(model, {0, 0, 0}, batch, unclipped);
  EXPECT_EQ(silent.score.out_of_range, 4);
  EXPECT_EQ(silent.gradient, (Vector{0, 0, 0}));
}

TEST(RowModel, NoticesWritingBeyondTheEnd) {
  RowModel rows = model_with(
      [](const RecordTable&, MutableView, MutableView gradients) { *(gradients.data() + gradients.size()) = 1; });
  RowModel losses =
      model_with([](const RecordTable&, MutableView losses, MutableView) { *(losses.data() + losses.size()) = 1; });
  const Batch batch = drawn(4, 3);
  EXPECT_ERROR(FailureError, "beyond the end of the gradients", evaluated(rows, {0, 0, 0}, batch, unclipped));
  EXPECT_ERROR(FailureError, "beyond the end of the losses", evaluated(losses, {0, 0, 0}, batch, unclipped));
}

TEST(RowModel, HidesThrownValuesThatAreNoExceptions) {
  RowModel whole = model_with([](const RecordTable&, MutableView, MutableView) { throw 93; });
  const Batch batch = drawn(4, 3);
  EXPECT_EQ(message_of<RecordError>([&] {
              evaluated(whole, {0, 0, 0}, batch, unclipped);
            }),
            "--model: the own model failed to give losses and gradients: what it has thrown is no exception.");
}

TEST(RowModel, StartsFromFiniteNumbers) {
  const auto own = std::make_shared<OwnLogistic>();
  for (const double wrong : {nan_value, std::numeric_limits<double>::infinity(), 1e101}) {
    own->own_start = Vector{0, wrong, 0};
    EXPECT_ERROR(UsageError, "not finite or beyond 1e+100", RowModel(own, 3).initial(1));
  }
}

TEST(RowModel, PredictsWithItsGradientsWhereItCan) {
  const auto own = std::make_shared<OwnLogistic>();
  RowModel model(own, 3);
  const Batch batch = drawn(9, 3);
  const Vector x{0.4, -0.2, 1};
  const Evaluated asked = evaluated(model, x, batch, unclipped);
  EXPECT_EQ(own->calls_of_predict, 1);
  own->predicts_at_once = true;
  const Evaluated at_once = evaluated(model, x, batch, unclipped);
  EXPECT_EQ(own->calls_of_predict, 2);  // by the gradients
  EXPECT_EQ(at_once.score.correct, asked.score.correct);
  EXPECT_EQ(at_once.gradient, asked.gradient);
  Vector predictions;
  model.predict(x, batch, predictions);
  std::int64_t correct = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) correct += predictions[i] == batch.label(i) ? 1 : 0;
  EXPECT_EQ(correct, asked.score.correct);
}

TEST(RowModel, ScoresWithoutGradientsWhereItCan) {
  class Lossy final : public OwnLogistic {
   public:
    bool losses(View /*point*/, const RecordTable& records, MutableView losses) override {
      for (std::size_t i = 0; i < records.rows; ++i) losses[i] = 2;
      return true;
    }
  };
  const auto own = std::make_shared<Lossy>();
  RowModel model(own, 3);
  const Batch batch = drawn(5, 3);
  const Score score = model.score(Vector{1, 0, 0}, batch);
  EXPECT_EQ(score.loss, 10);
  EXPECT_EQ(own->most_rows, 0U);  // no gradients
  EXPECT_EQ(score.correct, model_with(nullptr).score(Vector{1, 0, 0}, batch).correct);
}

TEST(RowModel, DoesNotShowLabelsToPredictions) {
  class Cheats final : public OwnLogistic {
   public:
    void predict(View /*point*/, const RecordTable& records, MutableView predictions) override {
      std::copy_n(records.y, records.rows, predictions.begin());
    }
  };
  RowModel model(std::make_shared<Cheats>(), 3);
  Vector predictions{5};
  model.predict(Vector{0, 0, 0}, drawn(4, 3), predictions);
  EXPECT_EQ(predictions, (Vector{0, 0, 0, 0}));
}

TEST(RowModel, KeepsFromOthersWhatAnErrorTells) {
  RowModel model = model_with(
      [](const RecordTable&, MutableView, MutableView) { throw std::runtime_error("age 93 has no gradient"); });
  const Batch batch = drawn(2, 3);
  try {
    evaluated(model, {0, 0, 0}, batch, unclipped);
    FAIL() << "no error";
  } catch (const RecordError& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("93")));
    EXPECT_THAT(error.shown(), HasSubstr("age 93 has no gradient"));
  }
}

TEST(RowModel, AsksInChunksOf64Megabytes) {
  const auto own = std::make_shared<OwnLogistic>();
  constexpr std::size_t features = 1 << 20;
  RowModel model(own, features);
  const Batch batch = drawn(11, features, true);
  EXPECT_EQ(evaluated(model, Vector(features, 0), batch, unclipped).score.records, 11);
  EXPECT_EQ(own->most_rows, 8U);
}

TEST(RowModel, StartsWhereTheOwnModelSays) {
  const auto own = std::make_shared<OwnLogistic>();
  const RowModel model(own, 2);
  EXPECT_EQ(model.initial(1), (Vector{0, 0}));
  own->own_start = Vector{1, 2};
  EXPECT_EQ(model.initial(1), (Vector{1, 2}));
  own->own_start = Vector{1};
  EXPECT_THROW(static_cast<void>(model.initial(1)), UsageError);
}

TEST(OfferedModel, IsKnownByItsNameWhileItLives) {
  const auto own = std::make_shared<OwnLogistic>();
  {
    const OfferedModel offered("mine", own);
    EXPECT_EQ(offered_model("mine"), own);
    EXPECT_THROW(OfferedModel("mine", own), UsageError);
  }
  EXPECT_THROW(static_cast<void>(offered_model("mine")), UsageError);
  EXPECT_THROW(OfferedModel("a b", own), UsageError);
}

}  // namespace starling::row_model_test
