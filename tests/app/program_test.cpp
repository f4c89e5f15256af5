#include "app/program.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "console/help.hpp"
#include "options/help.hpp"
#include "run/settings/learning_config.hpp"

namespace starling::program_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A toy command: one option, and what it was run with.
struct Toy {
  int count = 1;
};
int ran_with = 0;

Options toy_options(Toy& toy) {
  Options options("toy");
  options.group("Toys");
  options.add(option("count", "K", "how many", {.initial = "1", .range = {1}}), toy.count);
  options.add(flag("print-config", "print the options", {.about_configuration = true}));
  options.add(flag("help", "this text", {.about_configuration = true}));
  return options;
}

Manual toy_manual() {
  return {.usage = "[OPTIONS]", .text = "Plays.", .examples = {"starling toy --count 2"}};
}

int run_toy(const Call& call) {
  Toy toy;
  toy_options(toy).parse(call.words);
  ran_with = toy.count;
  return 3;
}

Command toy_command() {
  return {.name = "toy",
          .purpose = "plays",
          .manual = toy_manual,
          .options = declarations_from<Toy, toy_options>,
          .configuration = configuration_from<Toy, toy_options>,
          .run = run_toy};
}

struct Ended {
  int code;
  std::string out;
  std::string err;
};

Ended run(std::vector<std::string> words, const std::vector<Command>& table) {
  words.insert(words.begin(), "starling");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run_program(words, table);
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(Program, AToyCommandIsOneRow) {
  const std::vector<Command> table{toy_command()};
  EXPECT_EQ(run({"toy", "--count", "4"}, table).code, 3);
  EXPECT_EQ(ran_with, 4);
  EXPECT_THAT(run({"--help"}, table).out, HasSubstr("starling toy"));
  EXPECT_THAT(run({"toy", "--help"}, table).out, HasSubstr("--count K"));
  EXPECT_EQ(run({"toy", "--count", "2", "--print-config"}, table).out, "count = 2\n");
  const Ended bad = run({"toy", "--cuont", "2"}, table);
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("starling toy --help"));
  const Ended unknown = run({"play"}, table);
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown command 'play': known are toy."));
}

TEST(Program, SubcommandsAreRowsToo) {
  const std::vector<Command> table{{.name = "box", .purpose = "holds", .subcommands = {toy_command()}}};
  EXPECT_EQ(run({"box", "toy", "--count", "5"}, table).code, 3);
  EXPECT_EQ(ran_with, 5);
  EXPECT_THAT(run({"box", "--help"}, table).out, HasSubstr("toy         plays"));
  EXPECT_THAT(run({"box"}, table).err, HasSubstr("`box` lacks a command: known are toy."));
  EXPECT_THAT(run({"box", "play"}, table).err, HasSubstr("unknown box command 'play': known are toy."));
}

/// All commands that have options, with their path.
std::vector<std::pair<std::string, Command>> leaves() {
  std::vector<std::pair<std::string, Command>> found;
  for (const Command& command : commands()) {
    if (command.subcommands.empty()) found.emplace_back(command.name, command);
    for (const Command& below : command.subcommands) found.emplace_back(command.name + " " + below.name, below);
  }
  return found;
}

TEST(Program, HelpHasEveryOptionOfEveryCommand) {
  for (const auto& [path, command] : leaves()) {
    const std::string help = help_text(command, path, "all");
    const std::vector<Option> options = command.options();
    EXPECT_THAT(options, Not(IsEmpty())) << path;
    EXPECT_THAT(command.purpose, Not(IsEmpty())) << path;
    std::set<std::string> names;
    for (const Option& option : options) {
      EXPECT_TRUE(names.insert(option.name).second) << path << " has --" << option.name << " twice";
      EXPECT_THAT(help, HasSubstr((option.positional ? "  " + option.argument : "  --" + option.name) + " ")) << path;
      EXPECT_THAT(option.help, Not(IsEmpty())) << path << " --" << option.name;
      EXPECT_THAT(option.group, Not(IsEmpty())) << path << " --" << option.name;
    }
    EXPECT_TRUE(names.contains("help")) << path;
  }
}

