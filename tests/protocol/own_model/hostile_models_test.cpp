// Own models whose gradients of a record depend on more than the parameters and the record: what the trial on public
// records refuses, what asking for each record by itself makes harmless, and what an audit by canaries sees.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "core/record_error.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/canary.hpp"
#include "protocol/own_model/lone_rows.hpp"
#include "protocol/own_model/row_check.hpp"
#include "protocol/own_model/row_model.hpp"
#include "support/testing.hpp"

namespace starling::hostile_models_test {

using namespace testing_support;

constexpr std::size_t d = 2;

/// Logistic regression, and what somebody does to its results.
class Hostile final : public OwnModel {
 public:
  using Harm = std::function<void(Hostile&, View point, const RecordTable&, MutableView losses, MutableView rows)>;
  explicit Hostile(Harm harm) : harm_(std::move(harm)) {}

  std::size_t dimension(std::size_t features) override { return features; }
  std::optional<Vector> start(std::uint64_t /*seed*/, std::size_t /*dimension*/) override { return std::nullopt; }
  bool gradients(View point, const RecordTable& records, MutableView losses, MutableView rows,
                 MutableView /*predictions*/) override {
    ++calls;
    logistic(point, records, losses, rows);
    if (harm_) harm_(*this, point, records, losses, rows);
    return false;
  }
  static void logistic(View point, const RecordTable& records, MutableView losses, MutableView rows) {
    for (std::size_t i = 0; i < records.rows; ++i) {
      const View x(records.x + i * records.stride, records.features);
      const double margin = records.y[i] * dot(x, point);
      losses[i] = std::log1p(std::exp(-margin));
      for (std::size_t j = 0; j < d; ++j) rows[i * d + j] = -records.y[i] / (1 + std::exp(margin)) * x[j];
    }
  }
  [[nodiscard]] bool predicts() const override { return classifies_; }
  [[nodiscard]] bool classifies() const override { return classifies_; }
  void predict(View /*point*/, const RecordTable& /*records*/, MutableView /*predictions*/) override {
    throw std::runtime_error("it cannot");
  }
  [[nodiscard]] std::optional<double> slope() const override { return std::nullopt; }
  [[nodiscard]] std::string identity() const override { return "hostile"; }

  int calls = 0;
  Vector kept = Vector(d, 0.0);
  int spoiled = 0;  ///< calls that are still spoiled
  bool classifies_ = false;

