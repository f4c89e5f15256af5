#include <string>

#include <zlib.h>

#include "core/check.hpp"
#include "data/reading.hpp"
#include "files/durable_file.hpp"

namespace starling::gzip_test {

using namespace testing_support;

/// Enough rows for several reads, of digits that do not compress to nothing.
std::string many_rows() {
  std::string text = "a,b,y\n";
  std::uint64_t state = 1;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    text += std::to_string(state >> 40) + ',' + std::to_string(i) + ',' + std::to_string(state >> 63) + '\n';
  }
  return text;
}

class Gzip : public testing::Test {
 protected:
  /// Compresses a text and gives the bytes.
  std::string compress(const std::string& text) const {
    const std::string path = folder_ / "whole.gz";
    gzFile file = gzopen(path.c_str(), "wb");
    EXPECT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
    EXPECT_EQ(gzclose(file), Z_OK);
    return read_whole_file(path).value();
  }
  std::string error(const std::string& bytes) const {
    return message_of<DataError>([&] { read_all(folder_.write("x.csv.gz", bytes)); });
  }
  TemporaryFolder folder_;
};

TEST_F(Gzip, ReadsWhatThePlainFileGives) {
  const std::string text = many_rows();
  const Plains expected = read_all(folder_.write("x.csv", text));
  EXPECT_EQ(expected.size(), 20'000U);
  EXPECT_EQ(read_all(folder_.write("x.csv.gz", compress(text))), expected);
  EXPECT_EQ(read_all(folder_.write("y.csv.gz", text)), expected) << "plain under the name of a gzip file";
  EXPECT_EQ(read_all(folder_.write("z.csv", compress(text))), expected) << "gzip under a plain name";
}

TEST_F(Gzip, ReadsConcatenatedStreams) {
  const std::string bytes = compress("1,2,3\n") + compress("4,5,6\n");
  EXPECT_EQ(read_all(folder_.write("x.csv.gz", bytes)).size(), 2U);
}

// As gzip does, which warns of them, and Python, which refuses them.
TEST_F(Gzip, BytesAfterTheStreamAreRefusedAndZerosAreNone) {
  const std::string bytes = compress("1,2,3\n");
  for (const std::string more : {"4,5,6\n", "\n", "\x1Fmore"})
    EXPECT_THAT(error(bytes + more), HasSubstr("x.csv.gz: ")) << more;
  EXPECT_THAT(error(bytes + std::string(70'000, '\0') + "4,5,6\n"), HasSubstr("after what is gzipped stand bytes"));
  EXPECT_EQ(read_all(folder_.write("x.csv.gz", bytes + std::string(70'000, '\0'))).size(), 1U);
  EXPECT_EQ(read_all(folder_.write("x.csv.gz", bytes + std::string(512, '\0') + bytes)).size(), 2U);
}

TEST_F(Gzip, ATruncatedStreamIsToldWhereverItEnds) {
  const std::string bytes = compress(many_rows());
  for (const std::size_t keep :
       {std::size_t{5}, std::size_t{15}, bytes.size() / 2, bytes.size() - 9, bytes.size() - 8, bytes.size() - 1}) {
    EXPECT_EQ(error(bytes.substr(0, keep)),
              (folder_ / "x.csv.gz") + ": the gzip stream ends early: the file is truncated. Fetch it again.")
        << keep << " bytes of " << bytes.size();
  }
}

TEST_F(Gzip, ADamagedStreamIsTold) {
  std::string bytes = compress(many_rows());
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);
  EXPECT_EQ(error(bytes),
            (folder_ / "x.csv.gz") + ": the gzip stream is damaged: incorrect data check. Fetch it again.");
  bytes = compress(many_rows());
  bytes[10] = '\xFF';  // an unknown kind of deflate block
  EXPECT_THAT(error(bytes), HasSubstr("x.csv.gz: the gzip stream is damaged: invalid"));
}

}  // namespace starling::gzip_test
