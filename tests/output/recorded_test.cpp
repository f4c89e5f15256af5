// Which clients are recorded individually.
#include <gmock/gmock.h>

#include "core/check.hpp"
#include "output/choices.hpp"
#include "support/testing.hpp"

namespace starling::recorded_test {

using testing::HasSubstr;

Recorded recorded_of(Client clients, const std::string& choice, std::size_t dimension = 5) {
  return who_is_recorded(clients, choice.empty() ? RecordedChoice() : RecordedChoice::parse(choice), dimension);
}

TEST(RecordedClients, AreAllUpToAHundredElseTenSpreadEvenly) {
  EXPECT_EQ(recorded_of(3, "").clients, (std::vector<Client>{0, 1, 2}));
  EXPECT_EQ(recorded_of(100, "").clients.size(), 100U);
  EXPECT_EQ(recorded_of(100, "").clients.back(), 99);
  EXPECT_EQ(recorded_of(101, "").clients, (std::vector<Client>{0, 10, 20, 30, 40, 50, 60, 70, 80, 90}));
  // 10 · 10^9 does not fit 32 bits.
  EXPECT_EQ(recorded_of(1000000000, "").clients.back(), 900000000);
}

TEST(RecordedClients, AreFewerWhereModelsAreLarge) {
  EXPECT_EQ(recorded_of(10, "", 300'000).clients, (std::vector<Client>{0, 3, 6}));
  EXPECT_EQ(recorded_of(10, "", 30'000'000).clients, (std::vector<Client>{0}));
  EXPECT_EQ(recorded_of(10, "4", 30'000'000).clients.size(), 4U);
}

TEST(RecordedClients, AreNewOnesWhereAllOthersAre) {
  Recorded all = recorded_of(100, "");
  all.add_joined(100, 102);
  EXPECT_EQ(all.clients.size(), 102U) << "a run keeps its choice";
  EXPECT_EQ(all.clients.back(), 101);
  EXPECT_EQ(all.listed.size(), 10U);
  Recorded some = recorded_of(5, "2");
  some.add_joined(5, 7);
  EXPECT_EQ(some.clients, (std::vector<Client>{0, 1}));
}

TEST(RecordedClients, AreWhomTheOptionNames) {
  EXPECT_EQ(recorded_of(200, "3").clients, (std::vector<Client>{0, 1, 2}));
  EXPECT_EQ(recorded_of(2, "5").clients, (std::vector<Client>{0, 1}));
  EXPECT_EQ(recorded_of(200, "sample:4").clients, (std::vector<Client>{0, 50, 100, 150}));
  EXPECT_EQ(recorded_of(3, "sample:9").clients, (std::vector<Client>{0, 1, 2}));
  EXPECT_EQ(recorded_of(3000, "all").clients.size(), 3000U);
  EXPECT_TRUE(recorded_of(3, "none").clients.empty());
}

TEST(RecordedClients, HaveFiguresOfTheirOwnAloneBeyondTwoThousand) {
  for (const char* choice : {"", "5", "sample:5", "none"}) {
    EXPECT_EQ(recorded_of(2000, choice).figures, Figures::of_all) << choice;
    EXPECT_EQ(recorded_of(2001, choice).figures, Figures::of_some) << choice;
  }
  EXPECT_EQ(recorded_of(2001, "all").figures, Figures::of_all);
}

TEST(RecordedClients, HaveFiguresOfTenIfNobodyIsNamed) {
  const std::vector<Client> ten{0, 300, 600, 900, 1200, 1500, 1800, 2100, 2400, 2700};
  const Recorded of_one = who_is_recorded(3000, of_one_model, 5);
  EXPECT_EQ(of_one.clients, (std::vector<Client>{0}));
  EXPECT_EQ(of_one.listed, ten);
  EXPECT_EQ(of_one.figures, Figures::of_some);
  EXPECT_TRUE(of_one.final_models);
  EXPECT_EQ(recorded_of(3000, "").listed, ten);
  EXPECT_EQ(recorded_of(3000, "", 30'000'000).listed, ten) << "figures do not grow with models";
  EXPECT_EQ(recorded_of(3000, "1").listed, (std::vector<Client>{0}));
  EXPECT_EQ(recorded_of(3000, "sample:2").listed, (std::vector<Client>{0, 1500}));
  EXPECT_TRUE(recorded_of(3000, "none").listed.empty());
}

TEST(RecordedClients, OfNoneThereAreNoFinalModels) {
  for (const char* choice : {"", "5", "sample:5", "all"}) EXPECT_TRUE(recorded_of(10, choice).final_models) << choice;
  EXPECT_FALSE(recorded_of(10, "none").final_models);
}

TEST(RecordedClients, RefuseWhatIsNoChoice) {
  for (const char* text : {"0", "-1", "some", "sample:", "sample:0", "sample:x", "100000001", "1.5"}) {
    try {
      static_cast<void>(RecordedChoice::parse(text));
      FAIL() << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("out of range"), HasSubstr("value"))) << text;
    }
  }
}

}  // namespace starling::recorded_test
