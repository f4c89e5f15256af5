#include "privacy/keys/keys.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <thread>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "privacy/keys/keystream.hpp"
#include "support/testing.hpp"

namespace starling::keys_test {

using namespace testing_support;

NoiseKey counting_key() {
  NoiseKey::Bytes bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i);
  return NoiseKey(bytes);
}

const std::string counting_hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// The first bits of a stream.
using Bits = std::array<std::uint64_t, 4>;

Bits first_bits(const StreamStart& start) {
  Bits bits;
  Keystream(start).words(bits);
  return bits;
}

/// The arguments of release_stream, to change one at a time.
struct Arguments {
  NoiseKey key = counting_key();
  std::string run_id = "run-1";
  ReleaseAddress address{ReleasePath::by_itself, 3, 7, 2};
  std::string mechanism = "laplace";
  double scale = 0x1p40;
  double step = 0.125;
  std::vector<std::int64_t> integers = {1, -2, std::int64_t{1} << 61};

  [[nodiscard]] StreamStart start() const {
    ReleaseKeys keys;
    return start(keys);
  }
  [[nodiscard]] StreamStart start(ReleaseKeys& keys) const {
    return release_stream(keys, key, run_id, address, mechanism, scale, step, integers);
  }
  [[nodiscard]] Bits bits() const { return first_bits(start()); }
};

