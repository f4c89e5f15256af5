/// The picture of a calibration; its script is there without gnuplot, too.
#include <filesystem>
#include <gmock/gmock.h>

#include "files/durable_file.hpp"
#include "output/figures/test_metrics.hpp"
#include "report/pictures/pictures.hpp"
#include "support/testing.hpp"

namespace starling::calibration_picture_test {

using testing::HasSubstr;
using testing::Not;
using testing_support::TemporaryFolder;

std::string script_of(const Calibration& calibration) {
  const TemporaryFolder folder;
  const std::string problem = draw_calibration(folder / ".", calibration);
  EXPECT_EQ(std::filesystem::exists(folder / "calibration.svg"), problem.empty()) << problem;
  return read_whole_file(folder / "calibration.gp").value();
}

TEST(CalibrationPicture, ShowsBinsWithRecords) {
  Calibration calibration{};
  calibration[1] = {100, 0.15, 0.1};
  calibration[7] = {300, 0.75, 0.5};
  calibration[9] = {9, 0.95, 1};  // too few for a point
  const std::string script = script_of(calibration);
  EXPECT_THAT(script, HasSubstr("\n0.15 0.1\n0.75 0.5\n"));  // observed
  EXPECT_THAT(script, HasSubstr("\n0.15 0.24449"));          // shares of all 409 records
  EXPECT_THAT(script, HasSubstr("\n0.75 0.73349"));
  EXPECT_THAT(script, HasSubstr("\n0.15 0.05457"));  // two standard errors
  EXPECT_THAT(script, HasSubstr("\n0.75 0.44264"));
  EXPECT_THAT(script, Not(HasSubstr("\n0.95")));
  EXPECT_THAT(script, Not(HasSubstr("nan")));
}

TEST(CalibrationPicture, SaysThatThereIsNothingToDraw) {
  EXPECT_THAT(script_of(Calibration{}), HasSubstr("no tenth of the probabilities has 10 records"));
}

}  // namespace starling::calibration_picture_test
