#include "core/text/names.hpp"

#include <string>

#include <gtest/gtest.h>

namespace starling::names_test {

using Names = std::vector<std::string>;

TEST(Names, TheNearestNameIsAboutOneErrorInThreeLetters) {
  const Names losses{"logistic", "hinge", "huber", "squared"};
  EXPECT_EQ(nearest_name("logistik", losses), "logistic");
  EXPECT_EQ(nearest_name("Hinge", losses), "hinge");      // capitals
  EXPECT_EQ(nearest_name("hubr", losses), "huber");       // a letter is missing
  EXPECT_EQ(nearest_name("hubber", losses), "huber");     // one too many
  EXPECT_EQ(nearest_name("suqared", losses), "squared");  // two change places: one error
  EXPECT_EQ(nearest_name("sqrd", losses), std::nullopt);
  EXPECT_EQ(nearest_name("", losses), std::nullopt);
  EXPECT_EQ(nearest_name("hinge", {}), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(100'000, 'h'), losses), std::nullopt);
}

TEST(Names, AmongSeveralTheNearestThenTheFirst) {
  EXPECT_EQ(nearest_name("step-offse", {"step-cap", "step", "step-offset"}), "step-offset");
  EXPECT_EQ(nearest_name("cat", {"car", "cap"}), "car");
  EXPECT_EQ(nearest_name("ab", {"ba", "abc"}), "abc");  // one of two letters is more than a third
}

TEST(Names, MessagesSayWhatIsKnownAndWhatToDo) {
  EXPECT_EQ(unknown_name("loss", "hubr", {"hinge", "huber"}),
            "unknown loss 'hubr': known are hinge, huber. Did you mean huber?");
  EXPECT_EQ(unknown_name("loss", "x", {"hinge", "huber"}),
            "unknown loss 'x': known are hinge, huber. Choose one of them.");
  EXPECT_EQ(did_you_mean("epsilo", {"epsilon"}, "--", "No."), "Did you mean --epsilon?");
  EXPECT_EQ(did_you_mean("q", {"epsilon"}, "--", "No."), "No.");
}

}  // namespace starling::names_test
