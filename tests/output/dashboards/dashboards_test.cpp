#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

#include "files/text_files.hpp"
#include "output/dashboards/openmetrics.hpp"
#include "output/dashboards/tensorboard.hpp"
#include "support/testing.hpp"

namespace starling::dashboards_test {

using namespace testing_support;

namespace fs = std::filesystem;

// The CRC-32C of 32 zeros is 0x8a9136aa (RFC 3720, B.4); masked: rotated right by 15 bits, plus 0xa282ead8.
TEST(TfRecord, HasMaskedChecksumsOfLengthAndContent) {
  const std::string content(32, '\0');
  const std::string record = tf_record(content);
  ASSERT_EQ(record.size(), 8 + 4 + 32 + 4);
  std::uint64_t length = 0;
  std::uint32_t checksum = 0;
  std::memcpy(&length, record.data(), sizeof length);
  std::memcpy(&checksum, record.data() + 44, sizeof checksum);
  EXPECT_EQ(length, 32U);
  constexpr std::uint32_t crc = 0x8a9136aa;
  EXPECT_EQ(checksum, static_cast<std::uint32_t>(((crc >> 15U) | (crc << 17U)) + 0xa282ead8U));
}

TEST(TensorBoardFile, IsANewFileEachTime) {
  const TemporaryFolder folder;
  const std::string board = folder / "a/b";
  { const TensorBoardFile first(board); }
  { const TensorBoardFile second(board); }
  EXPECT_EQ(std::distance(fs::directory_iterator(board), fs::directory_iterator()), 2);
}

TEST(OpenMetricsFile, KeepsTheLatestKnownFigures) {
  const TemporaryFolder folder;
  const std::string path = folder / "run.prom";
  {
    OpenMetricsFile file(path, "a\"b\\c\nd", 10);
    EXPECT_THAT(read_text(path), HasSubstr("starling_rounds_planned{run=\"a\\\"b\\\\c\\nd\"} 10\n"));
    NetworkFigures figures;
    figures.done = 4;
    figures.test_loss = 0.5;
    figures.mass = 3;
    file.append(figures);
    figures.done = 5;
    figures.test_loss = NetworkFigures::unknown;
    figures.mass = 2.5;
    file.append(figures);
  }
  const std::string text = read_text(path);
  for (const char* line : {"starling_rounds{", "} 5\n", "starling_test_loss{", "} 0.5\n", "starling_mass{", "} 2.5\n",
                           "# TYPE starling_mass gauge\n"}) {
    EXPECT_THAT(text, HasSubstr(line)) << line;
  }
  EXPECT_THAT(text, Not(HasSubstr("starling_accuracy")));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

}  // namespace starling::dashboards_test
