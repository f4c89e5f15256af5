// Resumption and checkpoints of a run.
#include "app/console/print.hpp"
#include "app/run/resumption/folder_regrouping.hpp"
#include "app/run/resumption/member_change.hpp"
#include "learning_run.hpp"
#include <algorithm>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string_view>

#include "starling/files/durable_file.hpp"

namespace starling {

namespace {

/// The value of `rounds` in a configuration; empty where there is none.
std::string stated_rounds(const std::string& configuration) {
  constexpr std::string_view key = "rounds = ";
  std::istringstream lines(configuration);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return "";
}

}  // namespace

void Feed::persist(Snapshot& snapshot) {
  const std::size_t here = dimension;
  snapshot(dimension, changes, left_out);
  check<DataError>(
      dimension == here,
      "models have {} numbers, of {} when the run began (the records have other columns) bring records like "
      "those",
      here, dimension);
}

/// Whether the resumed run has played all its rounds. **Collective.**
bool LearningRun::is_finished() {
  if (!goes_on_) return false;
  bool finished = false;
  agreement_.together([&] {
    const std::optional<Round> rounds = directory_->finished_rounds();
    if (rounds && common().rounds.value_or(*rounds) <= *rounds) finished = true;
    check(
        !finished || !common().join,
        "--join: the run in '{}' has played all its {} rounds (nobody would learn from the new records) give it more: "
        "--rounds",
        directory_->path(), rounds.value_or(0));
    check(!rounds || finished || !first_rank() || directory_->has_checkpoints(0),
          "--resume '{}' --rounds: its {} rounds are over, and it has left no checkpoint (it ran without "
          "--checkpoint-every) start a run of its own",
          directory_->path(), rounds.value_or(0));
  });
  return agreement_.broadcast(declare_public(finished));
}

ExitCode LearningRun::show_finished() const {
  note_directory_(directory_->path());
  if (!first_rank()) return ExitCode::done;
  fmt::print(stderr, "note: the run in '{}' has played all its rounds\n", directory_->path());
  if (common().json) print(read_whole_file(directory_->summary_file()).value_or(""));
  return ExitCode::done;
}

Round LearningRun::first_rounds(Round now) const {
  if (!goes_on_) return now;
  const std::string was = stated_rounds(of_run_);
  if (was == stated_rounds(common().text)) return now;
  if (!was.empty()) return parse_integer(was, "rounds");
  return dataset_.shape.rounds.value_or(rounds_of_endless_streams);
}

void LearningRun::check_rounds_may_change() const {
  const bool total = common().privacy.total_epsilon.has_value();
  const std::string why_not = total ? "the price of a release was made of --total-epsilon" : why_no_more_rounds();
  check(why_not.empty() || stated_rounds(of_run_) == stated_rounds(configuration_),
        "--rounds with --resume: {} (for the rounds that were planned) leave --rounds out", why_not);
}

std::string LearningRun::why_not_resumable() const {
  if (uses_records() && !dataset_.replayable && !why_no_round_is_left_out().empty()) {
    return why_no_round_is_left_out();
  }
  if (!model_can_be_told()) return "nobody can tell whether its own model is still the same (it has no identity)";
  return start_can_be_read_again() ? "" : "its start models come through a pipe, and are gone";
}

void LearningRun::require_resumable() const {
  const std::string why_not = why_not_resumable();
  if (why_not.empty()) return;
  check(!common().resume, "--resume: {} (nothing would be the same) start a run of its own, from these models: --start",
        why_not);
  check(!common().checkpoint.any(), "--checkpoint-every: {} (nobody could go on from one) leave it out", why_not);
}

void LearningRun::require_same_inputs() const {
  check(directory_->identity().inputs == digest_of_inputs(),
        "--resume '{}': the topology, the start models, the records of --test{} are not those that the run began with "
        "(it would be another) put them back, or start a run of its own",
        directory_->path(),
        *reads_pipes_    ? " or the columns of records (from pipes)"
        : uses_records() ? ""
                         : " or the configuration");
}

CheckpointFolder LearningRun::checkpoint_folder() const {
  return starling::checkpoint_folder(*directory_, run_id_, *layout_, world_.rank());
}

/// Finds out with which clients the run goes on, and from which round. Changes no file. **Collective.**
void LearningRun::choose_members() {
  if (!goes_on_ || (!common().lost && !common().join)) return;
  const char* const option = common().lost ? "--lost" : "--join";
  agreement_.together([&] {
    const std::string why_not = why_same_clients();
    check(why_not.empty(), "{}: {}. {}", option, why_not,
          common().lost
              ? "Bring the private folder back, or start a run of its own with fewer --clients, from the last "
                "model: --start"
              : "Start a run of its own with more --clients, from the last model: --start");
  });
  const WholeCheckpoints checkpoints = look_at_checkpoints(agreement_, *directory_);
  agreement_.together([&] {
    MemberChange change = change_members(common(), directory_->identity(), checkpoints);
    members_ = std::move(change.members);
    rewired_ = std::move(change.rewired);
    gone_ = std::move(change.gone);
    changes_ = change.moves || !directory_->place().all_see_own();
    notes_.insert(notes_.end(), change.notes.begin(), change.notes.end());
  });
  if (common().join) agreement_.same("--source beside --join", declare_public(members_.changes().back().source));
}

/// Chooses the checkpoint of a resumed run, before the directory or a ledger changes. **Collective.**
void LearningRun::choose_checkpoint() {
  end_if_signalled();
  agreement_.together([&] { require_resumable(); });
  reads_pipes_ = agreement_.any(declare_public(uses_records() && !dataset_.replayable));
  if (!goes_on_) return;
  if (*reads_pipes_) {  // ledgers compare inputs only where a run can be repeated
    agreement_.together([&] {
      if (first_rank()) require_same_inputs();
    });
  }
  const RunIdentity identity = directory_->identity();
  agreement_.together([&] {
    const std::string why_not = why_as_many_ranks();
    check(why_not.empty() || identity.ranks == world_.size(),
          "--resume '{}': the run had {} ranks, and these are {} ({}) start as many ranks as it had",
          directory_->path(), identity.ranks, world_.size(), why_not);
  });
  const bool even = identity.firsts.empty() && identity.clients == layout_->clients();
  const Layout before = even ? layout_->on(identity.ranks) : identity.layout();
  const FolderRegrouping regrouping(*directory_, run_id_, before, *layout_, world_.rank(), gone_);
  const bool same_folders = identity.ranks == world_.size() && !changes_;
  std::vector<CheckpointFolder> folders = same_folders ? std::vector<CheckpointFolder>() : regrouping.taken();
  if (same_folders && plays(world_.rank())) folders.push_back(checkpoint_folder());
  std::vector<std::string> complaints;
  resumed_from_ = newest_common_checkpoint(agreement_, folders, complaints);
  for (const std::string& complaint : complaints) {
    notes_.push_back(fmt::format("a checkpoint is of no use: {}", complaint));
  }
  agreement_.together([&] {
    check<DataError>(
        resumed_from_ || complaints.empty(),
        "--resume '{}': no checkpoint is whole on all ranks ({}) restore them, or take all files checkpoint-* "
        "away to play the run from its beginning",
        directory_->path(), fmt::join(complaints, "; "));
  });
  agreement_.together([&] {
    check<DataError>(
        resumed_from_ || !members_.has_changed(),
        "--resume '{}': there is no checkpoint, and its clients are not those that it began with (the rounds before "
        "cannot be played again) restore one, or start a run of its own",
        directory_->path());
  });
  if (!same_folders) make_other_folders(regrouping);
}

/// Moves private files to where their clients are now, leaves those of lost clients behind, and makes those of clients
/// that join. **Collective.**
void LearningRun::make_other_folders(const FolderRegrouping& regrouping) {
  const int before = directory_->identity().ranks;
  directory_->begin_move(agreement_);
  agreement_.together([&] {
    check(!plays(world_.rank()) || client_count() > 0,
          "--resume '{}': {} ranks for {} clients (a rank without clients would have nothing to go on from) start at "
          "most {} ranks",
          directory_->path(), world_.size(), layout_->clients(), layout_->clients());
    if (!regrouping.begins_from_nothing()) regrouping.make_folder(resumed_from_);
  });
  make_folders_of_new_hosts(regrouping);
  RunIdentity next = directory_->identity();
  next.ranks = world_.size();
  next.clients = layout_->clients();
  next.firsts = layout_->blocks();
  if (members_.has_changed()) next.members = members_;
  next.rewired = rewired_;
  if (changes_) next.determined_by.clear();  // the keys of others determine the releases
  directory_->take_next_folders(agreement_, next);
  if (before == world_.size()) return;
  notes_.push_back(fmt::format("the run goes on with {} ranks, after {}: results do not depend on their number",
                               world_.size(), before));
}

/// Makes the folders of ranks whose clients all join, on hosts without a folder: another rank sends what is the same on
/// all. **Collective.**
void LearningRun::make_folders_of_new_hosts(const FolderRegrouping& regrouping) {
  const std::int64_t needs = regrouping.begins_from_nothing() ? 1 : 0;
  const std::int64_t gives = regrouping.sees_nothing() ? 0 : 1;
  const auto of_ranks = agreement_.all_gather(declare_public(std::vector<std::int64_t>{needs, gives}));
  int giver = 0;
  while (giver + 1 < world_.size() && of_ranks[static_cast<std::size_t>(giver)][1] == 0) ++giver;
  for (int r = 0; r < world_.size(); ++r) {
    if (of_ranks[static_cast<std::size_t>(r)][0] == 0) continue;
    std::string files;
    agreement_.together([&] {
      if (world_.rank() == giver) files = regrouping.of_rank(r).files_of_new_clients(resumed_from_);
    });
    const std::vector<std::string> all = agreement_.all_gather(declare_public(files));
    agreement_.together([&] {
      if (world_.rank() == r) regrouping.make_folder_of(all[static_cast<std::size_t>(giver)]);
    });
  }
}

/// All that determines releases must be what it was after the last change of clients. **Collective.**
void LearningRun::settle_determination() {
  if (!members_.has_changed()) return;
  agreement_.together([&] {
    const std::string before = directory_->identity().determined_by;
    const std::string& now = privacy_->determined_by();
    check(before.empty() || before == now,
          "--resume '{}': its data, configuration, keys or build are not those with which it went on when its clients "
          "had changed (it would be another run) put them back",
          directory_->path());
    if (first_rank() && before != now) directory_->settle_determination(now);
  });
}

/// Settles whether a resumed run goes on from a checkpoint, once the run is to have `rounds` rounds. **Collective.**
void LearningRun::find_checkpoint(Round rounds) {
  if (!goes_on_) return;
  planned_rounds_ = rounds;
  agreement_.together([&] {
    check(resumed_from_.value_or(0) <= rounds, "--rounds {}: the run has come to round {} (rounds are not taken back)",
          rounds, resumed_from_.value_or(0));
    if (resumed_from_) {
      directory_->go_on();
    } else if (plays(world_.rank())) {
      checkpoint_folder().remove(0, std::numeric_limits<Round>::max());  // written earlier, and of no use
    }
  });
  notes_.push_back(resumed_from_ ? fmt::format("the run goes on after round {}", *resumed_from_)
                                 : "the run begins anew: there is no checkpoint that all ranks hold whole");
  for (std::string& note : notes_on_changes(members_)) notes_.push_back(std::move(note));
}

/// Starts checkpoints of these parts and of all that every run keeps. A resumed run gets all of it back.
/// **Collective.**
void LearningRun::start_checkpoints(KeptParts parts) {
  records_->add_parts(parts);
  if (privacy_) parts.add("accounts", privacy_->accounts());
  parts.add("clock", clock_);
  parts.add("shared figures", shared_figures_);
  feed_.dimension = dimension_;
  parts.put_first("records", feed_);
  std::vector<int> playing;
  for (int r = 0; r < world_.size(); ++r) {
    if (plays(r)) playing.push_back(r);
  }
  checkpointer_.emplace(world_, playing, checkpoint_folder(), common().checkpoint, std::move(parts));
  agreement_.together([&] {
    if (resumed_from_ && plays(world_.rank())) checkpointer_->go_back(*resumed_from_);
  });
  const bool is_older = resumed_from_ && plays(world_.rank()) && feed_.changes < members_.changes().size();
  if (agreement_.any(declare_public(is_older))) {
    begin_with_members();
  } else if (goes_on_ && *reads_pipes_) {
    leave_out_rounds("records that are gone");
  }
  agreement_.together([&] {
    if (!first_rank() || !goes_on_) return;
    directory_->set_configuration(configuration_, {"rounds", "checkpoint-every"});
    directory_->forget_results();
  });
}

/// All clients that are there begin anew at mass 1, and their state is durable before any release. **Collective.**
void LearningRun::begin_with_members() {
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  const std::int64_t here = plays(world_.rank()) ? static_cast<std::int64_t>(feed_.changes) : all;
  begin_after_changes(static_cast<std::size_t>(agreement_.min(declare_public(here))));
  const bool had = feed_.changes == members_.changes().size();
  leave_out_rounds("other clients");
  if (had) feed_.left_out.pop_back();  // a crash came when other ranks had no such checkpoint
  feed_.changes = members_.changes().size();
  agreement_.together([&] {
    if (plays(world_.rank())) checkpointer_->write_now(feed_.left_out.back().at);
  });
}

/// Leaves out rounds that would be others than before: with records of other pipes, or with other clients. A round that
/// may have been released must not be released again with other gradients, at the same address and for one charge. So
/// the run goes on with the first round that no ledger knows. **Collective.**
void LearningRun::leave_out_rounds(const std::string& why) {
  const Round from = resumed_from_.value_or(0);
  const Round releases = releases_of_round();
  const Round unreleased = privacy_->first_unreleased();
  const Round at = std::max(from, unreleased / releases + (unreleased % releases > 0 ? 1 : 0));
  check(
      at == from || at < planned_rounds_,
      "--rounds {}: rounds {} to {} may have been released with {} (they are left out, and none is left to play) give "
      "more --rounds",
      planned_rounds_, from + 1, at, why);
  const std::int64_t paid = privacy_->leave_out(at * releases, !*reads_pipes_);
  agreement_.together([&] {
    if (plays(world_.rank())) checkpointer_->leave_out(at);
  });
  const std::int64_t charged = agreement_.max(declare_public(paid));
  feed_.left_out.push_back({from, at, charged});
  if (first_rank() && *reads_pipes_) tell_of_left_out(feed_.left_out.back());
}

void LearningRun::tell_of_left_out(const LeftOut& left_out) const {
  const auto& [from, at, charged] = left_out;
  fmt::print(stderr, "note: records that a pipe gave after round {} are gone: {}\n", from,
             at == from ? fmt::format("the run goes on with others in round {}", at + 1)
                        : fmt::format("rounds {} to {}, which may have been released, are lost, and {} releases of a "
                                      "client stay charged; the run goes on with other records in round {}",
                                      from + 1, at, charged, at + 1));
}

/// Writes the last checkpoint of a run that a signal stopped, or that writes checkpoints. **Collective.**
void LearningRun::checkpoint_the_end(const RoundsEnd& end) {
  if (!is_resumable()) return;
  agreement_.together([&] {
    if (!plays(world_.rank())) return;
    if (end.stopped || common().checkpoint.any()) checkpointer_->write_last(end.done);
    checkpointer_->finish();
  });
}

/// Removes checkpoints of a run whose results are whole. The last one stays if the run writes any. **Collective.**
void LearningRun::drop_checkpoints(Round done) {
  agreement_.together([&] {
    if (!plays(world_.rank())) return;
    const CheckpointFolder folder = checkpoint_folder();
    if (recorded_here() > 0 && directory_->is_seen()) {
      static_cast<void>(settle_file(directory_->clients_file(world_.rank())));
    }
    if (first_rank()) static_cast<void>(settle_file(directory_->run_file()));
    if (common().checkpoint.any()) return folder.remove(0, done);
    folder.remove(0, done + 1);
    for (const char* journal : {"/journal", "/reports"}) {
      std::filesystem::remove(directory_->private_folder(world_.rank()) + journal);
    }
  });
  agreement_.together([&] {
    if (first_rank() && is_resumable()) directory_->finish();
  });
}

}  // namespace starling
