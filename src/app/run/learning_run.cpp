#include "learning_run.hpp"

#include "app/run/privacy/noise_keys.hpp"
#include <ctime>
#include <filesystem>

#include "starling/core/record_error.hpp"
#include "starling/data/serving/partition.hpp"
#include "starling/privacy/ledger/ledger_reading.hpp"
#include "starling/record/directory/run_directory.hpp"

namespace starling {

namespace {

/// The text of config.ini in the directory that --resume names; empty if there is none.
std::string configuration_of_run(const std::vector<std::string>& words) {
  constexpr std::string_view option = "--resume";
  std::string directory;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size()) directory = words[i + 1];
    if (words[i].starts_with(fmt::format("{}=", option))) directory = words[i].substr(option.size() + 1);
  }
  return directory.empty() ? "" : read_whole_file(directory + "/config.ini").value_or("");
}

}  // namespace

ExitCode LearningRun::run(const std::vector<std::string>& words) {
  configure(words);
  if (is_finished()) return show_finished();
  choose_members();
  open_inputs();
  choose_checkpoint();
  open_privacy();
  make_directory();
  try {
    return play();
  } catch (const RecordError& error) {
    tell_of_records(error);
    throw DataError(fmt::format("{} The owner of the records finds more in {}.", error.what(), owners_errors()));
  }
}

std::string LearningRun::owners_errors() const {
  return directory_->private_folder(world_.rank()) + "/errors.txt";
}

/// Writes down what only the owner of the records may read.
void LearningRun::tell_of_records(const RecordError& error) const {
  OwnersFile(owners_errors()).append(Secret<std::string>(error.shown() + "\n"));
}

ExitCode LearningRun::play() {
  build_protocol();
  const Recording recording = this->recording();
  find_checkpoint(recording.rounds);
  open_records(recording);
  std::vector<Observer*> observers = records_->observers();
  KeptParts parts;
  add_observers(observers, parts);
  if (!dataset_.person_uses.empty()) parts.add("uses of persons", dataset_.person_uses);
  start_checkpoints(std::move(parts));
  observers.push_back(&*checkpointer_);  // the last, because it writes the state of the others
  agreement_.barrier();
  clock_.start();
  play_rounds(observers);
  const double wall = clock_.seconds();

  const RoundsEnd end = end_rounds();
  checkpoint_the_end(end);
  Released<Columns> models = final_models();
  records_->finish(view(), end.done, models);
  note_stop(end, recording);
  Summary summary = begin_summary(recording.rounds, wall);
  summary.rounds = end.least;
  summarise(summary, std::move(models), end);
  finish_summary(summary, end.stopped);
  complete_summary(summary);
  directory_->bring_in(agreement_);
  agreement_.together([&] {
    if (first_rank()) write_results(summary, end.stopped);
  });
  if (!end.stopped) drop_checkpoints(end.done);
  return exit_code(summary, end);
}

/// **Collective.**
void LearningRun::configure(const std::vector<std::string>& words) {
  world_.note_signals();
  of_run_ = agreement_.broadcast(declare_public(first_rank() ? configuration_of_run(words) : std::string()));
  agreement_.together([&] { read_configuration(words); });
  agreement_.same("configuration", declare_public(common().as_given));
  choose_configuration();
  world_.set_watchdog(common().watchdog);
  if (!common().resume) return;
  if (RunDirectory::never_began(*common().resume, agreement_, world_.rank())) {
    agreement_.together([&] {
      check(!common().lost,
            "--lost: the run in '{}' never came to its first round (nothing was released) start a run of its own, with "
            "fewer --clients",
            *common().resume);
      check(!common().join,
            "--join: the run in '{}' never came to its first round (nothing was released) start a run of its own, with "
            "more --clients",
            *common().resume);
    });
    notes_.push_back(fmt::format("the run in '{}' never came to its first round: it begins now", *common().resume));
    return;
  }
  std::optional<Membership::Change::Kind> change;
  if (common().lost) change = Membership::Change::Kind::loss;
  if (common().join) change = Membership::Change::Kind::join;
  directory_.emplace(RunDirectory::again(*common().resume, agreement_, world_.rank(), common().private_place, change));
  goes_on_ = true;
  agreement_.together([&] {
    const RunIdentity identity = directory_->identity();
    run_id_ = identity.run;
    members_ = identity.members;
    rewired_ = identity.rewired;
    check_rounds_may_change();
  });
}

/// Names of files are absolute, unless ranks were started in different folders and mean different files by them.
/// **Collective.**
void LearningRun::choose_configuration() {
  configuration_ = agreement_.alike(declare_public(common().text)) ? common().text : common().as_given;
}

