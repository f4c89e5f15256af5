#include "introductions.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <set>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/text/per_client.hpp"
#include "files/durable_file.hpp"
#include "net/agreement.hpp"
#include "net/probes/latency_probes.hpp"
#include "net/seal/seal_terms.hpp"
#include "net/world.hpp"
#include "privacy/identity/consent.hpp"
#include "privacy/statement/terms.hpp"

namespace starling {

namespace {

constexpr std::string_view host_word = "{host}";

std::string with_host(std::string pattern) {
  const std::string host = host_name();
  for (std::size_t at = 0; (at = pattern.find(host_word, at)) != std::string::npos; at += host.size()) {
    pattern.replace(at, host_word.size(), host);
  }
  return pattern;
}

constexpr std::string_view aes_word = " aes";

/// The same on all processes of a host until it starts again, and on no other host. Says whether the processor has AES.
std::string host_and_ciphers() {
  const std::string start = read_whole_file("/proc/sys/kernel/random/boot_id").value_or("");
  return sha256(host_name() + "\n" + start) + std::string(has_aes() ? aes_word : "");
}

/// The keys that ranks have sent, each as 64 hexadecimal digits.
std::vector<MaskKey::Bytes> fresh_keys(const std::vector<std::string>& texts) {
  std::vector<MaskKey::Bytes> keys = received_keys({}, [&](const std::string&) { return texts; });
  check<FailureError>(keys.size() == texts.size() && std::set(keys.begin(), keys.end()).size() == keys.size(),
                      "two ranks have the same fresh key: one is a repetition of the other. Do not go on before you "
                      "know who repeats messages.");
  return keys;
}

}  // namespace

Introductions::Introductions(Agreement& agreement, const Layout& layout, const std::vector<Client>& lost,
                             const IdentityFiles& files, const std::string& configuration) {
  rank_ = agreement.rank();
  terms_.configuration = configuration;
  terms_.lost = lost;
  for (int r = 0; r <= layout.ranks(); ++r) terms_.firsts.push_back(layout.first(r));
  read_members(agreement, files, layout.clients());
  agreement.together([&] { read_identities(files, agreement.rank()); });
  introduce(agreement);
}

/// **Collective.**
void Introductions::read_members(Agreement& agreement, const IdentityFiles& files, Client clients) {
  const std::string place = fmt::format("--members '{}'", files.members);
  agreement.together([&] {
    const std::optional<std::string> list = read_whole_file(files.members);
    const int error = errno;
    check(list.has_value(), "{}: it cannot be read: {}. Name the list of all members.", place, std::strerror(error));
    terms_.members = Members::parse(*list, place);
    terms_.members.require_clients(clients, place);
  });
  const std::string first = agreement.broadcast(declare_public(terms_.members.text()));
  agreement.together([&] {
    const std::string difference =
        difference_of(terms_.members, Members::parse(first, "rank 0's list"), "rank 0's list");
    check(difference.empty(), "{} of rank {}: {}. Give all ranks the same list, and compare its fingerprint.", place,
          agreement.rank(), difference);
  });
}

/// The keys of the members of this rank's clients.
void Introductions::read_identities(const IdentityFiles& files, int rank) {
  const std::string pattern = with_host(files.identity);
  const auto r = static_cast<std::size_t>(rank);
  if (!terms_.vouchers_of(rank).empty()) {
    for (Client u = terms_.firsts[r]; u < terms_.firsts[r + 1]; ++u) {
      if (std::binary_search(terms_.lost.begin(), terms_.lost.end(), u)) continue;
      const std::size_t member = *terms_.members.of_client(u);
      const std::string file = is_per_client(pattern) ? name_of_client(pattern, u) : pattern;
      add_voucher(file, files.members, u, member);
    }
    return;
  }
  check(!is_per_client(pattern),
        "--identity '{}': {} has nobody who vouches for it. Start fewer ranks, or name identities by {{host}}.",
        files.identity, terms_.who(rank));
  SigningKey key = SigningKey::read(pattern);
  const std::optional<std::size_t> member = terms_.members.of_key(key.public_key());
  check(member.has_value(), "--identity '{}': its key {} is that of no member in --members '{}': a stranger. Add it.",
        pattern, fingerprint_of(key.public_key()), files.members);
  vouchers_.push_back({*member, std::move(key), pattern});
}

void Introductions::add_voucher(const std::string& file, const std::string& place, Client u, std::size_t wanted) {
  const auto known =
      std::find_if(vouchers_.begin(), vouchers_.end(), [&](const Voucher& each) { return each.member == wanted; });
  if (known != vouchers_.end()) return;
  SigningKey key = SigningKey::read(file);
  const RunMember& member = terms_.members.all()[wanted];
  const std::optional<std::size_t> found = terms_.members.of_key(key.public_key());
  const std::string whose = found ? fmt::format("that of {}", terms_.members.all()[*found].name)
                                  : std::string("that of no member: a stranger, or a changed key");
  check(found == wanted, "--identity '{}' has the key {}, {}; client {} is {} in --members '{}'. Name the key of {}.",
        file, fingerprint_of(key.public_key()), whose, u, member.in_words(), place, member.name);
  vouchers_.push_back({wanted, std::move(key), file});
}

/// **Collective.**
void Introductions::introduce(Agreement& agreement) {
  const MaskKey::Bytes own = exchange_.public_key();
  const std::string text = to_hex(std::string(own.begin(), own.end()));
  const std::vector<std::string> shown = agreement.all_gather(declare_public(text));
  terms_.hosts = agreement.all_gather(declare_public(host_and_ciphers()));
  agreement.together([&] {
    terms_.exchanges = fresh_keys(shown);
    check<FailureError>(terms_.exchanges[static_cast<std::size_t>(agreement.rank())] == own,
                        "the fresh key of rank {} came back changed: somebody between the ranks changes messages. Do "
                        "not go on before you know who.",
                        agreement.rank());
    session_ = terms_.session();
  });
  static_cast<void>(relayed(agreement, "introduction", ""));
}

std::vector<std::string> Introductions::relayed(Agreement& agreement, const std::string& purpose,
                                                const std::string& own) const {
  std::string signatures;
  agreement.together([&] {
    const VouchedText what{session_, purpose, agreement.rank(), own};
    std::vector<Vouched> vouched;
    for (const Voucher& each : vouchers_) vouched.push_back(what.signed_by(each.key, each.member));
    signatures = message_of(vouched);
  });
  std::vector<std::string> texts = agreement.all_gather(declare_public(own));
  const std::vector<std::string> messages = agreement.all_gather(declare_public(signatures));
  agreement.together([&] {
    for (int r = 0; r < agreement.ranks(); ++r) {
      const auto at = static_cast<std::size_t>(r);
      require_vouched(terms_, {session_, purpose, r, texts[at]}, messages[at]);
    }
  });
  return texts;
}

void Introductions::require_consent(const std::string& configuration) const {
  const auto gone = static_cast<Client>(terms_.lost.size());
  const RunTerms run{options_in(configuration), terms_.firsts.back() - gone, terms_.members.fingerprint()};
  for (const Voucher& each : vouchers_) {
    const std::string file = consent_file(each.file);
    const std::optional<std::string> text = read_whole_file(file);
    const int error = errno;
    check(text || error == ENOENT, "consent '{}' cannot be read: {}. See to its permissions.", file,
          std::strerror(error));
    if (text) Consent::parse(*text, file).require(run);
  }
}

std::optional<SealTerms> Introductions::seal_terms(bool within_hosts) const {
  SealTerms terms;
  terms.within_hosts = within_hosts;
  terms.by_aes = std::all_of(terms_.hosts.begin(), terms_.hosts.end(),
                             [](const std::string& host) { return host.ends_with(aes_word); });
  check<FailureError>(from_hex(session_, terms.start), "'{}' is no nonce. This is a fault of the program.", session_);
  const auto key = [&](int other, int from, int to) {
    SealKey result;
    if (other == rank_) return result;
    const NoiseKey of_pair = pair_key(other, fmt::format("seal of messages from rank {} to rank {},", from, to));
    std::copy(of_pair.bytes().begin(), of_pair.bytes().end(), result.bytes.begin());
    return result;
  };
  for (int r = 0; r < terms_.ranks(); ++r) {
    terms.to.push_back(key(r, rank_, r));
    terms.from.push_back(key(r, r, rank_));
    terms.names.push_back(terms_.who(r));
    terms.hosts.push_back(terms_.hosts[static_cast<std::size_t>(r)]);
  }
  const bool several =
      std::adjacent_find(terms.hosts.begin(), terms.hosts.end(), std::not_equal_to()) != terms.hosts.end();
  if (terms_.ranks() == 1 || !(several || within_hosts)) return std::nullopt;
  return terms;
}

NoiseKey Introductions::pair_key(int rank, std::string_view purpose) const {
  return exchange_.common_key(terms_.exchanges[static_cast<std::size_t>(rank)],
                              fmt::format("starling {} of start {}", purpose, session_));
}

NoiseKey Introductions::lasting_key(Client u, std::string_view purpose) const {
  const std::optional<std::size_t> member = terms_.members.of_client(u);
  const auto known = std::find_if(vouchers_.begin(), vouchers_.end(),
                                  [&](const Voucher& each) { return member && each.member == *member; });
  check<FailureError>(known != vouchers_.end(), "client {} has no voucher on rank {}. This is a fault of the program.",
                      u, rank_);
  // Signatures are deterministic, and this one is shown to nobody.
  const Signature secret = known->key.sign(fmt::format("starling lasting key 1\n{}", purpose));
  NoiseKey::Bytes bytes{};
  check<FailureError>(from_hex(sha256({reinterpret_cast<const char*>(secret.data()), secret.size()}), bytes),
                      "a digest is no key. This is a fault of the program.");
  return NoiseKey(bytes);
}

SealedMessages seal_messages(World& world, Agreement& agreement, const Introductions& introductions,
                             const std::string& configuration, SealChoice choice) {
  std::optional<SealTerms> terms;
  agreement.together([&] {
    introductions.require_consent(configuration);
    if (choice != SealChoice::off) terms = introductions.seal_terms(choice == SealChoice::all);
  });
  if (!terms) return choice == SealChoice::off ? SealedMessages::none : SealedMessages::one_host;
  const SealedMessages sealed = terms->within_hosts ? SealedMessages::all : SealedMessages::between_hosts;
  world.seal(std::move(*terms));
  return sealed;
}

KeyRelay relay_of(Agreement& agreement, const Introductions* introductions, const std::string& purpose) {
  return [&agreement, introductions, purpose](const std::string& own) {
    return introductions != nullptr ? introductions->relayed(agreement, purpose, own)
                                    : agreement.all_gather(declare_public(own));
  };
}

void require_same_members(const std::string& before, const Members& now, const std::vector<Client>& lost,
                          const std::string& place) {
  if (before.empty()) return;
  const Members earlier = Members::parse(before, "members of the run");
  for (const RunMember& member : earlier.all()) {
    if (!member.clients) continue;
    for (Client u = member.clients->first; u <= member.clients->through; ++u) {
      if (std::binary_search(lost.begin(), lost.end(), u)) continue;
      const std::optional<std::size_t> found = now.of_client(u);
      check(found && now.all()[*found].key == member.key,
            "--members '{}': client {} was {} when the run began, and is {} now: a changed key. Bring the earlier line "
            "back, or start a run of its own.",
            place, u, member.in_words(), found ? now.all()[*found].in_words() : "gone");
    }
  }
}

}  // namespace starling
