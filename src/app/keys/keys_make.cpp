// `starling keys make NAME`.
#include <filesystem>
#include <system_error>

#include "app/commands.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "output/directory/owners_file.hpp"
#include "privacy/identity/members.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

struct NewKeys {
  std::string name;
};

Options make_keys_options(NewKeys& keys) {
  Options options("keys make");
  options.group("Options");
  options.add(option("name", "NAME",
                     "name of the owner, under which all others know it; a folder may stand before it. The files are "
                     "NAME.key and NAME.pub",
                     {.example = "hospital-a", .positional = true}),
              keys.name);
  options.add(declared("help"));
  return options;
}

Manual make_keys_manual() {
  return {
      .usage = "NAME",
      .text =
          "Makes a pair of Ed25519 keys. NAME.key is secret: its owner alone can read it (mode 0600, PKCS #8, as "
          "openssl pkey reads it). NAME.pub is one line for everybody, as OpenSSH writes keys, with its fingerprint "
          "behind: put the lines of all owners into one file for --members, in the order of their clients. Read the "
          "fingerprint to the others, by telephone or face to face: ssh-keygen -lf NAME.pub shows the same. No file "
          "is overwritten.",
      .examples = {"starling keys make hospital-a"}};
}

void require_new(const std::string& file) {
  std::error_code ignored;
  check(!std::filesystem::exists(std::filesystem::symlink_status(file, ignored)),
        "'{}' is there already: whoever knows the earlier key would know its owner no more. Take another name, or move "
        "it away.",
        file);
}

int run_make_keys(const Call& call) {
  const auto keys = parsed<NewKeys, make_keys_options>(call.words);
  check(!keys.name.empty(), "no name is given: the files are NAME.key and NAME.pub. See starling keys make --help.");
  const std::string name = std::filesystem::path(keys.name).filename().string();
  check_member_name(name, "starling keys make");
  const std::string secret = keys.name + ".key";
  const std::string open = keys.name + ".pub";
  require_new(secret);
  require_new(open);
  const SigningKey key = SigningKey::random();
  OwnersFile::replace(secret, key.pem());
  require_written(replace_file(open, public_line(key.public_key(), name), readable_by_all), open);
  print(fmt::format("{}  {}\nsecret, for its owner alone: {}\nfor all others: {}\n", name,
                    fingerprint_of(key.public_key()), secret, open));
  return 0;
}

}  // namespace

Command keys_make_command() {
  return command_of<NewKeys, make_keys_options>("make", "make the key files of an owner", make_keys_manual,
                                                run_make_keys);
}

}  // namespace starling
