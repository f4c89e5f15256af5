#include "options/options.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/check.hpp"
#include "options/help.hpp"
#include "options/meant.hpp"
#include "support/testing.hpp"

namespace starling::options_test {

using testing::ElementsAre;
using testing::HasSubstr;

enum class Colour { red, green };

/// A toy command. Each option is one declaration.
struct Toy {
  double size = 0;
  std::optional<double> cap;
  std::optional<int> count;
  std::optional<double> share;
  bool loud = false;
  Colour colour = Colour::red;
  std::string file;
  std::string source;
  std::vector<std::string> names;
  std::string mode;
  std::vector<std::string> words;
};

Options options_of(Toy& toy) {
  Options options("toy");
  options.group("Toys");
  options.add(option("size", "S", "how large", {.initial = "1", .range = {0, 10}}), toy.size);
  options.add(option("cap", "C", "a limit", {.initial = "auto", .no_value = "auto"}), toy.cap);
  options.add(
      option("count", "K", "how many", {.range = {1}, .relations = {needs("mode=many", "one toy needs no count")}}),
      toy.count);
  options.add(flag("loud", "with sound",
                   {.effect = Option::Effect::none, .relations = {excludes("names", "sound has no name")}}),
              toy.loud);
  options.group("Looks");
  options.add(option("colour", "NAME", "red or green",
                     {.initial = "red",
                      .relations = {excludes("size", "green toys have one size").only_for("green"),
                                    excludes("of-another-command", "never")}}),
              toy.colour, {{"red", Colour::red}, {"green", Colour::green}});
  options.add(option("file", "FILE", "a file", {.files = named::file}), toy.file);
  options.add(option("names", "LIST", "of toys"), toy.names);
  options.add(option("share", "S", "of all", {.range = {0, 1}, .unstated = "0"}), toy.share);
  options.add(option("mode", "[one|many]", "of playing", {.words = {"one", "many"}, .implied = "one"}), toy.mode);
  options.add(option("word", "WORD", "any", {.positional = true, .many = true}), toy.words);
  options.add(option("source", "FILE", "where from",
                     {.files =
                          [](const std::string& value, const std::filesystem::path& /*folder*/) {
                            return (std::filesystem::path("/in") / value).string();
                          },
                      .aside_with = "more"}),
              toy.source);
  options.add(option("more", "N", "how many", {.about_configuration = true}));
  options.add(option("config", "FILE", "read options", {.about_configuration = true}));
  options.add(option("resume", "DIR", "go on", {.about_configuration = true}));
  return options;
}

std::string configuration_of(const std::vector<std::string>& words) {
  Toy toy;
  Options options = options_of(toy);
  options.parse(words);
  return options.configuration();
}

Toy parsed(const std::vector<std::string>& words, const std::string& of_run = "") {
  Toy toy;
  options_of(toy).parse(words, of_run);
  return toy;
}

std::string refusal(const std::vector<std::string>& words, const std::string& of_run = "") {
  try {
    parsed(words, of_run);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, ValuesGoToTheirVariables) {
  const Toy none = parsed({});
  EXPECT_EQ(none.size, 1);
  EXPECT_EQ(none.cap, std::nullopt);
  EXPECT_EQ(none.count, std::nullopt);
  const Toy toy = parsed({"--size", "2.5", "--cap=3", "--mode", "many", "--count", "4", "--loud", "--colour", "red"});
  EXPECT_EQ(toy.size, 2.5);
  EXPECT_EQ(toy.cap, 3);
  EXPECT_EQ(toy.count, 4);
  EXPECT_TRUE(toy.loud);
  EXPECT_EQ(toy.colour, Colour::red);
  EXPECT_THAT(parsed({"--names", "a,b"}).names, ElementsAre("a", "b"));
  EXPECT_THAT(parsed({"--names", "\"town, state\", 5\" pipe,\"a \"\"b\"\"\""}).names,
              ElementsAre("town, state", "5\" pipe", "a \"b\""))
      << "quotes, as in CSV";
  EXPECT_THAT(parsed({"x", "--mode", "y", "z"}).words, ElementsAre("x", "y", "z"));
  EXPECT_EQ(parsed({"--mode", "y"}).mode, "one");
}

TEST(Options, BadValuesAreRefusedWithTheirPlace) {
  EXPECT_THAT(refusal({"--size", "11"}), HasSubstr("--size: 11 is out of range: 0 to 10."));
  EXPECT_THAT(refusal({"--mode", "many", "--count", "0"}), HasSubstr("--count: 0 is out of range"));
  EXPECT_THAT(refusal({"--colour", "blue"}), HasSubstr("--colour: unknown word 'blue': known are red, green."));
  EXPECT_THAT(refusal({"--names", "a,,b"}), HasSubstr("single commas"));
  EXPECT_THAT(refusal({"--mode=three"}), HasSubstr("known are one, many"));
  EXPECT_THAT(refusal({"--size", "1", "--size", "2"}), HasSubstr("--size is given twice"));
  EXPECT_THAT(refusal({"--siz", "1"}), HasSubstr("unknown option --siz. Did you mean --size? starling toy --help=all"));
  EXPECT_THAT(refusal({"--colour", "gren"}), HasSubstr("Did you mean green?"));
}

TEST(Options, AnUnknownOptionIsToldByWhatOthersCallIt) {
  const std::vector<std::string> known{"batch",  "epochs", "label", "output",   "rounds",
                                       "source", "start",  "step",  "step-cap", "test"};
  for (const auto& [name, meant] : std::map<std::string, std::string>{{"lr", "step"},
                                                                      {"learning-rate", "step"},
                                                                      {"batch-size", "batch"},
                                                                      {"num-epochs", "epochs"},
                                                                      {"data", "source"},
                                                                      {"target", "label"},
                                                                      {"out", "output"},
                                                                      {"output-dir", "output"},
                                                                      {"label-column", "label"},
                                                                      {"rouns", "rounds"},
                                                                      {"iterations", "rounds"}}) {
    EXPECT_EQ(meant_option(name, known), meant) << name;
  }
  EXPECT_EQ(meant_option("optimizer", known), std::nullopt);
  EXPECT_EQ(meant_option("st", known), std::nullopt) << "start or step";
  EXPECT_EQ(meant_option("lr", {"batch"}), std::nullopt) << "the command has no --step";
}

TEST(Options, RelationsNameBothOptionsTheReasonAndTheRemedy) {
  EXPECT_EQ(refusal({"--count", "2"}),
            "--count without --mode many: one toy needs no count. Add --mode many, or leave --count out.");
  EXPECT_EQ(refusal({"--loud", "--names", "a"}),
            "--loud and --names exclude each other: sound has no name. Leave one of them out.");
  EXPECT_EQ(refusal({"--colour", "green", "--size", "2"}),
            "--colour green with --size: green toys have one size. Leave one of them out.");
  EXPECT_EQ(refusal({"--colour", "green", "--size", "1"}), "");  // a default excludes nothing
  EXPECT_EQ(refusal({"--colour", "red", "--size", "2"}), "");
}

TEST(Options, HelpHasEveryDeclaration) {
  Toy toy;
  const Options options = options_of(toy);
  const std::string help = help_on_all(options.declarations());
  for (const Option& option : options.declarations()) EXPECT_THAT(help, HasSubstr(option.help)) << option.name;
  EXPECT_THAT(help, HasSubstr("Toys:\n  --size S "));
  EXPECT_THAT(help, HasSubstr("how large [1]"));
  EXPECT_THAT(help, HasSubstr("Looks:\n  --colour NAME"));
}

TEST(Options, AConfigurationReadsBackAsItself) {
  const testing_support::TemporaryFolder folder;
  Toy toy;
  Options options = options_of(toy);
  options.parse({"--size", "2", "--mode", "many", "--count", "3", "--file", "/a/b", "--loud"});
  const std::string text = options.configuration();
  EXPECT_EQ(text, "size = 2\ncap = auto\ncount = 3\nloud = true\ncolour = red\nfile = /a/b\nmode = many\n");
  const std::string file = folder.write("config.ini", text);
  Toy again;
  Options same = options_of(again);
  same.parse({"--config", file});
  EXPECT_EQ(same.configuration(), text);
  EXPECT_EQ(again.count, 3);
  EXPECT_FALSE(same.given("colour"));  // a default in a file excludes nothing
  EXPECT_TRUE(same.stated("colour"));
  EXPECT_TRUE(same.stated("size"));
  EXPECT_FALSE(same.stated("ghost"));
  EXPECT_EQ(same.configuration(Options::Names::absolute, {"size", "colour"}),
            "cap = auto\ncount = 3\nloud = true\nfile = /a/b\nmode = many\n");
}

TEST(Options, AResumedRunKeepsWhatIsFixed) {
  const testing_support::TemporaryFolder folder;
  folder.write("run/config.ini", "size = 2\n");
  EXPECT_EQ(parsed({"--resume", folder / "run", "--loud", "--size", "2.0"}).size, 2);
  EXPECT_THAT(refusal({"--resume", folder / "run", "--size", "3"}), HasSubstr("size = 2, here 3"));
  EXPECT_THAT(refusal({"--resume", folder / "run", "--count", "1"}), HasSubstr("count = -, here 1"));
  const std::string of_run = "size = 4\n";  // as another process has read it, where there may be no such folder
  EXPECT_EQ(parsed({"--resume", folder / "elsewhere"}, of_run).size, 4);
  EXPECT_THAT(refusal({"--resume", folder / "elsewhere", "--size", "3"}, of_run), HasSubstr("size = 4, here 3"));
  EXPECT_THAT(refusal({"--resume", folder / "elsewhere"}), HasSubstr("no such directory"));
}

TEST(Options, EqualValuesOfAResumedRunAreNoChange) {
  const testing_support::TemporaryFolder folder;
  folder.write("run/config.ini", "size = 2\n");
  const std::string run = folder / "run";
  const std::string before = configuration_of({"--resume", run});
  for (const auto& [name, value] : {std::pair{"--size", "2.0"}, std::pair{"--cap", "auto"},
                                    std::pair{"--colour", "red"}, std::pair{"--share", "0.0"}}) {
    EXPECT_EQ(configuration_of({"--resume", run, name, value}), before) << name;
  }
  EXPECT_THAT(refusal({"--resume", run, "--share", "0.1"}), HasSubstr("share = 0, here 0.1"));
}

TEST(Options, AnOptionIsSetAsideBesideTheOneThatItBelongsTo) {
  const testing_support::TemporaryFolder folder;
  folder.write("run/config.ini", "source = old\n");
  const std::string run = folder / "run";
  EXPECT_THAT(refusal({"--resume", run, "--source", "new"}), HasSubstr("source = /in/old, here new"));
  Toy toy;
  Options options = options_of(toy);
  options.parse({"--resume", run, "--source", "new", "--more", "2"});
  EXPECT_EQ(options.aside("source"), "/in/new");
  EXPECT_EQ(toy.source, "/in/old");
  EXPECT_THAT(options.configuration(), HasSubstr("source = /in/old"));
  options = options_of(toy);
  options.parse({"--resume", run, "--more", "2"});
  EXPECT_EQ(options.aside("source"), std::nullopt);
  options = options_of(toy);
  options.parse({"--source", "new", "--more", "2"});
  EXPECT_EQ(toy.source, "new") << "of a run that begins";
}

TEST(Options, ADeclarationTakesWhatAnotherStates) {
  const Option base = option("size", "S", "how large", {.initial = "1", .range = {0}});
  const Option other = base.with({.initial = "2", .range = {.most = 5}});
  EXPECT_EQ(other.name, "size");
  EXPECT_EQ(other.initial, "2");
  EXPECT_EQ(other.help, "how large");
  EXPECT_EQ(other.range.least, 0);
  EXPECT_EQ(other.range.most, 5);
}

TEST(Options, TheDefaultIsWhatTheVariableHoldsUnlessTheDeclarationHasAnother) {
  int size = 3;
  double scale = 0.5;
  std::string name = "ada";
  Colour colour = Colour::green;
  std::optional<int> count;
  bool loud = false;
  Options options("toy");
  options.add(option("size", "S", "how large"), size);
  options.add(option("width", "S", "how wide", {.initial = "7"}), size);
  options.add(option("scale", "S", "how much"), scale);
  options.add(option("name", "NAME", "of the toy"), name);
  options.add(option("colour", "NAME", "red or green"), colour, {{"red", Colour::red}, {"green", Colour::green}});
  options.add(option("count", "K", "how many"), count);
  options.add(flag("loud", "with sound"), loud);
  std::vector<std::string> defaults;
  for (const Option& each : options.declarations()) defaults.push_back(each.initial);
  EXPECT_THAT(defaults, ElementsAre("3", "7", "0.5", "ada", "green", "", ""));
}

}  // namespace starling::options_test
