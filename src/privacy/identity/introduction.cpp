#include "privacy/identity/introduction.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "core/check.hpp"
#include "core/digest.hpp"

namespace starling {

namespace {

std::string hex_of_bytes(const unsigned char* bytes, std::size_t size) {
  return to_hex({reinterpret_cast<const char*>(bytes), size});
}

/// A text behind its length, so that no two lists of texts are the same bytes.
std::string counted(const std::string& text) {
  return fmt::format("{}:{}\n", text.size(), text);
}

}  // namespace

std::string IntroductionTerms::session() const {
  std::string text = "starling introduction 1\n" + counted(members.text()) + counted(configuration);
  for (const Client first : firsts) text += fmt::format("first {}\n", first);
  for (const Client gone : lost) text += fmt::format("lost {}\n", gone);
  for (const MaskKey::Bytes& key : exchanges) text += "key " + hex_of_bytes(key.data(), key.size()) + "\n";
  for (const std::string& host : hosts) text += counted(host);
  return sha256(text);
}

std::vector<std::size_t> IntroductionTerms::vouchers_of(int rank) const {
  std::vector<std::size_t> vouchers;
  const auto r = static_cast<std::size_t>(rank);
  for (Client u = firsts[r]; u < firsts[r + 1]; ++u) {
    if (std::binary_search(lost.begin(), lost.end(), u)) continue;
    const std::size_t member = members.of_client(u).value();
    if (vouchers.empty() || vouchers.back() != member) vouchers.push_back(member);
  }
  std::sort(vouchers.begin(), vouchers.end());
  vouchers.erase(std::unique(vouchers.begin(), vouchers.end()), vouchers.end());
  return vouchers;
}

std::string IntroductionTerms::who(int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  if (firsts[r] == firsts[r + 1]) return fmt::format("rank {}, without clients,", rank);
  return fmt::format("{} (rank {})", name_of(ClientRange(firsts[r], firsts[r + 1] - 1)), rank);
}

std::string VouchedText::to_sign(std::size_t member) const {
  return "starling vouches 1\n" + counted(session) + counted(purpose) + fmt::format("{} {}\n", rank, member) +
         counted(text);
}

Vouched VouchedText::signed_by(const SigningKey& key, std::size_t member) const {
  return {member, key.sign(to_sign(member))};
}

bool VouchedText::is_signed(const RunMember& member, const Vouched& vouched) const {
  return starling::is_signed(member.key, to_sign(vouched.member), vouched.signature);
}

std::string message_of(const std::vector<Vouched>& vouched) {
  std::string message;
  for (const Vouched& each : vouched) {
    message += fmt::format("{} {}\n", each.member, hex_of_bytes(each.signature.data(), each.signature.size()));
  }
  return message;
}

std::vector<Vouched> vouched_in(const std::string& message) {
  std::vector<Vouched> all;
  std::istringstream lines(message.empty() || message.ends_with('\n') ? message : message + "?");
  for (std::string line; std::getline(lines, line);) {
    Vouched& each = all.emplace_back();
    const char* const end = line.data() + line.size();
    const auto [behind, error] = std::from_chars(line.data(), end, each.member);
    const bool good = error == std::errc() && behind != end && *behind == ' ' &&
                      from_hex({behind + 1, static_cast<std::size_t>(end - behind - 1)}, each.signature);
    check<FailureError>(good,
                        "what came as signatures of a rank is none: somebody between the ranks changed it. Do not go "
                        "on before you know who.");
  }
  return all;
}

void require_vouched(const IntroductionTerms& terms, const VouchedText& what, const std::string& message) {
  const std::vector<Vouched> all = vouched_in(message);
  const std::vector<std::size_t> wanted = terms.vouchers_of(what.rank);
  const std::vector<RunMember>& members = terms.members.all();
  if (wanted.empty()) {
    check<FailureError>(all.size() == 1 && all.front().member < members.size(),
                        "{} has no member that vouches for it: a stranger may have taken its place. Start fewer ranks.",
                        terms.who(what.rank));
  } else {
    for (const std::size_t member : wanted) {
      const bool there =
          std::any_of(all.begin(), all.end(), [&](const Vouched& each) { return each.member == member; });
      check<FailureError>(there, "{}: the signature of {} is missing. See whether its --identity is the right one.",
                          terms.who(what.rank), members[member].in_words());
    }
    check<FailureError>(all.size() == wanted.size(),
                        "{}: {} members vouch for it, and it has the clients of {}: somebody changed the message. Do "
                        "not go on before you know who.",
                        terms.who(what.rank), all.size(), wanted.size());
  }
  for (const Vouched& each : all) {
    check<FailureError>(what.is_signed(members[each.member], each),
                        "{}: the signature for {} is not that of {}: a stranger, an earlier start that is played "
                        "again, or somebody who changes messages between the ranks. Do not go on before you know who.",
                        terms.who(what.rank), what.purpose, members[each.member].in_words());
  }
}

}  // namespace starling
