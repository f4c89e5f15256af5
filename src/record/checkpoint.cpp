#include "starling/record/checkpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "starling/core/check.hpp"
#include "starling/core/durable_file.hpp"
#include "starling/record/run_directory.hpp"

namespace starling {

namespace {

constexpr std::string_view prefix = "checkpoint-";

}  // namespace

std::string CheckpointFolder::path(Round round) const {
  return fmt::format("{}/{}{}", folder_, prefix, round);
}

void CheckpointFolder::write(Round round, const Secret<std::string>& state) const {
  OwnersFile::replace(path(round), write_checkpoint({label_, round, state}));
}

/// Of all files with such a name.
std::vector<Round> CheckpointFolder::rounds() const {
  std::vector<Round> rounds;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    Round round = 0;
    const char* const end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, round);
    if (error == std::errc() && rest == end && round >= 0) rounds.push_back(round);
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds;
}

CheckpointFile CheckpointFolder::open(Round round) const {
  const std::optional<std::string> file = read_whole_file(path(round));
  check<FailureError>(file.has_value(), "cannot read '{}' ({})", path(round), std::strerror(errno));
  try {
    CheckpointFile checkpoint = read_checkpoint(*file);
    const CheckpointLabel& found = checkpoint.label;
    check<DataError>(found.build == label_.build, "it was written by starling {}, and this is {}", found.build,
                     label_.build);
    check<DataError>(found == label_ && checkpoint.round == round,
                     "it is of run {}, rank {} of {} with clients {} to {}, after round {} (it was moved here)",
                     found.run, found.rank, found.ranks, found.first, found.first + found.clients - 1,
                     checkpoint.round);
    return checkpoint;
  } catch (const DataError& error) {
    throw DataError(fmt::format("'{}': {}", path(round), error.what()));
  }
}

CheckpointFolder::Found CheckpointFolder::look() const {
  Found found;
  for (const Round round : rounds()) {
    try {
      static_cast<void>(open(round));
      found.whole.push_back(round);
    } catch (const Error& error) {
      found.complaints.emplace_back(error.what());
    }
  }
  return found;
}

Secret<std::string> CheckpointFolder::read(Round round) const {
  return open(round).state;
}

void CheckpointFolder::remove(Round from, Round end) const {
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {  // what a crash left unnamed
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".part")) std::filesystem::remove(entry.path());
  }
  for (const Round round : rounds()) {
    if (round < from || round >= end) continue;
    std::error_code error;
    std::filesystem::remove(path(round), error);
    check<FailureError>(!error, "cannot remove '{}' ({})", path(round), error.message());
  }
}

}  // namespace starling
