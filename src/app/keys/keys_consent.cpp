// `starling keys consent NAME`.
#include <iostream>
#include <string>

#include "app/commands.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "files/tell_user.hpp"
#include "output/directory/owners_file.hpp"
#include "privacy/identity/consent.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

struct NewConsent {
  std::string name;
};

Options consent_options(NewConsent& consent) {
  Options options("keys consent");
  options.group("Options");
  options.add(option("name", "NAME", "name of the owner, as for keys make: the file is NAME.consent, beside NAME.key",
                     {.example = "hospital-a", .positional = true}),
              consent.name);
  options.add(declared("help"));
  return options;
}

Manual consent_manual() {
  return {
      .usage = "NAME",
      .text =
          "Asks what the owner agrees to, and writes NAME.consent beside NAME.key. A rank that reads NAME.key refuses "
          "a run that differs, with the line, before any record is read. An empty answer takes what stands in "
          "brackets; a dash takes no limit. Lines are options and their values, as in a file for --config, and may "
          "be edited: OPTION = VALUES, never-OPTION = VALUES, most-OPTION = NUMBER, least-OPTION = NUMBER. An earlier "
          "file is replaced.",
      .examples = {"starling keys consent hospital-a"}};
}

struct Question {
  const char* text;
  const char* key;
  const char* usual;  ///< empty: no limit
};

constexpr Question questions[] = {
    {"Mechanisms", "mechanism", "laplace,gaussian"},
    {"Largest epsilon of a run (--total-epsilon)", "most-total-epsilon", "1"},
    {"Largest epsilon of all runs in the ledger (--budget)", "most-budget", ""},
    {"The ledger, as the run must name it (--ledger)", "ledger", ""},
    {"Largest delta", "most-delta", ""},
    {"Units that are protected", "unit", "record,person"},
    {"Whom to trust (--trust)", "trust", ""},
    {"Clients that may collude, at least (--collusion)", "least-collusion", ""},
    {"Where metrics of private records go (auto is local under noise)", "metrics", "local,auto"},
    {"Noise keys that are refused", "never-noise-key", "seed"},
    {"Clients, at least", "least-clients", "2"},
    {"Fingerprint of the list of members", "members", ""},
    {"Digest of the program, as sha256sum prints it", "code", ""},
};

int run_consent(const Call& call) {
  const auto consent = parsed<NewConsent, consent_options>(call.words);
  check(!consent.name.empty(), "no name is given: the file is NAME.consent. See starling keys consent --help.");
  const std::string file = consent_file(consent.name + ".key");
  std::string text = "# What the owner of " + consent.name + " agrees to\n";
  for (const Question& question : questions) {
    tell_user("{} [{}]: ", question.text, *question.usual == '\0' ? "-" : question.usual);
    std::string answer;
    if (!std::getline(std::cin, answer) || answer.empty()) answer = question.usual;
    if (!answer.empty() && answer != "-") text += fmt::format("{} = {}\n", question.key, answer);
  }
  tell_user("\n");
  static_cast<void>(Consent::parse(text, file));
  require_written(replace_file(file, text, readable_by_all), file);
  print(fmt::format("{}:\n{}", file, text));
  return 0;
}

}  // namespace

Command keys_consent_command() {
  return command_of<NewConsent, consent_options>("consent", "what an owner agrees to, from questions", consent_manual,
                                                 run_consent);
}

}  // namespace starling
