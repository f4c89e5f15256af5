/// Constants of one source, applied to another.
#include "data/constants.hpp"

#include <memory>

#include "data/reading.hpp"
#include "data/source.hpp"

namespace starling::constants_test {

using namespace testing_support;

class Constants : public testing::Test {
 protected:
  /// Settings of a model that learned from `source`.
  static DataSettings of(const std::string& source, const DataSettings& settings) {
    DataSettings model;
    model.constants = std::make_shared<PublicConstants>(open_reader(source, settings)->constants());
    return model;
  }

  DataSettings learned() const {
    DataSettings settings;
    settings.encode = folder_.write("encode.csv", "column,category,value\nsex,m,-1\nsex,f,1\nill,yes,1\nill,no,-1\n");
    settings.standardise = folder_.write("standardise.csv", "feature,mean,sd\nage,40,10\nsex,0,2\n");
    settings.label = "ill";
    return of(folder_.write("learned.csv", "age,sex,ill\n50,m,yes\n"), settings);
  }

  TemporaryFolder folder_;
};

TEST_F(Constants, ApplyByNameWhateverTheOrderAndTheOtherColumns) {
  DataSettings settings = learned();
  settings.label = "ill";
  const std::string other = folder_.write("other.csv", "sex,name,ill,age\nf,Ann,no,30\nm,Bob,yes,45\n");
  EXPECT_EQ(read_all(other, settings), (Plains{Plain{{-1, 0.5}, {}, -1}, Plain{{0.5, -0.5}, {}, 1}}));
}

TEST_F(Constants, LeaveAKeyThatIsAFeatureAmongTheFeatures) {
  DataSettings settings = learned();
  settings.label = "ill";
  settings.key = "sex";
  std::vector<std::string> unused;
  settings.note_unused = [&](const std::vector<std::string>& names) { unused = names; };
  const std::string other = folder_.write("other.csv", "sex,name,ill,age\nf,Ann,no,30\nm,Bob,yes,45\n");
  EXPECT_EQ(read_all(other, settings), (Plains{Plain{{-1, 0.5}, {}, -1}, Plain{{0.5, -0.5}, {}, 1}}));
  EXPECT_EQ(unused, std::vector<std::string>{"name"});
  settings.key = "town";
  expect_all_in(message_of([&] { read_all(other, settings); }), {"no column 'town'", "--by"});
}

TEST_F(Constants, NeedNoLabelWhereItIsOptional) {
  DataSettings settings = learned();
  settings.label = "ill";
  settings.labels = ReadSettings::Labels::optional;
  EXPECT_EQ(read_all(folder_.write("new.csv", "sex,age\nf,30\n"), settings), (Plains{Plain{{-1, 0.5}, {}, 0}}));
}

TEST_F(Constants, ApplyByPlaceToColumnsWithoutNames) {
  DataSettings settings = learned();
  settings.header = ReadSettings::Header::no;
  settings.constants = std::make_shared<PublicConstants>([&] {
    PublicConstants constants = *settings.constants;
    constants.categories.clear();
    return constants;
  }());
  EXPECT_EQ(read_all(folder_.write("plain.csv", "30,2,7\n"), settings), (Plains{Plain{{-1, 1}, {}, 7}}));
  expect_all_in(message_of([&] { read_all(folder_.write("wide.csv", "30,2,1,7\n"), settings); }),
                {"3 features", "the model takes 2", "--drop"});
}

TEST_F(Constants, NameTheColumnsThatAreMissing) {
  DataSettings settings = learned();
  settings.label = "ill";
  expect_all_in(message_of([&] { read_all(folder_.write("few.csv", "ill,sex,weight\nno,f,1\n"), settings); }),
                {"few.csv", "missing: 'age'", "ill, sex, weight"});
  expect_all_in(message_of([&] {
                  DataSettings wrong = settings;
                  wrong.label = "age";
                  read_all(folder_.write("own.csv", "age,sex\n1,f\n"), wrong);
                }),
                {"'age'", "a feature of the model"});
}

TEST_F(Constants, HoldScaleAndClasses) {
  DataSettings settings;
  settings.scale = 0.5;
  settings.positive = {3};
  const DataSettings model = of(folder_.write("a.csv", "2,3\n"), settings);
  EXPECT_EQ(read_all(folder_.write("b.csv", "4,3\n4,1\n"), model), (Plains{Plain{{2}, {}, 1}, Plain{{2}, {}, -1}}));
}

}  // namespace starling::constants_test
