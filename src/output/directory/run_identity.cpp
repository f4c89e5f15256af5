#include "output/directory/run_identity.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"
#include "files/durable_file.hpp"

namespace starling {

namespace {

constexpr std::string_view lost_word = "lost-after";
constexpr std::string_view joined_word = "joined-after";
constexpr std::string_view graph_word = "graph";
constexpr std::string_view determined_by_word = "determined-by";
constexpr std::string_view firsts_word = "first-clients";
constexpr std::string_view moves_word = "moved";
constexpr std::string_view pass_word = "rounds-of-pass";
constexpr std::string_view correlation_word = "noise-correlation";

/// A line for each change.
std::string changes_text(const Membership& members) {
  std::string text;
  for (const auto& [kind, round, clients, source] : members.changes()) {
    if (kind == Membership::Change::Kind::loss) {
      text += fmt::format("{} {} {}\n", lost_word, round, list_of_clients(clients));
    } else {
      text += fmt::format("{} {} {} {}\n", joined_word, round, list_of_clients(clients), source);
    }
  }
  return text;
}

/// The change that a line states, after its first word.
Membership::Change read_change(const std::string& word, std::istream& lines, Client clients) {
  Membership::Change change;
  std::string list;
  check(static_cast<bool>(lines >> change.round >> list), "run-id is cut off in its line '{}'. Restore the file", word);
  change.clients = parse_clients(list, clients);
  if (word == lost_word) return change;
  change.kind = Membership::Change::Kind::join;
  lines.ignore();
  std::getline(lines, change.source);
  return change;
}

/// The first client of each rank.
std::vector<Client> read_firsts(std::istream& lines, const RunIdentity& identity) {
  std::vector<Client> firsts;
  for (Client first = 0; firsts.size() < static_cast<std::size_t>(identity.ranks) && lines >> first;) {
    firsts.push_back(first);
  }
  check(firsts.size() == static_cast<std::size_t>(identity.ranks) && firsts.front() == 0 &&
            firsts.back() <= identity.clients && std::ranges::is_sorted(firsts),
        "run-id does not say in its line '{}' which {} ranks have which clients: it is damaged. Restore the file.",
        firsts_word, identity.ranks);
  return firsts;
}

Membership members_after(const std::vector<Membership::Change>& changes, Client clients) {
  for (const Membership::Change& each : changes) {
    if (each.kind == Membership::Change::Kind::join) clients -= static_cast<Client>(each.clients.size());
  }
  check(clients > 0, "run-id has more clients that joined than clients: it is damaged. Restore the file.");
  Membership members(clients);
  for (const auto& [kind, round, some, source] : changes) {
    if (kind == Membership::Change::Kind::loss) {
      members.lose(round, some);
    } else {
      members.join(round, static_cast<Client>(some.size()), source);
    }
  }
  return members;
}

}  // namespace

std::string RunIdentity::text() const {
  std::string text = fmt::format("{}\n{}\n{} clients on {} ranks\n", run, inputs, clients, ranks);
  text += changes_text(members);
  if (!rewired.empty()) text += fmt::format("{} {}\n", graph_word, rewired);
  if (!determined_by.empty()) text += fmt::format("{} {}\n", determined_by_word, determined_by);
  if (!firsts.empty()) text += fmt::format("{} {}\n", firsts_word, fmt::join(firsts, " "));
  if (moves > 0) text += fmt::format("{} {}\n", moves_word, moves);
  if (rounds_of_pass > 0) text += fmt::format("{} {}\n", pass_word, rounds_of_pass);
  if (!correlation.empty()) text += fmt::format("{} {}\n", correlation_word, correlation);
  return text;
}

Layout RunIdentity::layout() const {
  if (firsts.empty()) return {clients, ranks};
  std::vector<Client> blocks = firsts;
  blocks.push_back(clients);
  return Layout::of_blocks(std::move(blocks));
}

RunIdentity RunIdentity::parse(const std::string& text, const std::string& directory) {
  std::istringstream lines(text);
  RunIdentity identity;
  std::getline(lines, identity.run);
  check(std::getline(lines, identity.inputs) && !identity.run.empty(),
        "'{0}' has no run to resume: it ended before its first round, is of a kind that cannot be resumed, or its file "
        "run-id is damaged. What it has released stays charged, in {0}/private/*/ledger or in --ledger. Begin it in "
        "another directory: the same command with --config {0}/config.ini --output OTHER. It does not release again "
        "what stands there, such as --norm; keys in files and --ledger repeat other histograms at no cost.",
        directory);
  std::string clients;
  std::string on;
  lines >> identity.clients >> clients >> on >> identity.ranks;
  check(lines && clients == "clients" && on == "on" && identity.clients > 0 && identity.ranks > 0,
        "'{}/run-id' does not say how many clients are on how many ranks: an earlier version wrote it, or it is "
        "damaged. Resume the run with the version that began it.",
        directory);
  std::vector<Membership::Change> changes;
  for (std::string word; lines >> word;) {
    if (word == lost_word || word == joined_word) changes.push_back(read_change(word, lines, identity.clients));
    if (word == graph_word) lines >> identity.rewired;
    if (word == determined_by_word) lines >> identity.determined_by;
    if (word == firsts_word) identity.firsts = read_firsts(lines, identity);
    if (word == pass_word) lines >> identity.rounds_of_pass;
    if (word == correlation_word) std::getline(lines >> std::ws, identity.correlation);
    if (word == moves_word) lines >> identity.moves;
  }
  identity.members = members_after(changes, identity.clients);
  return identity;
}

std::optional<RunIdentity> RunIdentity::find(const std::string& directory) {
  const auto text = read_whole_file(directory + "/run-id");
  if (!text) return std::nullopt;
  try {
    return parse(*text, directory);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace starling
