#include "run_home.hpp"

#include <ctime>
#include <filesystem>
#include <utility>

#include "data/serving/dataset.hpp"
#include "data/serving/partition.hpp"
#include "files/text_files.hpp"
#include "output/dashboards/openmetrics.hpp"
#include "output/dashboards/tensorboard.hpp"
#include "run/resumption/resumption.hpp"
#include "run_context.hpp"

namespace starling {

namespace {

/// The name of a run directory that does not exist, by the time; of runs that begin in one second a number tells
/// which.
std::string fresh_name(const std::string& command) {
  const std::time_t now = std::time(nullptr);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", std::localtime(&now));
  const std::string first = fmt::format("run-{}-{}", command, stamp);
  std::string path = first;
  std::error_code ignored;
  for (int k = 2; std::filesystem::exists(path, ignored); ++k) path = fmt::format("{}-{}", first, k);
  return path;
}

}  // namespace

void RunHome::explain_early_stop() const {
  run_.world.explain_early_stop(early_stop());
}

void RunHome::explain_early_stop(ClientChange change) const {
  run_.world.explain_early_stop(early_stop(change));
}

void RunHome::open(std::optional<Membership::Change::Kind> change) {
  const LearningConfig& config = run_.common();
  directory_.emplace(RunDirectory::again(*config.resume, run_.agreement, config.private_place, change));
}

void RunHome::make() {
  const LearningConfig& config = run_.common();
  end_if_signalled();
  run_.on_first_rank([&] {
    if (config.tensorboard) TensorBoardFile::try_folder(*config.tensorboard);
    if (config.openmetrics) OpenMetricsFile::try_path(*config.openmetrics);
  });
  if (!directory_) {
    make_new();
    run_.inputs.for_owner.keep_in(directory_->private_folder(run_.world.rank()));
  } else if (run_.resumption == nullptr) {
    run_.on_first_rank([&] { directory_->replace_configuration(run_.effective); });
  }
}

/// **Collective.**
void RunHome::make_new() {
  const LearningConfig& config = run_.common();
  std::string path = config.resume.value_or(config.output.value_or(""));
  if (path.empty()) path = fresh_name(run_.command);
  path = run_.agreement.broadcast(declare_public(path));
  if (config.resume) {
    directory_.emplace(RunDirectory::afresh(path, run_.effective, run_.agreement, config.private_place));
  } else {
    directory_.emplace(path, run_.effective, run_.agreement, config.private_place);
  }
  run_.on_first_rank([&] { save_partition_once(); });
}

/// Rank 0's.
void RunHome::save_partition_once() {
  const LearningConfig& config = run_.common();
  if (!config.save_partition) return;
  const std::string& file = *config.save_partition;
  const bool exists = config.resume && std::filesystem::exists(file);  // from an earlier start of this run
  const std::string place = exists ? file + ".again" : file;
  save_partition(config.data, run_.inputs.layout->clients(), place);
  saved_partition_ = !exists;
  if (!exists) return;
  const bool same = read_whole_file(place) == read_whole_file(file);
  std::filesystem::remove(place);
  check(same, "--save-partition '{}' holds another partition: it would be lost. Move it away.", file);
}

std::string RunHome::private_folder_before_rounds() {
  if (!directory_) {
    // config.ini states no default of what the rule is to choose: if the run is begun again, it is chosen again.
    const std::string& to_tune = run_.common().to_tune;
    const bool alike = run_.agreement.alike(declare_public(to_tune));
    std::string effective = std::exchange(run_.effective, alike ? to_tune : run_.effective);
    make();
    run_.effective = std::move(effective);
  }
  return directory_->private_folder(run_.world.rank());
}

void RunHome::begin_early_release() {
  end_if_signalled();
  released_ = true;
  explain_early_stop();
  run_.on_first_rank([&] { directory_->has_begun(); });
}

void RunHome::leave_nothing() const {
  if (!directory_ || run_.common().resume || released_) return;
  directory_->remove(run_.world.rank());
  std::error_code ignored;
  if (saved_partition_) std::filesystem::remove(*run_.common().save_partition, ignored);
}

void RunHome::end_if_signalled() {
  run_.agreement.together([&] {
    if (run_.world.is_signalled()) throw Error(ExitCode::stopped_safely, early_stop());
  });
}

std::string RunHome::early_stop() const {
  if (run_.resumption != nullptr) {
    return early_stop(run_.resumption->has_changed_clients() ? ClientChange::done : ClientChange::ahead);
  }
  return early_stop_of_new(run_.command, directory_ && run_.is_resumable() ? directory_->path() : "", released_);
}

/// The message of a resumed run that a signal ends before its first round.
std::string RunHome::early_stop(ClientChange change) const {
  const LearningConfig& config = run_.common();
  const char* const option = config.lost ? "--lost" : config.join ? "--join" : "";
  return early_stop_of_resumed(run_.command, directory_->path(), option, change);
}

}  // namespace starling
