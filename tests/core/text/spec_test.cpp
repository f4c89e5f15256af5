#include "core/text/spec.hpp"

#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::spec_test {

using namespace testing_support;

const std::vector<Parameter> low_high{{"low", "lower bound"}, {"high", "upper bound"}};

Spec bound(std::string_view text, const std::vector<Parameter>& parameters = low_high) {
  Spec spec = Spec::parse(text);
  spec.bind(parameters);
  return spec;
}

/// What parsing and binding the text throws.
std::string refusal(std::string_view text, const std::vector<Parameter>& parameters = low_high) {
  return message_of<UsageError>([&] { bound(text, parameters); });
}

TEST(Number, TakesDecimalsExponentsAndRatios) {
  EXPECT_EQ(parse_number("1", "x"), 1);
  EXPECT_EQ(parse_number("-0.5", "x"), -0.5);
  EXPECT_EQ(parse_number("1e-3", "x"), 1e-3);
  EXPECT_EQ(parse_number("4/1", "x"), 4);
  EXPECT_EQ(parse_number("1/3", "x"), 1.0 / 3);
  EXPECT_EQ(parse_number("-1.5/1e2", "x"), -1.5 / 100);
}

// Numbers that are written with all their digits come back with all their bits.
TEST(Number, RoundTrips) {
  for (const double value : {0.1, 1.0 / 3, 1e-308, 5e-324, 1.7976931348623157e308, -2.5}) {
    EXPECT_EQ(parse_number(fmt::format("{}", value), "x"), value);
  }
}

TEST(Number, RefusesWhatIsNotOneAndNamesIt) {
  for (const char* text : {"", " 1", "1 ", "1,5", "one", "+1", "0x10", "1e", "1e400", "/2", "1/", "1/2/3", "--1"}) {
    EXPECT_ERROR(UsageError, "the step: '", parse_number(text, "the step")) << text;
  }
  EXPECT_EQ(message_of<UsageError>([] { return parse_number("1/0", "x"); }),
            "x: '1/0' divides by zero. Write a number such as 1/255.");
  EXPECT_EQ(message_of<UsageError>([] { return parse_number("1/inf", "x"); }),
            "x: '1/inf' divides by infinity. Write a number such as 1/255.");
}

TEST(Integer, MayBeWrittenWithAnExponent) {
  EXPECT_EQ(parse_integer("12", "n"), 12);
  EXPECT_EQ(parse_integer("-3", "n"), -3);
  EXPECT_EQ(parse_integer("1e6", "n"), 1000000);
  EXPECT_EQ(parse_integer("2.5e1", "n"), 25);
  EXPECT_EQ(parse_integer("9223372036854775807", "n"), 9223372036854775807LL);
}

TEST(Integer, RefusesFractionsAndWhatDoesNotFit) {
  for (const char* text : {"", "1.5", "1e-1", "1e16", "9223372036854775808", "nan", "inf", "4/2", "x"}) {
    EXPECT_ERROR(UsageError, "rounds: '", parse_integer(text, "rounds")) << text;
  }
}

TEST(Spec, HasANameAndPerhapsValues) {
  EXPECT_EQ(bound("simplex").name(), "simplex");
  EXPECT_EQ(bound("simplex").find("low"), std::nullopt);
  const Spec spec = bound("box:low=-1,high=1/2");
  EXPECT_EQ(spec.name(), "box");
  EXPECT_EQ(spec.number("low"), -1);
  EXPECT_EQ(spec.number("high"), 0.5);
}

TEST(Spec, KeepsItsText) {
  for (const char* text : {"free", "box:-1,1", "box:low=-1,high=1", "file:path=/a:b.topo"}) {
    EXPECT_EQ(Spec::parse(text).text(), text);
  }
}

TEST(Spec, GivesBareValuesTheKeysInOrder) {
  for (const char* text : {"box:-1,1", "box:low=-1,1", "box:-1,high=1", "box:high=1,low=-1"}) {
    EXPECT_EQ(bound(text).number("low"), -1) << text;
    EXPECT_EQ(bound(text).number("high"), 1) << text;
  }
}

// Only the first colon and the first equals sign of an item mean something.
TEST(Spec, TakesColonsAndEqualsSignsInValues) {
  EXPECT_EQ(bound("box:low=a:b=c").require("low"), "a:b=c");
}

TEST(Spec, RefusesEmptyParts) {
  EXPECT_THAT(refusal(""), HasSubstr("has no name"));
  EXPECT_THAT(refusal(":1"), HasSubstr("has no name"));
  EXPECT_THAT(refusal("box:=1"), HasSubstr("without a key"));
  for (const char* text : {"box:", "box:low=", "box:1,", "box:,1", "box:1,,2"}) {
    EXPECT_THAT(refusal(text), HasSubstr("empty value")) << text;
  }
}

TEST(Spec, RefusesUnknownKeysAndNamesTheKnown) {
  EXPECT_EQ(refusal("box:lo=1"), "unknown key 'lo' in 'box:lo=1': box takes: low, high. Did you mean low?");
  EXPECT_EQ(refusal("free:lo=1", {}),
            "unknown key 'lo' in 'free:lo=1': free takes: none. Correct it, or leave it out.");
}

TEST(Spec, RefusesMoreValuesThanKeys) {
  EXPECT_EQ(refusal("box:1,2,3"), "'box:1,2,3' has more values than 'box' takes: it takes: low, high.");
  EXPECT_EQ(refusal("free:1", {}), "'free:1' has more values than 'free' takes: it takes: none.");
}

TEST(Spec, RefusesAKeyGivenTwice) {
  for (const char* text : {"box:low=1,low=1", "box:1,low=2", "box:high=1,2"}) {
    EXPECT_THAT(refusal(text), HasSubstr("stands twice")) << text;
  }
}

TEST(Spec, MissingValuesAreErrorsUnlessThereIsADefault) {
  const Spec spec = bound("box:low=2");
  EXPECT_EQ(spec.number("high", 7.5), 7.5);
  EXPECT_EQ(spec.integer("high", 7), 7);
  EXPECT_EQ(spec.number("low", 7.5), 2);
  EXPECT_EQ(spec.integer("low", 7), 2);
  const auto missing = [&](auto read) { return message_of<UsageError>([&] { return read(); }); };
  EXPECT_EQ(missing([&] { return spec.number("high"); }), "'box:low=2' lacks 'high': write box:high=…");
  EXPECT_EQ(missing([&] { return spec.integer("high"); }), "'box:low=2' lacks 'high': write box:high=…");
  EXPECT_EQ(missing([&] { return spec.require("high"); }), "'box:low=2' lacks 'high': write box:high=…");
}

TEST(Spec, ErrorsInNumbersNameTheSpecAndTheKey) {
  const Spec spec = bound("box:low=x,high=1.5");
  EXPECT_EQ(message_of<UsageError>([&] { return spec.number("low"); }),
            "'box:low=x,high=1.5', low: 'x' is not a number. Write one such as 2, 0.5, 1e-3 or 1/3.");
  EXPECT_EQ(message_of<UsageError>([&] { return spec.integer("high", 1); }),
            "'box:low=x,high=1.5', high: '1.5' is not a whole number");
}

}  // namespace starling::spec_test
