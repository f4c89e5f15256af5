#include "core/text/spec.hpp"
#include "support/testing.hpp"

namespace starling::table_test {

using namespace testing_support;

struct Shape {
  std::string name;
  double size;
};

const Table<Shape, double>& shapes() {
  static const Table<Shape, double> table(
      "shape", {{"circle",
                 "round",
                 {{"radius", "its radius (1)"}},
                 [](const Spec& spec, double unit) {
                   return std::make_unique<Shape>(Shape{spec.name(), unit * spec.number("radius", 1)});
                 }},
                {"point", "nothing", {}, [](const Spec& spec, double) {
                   return std::make_unique<Shape>(Shape{spec.name(), 0});
                 }}});
  return table;
}

std::string refusal(const char* text) {
  return message_of<UsageError>([text] { return shapes().make(text, 1); });
}

TEST(Table, MakesTheMemberThatIsNamed) {
  EXPECT_EQ(shapes().make("circle:3", 2)->size, 6);
  EXPECT_EQ(shapes().make("circle:radius=3", 2)->size, 6);
  EXPECT_EQ(shapes().make("circle", 2)->size, 2);
  EXPECT_EQ(shapes().make("point", 2)->name, "point");
}

TEST(Table, UnknownNamesListTheKnown) {
  EXPECT_EQ(refusal("Circle"), "unknown shape 'Circle': known are circle, point. Did you mean circle?");
  EXPECT_EQ(refusal("circ:1"), "unknown shape 'circ': known are circle, point. Did you mean circle?");
}

TEST(Table, ChecksTheKeysOfTheMember) {
  EXPECT_THAT(refusal("circle:width=1"), HasSubstr("unknown key 'width'"));
  EXPECT_THAT(refusal("point:1"), HasSubstr("more values"));
}

TEST(Table, HelpNamesEveryMemberAndItsKeys) {
  const std::string help = shapes().help();
  for (const char* part : {"circle:radius=…", "round", "radius: its radius (1)", "point", "nothing"}) {
    EXPECT_THAT(help, HasSubstr(part)) << part;
  }
  EXPECT_TRUE(help.ends_with('\n'));
  EXPECT_EQ(shapes().names(), "circle, point");
}

}  // namespace starling::table_test
