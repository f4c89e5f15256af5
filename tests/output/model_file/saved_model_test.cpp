/// Model files: what is written is read back, and what is damaged is refused.
#include "output/model_file/saved_model.hpp"

#include <cmath>
#include <filesystem>

#include "core/check.hpp"
#include "hdf5/file.hpp"
#include "output/model_file/scorer.hpp"
#include "support/testing.hpp"

namespace starling::saved_model_test {

using namespace testing_support;

class SavedModelTest : public testing::Test {
 protected:
  SavedModel again(const SavedModel& model) const {
    write_model(path_, model);
    return read_model(path_);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "model.h5";
};

SavedModel linear(std::size_t features, std::size_t scores, bool intercept) {
  SavedModel model;
  model.loss = scores == 1 ? "logistic" : "softmax:" + std::to_string(scores);
  model.features = features;
  model.scores = scores;
  model.form = LinearForm{intercept};
  model.constants.features = features;
  for (std::size_t i = 0; i < scores * (features + (intercept ? 1 : 0)); ++i) {
    model.parameters.push_back(0.1 * static_cast<double>(i + 1));
  }
  return model;
}

SavedModel network(Precision precision) {
  SavedModel model;
  model.loss = "softmax:2";
  model.scores = 2;
  model.features = 64;
  model.form = NetworkForm{convolutional(64, {2, 3}, 2), precision};
  model.constants.features = 64;
  for (const ParameterBlock& block : model.blocks()) {
    for (std::size_t i = 0; i < block.rows * block.columns; ++i) {
      model.parameters.push_back(std::sin(static_cast<double>(model.parameters.size())));
    }
  }
  return model;
}

TEST_F(SavedModelTest, KeepsParametersToTheBit) {
  for (const SavedModel& model : {linear(3, 1, true), linear(2, 4, true), linear(5, 3, false),
                                  network(Precision::single), network(Precision::full)}) {
    const SavedModel found = again(model);
    EXPECT_EQ(found.parameters, model.parameters);
    EXPECT_EQ(found.form.index(), model.form.index());
    EXPECT_EQ(found.loss, model.loss);
    EXPECT_EQ(found.scores, model.scores);
    EXPECT_EQ(found.features, model.features);
    if (const auto* const linear = found.as<LinearForm>()) {
      EXPECT_EQ(linear->intercept, model.as<LinearForm>()->intercept);
      continue;
    }
    const auto& [architecture, precision] = *found.as<NetworkForm>();
    EXPECT_EQ(layer_texts(architecture), layer_texts(model.as<NetworkForm>()->architecture));
    EXPECT_EQ(architecture.input.size(), model.as<NetworkForm>()->architecture.input.size());
    EXPECT_EQ(precision, model.as<NetworkForm>()->precision);
  }
}

TEST_F(SavedModelTest, KeepsHowRecordsArePrepared) {
  SavedModel model = linear(2, 1, false);
  std::get<LinearForm>(model.form).row_bound = 1.5;
  model.own_constants = true;
  model.origin = {{"command", "omd"}, {"run_id", "7"}};
  PublicConstants& constants = model.constants;
  constants.columns = {"age", "größe, in m"};
  constants.label = "ill";
  constants.categories = {{"sex", {{"f", -1}, {"m", 1}}}, {"ill", {{"", 0}, {"yes", 1}}}};
  constants.standardisation = {{50, 10}, {-0.1, 1e-3}};
  constants.label_standardisation = {3, 4};
  constants.scale = 0.1;
  constants.positive = {2, 7};
  const SavedModel found = again(model);
  EXPECT_EQ(found.as<LinearForm>()->row_bound, 1.5);
  EXPECT_TRUE(found.own_constants);
  EXPECT_EQ(found.origin, model.origin);
  EXPECT_EQ(found.constants.columns, constants.columns);
  EXPECT_EQ(found.constants.label, "ill");
  EXPECT_EQ(found.constants.label_standardisation, constants.label_standardisation);
  EXPECT_EQ(found.constants.positive, constants.positive);
  EXPECT_TRUE(same_preparation(found.constants, constants));
  EXPECT_EQ(found.feature_names(), constants.columns);
}

TEST_F(SavedModelTest, NamesItsParameters) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(linear(2, 1, true).parameter_names(9), (Names{"x0", "x1", "intercept"}));
  EXPECT_EQ(linear(1, 1, true).parameter_names(9), (Names{"x0", "intercept"}));
  EXPECT_EQ(linear(2, 2, true).parameter_names(4),
            (Names{"x0, score 0", "x1, score 0", "intercept, score 0", "x0, score 1"}));
}

TEST_F(SavedModelTest, KeepsWhatColumnsBecome) {
  SavedModel model = linear(5, 1, false);
  PublicConstants& constants = model.constants;
  constants.features = 2;
  constants.columns = {"age", "sex"};
  constants.categories = {{"sex", {{"", 0}, {"m", 1}}, 1}};
  constants.standardisation = {{50, 10, 5}, {0, 1}};
  constants.missing = ReadSettings::Missing::indicator;
  SavedModel found = again(model);
  EXPECT_TRUE(same_preparation(found.constants, constants));
  EXPECT_EQ(found.feature_names(), (std::vector<std::string>{"age", "age.missing", "sex=", "sex=m", "sex.missing"}));
  constants.missing = ReadSettings::Missing::constant;
  constants.fill = {44, 0};
  model.features = 3;
  model.parameters.resize(3);
  found = again(model);
  EXPECT_TRUE(same_preparation(found.constants, constants));
  constants.categories[0].one_hot = 2;
  EXPECT_THAT(message_of([&] { return again(model); }), HasSubstr("categories of column 2"));
}

TEST_F(SavedModelTest, PicturesAreThoseOfItsProgram) {
  SavedModel model = linear(129, 1, false);
  model.constants.features = 16;
  model.constants.description = ReadSettings::Features::hog;
  model.origin = {{"starling", "1.2.3"}};
  EXPECT_EQ(again(model).constants.description, ReadSettings::Features::hog);
  {
    const hdf5::File file(path_, hdf5::File::Mode::append);
    H5Adelete_by_name(file.id(), "/preparation", "description_version", H5P_DEFAULT);
  }
  EXPECT_EQ(read_model(path_).constants.description, ReadSettings::Features::hog);
  {
    const hdf5::File file(path_, hdf5::File::Mode::append);
    file.attribute("/preparation", "description_version", static_cast<double>(hog_version + 1));
  }
  const std::string refusal = message_of([&] { return read_model(path_); });
  EXPECT_THAT(refusal, HasSubstr("are of version 3"));
  EXPECT_THAT(refusal, HasSubstr("the program that wrote the file (1.2.3)"));
}

TEST_F(SavedModelTest, ReplacesAnOlderFile) {
  write_model(path_, linear(3, 1, true));
  EXPECT_EQ(again(linear(4, 1, true)).features, 4U);
}

TEST_F(SavedModelTest, RefusesAModelWithNumbersThatAreNotFinite) {
  SavedModel model = linear(2, 1, false);
  model.parameters[1] = NAN;
  EXPECT_THAT(message_of([&] { return again(model); }), HasSubstr("not finite"));
}

/// The part of party k of two, with two columns and an embedding of one number: w·x + 0.5.
SavedModel embedding(std::size_t k, double first, double second) {
  SavedModel part;
  part.form = EmbeddingForm{{{perceptron({2, 1})}, 2}, k};
  part.features = 2;
  part.scores = 1;
  part.parameters = {first, second, 0.5};
  part.constants.features = 2;
  part.constants.columns = {fmt::format("a{}", k), fmt::format("b{}", k)};
  part.origin = {{"run_id", "r"}};
  return part;
}

/// Twice the first embedding less the second.
SavedModel head() {
  SavedModel part;
  part.form = HeadForm{PartForm{{perceptron({2, 1})}, 2}};
  part.features = 2;
  part.parameters = {2, -1, 0};
  part.constants.label = "y";
  part.origin = {{"run_id", "r"}};
  return part;
}

SavedModel vertical() {
  return joined_model(head(), {embedding(1, 1, 2), embedding(2, 3, 4)});
}

EmbeddingForm& form_of(SavedModel& party) {
  return std::get<EmbeddingForm>(party.form);
}

std::vector<SavedModel>& parties_of(SavedModel& model) {
  return std::get<VerticalForm>(model.form).parties;
}

class VerticalModelTest : public SavedModelTest {};

Vector scores_of(const SavedModel& model, const Vector& row) {
  Batch batch;
  batch.add({row, {}}, 0);
  Vector scores;
  Scorer(model).score(batch, scores);
  return scores;
}

TEST_F(VerticalModelTest, ScoresByAllParts) {
  // 2 (1·1 + 2·2 + 0.5) − (3·3 + 4·4 + 0.5)
  EXPECT_DOUBLE_EQ(scores_of(vertical(), {1, 2, 3, 4})[0], 11 - 25.5);
  SavedModel bounded = vertical();
  form_of(parties_of(bounded)[1]).bound = 2;
  EXPECT_DOUBLE_EQ(scores_of(bounded, {1, 2, 3, 4})[0], 11 - 2);
  SavedModel first = embedding(1, 1, 2);
  SavedModel second = embedding(2, 3, 4);
  for (SavedModel* part : {&first, &second}) {
    part->constants.columns.clear();
    form_of(*part).table_features = 5;
  }
  form_of(first).places = {4, 0};
  form_of(second).places = {1, 2};
  EXPECT_DOUBLE_EQ(scores_of(joined_model(head(), {first, second}), {2, 3, 4, 100, 1})[0], 11 - 25.5);
}

TEST_F(VerticalModelTest, IsReadBackWhole) {
  SavedModel model = vertical();
  form_of(parties_of(model)[0]).bound = 0.7;
  parties_of(model)[1].constants.standardisation = {{1, 2}, {3, 4}};
  const SavedModel found = again(model);
  EXPECT_EQ(found.features, 4U);
  EXPECT_EQ(found.feature_names(), (std::vector<std::string>{"a1", "b1", "a2", "b2"}));
  EXPECT_EQ(found.as<VerticalForm>()->parties[0].as<EmbeddingForm>()->bound, 0.7);
  EXPECT_EQ(scores_of(found, {1, 2, 3, 4}), scores_of(model, {1, 2, 3, 4}));
  const PublicConstants table = found.table_constants();
  EXPECT_EQ(table.label, "y");
  EXPECT_EQ(table.standardisation, (std::vector<Standardisation>{{0, 1}, {0, 1}, {1, 2}, {3, 4}}));
  for (const Client client : {0, 1, 2}) {
    const SavedModel part = again(part_of(found, client));
    EXPECT_EQ(part.is<HeadForm>(), client == 0);
    EXPECT_EQ(part.is<EmbeddingForm>(), client > 0);
    EXPECT_EQ(part.parameters, part_of(model, client).parameters);
    EXPECT_EQ(part.origin_text("run_id"), "r");
    EXPECT_THROW(Scorer{part}, DataError);
  }
}

TEST_F(VerticalModelTest, TakesPartsOfOneRunInTheirOrder) {
  const auto refusal = [](SavedModel own, std::vector<SavedModel> parties) {
    return message_of<DataError>([&] { return joined_model(std::move(own), std::move(parties)); });
  };
  EXPECT_THAT(refusal(head(), {embedding(2, 1, 2), embedding(1, 1, 2)}), HasSubstr("the part of party 1"));
  EXPECT_THAT(refusal(head(), {embedding(1, 1, 2)}), HasSubstr("1 parts of parties, where the run has 2"));
  EXPECT_THAT(refusal(embedding(1, 1, 2), {}), HasSubstr("the part of the head"));
  SavedModel other = embedding(2, 1, 2);
  other.origin = {{"run_id", "s"}};
  EXPECT_THAT(refusal(head(), {embedding(1, 1, 2), other}), HasSubstr("is of run s"));
  SavedModel wide = embedding(2, 1, 2);
  wide.scores = 2;
  EXPECT_THAT(refusal(head(), {embedding(1, 1, 2), wide}), HasSubstr("does not fit the head"));
}

TEST_F(VerticalModelTest, OneTableCannotHaveEveryRecord) {
  SavedModel model = vertical();
  parties_of(model)[1].constants.columns = {"c", "a1"};
  EXPECT_ERROR(UsageError, "a column 'a1'", model.table_constants());
  model = vertical();
  parties_of(model)[0].constants.description = ReadSettings::Features::hog;
  EXPECT_ERROR(UsageError, "party 1 has pictures", model.table_constants());
}

TEST_F(VerticalModelTest, APartyAloneMayReadItsFile) {
  write_model(path_, embedding(1, 1, 2), ModelReaders::owner);
  EXPECT_EQ(std::filesystem::status(path_).permissions() & std::filesystem::perms::all,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(ScorerTest, ScoresDenseAndSparseRowsAlike) {
  const SavedModel model = linear(3, 2, true);  // weights .1 .2 .3 and .4; .5 .6 .7 and .8
  Scorer scorer(model);
  Batch dense;
  dense.add({Vector{1, 0, 2}, {}}, 0);
  Vector scores;
  scorer.score(dense, scores);
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_DOUBLE_EQ(scores[0], 1.1);
  EXPECT_DOUBLE_EQ(scores[1], 2.7);
  Batch sparse;
  sparse.add({Vector{1, 2}, std::vector<std::int32_t>{0, 2}}, 0);
  Vector same;
  scorer.score(sparse, same);
  EXPECT_EQ(same, scores);
}

TEST(ScorerTest, ScalesLongRows) {
  SavedModel model = linear(2, 1, true);  // weights .1 .2, intercept .3
  std::get<LinearForm>(model.form).row_bound = 2;
  Batch batch;
  const double length = 2 * std::sqrt(2);
  batch.add({Vector{length, length}, {}}, 0);  // (x, 1) has norm √17
  Vector scores;
  Scorer(model).score(batch, scores);
  EXPECT_DOUBLE_EQ(scores[0], (0.3 * length + 0.3) * 2 / std::sqrt(17));
}

TEST(ScorerTest, RefusesParametersOfAnotherNumber) {
  SavedModel model = linear(2, 1, true);
  model.parameters.pop_back();
  EXPECT_THROW(Scorer{model}, DataError);
}

TEST(ModelLossTest, MakesOneVsRestOfALossOfOneScore) {
  SavedModel model = linear(2, 3, true);
  model.loss = "dwd:1";
  EXPECT_EQ(ModelLoss(model)->scores(), 3U);
  EXPECT_EQ(ModelLoss(model)->link(), Link::none);
  model.loss = "squared";
  EXPECT_THROW(ModelLoss{model}, DataError);
  model.loss = "nothing";
  EXPECT_THROW(ModelLoss{model}, DataError);
}

}  // namespace starling::saved_model_test