/// **Collective.**
void LearningRun::open_inputs() {
  agreement_.together([&] { open_graph(); });
  agreement_.same("topology", declare_public(graph_digest()));
  agreement_.together([&] { open_data(); });
  if (uses_records()) agree_on_data();
  choose_settings();
  choose_configuration();
  agreement_.together([&] {
    open_model();
    check_start();
  });
  agreement_.same("code of the model", declare_public(model_identity()));
  agree_on_model();
}

/// **Collective.**
void LearningRun::open_privacy() {
  if (!uses_records()) {
    if (!goes_on_) run_id_ = make_run_id(agreement_, NoiseKeyPolicy::random, common().data.seed);
    return;
  }
  RunFacts facts;
  agreement_.together([&] { facts = privacy_facts(); });
  privacy_.emplace(agreement_, *layout_, world_.rank(), common().privacy, std::move(facts));
  if (goes_on_) privacy_->take_up(run_id_, directory_->private_folder(world_.rank()));
  try {
    privacy_->open();
  } catch (const BudgetError&) {
    leave_nothing();
    throw;
  }
  run_id_ = privacy_->run_id();
  settle_determination();
  if (*reads_pipes_) return;  // rounds of a resumed run have other records
  for (const std::string& note : privacy_->notes()) notes_.push_back(note);
}

/// Removes a directory that was made for a release that the budget did not allow. **Collective.**
void LearningRun::leave_nothing() {
  if (!directory_ || common().resume) return;
  const std::string folder = directory_->private_folder(world_.rank());
  bool unused = false;
  agreement_.together([&] { unused = read_ledger(folder + "/ledger").book.entries().empty(); });
  if (!agreement_.all(declare_public(unused))) return;
  agreement_.together([&] { std::filesystem::remove_all(folder); });
  agreement_.together([&] {
    if (first_rank()) std::filesystem::remove_all(directory_->path());
  });
}

/// Makes the run's directory, or goes on in the directory of the resumed run. **Collective.**
void LearningRun::make_directory() {
  end_if_signalled();
  if (!directory_) {
    make_new_directory();
  } else if (!goes_on_) {
    agreement_.together([&] {
      if (first_rank()) directory_->replace_configuration(configuration_);
    });
  }
  note_directory_(directory_->path());
  if (privacy_) privacy_->move_in(directory_->private_folder(world_.rank()));
  end_if_signalled();
  if (goes_on_) directory_->note_private_folders(agreement_);
  agreement_.together([&] {
    if (!first_rank()) return;
    if (goes_on_) return require_same_inputs();
    if (is_resumable()) directory_->begin({run_id_, digest_of_inputs(), layout_->clients(), world_.size()});
    directory_->has_begun();
  });
}

std::string LearningRun::private_folder_before_rounds() {
  end_if_signalled();
  released_early_ = true;
  if (common().privacy.ledger) return "";
  if (!directory_) {
    make_new_directory();
    agreement_.together([&] {
      if (first_rank()) directory_->has_begun();
    });
  }
  return directory_->private_folder(world_.rank());
}

std::string LearningRun::fresh_name() const {
  const std::time_t now = std::time(nullptr);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", std::localtime(&now));
  const std::string first = fmt::format("run-{}-{}", command_, stamp);
  std::string path = first;
  std::error_code ignored;
  for (int k = 2; std::filesystem::exists(path, ignored); ++k) path = fmt::format("{}-{}", first, k);
  return path;
}

/// **Collective.**
void LearningRun::make_new_directory() {
  std::string path = common().resume.value_or(common().output.value_or(""));
  if (path.empty()) path = fresh_name();
  path = agreement_.broadcast(declare_public(path));
  if (common().resume) {
    directory_.emplace(RunDirectory::afresh(path, configuration_, agreement_, world_.rank(), common().private_place));
  } else {
    directory_.emplace(path, configuration_, agreement_, world_.rank(), common().private_place);
  }
  agreement_.together([&] {
    if (common().save_partition && first_rank()) {
      save_partition(common().data, layout_->clients(), *common().save_partition);
    }
  });
}

/// Throws, with what has been released, where something was.
void LearningRun::end_after_early_release() const {
  if (!released_early_) return;
  throw Error(ExitCode::stopped_safely,
              "stopped by a signal before the first round (histograms have been released, as the ledger says) "
              "start the run again, with another --output");
}

/// Ends the run before its first round if a signal came. **Collective.**
void LearningRun::end_if_signalled() {
  agreement_.together([&] {
    if (!world_.is_signalled()) return;
    end_after_early_release();
    throw Error(ExitCode::stopped_safely,
                directory_ && is_resumable()
                    ? fmt::format("stopped by a signal before the first round (nothing has been released): starling {} "
                                  "--resume {} begins the run",
                                  command_, directory_->path())
                    : "stopped by a signal before the first round (nothing has been released) start the run again");
  });
}

}  // namespace starling
