// Members of a run introduce themselves to each other, on any number of ranks.
#include "run/identity/introductions.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "net/agreement.hpp"
#include "net/world.hpp"
#include "output/directory/owners_file.hpp"
#include "run/inputs/rank_key.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::introductions_test {

namespace fs = std::filesystem;
using testing_support::world;

constexpr Client clients = 4;

/// Files of owners in a folder that all ranks see: rank 0 makes it, and removes it at the end.
class OwnersFolder {
 public:
  explicit OwnersFolder(Agreement& agreement) : agreement_(agreement) {
    const std::string name = (fs::temp_directory_path() / fmt::format("owners-{}", ::getpid())).string();
    path_ = agreement.broadcast(declare_public(name));
    agreement.together([&] {
      if (agreement.rank() != 0) return;
      fs::create_directory(path_);
      std::string list;
      for (Client u = 0; u < clients; ++u) {
        const SigningKey key = SigningKey::random();
        OwnersFile::replace(fmt::format("{}/{}.key", path_, u), key.pem());
        list += public_line(key.public_key(), fmt::format("owner-{}", u));
      }
      std::ofstream(path_ + "/members") << list;
    });
  }
  ~OwnersFolder() {
    agreement_.barrier();
    if (agreement_.rank() == 0) fs::remove_all(path_);
  }
  OwnersFolder(const OwnersFolder&) = delete;
  OwnersFolder& operator=(const OwnersFolder&) = delete;

  [[nodiscard]] IdentityFiles files() const { return {path_ + "/{client}.key", path_ + "/members"}; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Agreement& agreement_;
  std::string path_;
};

TEST(Introductions, GiveAllRanksOneStartAndEachPairAKey) {
  Agreement agreement(world());
  const OwnersFolder folder(agreement);
  const Layout layout(clients, world().size());
  const Introductions first(agreement, layout, {}, folder.files(), "options");
  const Introductions second(agreement, layout, {}, folder.files(), "options");
  EXPECT_TRUE(agreement.alike(declare_public(first.session())));
  EXPECT_NE(first.session(), second.session());
  std::string own;
  for (int r = 0; r < world().size(); ++r) {
    if (r != world().rank()) own += first.pair_key(r, "a test").hex() + "\n";
  }
  std::string all;
  for (const std::string& each : agreement.all_gather(declare_public(own))) all += each;
  std::set<std::string> keys;
  std::istringstream lines(all);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) keys.insert(line);
  EXPECT_EQ(2 * keys.size(), count);  // both ends have one key, and no two pairs the same
  const std::vector<std::string> texts = first.relayed(agreement, "texts", fmt::format("of rank {}", world().rank()));
  for (int r = 0; r < world().size(); ++r) EXPECT_EQ(texts[static_cast<std::size_t>(r)], fmt::format("of rank {}", r));
}

TEST(Introductions, GiveAllRanksAKeyForDigests) {
  Agreement agreement(world());
  const OwnersFolder folder(agreement);
  const Introductions introductions(agreement, Layout(clients, world().size()), {}, folder.files(), "");
  RankKey key(agreement, &introductions);
  const RankKey next(agreement, &introductions);
  EXPECT_TRUE(agreement.alike(declare_public(key.digest("content", "records"))));
  EXPECT_NE(key.digest("content", "records"), next.digest("content", "records"));
  for (const std::string& text : {std::string("ids"), std::string()}) {
    EXPECT_EQ(key.broadcast(agreement.rank() == 0 ? text : ""), text);
  }
}

/// The error of this rank, or "other" if another rank spoke.
std::string fault_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const PeerError&) {
    return "other";
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Introductions, EndWithTheLastRanksClientIfItsKeyIsAnother) {
  Agreement agreement(world());
  const OwnersFolder folder(agreement);
  const int last = world().size() - 1;
  IdentityFiles files = folder.files();
  if (world().rank() == last) files.identity = folder.path() + "/0.key";
  if (world().size() == 1) return;  // whose client 0 it is
  const std::string fault = fault_of([&] { Introductions(agreement, Layout(clients, world().size()), {}, files, ""); });
  EXPECT_THAT(fault, ::testing::HasSubstr(world().rank() == last ? "that of owner-0; client " : "other"));
}

TEST(Introductions, EndWithTheMemberThatOneRankDoesNotKnow) {
  Agreement agreement(world());
  const OwnersFolder folder(agreement);
  const int last = world().size() - 1;
  IdentityFiles files = folder.files();
  agreement.together([&] {
    if (world().rank() != last) return;
    std::ifstream from(folder.path() + "/members");
    std::string list;
    std::string line;
    for (int k = 0; std::getline(from, line); ++k) {
      list += k == 1 ? public_line(SigningKey::random().public_key(), "owner-1") : line + "\n";
    }
    std::ofstream(folder.path() + "/others") << list;
  });
  if (world().rank() == last) files.members = folder.path() + "/others";
  if (world().size() == 1) return;  // which compares with nobody
  const std::string fault = fault_of([&] { Introductions(agreement, Layout(clients, world().size()), {}, files, ""); });
  EXPECT_THAT(fault, ::testing::HasSubstr(world().rank() == last ? "the key of owner-1 is SHA256:" : "other"));
}

TEST(Introductions, OfARunThatGoesOnHaveTheMembersOfBefore) {
  const SigningKey a = SigningKey::random();
  const SigningKey b = SigningKey::random();
  const std::string before = public_line(a.public_key(), "a") + public_line(b.public_key(), "b");
  const auto now = [](const std::string& text) { return Members::parse(text, "now"); };
  require_same_members(before, now(before + public_line(SigningKey::random().public_key(), "c")), {}, "members");
  const std::string changed = public_line(a.public_key(), "a") + public_line(SigningKey::random().public_key(), "b");
  EXPECT_THAT(fault_of([&] { require_same_members(before, now(changed), {}, "members"); }),
              ::testing::HasSubstr("client 1 was b (SHA256:"));
  require_same_members(before, now(changed), {1}, "members");  // it is lost
  require_same_members("", now(changed), {}, "members");
}

}  // namespace starling::introductions_test
