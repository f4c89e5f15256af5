#include "privacy/identity/members.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <sstream>

#include "core/check.hpp"

namespace starling {

namespace {

constexpr std::size_t longest_name = 64;
constexpr std::string_view clients_word = "clients=";

std::optional<Client> client_of(std::string_view text) {
  Client value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// FIRST or FIRST-LAST.
std::optional<ClientRange> range_of(const std::string& text) {
  const std::size_t dash = text.find('-');
  const std::optional<Client> first = client_of(std::string_view(text).substr(0, dash));
  const std::optional<Client> last =
      dash == std::string::npos ? first : client_of(std::string_view(text).substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return ClientRange(*first, *last);
}

std::string clients_text(const std::optional<ClientRange>& clients) {
  if (!clients) return "none";
  return clients->count() == 1 ? fmt::format("{}", clients->first)
                               : fmt::format("{}-{}", clients->first, clients->through);
}

std::vector<std::string> words_in(const std::string& line) {
  std::istringstream words(line.substr(0, line.find('#')));
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

/// The client after all that members have.
Client next_client(const std::vector<RunMember>& members) {
  Client next = 0;
  for (const RunMember& member : members) {
    if (member.clients) next = std::max(next, member.clients->through + 1);
  }
  return next;
}

RunMember member_of(std::vector<std::string> words, const std::string& place, std::size_t line, Client next) {
  RunMember member;
  member.clients = ClientRange(next);
  if (words.front().starts_with(clients_word)) {
    const std::string given = words.front().substr(clients_word.size());
    member.clients = range_of(given);
    check(member.clients || given == "none",
          "{}, line {}: 'clients={}' is neither a client, nor a range like 0-4, nor none. Correct it.", place, line,
          given);
    words.erase(words.begin());
  }
  const bool whole = words.size() == 3 || words.size() == 4;
  check(whole && words[0] == "ssh-ed25519" && read_public_key(words[1], member.key),
        "{}, line {}: this is no member: a line has ssh-ed25519, a key and a name, as 'starling keys make NAME' writes "
        "them to NAME.pub. Copy the line again.",
        place, line);
  member.name = words[2];
  check_member_name(member.name, fmt::format("{}, line {}", place, line));
  const std::string fingerprint = fingerprint_of(member.key);
  check(words.size() == 3 || words[3] == fingerprint,
        "{}, line {}: the key of {} has the fingerprint {}, and the line says {}: one of them was changed. Ask {} for "
        "the line again.",
        place, line, member.name, fingerprint, words.back(), member.name);
  return member;
}

}  // namespace

void check_member_name(const std::string& name, const std::string& place) {
  const auto plain = [](char each) {
    return std::isalnum(static_cast<unsigned char>(each)) != 0 ||
           std::string_view("._-@").find(each) != std::string::npos;
  };
  check(!name.empty() && name.size() <= longest_name && std::isalnum(static_cast<unsigned char>(name.front())) != 0 &&
            std::all_of(name.begin(), name.end(), plain),
        "{}: '{}' is no name of a member: it has 1 to {} letters, digits and characters of ._-@, and begins with a "
        "letter or a digit. Take another.",
        place, name, longest_name);
}

std::string RunMember::in_words() const {
  return fmt::format("{} ({})", name, fingerprint_of(key));
}

Members Members::parse(const std::string& text, const std::string& place) {
  Members members;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::vector<std::string> words = words_in(line);
    if (words.empty()) continue;
    members.add(member_of(words, place, number, next_client(members.all_)), place, number);
  }
  check(!members.empty(), "{}: no member stands there. Put the lines of all NAME.pub into it.", place);
  return members;
}

void Members::add(RunMember member, const std::string& place, std::size_t line) {
  for (const RunMember& other : all_) {
    check(other.name != member.name, "{}, line {}: {} is there twice: a member has one line. Remove one.", place, line,
          member.name);
    check(other.key != member.key,
          "{}, line {}: {} has the same key as {} ({}): a repeated key tells nobody apart. Ask both for their lines "
          "again.",
          place, line, member.name, other.name, fingerprint_of(member.key));
    const bool apart = !other.clients || !member.clients || other.clients->through < member.clients->first ||
                       member.clients->through < other.clients->first;
    check(apart, "{}, line {}: client {} is that of {} and of {}: a client has one member. Correct clients=.", place,
          line, apart ? 0 : std::max(other.clients->first, member.clients->first), other.name, member.name);
  }
  all_.push_back(std::move(member));
}

std::optional<std::size_t> Members::of_client(Client u) const {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const RunMember& each) { return each.clients && each.clients->has(u); });
  if (found == all_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - all_.begin());
}

std::optional<std::size_t> Members::of_key(const PublicKey& key) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const RunMember& each) { return each.key == key; });
  if (found == all_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - all_.begin());
}

void Members::require_clients(Client clients, const std::string& place) const {
  std::vector<const RunMember*> ascending;
  for (const RunMember& member : all_) {
    if (!member.clients) continue;
    check(member.clients->through < clients,
          "{}: {} has client {}, and the run has {} clients, numbered from 0: this member is missing in the run. Start "
          "it with more clients, or leave the member out.",
          place, member.name, member.clients->through, clients);
    ascending.push_back(&member);
  }
  std::sort(ascending.begin(), ascending.end(),
            [](const RunMember* a, const RunMember* b) { return a->clients->first < b->clients->first; });
  Client next = 0;
  for (const RunMember* member : ascending) {
    if (member->clients->first != next) break;
    next = member->clients->through + 1;
  }
  check(next == clients,
        "{}: client {} has no member, and the run has {} clients: a stranger would take its place. Add the line of its "
        "owner, or start fewer clients.",
        place, next, clients);
}

std::string Members::text() const {
  std::string text;
  for (const RunMember& member : all_) {
    text += fmt::format("clients={} {} {}\n", clients_text(member.clients), words_of(member.key), member.name);
  }
  return text;
}

std::string public_line(const PublicKey& key, const std::string& name) {
  return fmt::format("{} {} {}\n", words_of(key), name, fingerprint_of(key));
}

std::string difference_of(const Members& own, const Members& other, const std::string& whose) {
  for (std::size_t i = 0; i < std::max(own.all().size(), other.all().size()); ++i) {
    if (i >= other.all().size()) return fmt::format("{} is missing in {}", own.all()[i].in_words(), whose);
    const RunMember& theirs = other.all()[i];
    if (i >= own.all().size()) return fmt::format("{} is in {} alone", theirs.in_words(), whose);
    const RunMember& mine = own.all()[i];
    if (mine == theirs) continue;
    if (mine.name == theirs.name && mine.key == theirs.key) {
      return fmt::format("{} has clients={} here and clients={} in {}", mine.name, clients_text(mine.clients),
                         clients_text(theirs.clients), whose);
    }
    if (mine.name == theirs.name) {
      return fmt::format("the key of {} is {} here and {} in {}", mine.name, fingerprint_of(mine.key),
                         fingerprint_of(theirs.key), whose);
    }
    return fmt::format("member {} is {} here and {} in {}", i + 1, mine.in_words(), theirs.in_words(), whose);
  }
  return "";
}

}  // namespace starling
