#include "data/vertical/vertical_table.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/check.hpp"
#include "core/random.hpp"
#include "data/binary_files.hpp"
#include "data/generators/synthetic.hpp"
#include "data/reading.hpp"
#include "data/vertical/vertical.hpp"
#include "hdf5/file.hpp"

namespace starling::vertical_table_test {

using namespace testing_support;
using Groups = std::vector<std::vector<std::size_t>>;

/// The data of two parties on one rank, in round 0.
VerticalDataset loaded(const VerticalSettings& settings) {
  auto data = open_vertical(settings, 2, 0, 2, true);
  data.stream->load(0);
  return data;
}

std::string refusal(const VerticalSettings& settings, std::size_t parties, bool targets_known = true) {
  return message_of<UsageError>([&] { return open_vertical(settings, parties, 0, parties, targets_known); });
}

std::string fault(const VerticalSettings& settings, std::size_t parties, bool targets_known = true) {
  return message_of<DataError>([&] { return open_vertical(settings, parties, 0, parties, targets_known); });
}

// ---- Groups of columns

TEST(ColumnGroups, AreRangesNumbersAndNames) {
  const std::vector<std::string> names{"age", "bmi", "0-1", "4", "e"};
  EXPECT_EQ(parse_column_groups("0-2/3,4", 2, 5, {}), (Groups{{0, 1, 2}, {3, 4}}));
  EXPECT_EQ(parse_column_groups("4,0 | 2-2", 2, 5, {}), (Groups{{4, 0}, {2}}));
  EXPECT_EQ(parse_column_groups("bmi,age/e", 2, 5, names), (Groups{{1, 0}, {4}}));
  EXPECT_EQ(parse_column_groups(" bmi , 0 ", 1, 5, names), (Groups{{1, 0}}));
  EXPECT_EQ(parse_column_groups("0-1|4|0", 3, 5, names), (Groups{{2}, {3}, {0}})) << "names come first";
}

TEST(ColumnGroups, ThatAreWrongAreRefused) {
  const std::vector<std::string> names{"age", "bmi", "bmi"};
  const auto refused = [&](const std::string& text, std::size_t parties, bool named = false) {
    return message_of<UsageError>(
        [&] { return parse_column_groups(text, parties, 3, named ? names : std::vector<std::string>{}); });
  };
  EXPECT_THAT(refused("0/1", 3), HasSubstr("'0/1': 2 groups of columns for 3 parties"));
  EXPECT_THAT(refused("0/1|2", 2), HasSubstr("3 groups of columns for 2 parties"));
  EXPECT_THAT(refused("0/", 2), HasSubstr("group 2 (from 1) is empty"));
  EXPECT_THAT(refused("", 1), HasSubstr("group 1 (from 1) is empty"));
  EXPECT_THAT(refused("0,/1", 2), HasSubstr("nothing stands between two commas"));
  EXPECT_THAT(refused("0/3", 2), HasSubstr("no column '3' among the features: there is no header, and the columns are 0"
                                           " to 2."));
  EXPECT_THAT(refused("0-3/1", 2), HasSubstr("no column '0-3'"));
  EXPECT_THAT(refused("0/2-1", 2), HasSubstr("the range 2-1 runs backwards"));
  EXPECT_THAT(refused("0/1-", 2), HasSubstr("no column '1-'"));
  EXPECT_THAT(refused("-1/1", 2), HasSubstr("no column '-1'"));
  EXPECT_THAT(refused("0-1/1,2", 2), HasSubstr("column 1 (from 0) is given to party 1 and to party 2, from 1"));
  EXPECT_THAT(refused("2,2/1", 2), HasSubstr("column 2 (from 0) is given to party 1 and to party 1"));
  EXPECT_THAT(refused("age/0", 2, true), HasSubstr("column 'age' is given to party 1 and to party 2"));
  EXPECT_THAT(refused("age/weight", 2, true), HasSubstr("no column 'weight' among the features: the columns are age"));
  EXPECT_THAT(refused("age/bmi", 2, true), HasSubstr("two columns are called 'bmi'"));
  EXPECT_THAT(refused("0-18446744073709551615/1", 2), HasSubstr("no column '0-18446744073709551615'"));
}

/// Whether groups are what they promise: as many as parties, none empty, each column once and in range.
bool are_groups(const Groups& groups, std::size_t parties, std::size_t features) {
  std::vector<std::size_t> all;
  for (const auto& group : groups) all.insert(all.end(), group.begin(), group.end());
  std::sort(all.begin(), all.end());
  const bool empty = std::any_of(groups.begin(), groups.end(), [](const auto& group) { return group.empty(); });
  return groups.size() == parties && !empty && std::adjacent_find(all.begin(), all.end()) == all.end() &&
         (all.empty() || all.back() < features);
}

// Whatever the text: groups, or a UsageError. The seed is fixed.
TEST(ColumnGroups, OfDamagedTextsAreGroupsOrAnError) {
  const std::vector<std::string> pieces{"0",   "1", "5", "-", ",", "/", "|", " ", "age", "9", "99999999999999999999",
                                        "\xFF"};
  const std::vector<std::string> names{"age", "b", "c", "d", "e", "5", "1-3"};
  int good = 0;
  int bad = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    AddressedRandom random(5, Purpose::experiment, 0, i);
    std::string text = i % 2 == 0 ? "" : "0-2,5/3|4";
    for (std::uint64_t k = random.below(8); k-- > 0;) {
      text.insert(random.below(text.size() + 1), pieces[random.below(pieces.size())]);
    }
    const std::size_t parties = 1 + random.below(3);
    try {
      const Groups groups =
          parse_column_groups(text, parties, 7, random.below(2) == 0 ? names : std::vector<std::string>{});
      ASSERT_TRUE(are_groups(groups, parties, 7)) << text;
      ++good;
    } catch (const UsageError&) {
      ++bad;
    }
  }
  EXPECT_GT(good, 500);
  EXPECT_GT(bad, 500);
}