/// Whether a rule of the command, beside those that declarations state, asks for more than the example has: the
/// variants of renewable estimation that have noise, and canaries, which omd alone makes.
bool takes_more(const std::string& path, const Option& option) {
  if (option.name == "audit") return path != "omd";
  if (path == "vertical") return option.name == "unit" || option.name == "person" || option.name == "missing-person";
  return path == "renewable" && (option.group == "Privacy" || option.name == "histogram-price");
}

/// What --help=OPTION shows can be typed: the configuration takes it. Options that say where a configuration is, are no
/// part of it.
TEST(Program, TheExampleOfEveryOptionIsAccepted) {
  std::size_t tried = 0;
  for (const auto& [path, command] : leaves()) {
    const std::vector<Option> options = command.options();
    for (const Option& option : options) {
      EXPECT_THAT(help_text(command, path, option.name), HasSubstr("example   starling " + path)) << option.name;
      if (option.about_configuration) continue;
      const std::vector<std::string> words = example_of(option, options);
      EXPECT_TRUE(option.argument.empty() || words.size() > (option.positional ? 0 : 1))
          << path << " --" << option.name;
      if (!command.configuration || takes_more(path, option)) continue;
      EXPECT_NO_THROW(static_cast<void>(command.configuration(words))) << path << " --" << option.name;
      ++tried;
    }
  }
  EXPECT_GT(tried, 300);
}

TEST(Program, HelpOnWhatIsNotThereNamesWhatIsNear) {
  const std::vector<Command> table{toy_command()};
  EXPECT_THAT(run({"toy", "--help=cuont"}, table).err, HasSubstr("Did you mean --help=count?"));
  EXPECT_THAT(run({"toy", "--help=count"}, table).out, HasSubstr("values    a whole number of 1 or more"));
  EXPECT_EQ(run({"help", "toy"}, table).out, run({"toy", "--help"}, table).out);
  EXPECT_THAT(run({"help", "tyo"}, table).err, HasSubstr("Did you mean toy?"));
}

TEST(Program, ConfigurationFilesHaveTheSameOptionsAsResumeAndConfig) {
  for (const auto& [path, command] : leaves()) {
    const auto options = command.options();
    const auto has = [&](const char* name) {
      return std::any_of(options.begin(), options.end(), [&](const Option& o) { return o.name == name; });
    };
    EXPECT_TRUE(command.configuration || !has("print-config")) << path;
    EXPECT_EQ(has("config"), has("print-config")) << path;
  }
}

/// A relation that names no option of any command would never be checked.
TEST(Program, RelationsNameOptionsAndWordsThatExist) {
  std::map<std::string, std::vector<Option>> by_name;
  for (const auto& [path, command] : leaves()) {
    for (const Option& option : command.options()) by_name[option.name].push_back(option);
  }
  for (const auto& [name, options] : by_name) {
    for (const Option& option : options) {
      for (const Relation& relation : option.relations) {
        EXPECT_TRUE(by_name.contains(relation.other)) << name << " names --" << relation.other;
        EXPECT_THAT(relation.why, Not(IsEmpty())) << name;
        for (const std::string& value : relation.values) {
          const auto& others = by_name[relation.other];
          const auto is_value = [&](const std::string& word) { return word.substr(0, word.find(':')) == value; };
          EXPECT_TRUE(std::any_of(others.begin(), others.end(),
                                  [&](const Option& other) {
                                    return other.words.empty() ||
                                           std::any_of(other.words.begin(), other.words.end(), is_value);
                                  }))
              << name << " names --" << relation.other << " " << value;
        }
      }
    }
  }
}

// What a configuration in a file or a ledger means is asked by name alone, whatever command the option is of.
TEST(Program, EffectsOfOptionsAreKnownByName) {
  for (const Command& command : commands()) {
    if (!command.on_all_ranks) continue;
    for (const Option& option : command.options()) {
      EXPECT_TRUE(option.about_configuration || option.effect == effect_of(option.name)) << option.name;
    }
  }
  EXPECT_EQ(effect_of("output"), Option::Effect::books);
  EXPECT_EQ(effect_of("rounds"), Option::Effect::length);
  EXPECT_EQ(effect_of("seed"), Option::Effect::results);
  EXPECT_EQ(effect_of("verbose"), Option::Effect::none);
}

}  // namespace starling::program_test
