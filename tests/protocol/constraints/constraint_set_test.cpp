/// Families of constraints, their sums over batches, and the rules of their duals.
#include "protocol/constraints/constraint_set.hpp"

#include "protocol/constraints/long_term_constraints.hpp"
#include "support/testing.hpp"

namespace starling::constraint_set_test {

using namespace testing_support;

ConstraintFacts facts() {
  return {3, 3, 1, {"age", "height", "weight"}};
}

Batch dense() {
  Batch batch;
  batch.clear();
  const Vector first{1, 2, 3};
  const Vector second{-4, 0.5, 1};
  batch.add({first, {}}, 1);
  batch.add({second, {}}, -1);
  return batch;
}

/// The same records with explicit indices.
Batch sparse() {
  Batch batch;
  batch.clear();
  const Vector first{1, 2, 3};
  const std::vector<std::int32_t> all{0, 1, 2};
  const Vector second{-4, 1};
  const std::vector<std::int32_t> some{0, 2};
  batch.add({first, all}, 1);
  batch.add({second, some}, -1);
  return batch;
}

TEST(Linear, IsOneConstraintALine) {
  const TemporaryFolder folder;
  const std::string path = folder.write("caps.csv", "# caps\n1, 0, -2, 0.5\n\n0,1/4,0,-1\n");
  const ConstraintSet set = make_constraints("linear:" + path, facts());
  ASSERT_EQ(set.fixed.size(), 2U);
  EXPECT_EQ(set.fixed[0].index, (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(set.fixed[0].values, (Vector{1, -2}));
  EXPECT_EQ(set.fixed[0].value(Vector{3, 100, 1}), 0.5);  // 3 − 2 − 0.5
  EXPECT_EQ(set.fixed[1].value(Vector{0, 8, 0}), 3);
  EXPECT_EQ(set.fixed[1].name, "linear:caps.csv:4");
}

TEST(Linear, ErrorsNameFileAndLine) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& text) {
    const std::string path = folder.write("caps.csv", text);
    return message_of<UsageError>([&] { return make_constraints("linear:" + path, facts()); });
  };
  EXPECT_THAT(error("1,2,3,4\n1,2,3\n"), HasSubstr("caps.csv:2: 3 numbers"));
  EXPECT_THAT(error("1,2,x,4\n"), HasSubstr("caps.csv:1"));
  EXPECT_THAT(error("1,2,inf,4\n"), HasSubstr("caps.csv:1"));
  EXPECT_THAT(error("0,0,0,4\n"), HasSubstr("all coefficients are zero"));
  EXPECT_THAT(error("# nothing\n"), HasSubstr("holds no constraint"));
  EXPECT_ERROR(UsageError, "cannot read", make_constraints("linear:/nowhere", facts()));
}

TEST(Box, BoundsEachParameterFromBothSides) {
  const ConstraintSet set = make_constraints("box:-1,2", facts());
  ASSERT_EQ(set.fixed.size(), 6U);
  const Vector x{-1.5, 0, 4};
  const Vector expected{-3.5, 0.5, -2, -1, 2, -5};  // x − 2 and −1 − x of each
  for (std::size_t j = 0; j < 6; ++j) EXPECT_EQ(set.fixed[j].value(x), expected[j]) << set.fixed[j].name;
  EXPECT_ERROR(UsageError, "from 2 to 2", make_constraints("box:2,2", facts()));
}

TEST(Data, ColumnsHaveNamesNumbersOrRanges) {
  const auto columns = [](const std::string& text) {
    return make_constraints("data:column=" + text + ",max=0.5", facts()).data.at(0).columns;
  };
  EXPECT_EQ(columns("height"), (std::vector<std::int32_t>{1}));
  EXPECT_EQ(columns("2"), (std::vector<std::int32_t>{2}));
  EXPECT_EQ(columns("0-2"), (std::vector<std::int32_t>{0, 1, 2}));
  for (const char* wrong : {"3", "0-3", "2-1", "-1", "1-", "size"}) {
    EXPECT_ERROR(UsageError, "--constraint", columns(wrong)) << wrong;
  }
  ConstraintFacts many = facts();
  many.scores = 4;
  EXPECT_ERROR(UsageError, "one score", make_constraints("data:0,0.5", many));
}

TEST(Energy, NeedsABudgetAndACost) {
  const ConstraintSet set = make_constraints("energy:budget=3,byte_cost=0.25", facts());
  EXPECT_EQ(set.energy->per_message, 1);
  EXPECT_EQ(set.energy->per_byte, 0.25);
  EXPECT_EQ(set.energy->budget, 3);
  for (const char* wrong : {"energy:budget=0", "energy:budget=1,cost=0", "energy:budget=1,cost=-1", "energy:cost=1"}) {
    EXPECT_NE(message_of<UsageError>([&] { return make_constraints(wrong, facts()); }), "") << wrong;
  }
}

TEST(Constraints, AreJoinedByPlus) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a+b.csv", "1,1,1,1\n");
  const ConstraintSet set =
      make_constraints("data:age,max=1e+1+linear:" + path + "+energy:budget=1e+2+data:column=1-2,max=0", facts());
  ASSERT_EQ(set.data.size(), 2U);
  EXPECT_EQ(set.data[0].bound, 10);
  EXPECT_EQ(set.fixed.size(), 1U);
  EXPECT_EQ(set.energy->budget, 100);
  EXPECT_ERROR(UsageError, "two energy constraints", make_constraints("energy:budget=1+energy:budget=2", facts()));
  EXPECT_ERROR(UsageError, "unknown constraint 'speed': known are linear, box, data, energy.",
               make_constraints("speed:1", facts()));
}