// ---- One table

class OneTable : public testing::Test {
 protected:
  OneTable() {
    settings_.source = folder_.write("all.csv", "a,b,y,c\n1,2,0,3\n4,5,1,6\n7,8,0,9\n10,11,1,12\n13,14,1,15\n");
    settings_.columns = "c/0-1";
    settings_.batch = 2;
  }
  TemporaryFolder folder_;
  VerticalSettings settings_;
};

TEST_F(OneTable, IsDealtOutByItsColumns) {
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  EXPECT_EQ(data.shape.columns, (std::vector<std::size_t>{1, 2}));
  EXPECT_THAT(data.shape.names[0], ElementsAre("c"));
  EXPECT_THAT(data.shape.names[1], ElementsAre("a", "b"));
  EXPECT_EQ(data.shape.records, 5);
  EXPECT_EQ(data.shape.rounds, 3);
  EXPECT_EQ(data.shape.targets, 1U);
  EXPECT_TRUE(data.common && !data.is_public && data.replayable && data.ids.empty() && data.digest.empty());
  data.stream->load(1);
  EXPECT_EQ(data.stream->learning(), 2U);
  EXPECT_EQ(data.stream->testing(), 0U);
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(9, 12));
  EXPECT_THAT(opened(data.stream->inputs(1)), ElementsAre(7, 8, 10, 11));
  EXPECT_THAT(opened(data.stream->targets()), ElementsAre(0, 1));
}

TEST_F(OneTable, EndsWithAShortRoundAndThenGivesNothing) {
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  data.stream->load(2);
  EXPECT_EQ(data.stream->learning(), 1U);
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(15));
  EXPECT_THAT(opened(data.stream->targets()), ElementsAre(1));
  data.stream->load(3);
  EXPECT_EQ(data.stream->learning(), 0U);
  EXPECT_TRUE(opened(data.stream->inputs(0)).empty());
  EXPECT_TRUE(opened(data.stream->targets()).empty());
  EXPECT_EQ(data.stream->participations(), 1);
  EXPECT_ERROR(FailureError, "streams go forward only", data.stream->load(3));
}

TEST_F(OneTable, IsServedAgainInEachEpoch) {
  settings_.epochs = 2;
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  EXPECT_EQ(data.shape.rounds, 6);
  data.stream->load(0);
  const Vector first = opened(data.stream->inputs(1));
  EXPECT_EQ(data.stream->participations(), 1);
  data.stream->load(3);
  EXPECT_EQ(opened(data.stream->inputs(1)), first);
  EXPECT_EQ(data.stream->participations(), 2);
}

TEST_F(OneTable, GivesEachRankItsOwnPartiesAlone) {
  const auto all = open_vertical(settings_, 2, 0, 2, true);
  const auto second = open_vertical(settings_, 2, 1, 1, false);
  const auto nobody = open_vertical(settings_, 2, 2, 0, true);
  for (const auto* data : {&all, &second, &nobody}) data->stream->load(0);
  EXPECT_EQ(opened(second.stream->inputs(0)), opened(all.stream->inputs(1)));
  EXPECT_TRUE(opened(second.stream->targets()).empty());
  EXPECT_EQ(opened(nobody.stream->targets()), opened(all.stream->targets()));
  EXPECT_EQ(second.fingerprint, all.fingerprint);
  EXPECT_EQ(nobody.fingerprint, all.fingerprint);
  EXPECT_EQ(second.shape.text(), all.shape.text());
}

