#include <filesystem>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "files/text_files.hpp"
#include "output/directory/history.hpp"
#include "output/directory/private_folders.hpp"
#include "sweep.hpp"

namespace starling {

namespace {

namespace fs = std::filesystem;

std::string options_file(const std::string& output, const SweepRun& run) {
  return output + "/" + run.name + ".ini";
}

/// "epsilon = 1, there epsilon = 2": the first line in which two configurations differ.
std::string difference(const std::string& here, const std::string& there) {
  std::istringstream ours(here);
  std::istringstream theirs(there);
  std::string one;
  std::string other;
  do {
    one = other = "nothing";
    const bool ended = !std::getline(ours, one);
    if (!std::getline(theirs, other) && ended) break;
  } while (one == other);
  return fmt::format("{}, there {}", one, other);
}

bool has_checkpoint(const std::string& run) {
  std::error_code error;
  for (const std::string& folder : private_folders_of(run)) {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().filename().string().starts_with(checkpoint_prefix)) return true;
    }
  }
  return false;
}

/// Whether the summary is that of a whole run.
bool is_finished(const std::string& run) {
  const auto text = read_whole_file(run + "/summary.json");
  const auto summary = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!summary.is_object()) return false;
  if (summary.contains("study")) return true;
  const auto rounds = summary.value("rounds", nlohmann::json());
  const auto planned = summary.value("rounds_planned", nlohmann::json());
  const bool all = !planned.is_number() || !rounds.is_number() || rounds >= planned;
  const nlohmann::json::json_pointer by_budget("/privacy/budget/stopped_after_round");
  if (!all && !(summary.contains(by_budget) && summary[by_budget].is_number())) return false;
  // A run that was killed while it wrote its results has not marked its end.
  return read_whole_file(run + "/run-id").value_or("").ends_with("finished\n") || !has_checkpoint(run);
}

}  // namespace

SweepState state_of(const std::string& output, const SweepRun& run) {
  const std::string path = output + "/" + run.name;
  const auto noted = read_whole_file(options_file(output, run));
  std::error_code error;
  const bool there = fs::exists(path, error) && !(fs::is_directory(path, error) && fs::is_empty(path, error));
  check(!there || noted, "'{}' is not of this sweep: there is no '{}'. Name another --output, or take it away.", path,
        options_file(output, run));
  if (!there) return SweepState::missing;
  check(*noted == run.configuration,
        "'{}' holds a run with other options: here {}. Name another --output, or take it away.", path,
        difference(run.configuration, *noted));
  if (holding_of(path + "/history.csv") == Holding::held) return SweepState::busy;
  if (is_finished(path)) return SweepState::finished;
  return fs::exists(path + "/run-id", error) ? SweepState::begun : SweepState::broken;
}

void note_options(const std::string& output, const SweepRun& run) {
  write_text(options_file(output, run), run.configuration);
}

std::string place_aside(const std::string& run, int i) {
  return fmt::format("{}.broken-{}", run, i);
}

std::string put_aside(const std::string& output, const SweepRun& run) {
  for (int i = 1;; ++i) {
    const std::string place = place_aside(output + "/" + run.name, i);
    if (fs::exists(place)) continue;
    std::error_code error;
    fs::rename(output + "/" + run.name, place, error);
    check<FailureError>(!error, "cannot move '{}/{}': {}. Take it away.", output, run.name, error.message());
    return place;
  }
}

}  // namespace starling
