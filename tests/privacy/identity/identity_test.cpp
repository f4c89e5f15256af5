// Keys of owners, lists of members, and the signatures by which members introduce themselves.
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/stat.h>

#include "core/digest.hpp"
#include "privacy/identity/introduction.hpp"
#include "support/testing.hpp"

namespace starling::identity_test {

namespace fs = std::filesystem;
using namespace testing_support;

/// RFC 8032, section 7.1, test 2: the secret half behind the head of PKCS #8 (RFC 8410), which is 16 bytes.
constexpr const char* pem_of_rfc =
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n-----END PRIVATE "
    "KEY-----\n";
constexpr const char* public_of_rfc = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
constexpr const char* signature_of_rfc =
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb0"
    "0d"
    "291612bb0c00";

std::string key_file(const std::string& text, mode_t mode = 0600) {
  static int number = 0;
  const std::string path = (fs::temp_directory_path() / fmt::format("identity-{}-{}", ::getpid(), ++number)).string();
  std::ofstream(path) << text;
  ::chmod(path.c_str(), mode);
  return path;
}

template <class Bytes>
std::string hex(const Bytes& bytes) {
  return to_hex(std::string(bytes.begin(), bytes.end()));
}

template <class E>
std::string message_from(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

TEST(SigningKey, IsThatOfTheStandard) {
  const std::string path = key_file(pem_of_rfc);
  const SigningKey key = SigningKey::read(path);
  EXPECT_EQ(hex(key.public_key()), public_of_rfc);
  EXPECT_EQ(hex(key.sign("\x72")), signature_of_rfc);
  fs::remove(path);
}

TEST(SigningKey, HasTheFingerprintThatSshShows) {
  // ssh-keygen -lf on this line.
  PublicKey key{};
  ASSERT_TRUE(read_public_key("AAAAC3NzaC1lZDI1NTE5AAAAICNP+ue7ylWWg/IPDRh07lMBtrVlsJRktTwkD6w3zKqO", key));
  EXPECT_EQ(fingerprint_of(key), "SHA256:yuhrHNeVQ2G+iKSDXUc9ftEHYL5BR2xeQoJc7gSorSc");
  EXPECT_EQ(words_of(key), "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICNP+ue7ylWWg/IPDRh07lMBtrVlsJRktTwkD6w3zKqO");
}

TEST(SigningKey, RefusesFilesThatAreNone) {
  for (const auto& [text, mode, pattern] :
       {std::tuple(std::string(pem_of_rfc), mode_t{0640}, "open to others"),
        std::tuple(std::string("no key"), mode_t{0600}, "no Ed25519 key"),
        std::tuple(std::string(pem_of_rfc).replace(40, 1, "?"), mode_t{0600}, "no Ed25519 key")}) {
    const std::string path = key_file(text, mode);
    EXPECT_THAT(message_from<UsageError>([&] { static_cast<void>(SigningKey::read(path)); }),
                ::testing::HasSubstr(pattern));
    fs::remove(path);
  }
  EXPECT_THAT(message_from<UsageError>([] { static_cast<void>(SigningKey::read("/nonexistent/key")); }),
              ::testing::HasSubstr("it is not there"));
}

/// Three owners; b has two clients.
struct Owners {
  SigningKey a = SigningKey::random();
  SigningKey b = SigningKey::random();
  SigningKey c = SigningKey::random();

  [[nodiscard]] std::string line(const SigningKey& key, const std::string& name) const {
    return public_line(key.public_key(), name);
  }
  [[nodiscard]] std::string list() const { return line(a, "a") + "clients=1-2 " + line(b, "b") + line(c, "c"); }
};

TEST(Members, AreReadInTheOrderOfTheirClients) {
  const Owners owners;
  const Members members = Members::parse("# all\n\n" + owners.list(), "list");
  ASSERT_EQ(members.all().size(), 3U);
  EXPECT_EQ(members.of_client(0), 0U);
  EXPECT_EQ(members.of_client(2), 1U);
  EXPECT_EQ(members.of_client(3), 2U);
  EXPECT_EQ(members.of_client(4), std::nullopt);
  EXPECT_EQ(members.of_key(owners.c.public_key()), 2U);
  EXPECT_EQ(Members::parse(members.text(), "its text").text(), members.text());
  EXPECT_EQ(Members::parse(members.text(), "its text").fingerprint(), members.fingerprint());
  members.require_clients(4, "list");
}

TEST(Members, RefuseListsThatDoNotFit) {
  const Owners owners;
  const std::string a = owners.line(owners.a, "a");
  const std::string b = owners.line(owners.b, "b");
  std::string other_print = a;
  other_print.replace(other_print.find("SHA256:") + 9, 1,
                      other_print[other_print.find("SHA256:") + 9] == 'x' ? "y" : "x");
  std::string cut = a;
  cut.erase(40, 1);
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "no member"},
      {"hello\n", "line 1: this is no member"},
      {cut, "line 1: this is no member"},
      {other_print, "one of them was changed"},
      {a + a, "line 2: a is there twice"},
      {a + owners.line(owners.a, "b"), "line 2: b has the same key as a"},
      {a + "clients=0 " + b, "client 0 is that of a and of b"},
      {"clients=3-1 " + a, "neither a client, nor a range"},
      {"clients=x " + a, "neither a client, nor a range"},
      {owners.line(owners.a, "_a"), "no name of a member"},
      {owners.line(owners.a, std::string(65, 'a')), "no name of a member"}};
  for (const auto& [text, pattern] : cases) {
    EXPECT_THAT(message_from<UsageError>([&, list = text] { static_cast<void>(Members::parse(list, "list")); }),
                ::testing::HasSubstr(pattern));
  }
  const Members members = Members::parse(owners.list(), "list");
  EXPECT_THAT(message_from<UsageError>([&] { members.require_clients(5, "list"); }),
              ::testing::HasSubstr("client 4 has no member"));
  EXPECT_THAT(message_from<UsageError>([&] { members.require_clients(3, "list"); }),
              ::testing::HasSubstr("c has client 3, and the run has 3 clients"));
  EXPECT_THAT(message_from<UsageError>([&] { Members::parse("clients=1 " + a, "list").require_clients(2, "list"); }),
              ::testing::HasSubstr("client 0 has no member"));
}

