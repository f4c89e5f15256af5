#include "output/directory/private_folders.hpp"

#include <algorithm>
#include <sstream>
#include <sys/stat.h>

#include <fmt/format.h>

#include "core/text/exact_number.hpp"
#include "files/durable_file.hpp"
#include "output/directory/run_identity.hpp"

namespace starling {

namespace fs = std::filesystem;

std::string FolderName::text() const {
  return moves == 0 ? fmt::format("{}", rank) : fmt::format("{}.{}", rank, moves);
}

std::optional<FolderName> FolderName::of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const std::size_t point = name.find('.');
  const auto rank = exact_number<std::int64_t>(std::string_view(name).substr(0, point));
  const auto moves =
      exact_number<std::int64_t>(point == std::string::npos ? "0" : std::string_view(name).substr(point + 1));
  if (!rank || !moves) return std::nullopt;
  const FolderName found{static_cast<int>(*rank), static_cast<int>(*moves)};
  return found.text() == name ? std::optional(found) : std::nullopt;
}

std::vector<Round> checkpoint_rounds(const fs::directory_iterator& files) {
  std::vector<Round> rounds;
  for (const auto& entry : files) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(checkpoint_prefix)) continue;
    const auto round = exact_number<Round>(std::string_view(name).substr(checkpoint_prefix.size()));
    if (round && *round >= 0) rounds.push_back(*round);
  }
  std::ranges::sort(rounds);
  return rounds;
}

std::string FolderSight::text() const {
  return fmt::format("{} {} {} {} {} {}\n", rank, host, id, round, ledger, path);
}

std::string FolderSight::shown() const {
  return fmt::format("'{}' on {} (checkpoint of round {}, {} bytes of ledger)", path, host, round, ledger);
}

FolderSight FolderSight::of(int rank, const std::string& host, const std::string& folder) {
  FolderSight sight{rank, host, folder, "", 0, 0};
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0) {
    sight.id = fmt::format("{}.{}.{}", status.st_ino, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
  }
  std::error_code ignored;
  const std::vector<Round> rounds = checkpoint_rounds(fs::directory_iterator(folder, ignored));
  if (!rounds.empty()) sight.round = rounds.back();
  const auto bytes = fs::file_size(folder + "/ledger", ignored);
  if (!ignored) sight.ledger = static_cast<long long>(bytes);
  return sight;
}

std::vector<FolderSight> FolderSight::in(const std::string& text) {
  std::vector<FolderSight> sights;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    FolderSight sight;
    words >> sight.rank >> sight.host >> sight.id >> sight.round >> sight.ledger;
    std::getline(words >> std::ws, sight.path);
    sights.push_back(sight);
  }
  return sights;
}

FolderIndex FolderIndex::of(const std::string& text) {
  std::istringstream lines(text);
  FolderIndex index;
  std::string first;
  std::getline(lines, first);
  std::istringstream(first) >> index.token >> index.moves;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    FolderIndex::Line folder;
    std::string rank;
    words >> rank >> folder.host;
    std::getline(words >> std::ws, folder.path);
    index.folders.push_back(folder);
  }
  return index;
}

bool has_token(const std::string& folder, const std::string& token) {
  return !token.empty() && read_whole_file(folder + "/" + token_file) == token + "\n";
}

std::vector<std::string> private_folders_of(const std::string& run) {
  std::vector<std::string> folders;
  if (const auto text = read_whole_file(run + folder_index_file)) {
    for (const auto& each : FolderIndex::of(*text).folders) folders.push_back(each.path);
    return folders;
  }
  const std::optional<RunIdentity> identity = RunIdentity::find(run);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run + "/private", ignored)) {
    const std::optional<FolderName> name = FolderName::of(entry.path());
    if (name && (!identity || name->moves == identity->moves)) folders.push_back(entry.path().string());
  }
  std::ranges::sort(folders);
  return folders;
}

}  // namespace starling