TEST_F(OneTable, IsToldFromAnotherAndFromAnotherDeal) {
  const std::string one = open_vertical(settings_, 2, 0, 2, true).fingerprint;
  settings_.columns = "b/0,2";
  EXPECT_NE(open_vertical(settings_, 2, 0, 2, true).fingerprint, one);
  settings_.columns = "c/0-1";
  folder_.write("all.csv", "a,b,y,c\n1,2,0,3\n4,5,1,7\n");
  EXPECT_NE(open_vertical(settings_, 2, 0, 2, true).fingerprint, one);
}

TEST_F(OneTable, MapsAndSelectsLabels) {
  settings_.label = "b";
  settings_.ignore = {5};
  settings_.columns = "y/a,c";
  settings_.label_map = [](double y) { return 10 * y; };
  const auto data = loaded(settings_);
  const Vector targets = opened(data.stream->targets());
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_EQ(targets[0], 20);
  EXPECT_TRUE(is_left_out(View(targets).subspan(1)));  // it keeps its place
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(0, 0));
  data.stream->load(1);
  EXPECT_EQ(opened(data.stream->targets())[0], 80);
  EXPECT_EQ(data.shape.records, 5);
  settings_.label_map = [](double) -> double { throw DataError("unfit"); };
  EXPECT_THAT(fault(settings_, 2), HasSubstr("all.csv: row 2: unfit"));
}

TEST_F(OneTable, OfSparseRecordsIsMadeDense) {
  settings_.source = folder_.write("all.svm", "1 2:5 4:6\n0\n1 1:7\n");
  settings_.columns = "3,1/0";
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  EXPECT_EQ(data.shape.columns, (std::vector<std::size_t>{2, 1}));
  data.stream->load(0);
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(6, 5, 0, 0));
  data.stream->load(1);
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(0, 0));
  EXPECT_THAT(opened(data.stream->inputs(1)), ElementsAre(7));
}

TEST_F(OneTable, MayBeGenerated) {
  settings_.source = "synthetic:linear:p=4,n=7";
  settings_.columns = "0,2/3";
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  EXPECT_TRUE(data.is_public && data.fingerprint.empty());
  EXPECT_EQ(data.digest.size(), 64U);
  EXPECT_EQ(data.shape.rounds, 4);
  const auto reader = open_generated(make_generator(settings_.source, {}), "", settings_.seed, 0, 2, 7);
  const Plains records = read_all(*reader);
  data.stream->load(1);
  EXPECT_THAT(opened(data.stream->inputs(0)),
              ElementsAre(records[2].values[0], records[2].values[2], records[3].values[0], records[3].values[2]));
  EXPECT_THAT(opened(data.stream->targets()), ElementsAre(records[2].label, records[3].label));
  settings_.columns = "0,2/1";
  EXPECT_NE(open_vertical(settings_, 2, 0, 2, true).digest, data.digest);
  settings_.source = "synthetic:linear";
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("has no end: a table does. Give it n="));
}

TEST_F(OneTable, OfOnePartyNeedsNoGroups) {
  settings_.columns.clear();
  EXPECT_EQ(open_vertical(settings_, 1, 0, 1, true).shape.columns, std::vector<std::size_t>{3});
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("is one table for 2 parties"));
}

TEST_F(OneTable, WhatCannotBeReadIsAnError) {
  folder_.write("all.csv", "a,b,y,c\n1,2,0,3\n4,nan,1,6\n");
  EXPECT_THAT(fault(settings_, 2), HasSubstr("row 3"));
  folder_.write("all.csv", "a,b,y,c\n1,2,0,3\n4,,1,6\n");
  EXPECT_THAT(fault(settings_, 2), HasSubstr("row 3"));
  folder_.write("all.csv", "a,b,y,c\n");
  EXPECT_THAT(fault(settings_, 2), HasSubstr("no records"));
  settings_.label_source = "labels.csv";
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("a label source 'labels.csv' beside one table"));
}

TEST_F(OneTable, SettingsOutOfRangeAreRefused) {
  settings_.batch = 0;
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("batch=0"));
  settings_.batch = 1;
  settings_.epochs = 0;
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("epochs=0"));
  settings_.epochs = 1;
  EXPECT_ERROR(UsageError, "no such block of parties", open_vertical(settings_, 2, 1, 2, true));
}

// ---- A file for each party

class PartyFiles : public testing::Test {
 protected:
  PartyFiles() {
    guest_ = folder_.write("guest.csv", "id,y,a\n7,1,70\n8,0,80\n9,1,90\n");
    host_ = folder_.write("host.csv", "id,b,c\n9,91,92\n7,71,72\n8,81,82\n");
    settings_.files = {guest_, host_};
    settings_.id = "id";
    settings_.batch = 2;
  }
  TemporaryFolder folder_;
  std::string guest_;
  std::string host_;
  VerticalSettings settings_;
};