TEST(Members, NameTheirFirstDifference) {
  const Owners owners;
  const Members own = Members::parse(owners.list(), "own");
  const auto against = [&](const std::string& text) {
    return difference_of(own, Members::parse(text, "other"), "that of b");
  };
  EXPECT_EQ(against(owners.list()), "");
  EXPECT_THAT(against(owners.line(owners.a, "a")), ::testing::StartsWith("b (SHA256:"));
  EXPECT_THAT(against(owners.line(owners.c, "a")), ::testing::StartsWith("the key of a is SHA256:"));
  EXPECT_THAT(against(owners.line(owners.a, "a") + owners.line(owners.b, "b")),
              ::testing::StartsWith("b has clients=1-2 here and clients=1 in that of b"));
  EXPECT_THAT(against(owners.list() + owners.line(SigningKey::random(), "d")), ::testing::StartsWith("d (SHA256:"));
}

/// Rank 0 has clients 0 and 1, of a and b; rank 1 has clients 2 and 3, of b and c; rank 2 has none.
IntroductionTerms terms_of(const Owners& owners) {
  IntroductionTerms terms;
  terms.members = Members::parse(owners.list(), "list");
  terms.configuration = "rounds = 10";
  terms.firsts = {0, 2, 4, 4};
  for (int r = 0; r < 3; ++r) terms.exchanges.push_back(MaskKey::random().public_key());
  return terms;
}

