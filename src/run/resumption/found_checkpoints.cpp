#include "found_checkpoints.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "console/version.hpp"

namespace starling {

CheckpointFolder checkpoint_folder(const std::string& folder, const std::string& run, const Layout& layout, int rank) {
  return {folder, {version(), run, rank, layout.ranks(), layout.first(rank), layout.count(rank)}};
}

FoundCheckpoints look_at_checkpoints(Agreement& agreement, const RunDirectory& directory, const Layout& before) {
  const std::string run = directory.identity().run;
  std::string own;  // a line for each checkpoint: the rank, and the round or a complaint
  agreement.together([&] {
    for (const int r : directory.place().share(before.ranks(), agreement.rank(), agreement.ranks())) {
      const CheckpointFolder folder = checkpoint_folder(directory.private_folder(r), run, before, r);
      if (!std::filesystem::is_directory(folder.folder())) continue;
      const CheckpointFolder::Found found = folder.look();
      for (const Round round : found.whole) own += fmt::format("{} {}\n", r, round);
      for (const std::string& complaint : found.complaints) own += fmt::format("{} -1 {}\n", r, complaint);
    }
  });
  const auto ranks = static_cast<std::size_t>(before.ranks());
  FoundCheckpoints found{WholeCheckpoints(ranks), std::vector<std::vector<std::string>>(ranks)};
  for (const std::string& text : agreement.all_gather(declare_public(own))) {
    std::istringstream lines(text);
    std::size_t r = 0;
    for (Round round = 0; lines >> r >> round;) {
      std::string complaint;
      std::getline(lines, complaint);
      if (round >= 0) {
        found.whole[r].push_back(round);
      } else {
        found.complaints[r].push_back(complaint.substr(1));
      }
    }
  }
  for (std::vector<Round>& rounds : found.whole) {  // hosts may have copies
    std::ranges::sort(rounds);
    rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
  }
  return found;
}

std::vector<Round> common_rounds(const WholeCheckpoints& checkpoints, const std::vector<int>& ranks) {
  std::vector<Round> common;
  for (const int r : ranks) {
    const std::vector<Round>& rounds = checkpoints[static_cast<std::size_t>(r)];
    std::vector<Round> both;
    std::ranges::set_intersection(r == ranks.front() ? rounds : common, rounds, std::back_inserter(both));
    common = std::move(both);
  }
  return common;
}

}  // namespace starling