TEST_F(PartyFiles, AreBroughtIntoTheLabelSourcesOrder) {
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  EXPECT_EQ(data.shape.columns, (std::vector<std::size_t>{1, 2}));
  EXPECT_THAT(data.shape.names[1], ElementsAre("b", "c"));
  EXPECT_EQ(data.shape.records, 3);
  EXPECT_EQ(data.shape.rounds, 2);
  EXPECT_THAT(data.ids, ElementsAre(id_digest("7"), id_digest("8"), id_digest("9")));
  EXPECT_FALSE(data.common);
  data.stream->load(0);
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(70, 80));
  EXPECT_THAT(opened(data.stream->inputs(1)), ElementsAre(71, 72, 81, 82));
  EXPECT_THAT(opened(data.stream->targets()), ElementsAre(1, 0));
  data.stream->load(1);
  EXPECT_THAT(opened(data.stream->inputs(1)), ElementsAre(91, 92));
}

TEST_F(PartyFiles, OfRanksWithoutLabelsAreAlignedByTheIdsOfOneThatHasThem) {
  const auto centre = open_vertical(settings_, 2, 0, 0, true);
  const auto host = open_vertical(settings_, 2, 1, 1, false);
  EXPECT_TRUE(host.ids.empty());
  EXPECT_ERROR(FailureError, "before records were aligned", host.stream->load(0));
  for (const auto* data : {&centre, &host}) data->stream->align(centre.ids);
  for (const auto* data : {&centre, &host}) data->stream->load(0);
  EXPECT_THAT(opened(host.stream->inputs(0)), ElementsAre(71, 72, 81, 82));
  EXPECT_TRUE(opened(host.stream->targets()).empty());
  EXPECT_THAT(opened(centre.stream->targets()), ElementsAre(1, 0));
  EXPECT_ERROR(FailureError, "before the first round", host.stream->align(centre.ids));
}

TEST_F(PartyFiles, CountForARankThatHasReadNone) {
  const auto centre = open_vertical(settings_, 2, 0, 0, true);
  const auto idle = open_vertical(settings_, 2, 2, 0, false);
  EXPECT_FALSE(idle.shape.records);
  idle.stream->settle(idle.shape.joined(centre.shape));
  idle.stream->align(centre.ids);
  idle.stream->load(0);
  EXPECT_EQ(idle.stream->learning(), 2U);
  idle.stream->load(1);
  EXPECT_EQ(idle.stream->learning(), 1U);
  idle.stream->load(2);
  EXPECT_EQ(idle.stream->learning(), 0U);
}

TEST_F(PartyFiles, OfRanksApartAreThoseOfRanksTogether) {
  const auto together = open_vertical(settings_, 2, 0, 2, true);
  const auto centre = open_vertical(settings_, 2, 0, 0, true);
  VerticalShape shape = centre.shape;
  for (std::size_t k = 0; k < 2; ++k) {
    const auto own = open_vertical(settings_, 2, k, 1, false);
    own.stream->align(centre.ids);
    for (Round t = 0; t < 2; ++t) {
      const auto again = open_vertical(settings_, 2, 0, 2, true);
      again.stream->load(t);
      own.stream->load(t);
      EXPECT_EQ(opened(own.stream->inputs(0)), opened(again.stream->inputs(k)));
    }
    shape = shape.joined(VerticalShape::parse(own.shape.text()));
  }
  EXPECT_EQ(shape.text(), together.shape.text());
}

TEST_F(PartyFiles, WithoutIdsGoTogetherByTheirPlace) {
  settings_.id.clear();
  settings_.drop = {"id"};
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  EXPECT_TRUE(data.ids.empty());
  data.stream->align({});
  data.stream->load(0);
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(70, 80));
  EXPECT_THAT(opened(data.stream->inputs(1)), ElementsAre(91, 92, 71, 72));
}

TEST_F(PartyFiles, MayBeAPattern) {
  folder_.write("part-1.csv", "id,y,a\n7,1,70\n8,0,80\n");
  folder_.write("part-2.csv", "id,b\n8,81\n7,71\n");
  settings_.files.clear();
  settings_.source = folder_ / "part-{client}.csv";
  const auto data = loaded(settings_);
  EXPECT_THAT(opened(data.stream->inputs(1)), ElementsAre(71, 81));
}

