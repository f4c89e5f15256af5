#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>

#include <fmt/format.h>

#include "data/vertical/vertical.hpp"
#include "files/durable_file.hpp"
#include "report/pictures/pictures.hpp"
#include "support/testing.hpp"

namespace starling::scene_picture_test {

using testing::HasSubstr;
using testing_support::TemporaryFolder;

TEST(ScenePicture, ShowsTheWorldThatWasDrawn) {
  const TemporaryFolder folder;
  const SpectrumScene scene = spectrum_scene("synthetic:spectrum:transmitters=3", 4, 2, 25, 6);
  write_scene(folder / ".", scene);
  const std::string places = read_whole_file(folder / "scene.csv").value();
  EXPECT_EQ(std::count(places.begin(), places.end(), '\n'), 1 + 3 + 2 * 25);
  EXPECT_THAT(places, HasSubstr("kind,number,round,x,y\ntransmitter,1,,400,250\n"));
  const Place& last = scene.paths[1].back();
  EXPECT_THAT(places, HasSubstr(fmt::format("receiver,2,25,{:.6g},{:.6g}\n", last.x, last.y)));
  const std::string field = read_whole_file(folder / "shadowing.csv").value();
  EXPECT_EQ(std::count(field.begin(), field.end(), '\n'), 1 + 6 * 6);

  const std::string problem = draw_scene(folder / ".", scene);
  EXPECT_EQ(problem.empty(), std::filesystem::exists(folder / "scene.svg")) << problem;
  const std::string script = read_whole_file(folder / "scene.gp").value();
  for (const char* part : {"transmitter 3", "receiver 2", "metres east", "shadowing: red 0 dB, blue 10 dB"}) {
    EXPECT_THAT(script, HasSubstr(part));
  }
}

}  // namespace starling::scene_picture_test
