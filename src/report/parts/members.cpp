// The members of the run, who have proved who they are.
#include "privacy/identity/members.hpp"

#include "parts.hpp"

namespace starling {

namespace {

Json member_json(const RunMember& member) {
  Json json{{"name", member.name}, {"fingerprint", fingerprint_of(member.key)}, {"clients", nullptr}};
  if (member.clients) json["clients"] = {member.clients->first, member.clients->through};
  return json;
}

/// Runs without --members have no such key.
void add_members(const Summary& summary, Json& json) {
  const auto* const verified = summary.find<VerifiedMembers>();
  if (verified == nullptr) return;
  json["members"] = {{"fingerprint", verified->members.fingerprint()},
                     {"verified", json_list(verified->members.all(), member_json)},
                     {"sealed", name_of(verified->sealed)}};
}

std::string members_rows(const SummaryView& summary) {
  if (!summary.has("members.fingerprint")) return "";
  return table_row("members",
                   fmt::format("{} have proved who they are; the list has the fingerprint {}; sealed messages: {}",
                               summary.list("members.verified").size(), summary.text("members.fingerprint"),
                               summary.text("members.sealed")));
}

}  // namespace

const SummaryPart members_part{add_members, members_rows};

}  // namespace starling