TEST_F(PartyFiles, MayHaveALabelSourceOfTheirOwn) {
  settings_.label_source = folder_.write("labels.csv", "id,y\n8,5\n9,6\n7,4\n");
  const auto data = loaded(settings_);
  EXPECT_THAT(opened(data.stream->targets()), ElementsAre(5, 6));
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(80, 90)) << "the column y of a party's file is no feature";
  EXPECT_THAT(opened(data.stream->inputs(1)), ElementsAre(81, 82, 91, 92));
}

TEST_F(PartyFiles, SpeakOfTheirFeaturesAndNotOfTheLabelSources) {
  folder_.write("guest.csv", "id,a,more\n7,70,1\n8,80,1\n");
  folder_.write("host.csv", "id,b,more\n8,81,1\n7,71,1\n");
  settings_.label_source = folder_.write("labels.csv", "id,y\n8,5\n7,4\n");
  settings_.drop = {"more"};
  settings_.scale = 2;
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  EXPECT_EQ(data.shape.columns, (std::vector<std::size_t>{1, 1}));
  data.stream->load(0);
  EXPECT_THAT(opened(data.stream->targets()), ElementsAre(5, 4));
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(160, 140));
}

TEST_F(PartyFiles, TellTheLabelsColumnByTheNameOfTheOption) {
  settings_.label = "a";
  const auto data = loaded(settings_);
  EXPECT_THAT(opened(data.stream->targets()), ElementsAre(70, 80));
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(1, 0)) << "y is a feature then";
  settings_.label = "2";
  const auto numbered = open_vertical(settings_, 2, 0, 2, true);
  numbered.stream->load(0);
  EXPECT_THAT(opened(numbered.stream->targets()), ElementsAre(70, 80));
  EXPECT_EQ(numbered.shape.columns[1], 2U) << "a number means a column of the label source alone";
}

TEST_F(PartyFiles, NeverHaveTheLabelAmongTheirFeatures) {
  folder_.write("guest.csv", "id,a,grade\n7,70,4\n8,80,5\n9,90,6\n");
  settings_.label = "2";
  const auto numbered = open_vertical(settings_, 2, 0, 2, true);
  numbered.stream->load(0);
  EXPECT_THAT(opened(numbered.stream->targets()), ElementsAre(4, 5));
  EXPECT_THAT(opened(numbered.stream->inputs(0)), ElementsAre(70, 80));
  settings_.label.clear();
  EXPECT_THAT(fault(settings_, 2), HasSubstr("labels are missing: no column is called y or label"));
}

