#include "identity_options.hpp"

namespace starling {

void add_identity_options(Options& options, IdentityChoice& choice, const std::string& parties) {
  const std::string behind = parties.empty() ? "" : " --parties " + parties;
  const auto relations = [&](std::vector<Relation> own) {
    if (!parties.empty()) own.push_back(needs("parties", "one process has nobody to prove anything to"));
    return own;
  };
  options.group("Identities");
  options.add(
      option("identity", "FILE",
             "secret key by which the owner of clients proves who it is, from starling keys make. {client} stands for "
             "the number of a client, {host} for the host's name",
             {.example = "hospital-{client}.key --members members" + behind,
              .files = named::file,
              .effect = Option::Effect::none,
              .relations = relations({needs("members", "a key proves something to those alone who know whose it is",
                                            "Add --members FILE.")})}),
      choice.identity);
  options.add(
      option(
          "members", "FILE",
          "names and public keys of all owners, a line each as in NAME.pub, in the order of their clients; "
          "clients=0-4 before a line gives its owner several. All prove who they are before a record is read",
          {.example = "members --identity hospital-{client}.key" + behind,
           .files = named::file,
           .effect = Option::Effect::none,
           .relations = relations({needs("identity", "whoever takes part proves who it is", "Add --identity FILE.")})}),
      choice.members);
  std::vector<Relation> of_seal{
      needs("identity", "seals are made with keys that owners have signed", "Add --identity FILE and --members FILE.")
          .only_for("all")};
  if (parties.empty()) {
    of_seal.push_back(
        excludes("exchange=windows", "nothing seals what lies in memory that others read", "Leave --exchange out.")
            .only_for("all"));
  }
  options.add(
      option("seal", "WHICH",
             "messages that are encrypted and authenticated, with --identity: on (between hosts), all (within hosts "
             "too) or off. Changes no result",
             {.initial = "on",
              .example = "all --identity hospital-{client}.key --members members" + behind,
              .effect = Option::Effect::none,
              .relations = std::move(of_seal)}),
      choice.seal, {{"on", SealChoice::on}, {"off", SealChoice::off}, {"all", SealChoice::all}});
}

}  // namespace starling
