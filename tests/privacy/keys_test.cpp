#include "starling/privacy/keys.hpp"

#include "support/testing.hpp"
#include <set>
#include <thread>

#include "starling/core/check.hpp"

namespace starling {
namespace {

using testing_support::message_of;
using testing_support::TemporaryFolder;

NoiseKey counting_key() {
  NoiseKey::Bytes bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i);
  return NoiseKey(bytes);
}

const std::string counting_hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// The arguments of release_key, to change one at a time.
struct Arguments {
  NoiseKey key = counting_key();
  std::string run_id = "run-1";
  ReleaseAddress address{3, 7, 2};
  std::string mechanism = "laplace";
  double scale = 0x1p40;
  double step = 0.125;
  std::vector<std::int64_t> integers = {1, -2, std::int64_t{1} << 61};

  [[nodiscard]] std::string hex() const {
    return release_key(key, run_id, address, mechanism, scale, step, integers).hex();
  }
};

// Expected values of the next two tests: Python's hashlib.blake2b(message, key=…, digest_size=32) over the encoding
// that the header describes.
TEST(ReleaseKey, IsKeyedBlake2bOfTheDocumentedEncoding) {
  EXPECT_EQ(Arguments{}.hex(), "35e0329a9cf224a6bb8280e6b397e45de68dda568054e84ce39d0d27f0244383");
  Arguments many;
  many.integers.clear();
  for (std::int64_t i = 0; i < 200; ++i) many.integers.push_back((i % 2 == 0 ? 1 : -1) * i * i * 1000003);
  EXPECT_EQ(many.hex(), "05fdd6dad204e17662d4b344bbb73face464176fc782af28af568d6315087b0f");
}

TEST(NoiseKey, DerivationsAreKeyedBlake2bToo) {
  EXPECT_EQ(NoiseKey::from_seed(42, 5).hex(), "906ae0e15a48106b8ac6ea44af23b8cce6a7ba351a1f711ad59ede3ef513afe6");
  EXPECT_EQ(counting_key().commitment("run-1"), "b061f5436660dd1b039a4d44c7c7ae0595645b576cf1bb860937a95deeb3516e");
}

TEST(ReleaseKey, IsTheSameForTheSameArguments) {
  EXPECT_EQ(Arguments{}.hex(), Arguments{}.hex());
}

TEST(ReleaseKey, IsTheSameInEveryThread) {
  std::string elsewhere;
  std::thread([&] { elsewhere = Arguments{}.hex(); }).join();
  EXPECT_EQ(elsewhere, Arguments{}.hex());
}

TEST(ReleaseKey, ChangesWithEveryField) {
  std::vector<Arguments> variants(14);
  variants[1].key = NoiseKey::from_seed(1, 0);
  variants[2].run_id = "run-2";
  variants[3].address.client = 4;
  variants[4].address.round = 8;
  variants[5].address.index = 3;
  variants[6].mechanism = "gaussian";
  variants[7].scale = 0x1p41;
  variants[8].step = 0.25;
  variants[9].integers[0] = 2;
  variants[10].integers[2] += 1;
  variants[11].integers.push_back(0);
  variants[12].integers.pop_back();
  variants[13].address = {7, 3, 2};  // client and round exchanged
  std::set<std::string> keys;
  for (const Arguments& variant : variants) keys.insert(variant.hex());
  EXPECT_EQ(keys.size(), variants.size());
}

TEST(ReleaseKey, DoesNotConfuseWhereOneTextEnds) {
  Arguments a;
  a.run_id = "run";
  a.mechanism = "laplace";
  Arguments b = a;
  b.run_id = "runl";
  b.mechanism = "aplace";
  EXPECT_NE(a.hex(), b.hex());
}

TEST(ReleaseKey, SeesTheSignOfZeroInItsDoubles) {
  Arguments a;
  a.step = 0.0;
  Arguments b;
  b.step = -0.0;
  EXPECT_NE(a.hex(), b.hex());
}

TEST(NoiseKey, RandomKeysDiffer) {
  std::set<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.insert(NoiseKey::random().hex());
  EXPECT_EQ(keys.size(), 100U);
}

TEST(NoiseKey, SeededKeysDependOnSeedAndClientAlone) {
  EXPECT_EQ(NoiseKey::from_seed(1, 2).hex(), NoiseKey::from_seed(1, 2).hex());
  EXPECT_NE(NoiseKey::from_seed(1, 2).hex(), NoiseKey::from_seed(1, 3).hex());
  EXPECT_NE(NoiseKey::from_seed(1, 2).hex(), NoiseKey::from_seed(2, 2).hex());
  EXPECT_NE(NoiseKey::from_seed(0, 0).hex(), NoiseKey::from_seed(std::uint64_t{1} << 63, 0).hex());
}

TEST(NoiseKey, ReadsHexadecimalDigitsAndRawBytes) {
  const TemporaryFolder folder;
  std::string raw;
  const NoiseKey key = counting_key();
  for (const unsigned char byte : key.bytes()) raw += static_cast<char>(byte);
  std::string upper = counting_hex;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const std::string& content : {counting_hex, counting_hex + "\n", counting_hex + "\r\n", upper, raw}) {
    EXPECT_EQ(NoiseKey::read(folder.write("key", content)).hex(), counting_hex);
  }
}

TEST(NoiseKey, RefusesOtherFilesWithoutQuotingThem) {
  const TemporaryFolder folder;
  const std::string letter = "g" + counting_hex.substr(1);
  for (const std::string& content :
       {std::string(), counting_hex.substr(1), counting_hex + "0", counting_hex + "\n\n", " " + counting_hex, letter,
        std::string(31, 'x'), std::string(33, 'x'), std::string(10000, 'a')}) {
    const std::string message =
        message_of<UsageError>([&] { static_cast<void>(NoiseKey::read(folder.write("key", content))); });
    EXPECT_NE(message.find("64 hexadecimal digits"), std::string::npos) << content.size();
    EXPECT_EQ(message.find(counting_hex.substr(1, 20)), std::string::npos);
  }
  const std::string missing =
      message_of<UsageError>([&] { static_cast<void>(NoiseKey::read(folder / "no such file")); });
  EXPECT_NE(missing.find("cannot read"), std::string::npos);
}

TEST(NoiseKey, EqualKeysHaveEqualCommitmentsAndNoOthers) {
  EXPECT_EQ(NoiseKey::from_seed(1, 2).commitment("run"), NoiseKey::from_seed(1, 2).commitment("run"));
  EXPECT_NE(NoiseKey::from_seed(1, 2).commitment("run"), NoiseKey::from_seed(1, 3).commitment("run"));
  EXPECT_NE(NoiseKey::from_seed(1, 2).commitment("run"), NoiseKey::from_seed(1, 2).commitment("another"));
}

TEST(NoiseKey, CommitmentShowsNothingOfTheKey) {
  const NoiseKey key = NoiseKey::random();
  const std::string shown = key.commitment("run");
  EXPECT_EQ(shown.size(), 64U);
  const std::string hex = key.hex();
  for (std::size_t i = 0; i + 8 <= hex.size(); ++i) EXPECT_EQ(shown.find(hex.substr(i, 8)), std::string::npos);
}

}  // namespace
}  // namespace starling
