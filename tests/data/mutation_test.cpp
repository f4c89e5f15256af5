/// Random damage to well-formed files: what comes out is records of finite numbers or an error of ours, never anything
/// else. The seed is fixed; the sanitizer builds run the same.
#include "data/reading.hpp"
#include <cmath>
#include <string>

#include <zlib.h>

#include "starling/core/check.hpp"
#include "starling/core/random.hpp"

namespace starling {
namespace {

using namespace testing_support;

const std::string csv_seed =
    "id,\"age, in years\",y\n1,2.5,0\n2,-3e-2,1\r\n3,+4,1\n\n4;5;6\n7\t8\t9\n\"10\",11,0\n12,1e308,1";
const std::string svmlight_seed =
    "+1 1:0.5 3:2 10:-1e-3 # a comment\n-1 qid:4 2:1\n\n0\n1 1:1 2:1 3:1 2147483647:1\r\n-1 7:1e300";

/// Bytes and texts that matter to a parser.
std::string interesting(AddressedRandom& random) {
  static const std::vector<std::string> pieces{
      ",",    ";",  "\t", " ",    "\n",    "\r\n", "\"", ":",           "#",    "nan",          "inf",
      "-",    "+",  "e",  ".",    "1e999", "0",    "-1", "99999999999", "qid:", "\xEF\xBB\xBF", std::string(1, '\0'),
      "\xFF", "NA", "y",  "label"};
  if (random.below(4) == 0) return std::string(1, static_cast<char>(random.below(256)));
  return pieces[random.below(pieces.size())];
}

std::string mutate(std::string text, AddressedRandom& random) {
  const std::uint64_t changes = 1 + random.below(6);
  for (std::uint64_t k = 0; k < changes; ++k) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = random.below(4) == 0 ? random.below(text.size() - at + 1) : random.below(2);
    switch (random.below(3)) {
      case 0:
        text.insert(at, interesting(random));
        break;
      case 1:
        text.erase(at, length);
        break;
      default:
        text.replace(at, std::min(length, text.size() - at), interesting(random));
        break;
    }
  }
  return text;
}

struct Outcomes {
  int read = 0;
  int refused = 0;
};

void expect_sound(const Plains& records) {
  for (const Plain& record : records) {
    EXPECT_TRUE(std::isfinite(record.label));
    for (const double value : record.values) EXPECT_TRUE(std::isfinite(value));
    for (std::size_t j = 0; j < record.index.size(); ++j) {
      EXPECT_GE(record.index[j], j == 0 ? 0 : record.index[j - 1] + 1);
    }
  }
}

void read_or_refuse(const std::string& path, Outcomes& outcomes) {
  try {
    expect_sound(read_all(path));
    ++outcomes.read;
  } catch (const DataError&) {
    ++outcomes.refused;
  } catch (const UsageError&) {
    ++outcomes.refused;
  }
}

Outcomes damage(const std::string& name, const std::string& seed_text, std::uint64_t count) {
  const TemporaryFolder folder;
  Outcomes outcomes;
  for (std::uint64_t i = 0; i < count; ++i) {
    AddressedRandom random(1, Purpose::experiment, 0, i);
    const std::string path = folder.write(name, mutate(seed_text, random));
    read_or_refuse(path, outcomes);
    std::filesystem::remove(path);  // some file systems wait for the disk where a file is overwritten
  }
  return outcomes;
}

TEST(Mutation, OfCsvGivesRecordsOrErrors) {
  const Outcomes outcomes = damage("x.csv", csv_seed, 10'000);
  EXPECT_EQ(outcomes.read + outcomes.refused, 10'000);
  const Outcomes sound = damage("x.csv", "a,b,y\n1,2,0\n3,4,1\n5,6,0\n", 10'000);
  EXPECT_GT(sound.read, 100);
  EXPECT_GT(sound.refused, 100);
}

TEST(Mutation, OfSvmlightGivesRecordsOrErrors) {
  const Outcomes outcomes = damage("x.svm", svmlight_seed, 20'000);
  EXPECT_GT(outcomes.read, 100);
  EXPECT_GT(outcomes.refused, 100);
}

TEST(Mutation, OfGzipGivesRecordsOrErrors) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.svm.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_GT(gzwrite(file, svmlight_seed.data(), static_cast<unsigned>(svmlight_seed.size())), 0);
  ASSERT_EQ(gzclose(file), Z_OK);
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_GT(damage("y.svm.gz", bytes, 5'000).refused, 100);
}

}  // namespace
}  // namespace starling
