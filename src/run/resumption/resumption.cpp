#include "resumption.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/digest.hpp"
#include "core/text/spec.hpp"
#include "output/directory/file_gathering.hpp"

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

std::string why_no_more_rounds(const LearningConfig& config) {
  if (config.privacy.total_epsilon) return "the price of a release was made of --total-epsilon";
  return config.why_not.more_rounds;
}

Resumption::Resumption(Agreement& agreement, RunDirectory& directory, std::string before,
                       std::vector<std::string>& notes)
    : agreement_(agreement), directory_(directory), before_(std::move(before)), notes_(notes) {
  const RunIdentity identity = directory_.identity();
  run_ = identity.run;
  change_.members = identity.members;
  change_.rewired = identity.rewired;
}

void Resumption::require_rounds(const LearningConfig& config) const {
  const std::string why_not = why_no_more_rounds(config);
  check(why_not.empty() || stated_rounds(before_) == stated_rounds(config.text),
        "--rounds with --resume: {}, for the rounds that were planned. Leave --rounds out.", why_not);
}

bool Resumption::is_finished(const LearningConfig& config) {
  bool finished = false;
  agreement_.together([&] {
    const std::optional<Round> rounds = directory_.finished_rounds();
    if (rounds && config.rounds.value_or(*rounds) <= *rounds) finished = true;
    const char* const change = config.join ? "--join" : config.lost.value_or("missing") != "missing" ? "--lost" : "";
    if (finished && *change != '\0') refuse_change_at_end(config, change, *rounds);
    check(!rounds || finished || agreement_.rank() != 0 || directory_.has_checkpoints(0),
          "--resume '{}' --rounds: its {} rounds are over, and it has left no checkpoint: it ran without "
          "--checkpoint-every. Start a run of its own.",
          directory_.path(), rounds.value_or(0));
  });
  return agreement_.broadcast(declare_public(finished));
}

void Resumption::refuse_change_at_end(const LearningConfig& config, const char* option, Round rounds) const {
  const std::string why_not = why_no_more_rounds(config);
  const std::string remedy =
      why_not.empty()
          ? "Give it more: --rounds"
          : fmt::format("It can have no more, since {}: start a run of its own from its model, --start", why_not);
  fail<UsageError>("{}: the run in '{}' has played all its {} rounds, and nobody would learn of the change. {}.",
                   option, directory_.path(), rounds, remedy);
}

void Resumption::choose_members(const LearningConfig& config, const std::string& why_same_clients) {
  agreement_.together([&] {
    check(why_same_clients.empty(), "{}: {}. {}", config.lost ? "--lost" : "--join", why_same_clients,
          config.lost ? "Bring the private folder back, or start a run of its own with fewer --clients, from the last "
                        "model: --start"
                      : "Start a run of its own with more --clients, from the last model: --start");
  });
  found_ = look_at_checkpoints(agreement_, directory_, directory_.identity().layout());
  agreement_.together([&] { change_ = change_members(config, directory_.identity(), found_->whole); });
  if (config.join) agreement_.same("--source beside --join", declare_public(change_.members.changes().back().source));
  change_.moves = change_.moves || !directory_.place().all_see_own();
  notes_.insert(notes_.end(), change_.notes.begin(), change_.notes.end());
}

Layout Resumption::layout(Client clients) const {
  const RunIdentity identity = directory_.identity();
  if (identity.ranks == agreement_.ranks() && !change_.moves) return identity.layout();
  return directory_.place().layout(identity.layout(), change_.gone, clients, agreement_.ranks());
}

Round Resumption::first_rounds(const LearningConfig& config, Round now, Round of_data) const {
  const std::string was = stated_rounds(before_);
  if (was == stated_rounds(config.text)) return now;
  return was.empty() ? of_data : parse_integer(was, "rounds");
}

void Resumption::choose_checkpoint(const Layout& layout, bool plays, const std::string& rewired,
                                   const std::string& why_as_many_ranks) {
  const RunIdentity identity = directory_.identity();
  agreement_.together([&] {
    check(why_as_many_ranks.empty() || identity.ranks == agreement_.ranks(),
          "--resume '{}': the run had {} ranks, and these are {}: {}. Start as many ranks as it had.",
          directory_.path(), identity.ranks, agreement_.ranks(), why_as_many_ranks);
  });
  const bool same_folders = identity.ranks == agreement_.ranks() && !change_.moves;
  if (!found_) found_ = look_at_checkpoints(agreement_, directory_, layout_before(layout));
  const std::vector<int> ranks = ranks_that_go_on(same_folders, plays);
  const std::vector<Round> rounds = common_rounds(found_->whole, ranks);
  if (!rounds.empty()) from_ = rounds.back();
  std::vector<std::string> complaints;
  for (const int r : ranks)
    std::ranges::copy(found_->complaints[static_cast<std::size_t>(r)], std::back_inserter(complaints));
  for (const std::string& complaint : complaints) {
    notes_.push_back(fmt::format("a checkpoint is of no use: {}", complaint));
  }
  agreement_.together([&] {
    check<DataError>(from_ || complaints.empty(),
                     "--resume '{}': no checkpoint is whole on all ranks: {}. Restore them, or take all files "
                     "checkpoint-* away to play the run from its beginning.",
                     directory_.path(), fmt::join(complaints, "; "));
    check<DataError>(from_ || !change_.members.has_changed(),
                     "--resume '{}': there is no checkpoint, and its clients are not those that it began with: the "
                     "rounds before cannot be played again. Restore one, or start a run of its own.",
                     directory_.path());
  });
  if (!same_folders) make_other_folders(layout, plays, rewired);
}

