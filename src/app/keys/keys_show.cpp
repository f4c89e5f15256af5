// `starling keys show FILE`.
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "files/text_files.hpp"
#include "privacy/identity/members.hpp"
#include "report/view/summary_view.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

struct ShownKeys {
  std::string file;
  bool json = false;
};

Options show_keys_options(ShownKeys& keys) {
  Options options("keys show");
  options.group("Options");
  options.add(option("file", "FILE", "a list of members, or one NAME.pub", {.example = "members", .positional = true}),
              keys.file);
  options.add(declared("json", {.help = "print one JSON object: fingerprint, members"}), keys.json);
  options.add(declared("help"));
  return options;
}

Manual show_keys_manual() {
  return {.usage = "FILE [--json]",
          .text =
              "Shows the members of a list with their clients and the fingerprints of their keys, and the fingerprint "
              "of the whole list. Compare it with all other owners by another way, such as the telephone: lists with "
              "the same fingerprint are the same.\n"
              "\n"
              "Exit code: 0 the list is whole; 2 it is not, with line and reason.",
          .examples = {"starling keys show hospital-a.pub"}};
}

std::string clients_of(const RunMember& member) {
  return member.clients ? name_of(*member.clients) : "no clients";
}

int run_show_keys(const Call& call) {
  const auto keys = parsed<ShownKeys, show_keys_options>(call.words);
  check(!keys.file.empty(), "no file is named: it is a list of members. See starling keys show --help.");
  const Members members = Members::parse(read_text(keys.file), keys.file);
  if (keys.json) {
    const auto one = [](const RunMember& member) {
      return Json{{"name", member.name}, {"fingerprint", fingerprint_of(member.key)}, {"clients", clients_of(member)}};
    };
    const Json json{{"fingerprint", members.fingerprint()}, {"members", json_list(members.all(), one)}};
    print(json.dump(2) + "\n");
    return 0;
  }
  std::string text;
  for (const RunMember& member : members.all()) {
    text += fmt::format("{:<24} {}  {}\n", member.name, fingerprint_of(member.key), clients_of(member));
  }
  print(text + fmt::format("{:<24} {}\n", "the whole list", members.fingerprint()));
  return 0;
}

}  // namespace

Command keys_show_command() {
  return command_of<ShownKeys, show_keys_options>("show", "the members of a list, with fingerprints to compare",
                                                  show_keys_manual, run_show_keys);
}

}  // namespace starling
