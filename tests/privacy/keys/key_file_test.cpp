// Owners' key files: who may read them, and what is no key.
#include "privacy/keys/key_file.hpp"

#include <filesystem>
#include <fstream>

#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::key_file_test {

using namespace testing_support;
namespace fs = std::filesystem;

constexpr const char* random_digits = "8f1c0b5e7a93d246e1f08b7c55a2946d3bd8107fe4c96a21f05d7b38c2916ea4";

class KeyFile : public ::testing::Test {
 protected:
  std::string write(const std::string& content, fs::perms mode = fs::perms::owner_read | fs::perms::owner_write) {
    std::string path = folder_.write("key", content);
    fs::permissions(path, mode);
    return path;
  }
  [[nodiscard]] std::string complaint(const std::string& path) {
    return message_of<UsageError>([&] { return read_owners_key(path); });
  }
  TemporaryFolder folder_;
};

TEST_F(KeyFile, IsReadIfItIsItsOwnersAlone) {
  EXPECT_EQ(read_owners_key(write(random_digits)).hex(), random_digits);
  EXPECT_EQ(read_owners_key(write(random_digits, fs::perms::owner_read)).hex(), random_digits);
}

TEST_F(KeyFile, IsRefusedWhereOthersHaveAnyPermission) {
  using enum fs::perms;
  for (const fs::perms more : {group_read, others_read, group_write, others_write, others_exec}) {
    const std::string message = complaint(write(random_digits, owner_read | owner_write | more));
    EXPECT_THAT(message, HasSubstr("chmod 600"));
    EXPECT_THAT(message, Not(HasSubstr("8f1c0b"))) << "no message quotes a key";
  }
}

TEST_F(KeyFile, IsRefusedIfTheKeyCanBeGuessed) {
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending += fmt::format("{:02x}", (7 + 3 * i) % 256);
  for (const auto& [content, reason] : std::vector<std::pair<std::string, std::string>>{
           {repeated("00", 32), "repeat"},
           {repeated("deadbeef", 8), "repeat"},
           {repeated("0123456789abcdef", 4), "repeat"},
           {std::string(random_digits).substr(0, 32) + std::string(random_digits).substr(0, 32), "repeat"},
           {ascending, "fixed step"},
           {"correct horse battery staple 42!", "text"},
           {"636f727265637420686f727365206261747465727920737461706c6520343221", "text"},
           {fmt::format("{:064x}", 123456789), "few different"},
           {"0123012301230132013201320123213210231023012301320213021302130132", "few different hexadecimal"},
           {std::string("swordfish\x01\x02\x03\x04\x05\x06") + std::string(17, '\0'), "ten times"}}) {
    const std::string message = complaint(write(content));
    EXPECT_THAT(message, HasSubstr(reason)) << content << ": " << message;
    EXPECT_THAT(message, HasSubstr("openssl rand -hex 32"));
    EXPECT_THAT(message, Not(HasSubstr(content.substr(0, 8)))) << "no message quotes a key";
  }
}

// Of a random key the probability is below 2^-44, of all of these below 2^-27.
TEST(WeaknessOf, ThereIsNoneInRandomKeys) {
  for (std::uint64_t seed = 0; seed < 100'000; ++seed) {
    ASSERT_EQ(weakness_of(NoiseKey::from_seed(seed, 0).bytes()), "") << seed;
  }
}

}  // namespace starling::key_file_test
