#include "privacy/accounting/prices.hpp"

#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::prices_test {

using namespace testing_support;

class ClientFile : public testing::Test {
 protected:
  Prices parse(const std::string& text) {
    return Prices::parse("clients:" + folder_.write("epsilon.csv", text), "--epsilon", 10, 3, 0.01, 10);
  }
  std::string refusal(const std::string& text) {
    return message_of<UsageError>([&] { return parse(text); });
  }
  testing_support::TemporaryFolder folder_;
};

TEST(Prices, FollowTheirSchedule) {
  const Prices prices = Prices::parse("schedule:from=2,to=1", "--epsilon", 11, 3, 0.01, 10);
  EXPECT_EQ(prices.at(0, 0), 2);
  EXPECT_EQ(prices.at(2, 10), 1);
  EXPECT_EQ(prices.range().least, 1);
  EXPECT_EQ(prices.range().most, 2);
  EXPECT_FALSE(prices.constant());
}

TEST_F(ClientFile, GivesEachClientItsPrice) {
  const Prices prices = parse("client,value\n2,0.3\n0,0.1\n1,0.2\n");
  for (Client u = 0; u < 3; ++u) EXPECT_DOUBLE_EQ(prices.at(u, 7), 0.1 * (u + 1));
  EXPECT_EQ(prices.range().least, 0.1);
  EXPECT_EQ(prices.range().most, 0.3);
  EXPECT_TRUE(prices.constant());
}

TEST_F(ClientFile, MustNameEachClientOnce) {
  EXPECT_THAT(refusal("0,1\n1,1\n"), HasSubstr("does not name client 2: each client needs a line. Add it."));
  EXPECT_THAT(refusal("0,1\n1,1\n1,2\n2,1\n"), HasSubstr(":3: client 1 is named twice. Delete one of its lines."));
  EXPECT_THAT(refusal("0,1\n3,1\n"), HasSubstr(":2: client 3: clients have the numbers 0 to 2. Take one of them."));
  EXPECT_THAT(refusal("0,1\n1,0\n2,1\n"), HasSubstr(":2: 0 is out of range: 0.01 to 10. Correct it."));
  EXPECT_THAT(refusal("0,1\n1\n2,1\n"), HasSubstr(":2: '1' is not two numbers with a comma between them. Write them"));
}

TEST_F(ClientFile, ConvertsPricesAndTheirRange) {
  const Prices halves = parse("0,1\n1,2\n2,4\n").converted([](double price) { return price / 2; });
  EXPECT_EQ(halves.at(2, 0), 2);
  EXPECT_EQ(halves.range().least, 0.5);
  EXPECT_EQ(halves.range().most, 2);
  EXPECT_EQ(halves.converted([](double price) { return price + 1; }).at(2, 0), 3);
}

}  // namespace starling::prices_test