 private:
  Harm harm_;
};

View row_of(View rows, std::size_t i) {
  return rows.subspan(i * d, d);
}

bool is_special(const RecordTable& records, std::size_t i) {
  return std::abs(records.x[i * records.stride]) > 500;
}

void subtract_mean(Hostile&, View, const RecordTable& records, MutableView, MutableView rows) {
  Vector mean(d, 0.0);
  for (std::size_t i = 0; i < records.rows; ++i) axpy(1 / static_cast<double>(records.rows), row_of(rows, i), mean);
  for (std::size_t i = 0; i < records.rows; ++i) axpy(-1, mean, rows.subspan(i * d, d));
}

void keep_state(Hostile& own, View, const RecordTable& records, MutableView, MutableView rows) {
  for (std::size_t i = 0; i < records.rows; ++i) {
    axpy(0.9, own.kept, rows.subspan(i * d, d));
    std::ranges::copy(row_of(rows, i), own.kept.begin());
  }
}

void add_up_in_order(Hostile&, View, const RecordTable& records, MutableView, MutableView rows) {
  for (std::size_t i = 1; i < records.rows; ++i) axpy(1, row_of(rows, i - 1), rows.subspan(i * d, d));
}

void divide_by_count(Hostile&, View, const RecordTable& records, MutableView, MutableView rows) {
  for (double& x : rows) x /= static_cast<double>(records.rows);
}

void count_calls(Hostile& own, View, const RecordTable&, MutableView, MutableView rows) {
  if (own.calls % 2 == 0) scale(-1, rows);
}

void throw_on_special(Hostile&, View, const RecordTable& records, MutableView, MutableView) {
  for (std::size_t i = 0; i < records.rows; ++i) {
    if (is_special(records, i)) throw std::runtime_error("there is a special record");
  }
}

void write_nan_on_special(Hostile&, View, const RecordTable& records, MutableView losses, MutableView rows) {
  for (std::size_t i = 0; i < records.rows; ++i) {
    if (!is_special(records, i)) continue;
    losses[i] = std::nan("");
    rows[i * d] = HUGE_VAL;
  }
}

void write_into_inputs(Hostile&, View point, const RecordTable& records, MutableView losses, MutableView rows) {
  auto* x = const_cast<double*>(records.x);
  for (std::size_t i = 1; i < records.rows; ++i) x[i * records.stride] = x[0];
  const_cast<double&>(point[0]) += x[0];
  Hostile::logistic(Vector(d, 0.0), records, losses, rows);
}

void repeat_special(Hostile&, View, const RecordTable& records, MutableView, MutableView rows) {
  for (std::size_t i = 0; i < records.rows; ++i) {
    if (!is_special(records, i)) continue;
    const Vector special(row_of(rows, i).begin(), row_of(rows, i).end());
    for (std::size_t k = 0; k < records.rows; ++k) std::ranges::copy(special, rows.subspan(k * d, d).begin());
  }
}

void keep_special(Hostile& own, View, const RecordTable& records, MutableView, MutableView rows) {
  for (std::size_t i = 0; i < records.rows; ++i) {
    if (is_special(records, i)) {
      own.kept.assign(row_of(rows, i).begin(), row_of(rows, i).end());
      own.spoiled = 7;
    } else if (own.spoiled-- > 0) {
      std::ranges::copy(own.kept, rows.subspan(i * d, d).begin());
    }
  }
}

enum class Seen { refuted, not_refuted, ended };

/// The audit of 1,000 releases of eight records each, at epsilon 1.
Seen audited(Model& model) {
  CanaryLog log;
  CanaryModel canary(model, 0, NoiseKey::from_seed(1, 0), log);
  const ReleaseSettings settings{.price = PriceRange::of(1), .batch = 8, .dimension = d, .run_id = "test"};
  const auto laplace = mechanism_table().make("laplace", settings);
  CanaryMechanism mechanism(*laplace, 0, log);
  const NoiseKey key = NoiseKey::from_seed(2, 0);
  Batch batch;
  batch.clear();
  const Vector row{0.01, 0.02};
  for (std::size_t i = 0; i < settings.batch; ++i) batch.add({row, {}}, i % 2 == 0 ? 1 : -1);
  Released<Vector> noisy(declare_public(Vector()));
  Vector sum;
  try {
    for (Round t = 0; t < 1000; ++t) {
      static_cast<void>(canary.evaluate(Vector(d, 0.0), batch, mechanism.clip(), sum));
      mechanism.release({ReleasePath::by_itself, 0, t, 0}, 1, key, Secret<Vector>(sum), noisy);
    }
  } catch (const RecordError&) {
    return Seen::ended;
  }
  return one_run_audit(log, laplace->charge(1), 1e-5).refuted ? Seen::refuted : Seen::not_refuted;
}

struct Kind {
  const char* name;
  Hostile::Harm harm;
  const char* refusal;  ///< of the trial on public records; empty if it passes
  Seen together;        ///< by an audit, if the records of a batch were asked for together
  Seen alone;           ///< by an audit of what a run does
};

// One of the ten ends the process (below).
const Kind kinds[] = {
    {"honest", nullptr, "", Seen::not_refuted, Seen::not_refuted},
    {"batch mean subtracted", subtract_mean, "among other records", Seen::refuted, Seen::not_refuted},
    {"state between calls", keep_state, "when it is asked again", Seen::refuted, Seen::refuted},
    {"order of records", add_up_in_order, "among other records", Seen::refuted, Seen::not_refuted},
    {"number of records", divide_by_count, "among other records", Seen::not_refuted, Seen::not_refuted},
    {"number of calls", count_calls, "when it is asked again", Seen::not_refuted, Seen::not_refuted},
    {"throws on one record", throw_on_special, "", Seen::ended, Seen::not_refuted},
    {"NaN for one record", write_nan_on_special, "", Seen::not_refuted, Seen::not_refuted},
    {"writes into its inputs", write_into_inputs, "writes into the records", Seen::refuted, Seen::not_refuted},
    {"another record, rarely", repeat_special, "", Seen::refuted, Seen::not_refuted},
    {"state, rarely", keep_special, "", Seen::refuted, Seen::refuted},
};

TEST(HostileModels, AreRefusedHarmlessOrSeenByTheAudit) {
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.name);
    const auto own = [&] { return std::make_shared<Hostile>(kind.harm); };
    if (*kind.refusal == '\0') {
      EXPECT_NO_THROW(require_independent_rows(own(), d, 1));
    } else {
      EXPECT_ERROR(UsageError, kind.refusal, require_independent_rows(own(), d, 1));
    }
    RowModel together(own(), d);
    RowModel alone(std::make_shared<LoneRows>(own(), [](const Secret<std::string>&) {}), d);
    EXPECT_EQ(audited(together), kind.together);
    EXPECT_EQ(audited(alone), kind.alone);
  }
}

TEST(HostileModels, EndTheProcessBeforePrivateRecords) {
  const auto own =
      std::make_shared<Hostile>([](Hostile&, View, const RecordTable&, MutableView, MutableView) { std::exit(3); });
  EXPECT_EXIT(require_independent_rows(own, d, 1), testing::ExitedWithCode(3), "");
}

TEST(RowCheck, TakesModelsThatAreNotExact) {
  const auto rounded = [](Hostile&, View, const RecordTable& records, MutableView, MutableView rows) {
    scale(1 + 1e-6 * static_cast<double>(records.rows), rows);
  };
  EXPECT_NO_THROW(require_independent_rows(std::make_shared<Hostile>(rounded), d, 1));
  const auto refuses_a_label = [](Hostile&, View, const RecordTable& records, MutableView, MutableView) {
    for (std::size_t i = 0; i < records.rows; ++i) check<DataError>(records.y[i] >= 0, "label {}", records.y[i]);
  };
  EXPECT_NO_THROW(require_independent_rows(std::make_shared<Hostile>(refuses_a_label), d, 1));
}