std::string hex_of(const StreamStart& start) {
  const auto& bytes = start.counter_and_nonce;
  return start.key.hex() + " " + to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// Expected values of the next two tests: Python's hashlib.blake2b(message, key=…, digest_size=…) over the encoding that
// the header describes, and ChaCha20 and Poly1305 in Python's integers, which give RFC 8439's examples (sections 2.3.2
// and 2.5.2).
TEST(ReleaseStream, IsWhatTheHeaderDescribes) {
  EXPECT_EQ(hex_of(Arguments{}.start()),
            "3250750dad839800296a7a29660ec7f3aa2491a4433db7e9f8548958065be375 e4ea506e0e234df47006b57a81c9991e");
  Arguments many;
  many.integers.clear();
  EXPECT_EQ(hex_of(many.start()),
            "3250750dad839800296a7a29660ec7f3aa2491a4433db7e9f8548958065be375 27ecce24e91220713f3fcb2394a1bca0");
  for (std::int64_t i = 0; i < 200; ++i) many.integers.push_back((i % 2 == 0 ? 1 : -1) * i * i * 1000003);
  EXPECT_EQ(hex_of(many.start()),
            "3250750dad839800296a7a29660ec7f3aa2491a4433db7e9f8548958065be375 a467ea4beb6b5a8e52a49671b52e88bd");
  many.run_id = std::string(1000, 'r');
  many.address.block = 5;
  EXPECT_EQ(hex_of(many.start()),
            "41458153c539249b1f139f3418779adf8a56d6a09ee4301761afadc15e3eeda6 a2236f4a752e53490ba2f62e1c5e13f6");
}

TEST(NoiseKey, DerivationsAreKeyedBlake2b) {
  EXPECT_EQ(NoiseKey::from_seed(42, 5).hex(), "906ae0e15a48106b8ac6ea44af23b8cce6a7ba351a1f711ad59ede3ef513afe6");
  EXPECT_EQ(counting_key().commitment("run-1"), "b061f5436660dd1b039a4d44c7c7ae0595645b576cf1bb860937a95deeb3516e");
  EXPECT_EQ(counting_key().for_run("run-1").hex(), "a4372140adfb93f3ffa149d1f089755b1e1afd965105ee4c30c80600caac00bb");
}

// A counter that overflowed would leave it to the library what comes next.
TEST(ReleaseStream, NeverStartsInTheUpperHalfOfItsCounters) {
  int set = 0;
  for (Round round = 0; round < 1000; ++round) {
    Arguments arguments;
    arguments.address.round = round;
    const auto start = arguments.start().counter_and_nonce;
    EXPECT_EQ(start[3] & 0x80, 0);
    set += start[7] >> 7;
  }
  EXPECT_NEAR(set, 500, 80) << "as the first bit of another word shows; error rate 4e-7";
}

TEST(ReleaseStream, IsTheSameForTheSameArguments) {
  EXPECT_EQ(Arguments{}.bits(), Arguments{}.bits());
}

TEST(ReleaseStream, IsTheSameInEveryThread) {
  Bits elsewhere{};
  std::thread([&] { elsewhere = Arguments{}.bits(); }).join();
  EXPECT_EQ(elsewhere, Arguments{}.bits());
}

// Keys of rounds to come are made together, but for the first that is asked for.
TEST(ReleaseKeys, AreTheSameWhateverWasAskedForBefore) {
  ReleaseKeys keys;
  const auto ask = [&](std::uint64_t seed, std::int64_t client, Round round, std::int64_t index) {
    Arguments arguments;
    arguments.key = NoiseKey::from_seed(seed, static_cast<Client>(client));
    arguments.address = {ReleasePath::by_itself, static_cast<Client>(client), round, static_cast<std::uint32_t>(index)};
    EXPECT_EQ(hex_of(arguments.start(keys)), hex_of(arguments.start())) << client << ' ' << round << ' ' << index;
  };
  for (Round round = 0; round < 40; ++round) ask(1, 0, round, 0);
  for (Round round = 0; round < 40; ++round) ask(1, round % 2, round, 0);
  for (Round round = 0; round < 20; ++round) ask(1, round % 2 * 8, round, 0);  // who share a place
  for (Round round = 0; round < 40; ++round) ask(1, round % 16, round / 16, 0);
  for (Round round = 0; round < 20; ++round) ask(static_cast<std::uint64_t>(round % 2), 0, round, 0);
  for (Round round = 0; round < 20; ++round) ask(1, 0, round, round % 2);
  for (const Round first : {Round{1} << 32, Round{1} << 40, Round{1} << 62}) {
    for (Round round = first - 20; round < first + 20; ++round) ask(1, 0, round, 0);
  }
  for (const Round round : {5, 5, 4, 3, 20, 19, 36, 35, 0, 100, 99}) ask(1, 0, round, 0);
}

TEST(ReleaseStream, ChangesWithEveryField) {
  std::vector<Arguments> variants(19);
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
  variants[13].address = {ReleasePath::by_itself, 7, 3, 2};  // client and round exchanged
  variants[14].integers = {-2, 1, std::int64_t{1} << 61};
  variants[15].integers = {};
  variants[16].integers = {0};
  variants[17].address.block = 1;
  variants[18].address = {ReleasePath::by_itself, 3, 7, 0, 2};  // index and block exchanged
  std::set<Bits> streams;
  for (const Arguments& variant : variants) streams.insert(variant.bits());
  EXPECT_EQ(streams.size(), variants.size());
}

/// In how many of their first 256 bits two streams differ.
int distance(const Bits& a, const Bits& b) {
  int bits = 0;
  for (std::size_t i = 0; i < a.size(); ++i) bits += std::popcount(a[i] ^ b[i]);
  return bits;
}

// Each bit of each integer, of a short and of a longer list, changes half of the stream's bits: 128, standard deviation
// 8; 70 and 186 are 7.25 of them away, error rate 1e-9 for 832 changes. Their mean has error rate 2e-4.
TEST(ReleaseStream, IsUnrelatedAfterAnyBitOfTheIntegersChanges) {
  ReleaseKeys keys;
  double total = 0;
  double changes = 0;
  for (const std::size_t count : {3U, 10U}) {
    std::vector<std::int64_t> integers(count, -77);
    const auto stream = [&] {
      return first_bits(
          release_stream(keys, counting_key(), "run-1", {ReleasePath::by_itself, 3, 7, 2}, "laplace", 1, 2, integers));
    };
    const Bits before = stream();
    for (std::int64_t& integer : integers) {
      for (int bit = 0; bit < 64; ++bit) {
        const std::int64_t kept = integer;
        integer = static_cast<std::int64_t>(static_cast<std::uint64_t>(integer) ^ (std::uint64_t{1} << bit));
        const int changed = distance(before, stream());
        integer = kept;
        EXPECT_TRUE(changed > 70 && changed < 186) << changed;
        total += changed;
        ++changes;
      }
    }
    EXPECT_EQ(distance(before, stream()), 0);
  }
  EXPECT_NEAR(total / changes, 128, 3.719 * 8 / std::sqrt(changes));
}

// The same integers at another address have another one-time key: what collides at one does not at the next.
TEST(ReleaseStream, IsUnrelatedAtTheNextAddress) {
  ReleaseKeys keys;
  const std::vector<std::int64_t> integers(100, 5);
  const auto stream = [&](Round round) {
    return first_bits(release_stream(keys, counting_key(), "run-1", {ReleasePath::by_itself, 3, round, 2}, "laplace", 1,
                                     2, integers));
  };
  double total = 0;
  for (Round round = 0; round < 1000; ++round) total += distance(stream(round), stream(round + 1));
  EXPECT_NEAR(total / 1000, 128, 3.719 * 8 / std::sqrt(1000.0));  // error rate 2e-4
}

// Integers are read where they lie, from any address and of any number.
TEST(ReleaseStream, DependsOnTheIntegersAndNotOnTheirPlace) {
  ReleaseKeys keys;
  std::vector<std::int64_t> integers(300);
  for (std::size_t i = 0; i < integers.size(); ++i) integers[i] = static_cast<std::int64_t>(i % 10);
  for (const std::size_t count : {0U, 1U, 2U, 3U, 31U, 64U, 129U}) {
    const auto stream = [&](std::size_t from) {
      return first_bits(release_stream(keys, counting_key(), "run-1", {}, "laplace", 1, 2,
                                       std::span<const std::int64_t>(integers).subspan(from, count)));
    };
    EXPECT_EQ(stream(0), stream(10)) << count;
    EXPECT_EQ(stream(0), stream(30)) << count;
    if (count > 0) {
      EXPECT_NE(stream(0), stream(1)) << count;
    }
  }
}

TEST(ReleaseStream, DoesNotConfuseWhereOneTextEnds) {
  Arguments a;
  a.run_id = "run";
  a.mechanism = "laplace";
  Arguments b = a;
  b.run_id = "runl";
  b.mechanism = "aplace";
  EXPECT_NE(a.bits(), b.bits());
}

TEST(ReleaseStream, SeesTheSignOfZeroInItsDoubles) {
  Arguments a;
  a.step = 0.0;
  Arguments b;
  b.step = -0.0;
  EXPECT_NE(a.bits(), b.bits());
}

TEST(NoiseKey, OfARunDependsOnTheKeyAndOnTheRun) {
  const NoiseKey key = NoiseKey::from_seed(1, 2);
  EXPECT_EQ(key.for_run("run").hex(), key.for_run("run").hex());
  EXPECT_NE(key.for_run("run").hex(), key.for_run("another").hex());
  EXPECT_NE(key.for_run("run").hex(), NoiseKey::from_seed(1, 3).for_run("run").hex());
  EXPECT_NE(key.for_run("run").hex(), key.hex());
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
    const std::string message = message_of<UsageError>([&] { return NoiseKey::read(folder.write("key", content)); });
    EXPECT_THAT(message, HasSubstr("64 hexadecimal digits")) << content.size();
    EXPECT_THAT(message, Not(HasSubstr(counting_hex.substr(1, 20))));
  }
  const std::string missing = message_of<UsageError>([&] { return NoiseKey::read(folder / "no such file"); });
  EXPECT_THAT(missing, HasSubstr("is not there"));
  const std::string unreadable = message_of<FailureError>([&] { return NoiseKey::read(folder / "."); });
  EXPECT_THAT(unreadable, HasSubstr("cannot read noise key file"));
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
  for (std::size_t i = 0; i + 8 <= hex.size(); ++i) EXPECT_THAT(shown, Not(HasSubstr(hex.substr(i, 8))));
}

}  // namespace starling::keys_test
