#include "core/digest.hpp"

#include <array>
#include <string>

#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::digest_test {

// FIPS 180-4's examples.
TEST(Digest, IsSha256) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Digest, TakesZeroBytes) {
  EXPECT_NE(sha256(std::string_view("a\0b", 3)), sha256(std::string_view("a\0c", 3)));
}

TEST(Digest, IsTheSameOfAFileInPieces) {
  const testing_support::TemporaryFolder folder;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, std::size_t{2'500'000}}) {
    std::string content(size, 'a');
    for (std::size_t i = 0; i < size; i += 97) content[i] = static_cast<char>(i);
    EXPECT_EQ(sha256_of_file(folder.write("a", content)), sha256(content));
  }
  const auto missing = [&folder] { return sha256_of_file(folder / "nowhere"); };
  EXPECT_EQ(
      testing_support::message_of<UsageError>(missing),
      "cannot open '" + (folder / "nowhere") + "': No such file or directory. Check the path and its permissions.");
}

TEST(Digest, IsTheSameOfPieces) {
  Sha256 sum;
  EXPECT_EQ(sum.digest(), sha256(""));
  sum.add("a");
  EXPECT_EQ(sum.digest(), sha256("a"));
  sum.add("");
  sum.add("bc");
  EXPECT_EQ(sum.digest(), sha256("abc"));
  EXPECT_EQ(sum.digest(), sha256("abc"));
}

TEST(Digest, HexHasTwoDigitsPerByte) {
  EXPECT_EQ(to_hex(std::string_view("\x00\x0f\xff\x7e", 4)), "000fff7e");
  EXPECT_EQ(to_hex(""), "");
  std::array<unsigned char, 4> bytes{};
  EXPECT_TRUE(from_hex("000FfF7e", bytes));
  EXPECT_EQ(bytes, (std::array<unsigned char, 4>{0x00, 0x0f, 0xff, 0x7e}));
  for (const char* other : {"000fff7", "000fff7e0", "000fff7g", "000fff-1", "000fff 1", ""}) {
    EXPECT_FALSE(from_hex(other, bytes)) << other;
  }
}

}  // namespace starling::digest_test