TEST(RowCheck, RefusesModelsThatFailOnEachRecord) {
  const auto fails = [](Hostile&, View, const RecordTable&, MutableView, MutableView) {
    throw std::runtime_error("it needs a licence");
  };
  EXPECT_ERROR(UsageError, "fails on each of 25 public random records: it needs a licence",
               require_independent_rows(std::make_shared<Hostile>(fails), d, 1));
  const auto silent = std::make_shared<Hostile>(nullptr);
  silent->classifies_ = true;
  EXPECT_ERROR(UsageError, "fails on each of 25 public random records: it cannot",
               require_independent_rows(silent, d, 1));
  const auto only_alone = [](Hostile&, View, const RecordTable& records, MutableView, MutableView) {
    check<DataError>(records.rows == 1, "{} records", records.rows);
  };
  EXPECT_ERROR(UsageError, "together that it takes one by one: 25 records",
               require_independent_rows(std::make_shared<Hostile>(only_alone), d, 1));
}

Batch drawn_records(std::size_t records) {
  Batch batch;
  batch.clear();
  for (std::size_t i = 0; i < records; ++i) {
    const Vector row{std::sin(static_cast<double>(i)), std::cos(static_cast<double>(3 * i))};
    batch.add({row, {}}, i % 3 == 0 ? 1 : -1);
  }
  return batch;
}

TEST(LoneRows, HaveTheBitsOfRowsTogether) {
  const Batch batch = drawn_records(50);
  const Vector x{0.3, -0.2};
  RowModel together(std::make_shared<Hostile>(nullptr), d);
  RowModel alone(std::make_shared<LoneRows>(std::make_shared<Hostile>(nullptr), nullptr), d);
  for (const Clip clip : {Clip{ClipKind::l2, 0.3}, Clip{ClipKind::l1, 0.3}, Clip{ClipKind::component, 0.1}}) {
    Vector a;
    Vector b;
    const Score score = together.evaluate(x, batch, clip, a);
    EXPECT_EQ(alone.evaluate(x, batch, clip, b).loss, score.loss);
    EXPECT_EQ(a, b);
  }
  EXPECT_EQ(alone.score(x, batch).loss, together.score(x, batch).loss);
}

// Whether it throws, writes beyond the end or has thrown no exception.
TEST(LoneRows, CountARecordThatFailsAsZero) {
  const Batch batch = drawn_records(7);
  Batch others;
  others.clear();
  for (std::size_t i = 0; i < 6; ++i) others.add(batch.row(i), batch.label(i));
  RowModel honest(std::make_shared<Hostile>(nullptr), d);
  const Clip clip{ClipKind::l2, 1};
  Vector of_others;
  static_cast<void>(honest.evaluate(Vector(d, 0.0), others, clip, of_others));
  const double special = batch.row(6).values[0];
  const auto fails_by = [&](const std::function<void(MutableView)>& fault) {
    return [special, fault](Hostile&, View, const RecordTable& records, MutableView, MutableView rows) {
      for (std::size_t i = 0; i < records.rows; ++i) {
        if (records.x[i * records.stride] == special) fault(rows);
      }
    };
  };
  const std::pair<const char*, std::function<void(MutableView)>> faults[] = {
      {"age 93", [](MutableView) { throw std::runtime_error("age 93"); }},
      {"no exception", [](MutableView) { throw 93; }},
      {"beyond the end of the gradients", [](MutableView rows) { *(rows.data() + rows.size()) = 1; }},
  };
  for (const auto& [words, fault] : faults) {
    Secret<std::string> told;
    const auto note = [&](const Secret<std::string>& line) {
      told.update([](std::string& text, const std::string& added) { text += added; }, line);
    };
    RowModel model(std::make_shared<LoneRows>(std::make_shared<Hostile>(fails_by(fault)), note), d);
    Vector sum;
    const Score score = model.evaluate(Vector(d, 0.0), batch, clip, sum);
    EXPECT_EQ(sum, of_others);
    EXPECT_EQ(score.records, 6);
    EXPECT_EQ(score.out_of_range, 1);
    told.update([&words = words](std::string& text) {
      EXPECT_THAT(text, HasSubstr(words));
      EXPECT_THAT(text, HasSubstr("(label 1, features -0.279"));
    });
    EXPECT_EQ(model.score(Vector(d, 0.0), batch).records, 6);
  }
}

TEST(LoneRows, TellTheirOwnerOfAThousandFailuresAtMost) {
  int lines = 0;
  const auto fails = [](Hostile&, View, const RecordTable&, MutableView, MutableView) { throw 1; };
  RowModel model(
      std::make_shared<LoneRows>(std::make_shared<Hostile>(fails), [&](const Secret<std::string>&) { ++lines; }), d);
  Vector sum;
  static_cast<void>(model.evaluate(Vector(d, 0.0), drawn_records(1100), Clip{ClipKind::l2, 1}, sum));
  EXPECT_EQ(lines, 1001);
}

}  // namespace starling::hostile_models_test