TEST_F(PartyFiles, MayHaveOneColumnAndNoHeader) {
  settings_.id.clear();
  settings_.label_source = folder_.write("labels.txt", "1\n0\n1\n");
  settings_.files = {folder_.write("one.csv", "5\n6\n7\n"), folder_.write("two.csv", "1,2\n3,4\n5,6\n")};
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  EXPECT_EQ(data.shape.columns, (std::vector<std::size_t>{1, 2}));
  data.stream->load(0);
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(5, 6));
  EXPECT_THAT(opened(data.stream->inputs(1)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(opened(data.stream->targets()), ElementsAre(1, 0));
}

TEST_F(PartyFiles, MayBeOfOtherFormats) {
  settings_.id.clear();
  settings_.drop.clear();
  settings_.files = {folder_.write("one.csv", "y,a\n1,5\n0,6\n1,7\n"), folder_.write("two.svm", "0 3:1\n0 1:2\n0\n")};
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  EXPECT_EQ(data.shape.columns, (std::vector<std::size_t>{1, 3}));
  data.stream->load(0);
  EXPECT_THAT(opened(data.stream->inputs(1)), ElementsAre(0, 0, 1, 2, 0, 0));
}

TEST_F(PartyFiles, OfBinaryFormatsNeedNoLabels) {
  settings_.id.clear();
  const std::string path = folder_ / "one.h5";
  const Vector x{1, 2, 3, 4};
  {
    const hdf5::File file(path, hdf5::File::Mode::create);
    const hdf5::Sizes sizes{2, 2};
    const hdf5::Handle space(H5Screate_simple(2, sizes.data(), nullptr), H5Sclose, "/x");
    const hdf5::Handle set(H5Dcreate2(file.id(), "/x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                           H5Dclose, "/x");
    hdf5::require(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data()), "/x");
  }
  settings_.files = {path, folder_.write("two-ubyte", idx_bytes(2, 3))};
  settings_.label_source = folder_.write("labels.csv", "6\n7\n");
  const auto data = loaded(settings_);
  EXPECT_EQ(opened(data.stream->inputs(0)), x);
  EXPECT_THAT(opened(data.stream->inputs(1)), ElementsAre(0, 37, 74, 111, 148, 185));
  EXPECT_THAT(opened(data.stream->targets()), ElementsAre(6, 7));
}

TEST_F(PartyFiles, HaveConstantsOfTheirOwn) {
  folder_.write("sd-1.csv", "feature,mean,sd\na,80,10\n");
  folder_.write("sd-2.csv", "feature,mean,sd\nb,81,1\nc,0,2\n");
  settings_.standardise = folder_ / "sd-{client}.csv";
  const auto data = loaded(settings_);
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(-1, 0));
  EXPECT_THAT(opened(data.stream->inputs(1)), ElementsAre(-10, 36, 0, 41));
}

TEST_F(PartyFiles, SayHowEachHasConstantsOfItsOwn) {
  settings_.standardise = folder_.write("sd.csv", "feature,mean,sd\na,80,10\nb,81,1\nc,0,2\n");
  EXPECT_ERROR(Error, "{client} in the name after --standardise stands for the party's number, from 1",
               open_vertical(settings_, 2, 0, 2, true));
}

TEST_F(PartyFiles, OfDifferentLengthsAreAnError) {
  folder_.write("host.csv", "id,b,c\n9,91,92\n7,71,72\n");
  EXPECT_THAT(fault(settings_, 2),
              testing::MatchesRegex(".*guest.csv: 3 records and .*host.csv: 2: each record needs "
                                    "both\\. Give files of the same records, or --id and --match private.*"));
  const auto centre = open_vertical(settings_, 2, 0, 0, true);
  const auto host = open_vertical(settings_, 2, 1, 1, false);
  EXPECT_ERROR(DataError, "host.csv: 2: each record needs both.", centre.shape.joined(host.shape));
  EXPECT_ERROR(DataError, "host.csv: 2 records and 3 labels", host.stream->align(centre.ids));
}

TEST_F(PartyFiles, WithoutIdsOfDifferentLengthsAreAnErrorToo) {
  settings_.id.clear();
  folder_.write("host.csv", "id,b,c\n9,91,92\n7,71,72\n");
  EXPECT_THAT(fault(settings_, 2), HasSubstr("host.csv: 2: each record needs both."));
}

TEST_F(PartyFiles, WithIdsThatDoNotMatchAreAnError) {
  folder_.write("host.csv", "id,b,c\n9,91,92\n10,71,72\n11,81,82\n");
  EXPECT_THAT(fault(settings_, 2),
              HasSubstr("host.csv: the id of record 2 (from 1) is not among the labels', nor are 1 "
                        "more: each record needs its columns and a label."));
}

TEST_F(PartyFiles, WithAnIdTwiceAreAnError) {
  folder_.write("host.csv", "id,b,c\n9,91,92\n7,71,72\n9,81,82\n");
  EXPECT_THAT(fault(settings_, 2), HasSubstr("host.csv: row 4: id '9' has stood in record 1 before"));
  folder_.write("host.csv", "id,b,c\n9,91,92\n7,71,72\n,81,82\n");
  EXPECT_THAT(fault(settings_, 2), HasSubstr("host.csv: row 4: the id is missing"));
  folder_.write("guest.csv", "id,y,a\n7,1,70\n8,0,80\n8,1,90\n");
  EXPECT_THAT(fault(settings_, 2), HasSubstr("guest.csv: row 4: id '8' has stood in record 2 before"));
}

TEST_F(PartyFiles, ThatDoNotFitTheOptionsAreRefused) {
  EXPECT_THAT(refusal(settings_, 3), HasSubstr("2 files for 3 parties"));
  settings_.columns = "0/1";
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("--columns '0/1' beside a file for each party"));
  settings_.columns.clear();
  settings_.ignore = {0};
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("--ignore with a file for each party"));
  settings_.ignore.clear();
  settings_.id = "name";
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("no column 'name'"));
  settings_.id = "id";
  settings_.label = "mood";
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("guest.csv: no column 'mood'"));
  settings_.label.clear();
  settings_.drop = {"b", "c"};
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("host.csv: no column is left as a feature"));
}

TEST_F(PartyFiles, WithIdsAloneAreAnError) {
  folder_.write("host.csv", "id\n7\n8\n9\n");
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("host.csv: no column is left as a feature"));
  folder_.write("host.csv", "id,y\n7,1\n8,0\n9,1\n");
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("host.csv: no column is left as a feature"));
  folder_.write("host.csv", "id,b\n7,1\n8,0\n9,1\n");
  folder_.write("guest.csv", "id,grade\n7,1\n8,0\n9,1\n");
  settings_.label = "1";
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("guest.csv: no column is left as a feature"));
  settings_.label_source = guest_ = folder_.write("labels.csv", "id,y\n7,1\n8,0\n9,1\n");
  EXPECT_EQ(open_vertical(settings_, 2, 0, 2, true).shape.columns, (std::vector<std::size_t>{1, 1}));
}