TEST(Introductions, AreVouchedForByTheMembersOfARanksClients) {
  const Owners owners;
  IntroductionTerms terms = terms_of(owners);
  EXPECT_EQ(terms.vouchers_of(0), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(terms.vouchers_of(1), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(terms.vouchers_of(2), (std::vector<std::size_t>{}));
  terms.lost = {1, 3};
  EXPECT_EQ(terms.vouchers_of(0), (std::vector<std::size_t>{0}));
  EXPECT_EQ(terms.vouchers_of(1), (std::vector<std::size_t>{1}));
}

TEST(Introductions, OfAnotherStartOrOptionsOrKeysAreOthers) {
  const Owners owners;
  const IntroductionTerms terms = terms_of(owners);
  std::vector<IntroductionTerms> others(6, terms);
  others[0].exchanges[2] = MaskKey::random().public_key();
  others[1].configuration = "rounds = 11";
  others[2].lost = {0};
  others[3].firsts = {0, 1, 4, 4};
  others[4].members = Members::parse(
      owners.line(owners.a, "a") + "clients=1-2 " + owners.line(owners.b, "bb") + owners.line(owners.c, "c"), "list");
  std::swap(others[5].exchanges[0], others[5].exchanges[1]);
  for (const IntroductionTerms& other : others) EXPECT_NE(other.session(), terms.session());
  EXPECT_EQ(terms_of(owners).members.text(), terms.members.text());
}

TEST(Introductions, AreRefusedIfAnyByteIsAnother) {
  const Owners owners;
  const IntroductionTerms terms = terms_of(owners);
  const VouchedText what{terms.session(), "introduction", 0, "text"};
  const std::string good = message_of({what.signed_by(owners.a, 0), what.signed_by(owners.b, 1)});
  require_vouched(terms, what, good);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = bad[i] == '0' ? '1' : '0';
    EXPECT_THROW(require_vouched(terms, what, bad), FailureError) << i;
    EXPECT_THROW(require_vouched(terms, what, good.substr(0, i)), FailureError) << i;
  }
}

TEST(Introductions, NameWhoFails) {
  const Owners owners;
  const IntroductionTerms terms = terms_of(owners);
  const VouchedText what{terms.session(), "introduction", 1, "text"};
  const auto fault = [&](const VouchedText& received, const std::vector<Vouched>& vouched) {
    return message_from<FailureError>([&] { require_vouched(terms, received, message_of(vouched)); });
  };
  const Vouched b = what.signed_by(owners.b, 1);
  const Vouched c = what.signed_by(owners.c, 2);
  EXPECT_EQ(fault(what, {b, c}), "no error");
  EXPECT_THAT(fault(what, {b}), ::testing::HasSubstr("the signature of c (SHA256:"));
  EXPECT_THAT(fault(what, {b, c, what.signed_by(owners.a, 0)}), ::testing::HasSubstr("3 members vouch for it"));
  // A stranger with another key, in the place of c.
  EXPECT_THAT(fault(what, {b, what.signed_by(SigningKey::random(), 2)}),
              ::testing::HasSubstr("is not that of c (SHA256:"));
  // Signatures for another text, purpose, rank or start.
  for (const VouchedText& other :
       {VouchedText{terms.session(), "introduction", 1, "other"},
        VouchedText{terms.session(), "public keys", 1, "text"}, VouchedText{terms.session(), "introduction", 0, "text"},
        VouchedText{terms_of(owners).session(), "introduction", 1, "text"}}) {
    EXPECT_THAT(fault(what, {other.signed_by(owners.b, 1), c}), ::testing::HasSubstr("is not that of b (SHA256:"));
  }
  // A rank without clients: any one member.
  const VouchedText idle{terms.session(), "introduction", 2, ""};
  EXPECT_EQ(fault(idle, {idle.signed_by(owners.a, 0)}), "no error");
  EXPECT_THAT(fault(idle, {}), ::testing::HasSubstr("rank 2, without clients, has no member"));
  EXPECT_THAT(fault(idle, {{7, {}}}), ::testing::HasSubstr("has no member"));
}

}  // namespace starling::identity_test