/// That of the private folders of a run that has `now`.
Layout Resumption::layout_before(const Layout& now) const {
  const RunIdentity identity = directory_.identity();
  const bool even = identity.firsts.empty() && identity.clients == now.clients();
  return even ? now.on(identity.ranks) : identity.layout();
}

/// Ranks before whose state is needed. With the same folders these are the ranks that play. **Collective.**
std::vector<int> Resumption::ranks_that_go_on(bool same_folders, bool plays) {
  const std::vector<std::vector<std::int64_t>> play =
      agreement_.all_gather(declare_public(std::vector<std::int64_t>{plays ? 1 : 0}));
  const RunIdentity before = directory_.identity();
  std::vector<int> ranks;
  for (int r = 0; r < before.ranks; ++r) {
    const bool goes_on = same_folders ? play[static_cast<std::size_t>(r)][0] != 0
                                      : before.layout().count(r) > 0 && !std::ranges::binary_search(change_.gone, r);
    if (goes_on) ranks.push_back(r);
  }
  return ranks;
}

CheckpointFolder Resumption::own_checkpoints(const Layout& layout) const {
  return checkpoint_folder(directory_.private_folder(agreement_.rank()), run_, layout, agreement_.rank());
}

/// Moves private files to where their clients are now, leaves those of lost clients behind, and makes those of clients
/// that join. **Collective.**
void Resumption::make_other_folders(const Layout& layout, bool plays, const std::string& rewired) {
  const RunIdentity identity = directory_.identity();
  const int before = identity.ranks;
  const FolderRegrouping regrouping(directory_, run_, layout_before(layout), layout, agreement_.rank(), change_.gone);
  directory_.begin_move();
  agreement_.together([&] {
    check(!plays || layout.count(agreement_.rank()) > 0,
          "--resume '{}': {} ranks for {} clients: a rank without clients would have nothing to go on from. Start at "
          "most {} ranks.",
          directory_.path(), agreement_.ranks(), layout.clients(), layout.clients());
    if (!regrouping.begins_from_nothing()) regrouping.make_folder(from_);
  });
  make_folders_of_new_hosts(regrouping);
  RunIdentity next = identity;
  next.ranks = agreement_.ranks();
  next.clients = layout.clients();
  next.firsts = layout.blocks();
  next.members = change_.members;
  next.rewired = rewired;
  if (change_.moves) next.determined_by.clear();  // the keys of others determine the releases
  const bool others = next.members.changes().size() != identity.members.changes().size();
  directory_.take_next_folders(agreement_, next);
  has_changed_clients_ = others;
  if (before == agreement_.ranks()) return;
  notes_.push_back(fmt::format("the run goes on with {} ranks, after {}: results do not depend on their number",
                               agreement_.ranks(), before));
}

/// Makes the folders of ranks whose clients all join, on hosts without a folder: another rank sends what is the same on
/// all. Keys are made where they are used. **Collective.**
void Resumption::make_folders_of_new_hosts(const FolderRegrouping& regrouping) {
  enum Facts : std::size_t { needs, gives, has_keys };
  const std::vector<bool> own{regrouping.begins_from_nothing(), !regrouping.sees_nothing(), regrouping.has_keys()};
  const auto of_ranks = agreement_.all_gather(declare_public(std::vector<std::int64_t>(own.begin(), own.end())));
  int giver = 0;
  while (giver + 1 < agreement_.ranks() && of_ranks[static_cast<std::size_t>(giver)][gives] == 0) ++giver;
  for (int r = 0; r < agreement_.ranks(); ++r) {
    if (of_ranks[static_cast<std::size_t>(r)][needs] == 0) continue;
    std::string from;
    std::string to;
    agreement_.together([&] {
      if (agreement_.rank() == giver) from = regrouping.of_rank(r).make_folder_without_keys(from_);
      if (agreement_.rank() == r) to = directory_.make_next_folder(r);
    });
    gather_files(agreement_, from, {to, r, S_IRUSR | S_IWUSR});
    agreement_.together([&] {
      if (agreement_.rank() == r && of_ranks[static_cast<std::size_t>(giver)][has_keys] != 0)
        regrouping.make_new_keys(to);
    });
  }
}

void Resumption::settle_determination(const std::string& now) {
  if (!change_.members.has_changed()) return;
  agreement_.together([&] {
    // run-id is for all to see: by the id of the run, equal data of two runs do not show.
    const std::string own = now.empty() ? "" : sha256(run_ + now);
    const std::string before = directory_.identity().determined_by;
    check(before.empty() || before == own,
          "--resume '{}': its data, configuration, keys or build are not those with which it went on when its clients "
          "had changed: it would be another run. Put them back.",
          directory_.path());
    if (agreement_.rank() == 0 && before != own) directory_.settle_determination(own);
  });
}

void Resumption::begin(Round rounds, const Layout& layout, bool plays) {
  agreement_.together([&] {
    check(from_.value_or(0) <= rounds, "--rounds {}: the run has come to round {}: rounds are not taken back.", rounds,
          from_.value_or(0));
    if (from_) {
      directory_.go_on();
    } else if (plays) {
      own_checkpoints(layout).remove(0, std::numeric_limits<Round>::max());  // written earlier, and of no use
    }
  });
  notes_.push_back(from_ ? fmt::format("the run goes on after round {}", *from_)
                         : "the run begins anew: there is no checkpoint that all ranks hold whole");
  for (std::string& note : notes_on_changes(change_.members)) notes_.push_back(std::move(note));
}

}  // namespace starling