std::unique_ptr<ConstraintSet> make_cap(const Spec& spec, const ConstraintFacts& facts) {
  auto set = std::make_unique<ConstraintSet>();
  PublicConstraint cap{"cap", {}, {}, spec.number("most")};
  for (std::size_t j = 0; j < facts.dimension; ++j) {
    cap.index.push_back(static_cast<std::int32_t>(j));
    cap.values.push_back(1);
  }
  set->fixed.push_back(std::move(cap));
  return set;
}

// A new family is one row: parsing, joining by +, error texts and values follow from it.
TEST(Constraints, AFamilyIsARow) {
  const ConstraintTable table =
      constraint_table().with({"cap", "the parameters sum to at most most; public", {{"most", "bound"}}, make_cap});
  const ConstraintSet set = make_constraints("box:-1,2+cap:most=1", facts(), table);
  ASSERT_EQ(set.fixed.size(), 7U);
  EXPECT_EQ(set.on_models(), 7U);
  EXPECT_EQ(set.fixed[6].value(Vector{1, 2, 3}), 5);
  EXPECT_THAT(table.help(), HasSubstr("cap:most=…"));
  EXPECT_ERROR(UsageError, "known are linear, box, data, energy, cap.", make_constraints("speed:1", facts(), table));
}

TEST(Constraints, RowsAddUpToTheValues) {
  const TemporaryFolder folder;
  const ConstraintSet set = make_constraints(
      "linear:" + folder.write("caps.csv", "1,0,-2,0.5\n") + "+data:column=0-1,max=0.25+data:weight,max=-1", facts());
  const Vector x{2, -1, 0.5};
  for (const Batch& batch : {dense(), sparse()}) {
    std::vector<ConstraintRow> rows(3, {Vector(3, 0.0), 0});
    add_constraint_rows(set, batch, 4, rows);
    add_constraint_rows(set, batch, 4, rows);
    const auto value = [&](std::size_t j) {
      return x[0] * rows[j].a[0] + x[1] * rows[j].a[1] + x[2] * rows[j].a[2] - rows[j].bound;
    };
    const bool is_sparse = batch.row(0).sparse();
    EXPECT_EQ(value(0), 2 * (2 - 1 - 0.5));
    // (2·1 − 1·2 + 2·(−4) − 0.5)/4 − 0.25; the sparse second record has no height.
    EXPECT_EQ(value(1), 2 * ((is_sparse ? -8 : -8.5) / 4 - 0.25));
    EXPECT_EQ(value(2), 2 * (0.5 * 4 / 4 + 1));
  }
}

TEST(Dual, MultiplierIsAProjectedAscent) {
  DualSettings settings{.regularisation = 2, .step = 0.5};
  EXPECT_EQ(next_multiplier(1, 0.25, 3, settings), 1 + 0.5 * 0.25 * (3 - 2 * 0.25 * 1));
  EXPECT_EQ(next_multiplier(0.125, 0.5, -10, settings), 0);
  settings.most = 1.25;
  EXPECT_EQ(next_multiplier(1, 0.25, 3, settings), 1.25);
}

TEST(Dual, QueueNeverFallsBelowZero) {
  EXPECT_EQ(next_queue(2, -0.5), 1.5);
  EXPECT_EQ(next_queue(2, -3), 0);
}

}  // namespace starling::constraint_set_test
