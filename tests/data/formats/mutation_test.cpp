/// Random damage to well-formed files: what comes out is records of finite numbers or an error of ours, never anything
/// else. The seed is fixed; the sanitizer builds run the same.
#include <cmath>
#include <map>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <zlib.h>

#include "core/check.hpp"
#include "core/random.hpp"
#include "data/binary_files.hpp"
#include "data/reading.hpp"
#include "files/durable_file.hpp"
#include "hdf5/file.hpp"

namespace starling::mutation_test {

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

/// Reads `count` damaged copies; `tail` is added to the path.
void damage(const std::string& name, const std::string& seed_text, std::uint64_t count, const std::string& tail,
            Outcomes& outcomes) {
  const TemporaryFolder folder;
  for (std::uint64_t i = 0; i < count; ++i) {
    AddressedRandom random(1, Purpose::experiment, 0, i);
    const std::string path = folder.write(name, mutate(seed_text, random));
    read_or_refuse(path + tail, outcomes);
    std::filesystem::remove(path);  // some file systems wait for the disk where a file is overwritten
  }
}

Outcomes damage(const std::string& name, const std::string& seed_text, std::uint64_t count) {
  Outcomes outcomes;
  damage(name, seed_text, count, "", outcomes);
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
  EXPECT_GT(damage("y.svm.gz", read_whole_file(path).value(), 5'000).refused, 100);
}

TEST(Mutation, OfIdxGivesRecordsOrErrors) {
  const TemporaryFolder labels;
  const std::string tail = "," + labels.write("y.csv", "0\n1\n0\n");
  const std::string floats = idx_file(0x0D, {3, 2, 1}, std::string(24, '\x3F'));
  Outcomes outcomes;
  for (const std::string& seed : {idx_bytes(3, 2), floats}) {
    damage("x.idx", seed, 5'000, tail, outcomes);
  }
  EXPECT_EQ(outcomes.read + outcomes.refused, 10'000);
  EXPECT_GT(outcomes.read, 100);
  EXPECT_GT(outcomes.refused, 100);
}

std::string hdf5_seed(const TemporaryFolder& folder, bool chunked) {
  const std::string path = folder / (chunked ? "chunked.h5" : "contiguous.h5");
  const hdf5::File file(path, hdf5::File::Mode::create);
  if (chunked) {
    file.make_growing<double>("/x", {2});
    file.append<double>("/x", {1, 2, 3, 4, 5, 6});
  } else {
    file.write<double>("/x", {3, 2}, {1, 2, 3, 4, 5, 6});
  }
  file.write<std::int64_t>("/y", {3}, {0, 1, 0});
  return path;
}

/// How a process of its own ends that reads the file: damage that brings the HDF5 library down ends that process alone.
enum class Ending { read = 10, refused = 11, unsound = 12, fallen = 13 };

[[noreturn]] void read_and_exit(const std::string& path) {
  constexpr unsigned most_seconds = 20;
  ::alarm(most_seconds);
  Outcomes outcomes;
  Ending ending = Ending::unsound;
  try {
    read_or_refuse(path, outcomes);
    if (!testing::Test::HasFailure()) ending = outcomes.read == 1 ? Ending::read : Ending::refused;
  } catch (const std::exception&) {
    ending = Ending::unsound;
  }
  ::_exit(static_cast<int>(ending));
}

Ending read_apart(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) read_and_exit(path);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return code >= static_cast<int>(Ending::read) ? static_cast<Ending>(code) : Ending::fallen;
}

std::string damage_bytes(std::string bytes, AddressedRandom& random) {
  for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
    bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
  }
  if (random.below(10) == 0) bytes.resize(random.below(bytes.size()));
  return bytes;
}

TEST(Mutation, OfHdf5GivesRecordsOrErrors) {
  const TemporaryFolder folder;
  std::map<Ending, int> endings;
  for (const bool chunked : {false, true}) {
    const std::string seed = read_whole_file(hdf5_seed(folder, chunked)).value();
    for (std::uint64_t i = 0; i < 300; ++i) {
      AddressedRandom random(2, Purpose::experiment, chunked ? 1 : 0, i);
      const std::string path = folder.write("x.h5", damage_bytes(seed, random));
      ++endings[read_apart(path)];
      std::filesystem::remove(path);
    }
  }
  EXPECT_EQ(endings[Ending::unsound], 0);
  EXPECT_EQ(endings[Ending::fallen], 0) << "crashed or hung";
  EXPECT_GT(endings[Ending::read], 50);
  EXPECT_GT(endings[Ending::refused], 50);
}

/// A description of a type whose bits lie beyond its bytes makes the library read beyond its buffer.
TEST(Mutation, NumbersWhoseBitsLieOutsideAreRefused) {
  const TemporaryFolder folder;
  const std::string seed = read_whole_file(hdf5_seed(folder, false)).value();
  // The 64-bit integers of /y: class and version, flags, size 8; then offset 0 and precision 64.
  const std::string type("\x10\x08\0\0\x08\0\0\0\0\0\x40\0", 12);
  const std::size_t at = seed.find(type);
  ASSERT_NE(at, std::string::npos);
  for (const std::size_t byte : {8U, 9U, 11U}) {
    std::string damaged = seed;
    damaged[at + byte] = '\x7F';
    EXPECT_ERROR(DataError, "x.h5: /y has a type of number that cannot be", read_all(folder.write("x.h5", damaged)));
    std::filesystem::remove(folder / "x.h5");
  }
}

}  // namespace starling::mutation_test