// Not the last column, nor the only one beside the ids.
TEST_F(PartyFiles, MayKeepLabelsBesideTheirColumns) {
  const std::string guest = folder_ / "guest.h5";
  {
    const hdf5::File file(guest, hdf5::File::Mode::create);
    file.write<double>("/x", {3, 2}, {7, 70, 8, 80, 9, 90});
    file.write<double>("/y", {3}, {1, 0, 1});
  }
  settings_.files = {guest, host_};
  settings_.id = "0";
  for (const std::string label : {"", "y", "outcome of a model"}) {
    settings_.label = label;
    settings_.label_may_be_beside = label.size() > 1;
    const auto data = loaded(settings_);
    EXPECT_EQ(data.shape.columns, (std::vector<std::size_t>{1, 2}));
    EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(70, 80));
    EXPECT_THAT(opened(data.stream->targets()), ElementsAre(1, 0));
  }
  settings_.label_may_be_beside = false;
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("guest.h5: no column 'outcome of a model'"));
  settings_.label = "1";
  settings_.label_source = guest;
  settings_.files = {host_};
  const auto of_column = open_vertical(settings_, 1, 0, 1, true);
  of_column.stream->load(0);
  EXPECT_THAT(opened(of_column.stream->targets()), ElementsAre(70, 80)) << "a column that --label names";
}

TEST_F(PartyFiles, MayHaveRecordsWithoutAPersonOnRequest) {
  folder_.write("guest.csv", "id,y,a,who\n7,1,70,p\n8,0,80,\n9,1,90,p\n");
  settings_.person = "who";
  EXPECT_THAT(fault(settings_, 2), HasSubstr("guest.csv: row 3: the person is missing"));
  settings_.missing_person = ReadSettings::MissingKey::drop;
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  EXPECT_THAT(data.persons, ElementsAre(0, -2, 0));
  EXPECT_EQ(data.stream->group(data.persons, 2), 2) << "nobody has a place too";
  data.stream->load(0);
  EXPECT_THAT(opened(data.stream->inputs(0)), ElementsAre(70, 90, 0, 0));
  EXPECT_THAT(data.stream->records_of_persons(), ElementsAre(2, 0));
}

TEST_F(PartyFiles, RefuseIdsThatAreMissing) {
  for (const std::string missing : {"", "NA", "nan"}) {
    folder_.write("host.csv", "id,b,c\n9,91,92\n" + missing + ",71,72\n8,81,82\n");
    EXPECT_THAT(fault(settings_, 2), HasSubstr("host.csv: row 3: the id is missing"));
  }
}

TEST_F(PartyFiles, LeaveOutColumnsThatOneOfThemHas) {
  folder_.write("host.csv", "id,b,when,c\n9,91,late,92\n7,71,soon,72\n8,81,,82\n");
  folder_.write("guest.csv", "id,y,more,a\n7,1,x,70\n8,0,x,80\n9,1,x,90\n");
  settings_.drop = {"more", "when", "nowhere"};
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  EXPECT_THAT(data.shape.names[0], ElementsAre("a"));
  EXPECT_THAT(data.shape.names[1], ElementsAre("b", "c"));
  EXPECT_EQ(data.shape.dropped, (std::vector<bool>{true, true, false})) << "no file has the last";
  data.stream->load(0);
  EXPECT_THAT(opened(data.stream->inputs(1)), ElementsAre(71, 72, 81, 82));
  const auto centre = open_vertical(settings_, 2, 0, 0, true);
  const auto host = open_vertical(settings_, 2, 1, 1, false);
  EXPECT_EQ(centre.shape.dropped, (std::vector<bool>{true, false, false})) << "the label source's alone";
  EXPECT_EQ(host.shape.dropped, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(centre.shape.joined(host.shape).dropped, data.shape.dropped);
  EXPECT_EQ(host.shape.joined(centre.shape).dropped, data.shape.dropped);
}

TEST_F(PartyFiles, LeaveOutColumnsByTheirNumbersAndThoseOfIdsAndLabels) {
  settings_.drop = {"2"};
  folder_.write("host.csv", "id,b,c\n9,91,92\n7,71,72\n8,81,82\n");
  folder_.write("guest.csv", "id,y,more,a\n7,1,5,70\n8,0,5,80\n9,1,5,90\n");
  const auto data = open_vertical(settings_, 2, 0, 2, true);
  EXPECT_THAT(data.shape.names[0], ElementsAre("a"));
  EXPECT_THAT(data.shape.names[1], ElementsAre("b"));
  settings_.drop = {"3"};
  EXPECT_THAT(open_vertical(settings_, 2, 0, 2, true).shape.names[1], ElementsAre("b", "c")) << "has no column 3";
  settings_.drop = {"id"};
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("column 'id' is named by --id and by --drop"));
  settings_.drop = {"y"};
  settings_.label = "y";
  EXPECT_THAT(refusal(settings_, 2), HasSubstr("column 'y' is named by --label and by --drop"));
}

