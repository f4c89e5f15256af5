/// history.csv: what is written, when, and what is read back of whole, cut and damaged files.
#include "output/directory/history.hpp"

#include <cmath>
#include <optional>
#include <thread>

#include "core/check.hpp"
#include "files/text_files.hpp"
#include "support/testing.hpp"

namespace starling::history_test {

using namespace testing_support;

constexpr const char* header = "rounds,loss,accuracy,test_loss,test_accuracy,consensus_error,mass,in_flight,present\n";

NetworkFigures figures_at(Round done) {
  NetworkFigures figures;
  figures.done = done;
  figures.mass = 3;
  return figures;
}

// Empty fields are unknown or withheld figures, never "nan".
TEST(History, IsATableWithEmptyFieldsForUnknownFigures) {
  const TemporaryFolder folder;
  NetworkFigures later = figures_at(12);
  later.loss = 0.5;
  later.accuracy = 1.0 / 3;
  later.test_loss = 1e-7;
  later.test_accuracy = 1;
  later.consensus_error = 2.5e-20;
  {
    HistoryFile file(folder / "history.csv");
    file.append(figures_at(0));
    file.append(later);
    file.flush();
    EXPECT_EQ(read_text(folder / "history.csv"),
              std::string(header) + "0,,,,,,3,,\n12,0.5,0.3333333333,1e-07,1,2.5e-20,3,,\n");
  }
  EXPECT_EQ(read_text(folder / "history.csv"), to_csv({figures_at(0), later}));
}

TEST(History, HasItsHeaderFromTheStartAndKeepsWhatWaited) {
  const TemporaryFolder folder;
  {
    HistoryFile file(folder / "history.csv");
    EXPECT_EQ(read_text(folder / "history.csv"), header);
    file.append(figures_at(0));
  }
  EXPECT_EQ(read_history(folder / "history.csv").size(), 1U);
}

TEST(History, IsWrittenNoMoreOftenThanEveryFifthOfASecond) {
  const TemporaryFolder folder;
  HistoryFile file(folder / "history.csv");
  file.append(figures_at(1));
  file.append(figures_at(2));
  EXPECT_EQ(read_text(folder / "history.csv"), header);
  std::this_thread::sleep_for(std::chrono::milliseconds(210));
  file.flush_if_due();
  EXPECT_EQ(read_history(folder / "history.csv").size(), 2U);
}

TEST(History, SaysWhereItCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_ERROR(FailureError, "none/history.csv", HistoryFile(folder / "none/history.csv"));
}

TEST(History, IsReadBack) {
  const TemporaryFolder folder;
  const auto history = read_history(folder.write(
      "h.csv", std::string(header) + "0,,,,,0,3,,\n5,0.25,0.5,,,1e-3,3,,\n5,,,0.125,0.75,,3,,\n9,inf,,,,,3,,\n"));
  ASSERT_EQ(history.size(), 4U);
  EXPECT_TRUE(std::isnan(history[0].loss));
  EXPECT_EQ(history[1].loss, 0.25);
  EXPECT_EQ(history[1].consensus_error, 1e-3);
  EXPECT_EQ(history[2].test_accuracy, 0.75);
  EXPECT_TRUE(std::isinf(history[3].loss));
}

// Wherever a run that writes is met, the lines that have ended are there.
TEST(History, CutAtAnyByteGivesItsWholeLines) {
  const TemporaryFolder folder;
  const std::string text = std::string(header) + "0,,,,,0,3,,\n5,0.25,0.5,,,1e-3,3,,\n17,0.125,1,0.5,0.5,1e-4,3,,\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string cut = text.substr(0, length);
    const auto lines = static_cast<std::size_t>(std::count(cut.begin(), cut.end(), '\n'));
    EXPECT_EQ(read_history(folder.write("h.csv", cut)).size(), lines == 0 ? 0 : lines - 1) << length;
  }
}

class DamagedHistory : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(DamagedHistory, IsRefusedWithItsLine) {
  const TemporaryFolder folder;
  const std::string path = folder.write("h.csv", std::string(header) + "0,,,,,0,3,,\n" + GetParam().second + "\n");
  const std::string message = message_of<DataError>([&] { return read_history(path); });
  EXPECT_THAT(message, HasSubstr("h.csv' line 3 "));
}

INSTANTIATE_TEST_SUITE_P(Lines, DamagedHistory,
                         testing::Values(std::pair{"too few fields", "5,,,,,0"},
                                         std::pair{"too many fields", "5,,,,,0,3,"}, std::pair{"no round", ",,,,,0,3"},
                                         std::pair{"a fraction of a round", "1.5,,,,,0,3"},
                                         std::pair{"a negative round", "-1,,,,,0,3"},
                                         std::pair{"a word", "5,low,,,,0,3"}, std::pair{"nan", "5,nan,,,,0,3"},
                                         std::pair{"half a number", "5,0.5x,,,,0,3"}, std::pair{"nothing", ""}),
                         [](const auto& row) { return test_name(row.param.first); });

TEST(History, IsNotAnyOtherTable) {
  const TemporaryFolder folder;
  EXPECT_NE(message_of<DataError>([&] { return read_history(folder.write("h.csv", "x,y\n1,2\n")); }), "");
  EXPECT_ERROR(DataError, "none.csv", read_history(folder / "none.csv"));
}

TEST(History, ToldOfOneRoundInTwoLinesIsOneLine) {
  NetworkFigures first = figures_at(5);
  first.loss = 0.5;
  NetworkFigures second = figures_at(5);
  second.test_loss = 0.25;
  const auto lines = one_line_each({figures_at(0), first, second, figures_at(6)});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].loss, 0.5);
  EXPECT_EQ(lines[1].test_loss, 0.25);
}

TEST(History, IsHeldAsLongAsItIsWritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "history.csv";
  EXPECT_EQ(holding_of(path), Holding::no_locks);
  std::optional<HistoryFile> file;
  file.emplace(path);
  EXPECT_EQ(holding_of(path), Holding::held);
  EXPECT_EQ(holding_of(path), Holding::held);  // to ask changes nothing
  file.reset();
  EXPECT_EQ(holding_of(path), Holding::free);
}

}  // namespace starling::history_test
