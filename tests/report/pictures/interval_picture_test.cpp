/// The picture of intervals on their way: what is drawn, and how far its axes reach.
#include <cmath>
#include <regex>

#include <fmt/format.h>

#include "files/durable_file.hpp"
#include "output/intervals/interval.hpp"
#include "report/pictures/pictures.hpp"
#include "support/testing.hpp"

namespace starling::interval_picture_test {

using namespace testing_support;

/// From 100 to 100,000 records: each interval half as wide as the one before, about 1.
std::vector<IntervalsAt> narrowing(int coefficients, const std::vector<std::string>& methods,
                                   const std::vector<Client>& clients = {}) {
  std::vector<IntervalsAt> path;
  double width = 1024;
  for (double records = 100; records < 101000; records *= std::sqrt(10), width /= 2) {
    IntervalsAt at{static_cast<Round>(records), std::round(records), {}};
    std::vector<std::optional<Client>> owners(clients.begin(), clients.end());
    if (owners.empty()) owners.emplace_back();
    for (const std::optional<Client> owner : owners) {
      for (const std::string& method : methods) {
        for (int j = 0; j < coefficients; ++j) {
          at.intervals.push_back(
              {fmt::format("x{}", j), 1.0 + 10 * owner.value_or(0), 0, 1 - width, 1 + width, 0.95, method, owner});
        }
      }
    }
    path.push_back(at);
  }
  return path;
}

/// The script that draws the path; it is there without gnuplot, too.
std::string script_of(const std::vector<IntervalsAt>& path) {
  const TemporaryFolder folder;
  const std::string problem = draw_intervals(folder / ".", path, {});
  EXPECT_EQ(std::filesystem::exists(folder / "intervals.svg"), problem.empty()) << problem;
  EXPECT_FALSE(std::filesystem::exists(folder / "intervals.png"));
  return read_whole_file(folder / "intervals.gp").value();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The ranges of the vertical axes.
std::vector<std::pair<double, double>> ranges_in(const std::string& script) {
  static const std::regex range(R"(plot \[\]\[([-0-9.e+]+):([-0-9.e+]+)\] \$)");
  std::vector<std::pair<double, double>> found;
  for (std::sregex_iterator at(script.begin(), script.end(), range); at != std::sregex_iterator(); ++at) {
    found.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
  }
  return found;
}

TEST(IntervalPicture, IsNoneOfNothing) {
  const TemporaryFolder folder;
  EXPECT_EQ(draw_intervals(folder / ".", {}, {}), "");
  EXPECT_EQ(draw_intervals(folder / ".", {{5, 10, {}}}, {}), "");
  EXPECT_FALSE(std::filesystem::exists(folder / "intervals.gp"));
}

// Widths are 1024, 512, 256, …, 16; two thirds of three decades begin at 1000 records, where the width is 256.
TEST(IntervalPicture, ShowsTwoThirdsOfItsAxisWhole) {
  const std::string script = script_of(narrowing(1, {"random-scaling"}));
  const auto ranges = ranges_in(script);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_NEAR(ranges[0].first, 1 - 256 - 0.05 * 512, 1e-6);
  EXPECT_NEAR(ranges[0].second, 1 + 256 + 0.05 * 512, 1e-6);
  EXPECT_THAT(script, HasSubstr("set xrange [100:100000]"));
  EXPECT_THAT(script, HasSubstr("set title 'x0'"));
  EXPECT_EQ(count(script, "title 'random-scaling, 95 %'"), 1U);
}

TEST(IntervalPicture, FillsTheFirstBandAlone) {
  const std::string script = script_of(narrowing(1, {"random-scaling", "plug-in", "batch-means"}));
  EXPECT_EQ(count(script, "with filledcurves"), 1U);
  EXPECT_EQ(count(script, "$band1 using 1:2:3 with filledcurves"), 1U);
  EXPECT_EQ(count(script, "$band3 using 1:3 with lines"), 1U);
  EXPECT_EQ(count(script, " lc 3 title 'batch-means, 95 %'"), 1U);
}

TEST(IntervalPicture, MarksZeroWhereItIsInRange) {
  EXPECT_EQ(count(script_of(narrowing(1, {"m"})), "dt 2 lc"), 1U);
  std::vector<IntervalsAt> path = narrowing(1, {"m"});
  for (IntervalsAt& at : path) {
    for (Interval& each : at.intervals) each = {"x", 1000, 0, each.low + 999, each.high + 999, 0.95, "m"};
  }
  EXPECT_EQ(count(script_of(path), "dt 2 lc"), 0U);
}

TEST(IntervalPicture, HasAPanelForEachOfTwelveCoefficientsAndOneForTheKey) {
  const std::string script = script_of(narrowing(14, {"random-scaling", "plug-in"}));
  EXPECT_EQ(ranges_in(script).size(), 12U);
  EXPECT_THAT(script, HasSubstr("set title 'x11'"));
  EXPECT_THAT(script, Not(HasSubstr("set title 'x12'")));
  EXPECT_THAT(script, HasSubstr("set origin 0,0\nset size 1,0.0"));  // the low row of the key
  EXPECT_EQ(count(script, "-1 with filledcurves"), 1U);
  EXPECT_EQ(count(script, "title 'plug-in, 95 %'"), 1U);
}

TEST(IntervalPicture, IsOfTheFirstClientWhereTheyHaveTheirOwn) {
  const std::string script = script_of(narrowing(2, {"m"}, {3, 4}));
  EXPECT_THAT(script, HasSubstr("set title 'x0 (client 3)'"));
  EXPECT_THAT(script, HasSubstr("\n100000 31\n"));  // client 3's estimate
  EXPECT_THAT(script, Not(HasSubstr("\n100000 41\n")));
}

// The first steps, of which there may be as many decades as of all others, tell little.
TEST(IntervalPicture, HasThreeDecades) {
  std::vector<IntervalsAt> path = narrowing(1, {"m"});
  path.insert(path.begin(), {1, 1, {{"x0", 1e9, 0, -1e9, 1e9, 0.95, "m"}}});
  const std::string script = script_of(path);
  EXPECT_THAT(script, HasSubstr("set xrange [100:100000]"));
  EXPECT_NEAR(ranges_in(script).at(0).second, 1 + 256 + 0.05 * 512, 1e-6);
}

// A linear axis of large numbers has few tics with short names.
TEST(IntervalPicture, NamesFewTicsOfALinearAxis) {
  std::vector<IntervalsAt> path = narrowing(1, {"m"});
  path.erase(path.begin(), path.end() - 2);
  for (IntervalsAt& at : path) at.records *= 5;
  const std::string script = script_of(path);
  EXPECT_THAT(script, HasSubstr("set xrange [158115:500000]"));
  EXPECT_THAT(script, HasSubstr("set xtics nomirror ('200k' 200000, '300k' 300000, '400k' 400000, '500k' 500000)"));
}

// Batch means are known at the end alone.
TEST(IntervalPicture, HasNoKeyForWhatItDoesNotShow) {
  std::vector<IntervalsAt> path = narrowing(1, {"random-scaling", "batch-means"});
  for (std::size_t i = 0; i + 1 < path.size(); ++i) path[i].intervals[1].low = std::nan("");
  const std::string script = script_of(path);
  EXPECT_THAT(script, Not(HasSubstr("batch-means")));
  EXPECT_THAT(script, HasSubstr("random-scaling"));
}

// Bounds may be unknown at first, or all along.
TEST(IntervalPicture, LeavesOutWhatIsUnknown) {
  std::vector<IntervalsAt> path = narrowing(2, {"m"});
  for (IntervalsAt& at : path) at.intervals[1] = {"y", 2, 0, std::nan(""), std::nan(""), 0.95, "m"};
  path.front().intervals[0].low = std::nan("");
  const std::string script = script_of(path);
  EXPECT_THAT(script, Not(HasSubstr("nan")));
  EXPECT_EQ(ranges_in(script).size(), 1U);  // y's is left to gnuplot
  EXPECT_THAT(script, HasSubstr("set title 'y'"));
}

TEST(IntervalPicture, MayHaveOneMoment) {
  const std::string script = script_of({narrowing(1, {"m"}).front()});
  EXPECT_THAT(script, HasSubstr("set xrange [100:200]"));
}

}  // namespace starling::interval_picture_test