TEST_F(PartyFiles, LabelsAreMappedAndMadeSigns) {
  settings_.positive = {1};
  settings_.label_map = [](double y) { return 3 * y; };
  const auto data = loaded(settings_);
  EXPECT_THAT(opened(data.stream->targets()), ElementsAre(3, -3));
}

// ---- What ranks tell each other

TEST(VerticalShape, GoesThroughTextAsItIs) {
  VerticalShape shape;
  shape.columns = {2, 0, 1};
  shape.targets = 3;
  shape.records = 17;
  shape.rounds = 9;
  shape.counted_in = "a file, with blanks.csv";
  shape.names = {{"first name", ""}, {}, {"z"}};
  shape.dropped = {true, false, true};
  const VerticalShape back = VerticalShape::parse(shape.text());
  EXPECT_EQ(back.columns, shape.columns);
  EXPECT_EQ(back.targets, 3U);
  EXPECT_EQ(back.records, 17);
  EXPECT_EQ(back.rounds, 9);
  EXPECT_EQ(back.counted_in, shape.counted_in);
  EXPECT_EQ(back.names, shape.names);
  EXPECT_EQ(back.dropped, shape.dropped);
  EXPECT_FALSE(VerticalShape::parse(VerticalShape{{1}, 1, {}, {}, "", {{}}}.text()).records);
  for (const std::string text : {"", "1 2", "1 -1 -1 2 3 0 4", "1 -1 -1 1 3 0", "1 -1 -1 1 3 0 101",
                                 "1 -1 -1 1 3 2\x1f"
                                 "file\x1f"
                                 "one"}) {
    EXPECT_ERROR(FailureError, "is no shape of vertical data", VerticalShape::parse(text)) << text;
  }
}

TEST(VerticalShape, OfTwoRanksThatContradictEachOtherIsAnError) {
  const VerticalShape one{{2, 0}, 1, 5, 5, "a.csv", {{}, {}}};
  const VerticalShape other{{3, 1}, 1, 5, 5, "b.csv", {{}, {}}};
  EXPECT_ERROR(DataError, "party 1 (from 1) has 2 columns on one rank and 3 on another", one.joined(other));
  const VerticalShape nothing{{0, 0}, 1, {}, {}, "", {{}, {}}};
  EXPECT_EQ(nothing.joined(one).text(), one.text());
  EXPECT_EQ(one.joined(nothing).text(), one.text());
}

// ---- Real data

class Fate : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = shared_folder() + "/data/vfl_fate/";
    if (!std::filesystem::exists(folder_ + "breast_hetero_guest.csv.gz")) {
      GTEST_SKIP() << "the reference data is not here";
    }
    settings_.id = "id";
  }
  VerticalDataset open(const std::string& name) {
    settings_.files = {folder_ + name + "_hetero_guest.csv.gz", folder_ + name + "_hetero_host.csv.gz"};
    return open_vertical(settings_, 2, 0, 2, true);
  }
  std::string folder_;
  VerticalSettings settings_;
};

TEST_F(Fate, BreastCancerHasTenAndTwentyColumns) {
  settings_.batch = 569;
  const auto data = open("breast");
  EXPECT_EQ(data.shape.columns, (std::vector<std::size_t>{10, 20}));
  EXPECT_EQ(data.shape.records, 569);
  data.stream->load(0);
  const Vector labels = opened(data.stream->targets());
  EXPECT_EQ(std::count(labels.begin(), labels.end(), 1.0) + std::count(labels.begin(), labels.end(), 0.0), 569);
  EXPECT_EQ(opened(data.stream->inputs(0))[0], 0.254879);
  EXPECT_EQ(opened(data.stream->inputs(1))[0], 0.449512);
  EXPECT_EQ(opened(data.stream->inputs(1))[20], -1.245485);
}

TEST_F(Fate, CreditDefaultHasThirteenAndTenColumns) {
  settings_.batch = 64;
  const auto data = open("default_credit");
  EXPECT_EQ(data.shape.columns, (std::vector<std::size_t>{13, 10}));
  EXPECT_EQ(data.shape.records, 30000);
  EXPECT_EQ(data.shape.rounds, 469);
  data.stream->load(468);
  EXPECT_EQ(data.stream->learning(), 48U);
}

}  // namespace starling::vertical_table_test
