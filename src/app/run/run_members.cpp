// Changes of a run's clients: some are lost for good, others join.
#include "app/console/version.hpp"
#include "folder_regrouping.hpp"
#include "learning_run.hpp"
#include <algorithm>
#include <iterator>
#include <limits>
#include <sstream>

#include "starling/core/per_client.hpp"
#include "starling/data/generators/synthetic.hpp"
#include "starling/data/memory_records.hpp"

namespace starling {

namespace {

constexpr std::string_view missing_word = "missing";

/// Clients of the old ranks that `is` accepts, ascending.
template <class Is>
std::vector<Client> clients_of_ranks(const Layout& before, Is&& is) {
  std::vector<Client> clients;
  for (int r = 0; r < before.ranks(); ++r) {
    for (Client u = before.first(r); is(r) && u < before.first(r) + before.count(r); ++u) clients.push_back(u);
  }
  return clients;
}

/// The clients of the list that are not lost.
std::vector<Client> present_of(const std::vector<Client>& clients, const Membership& members) {
  std::vector<Client> present;
  std::copy_if(clients.begin(), clients.end(), std::back_inserter(present),
               [&](Client u) { return !members.is_lost(u); });
  return present;
}

/// Rounds of whole checkpoints that all ranks with clients that are not lost have in common, ascending.
std::vector<Round> common_rounds(const std::vector<std::vector<Round>>& whole, const Layout& before,
                                 const Membership& members) {
  std::optional<std::vector<Round>> common;
  for (int r = 0; r < before.ranks(); ++r) {
    if (present_of(clients_of_ranks(before, [r](int other) { return other == r; }), members).empty()) continue;
    const std::vector<Round>& rounds = whole[static_cast<std::size_t>(r)];
    std::vector<Round> both;
    if (common) {
      std::set_intersection(common->begin(), common->end(), rounds.begin(), rounds.end(), std::back_inserter(both));
    }
    common = common ? both : rounds;
  }
  return common.value_or(std::vector<Round>());
}

void refuse_prices_of_clients(const PrivacyOptions& options) {
  for (const auto* each : {&options.epsilon, &options.mu, &options.total_epsilon, &options.budget}) {
    check(!*each || !(*each)->starts_with("clients:"),
          "--join: '{}' names a number for each client that the run began with (and none for others). Start a run of "
          "its own with more --clients, from the last model: --start",
          each->value_or(""));
  }
}

}  // namespace

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
  const RunIdentity identity = directory_->identity();
  const Layout before = identity.layout();
  const std::vector<std::vector<Round>> whole = look_at_folders(before);
  agreement_.together([&] {
    if (common().lost) {
      lose(whole, before);
    } else {
      join(whole, before);
    }
  });
  if (common().join) agreement_.same("--source beside --join", declare_public(members_.changes().back().source));
}

/// The rounds of whole checkpoints in each private folder; none of a folder that is not there. **Collective.**
std::vector<std::vector<Round>> LearningRun::look_at_folders(const Layout& before) {
  std::string own;
  for (const int r : directory_->place().share(before.ranks(), world_.rank(), world_.size())) {
    const CheckpointFolder folder(directory_->private_folder(r),
                                  {version(), run_id_, r, before.ranks(), before.first(r), before.count(r)});
    try {
      for (const Round round : folder.look().whole) own += fmt::format("{} {}\n", r, round);
    } catch (const Error&) {  // it cannot be read
    }
  }
  std::vector<std::vector<Round>> whole(static_cast<std::size_t>(before.ranks()));
  for (const std::string& text : agreement_.all_gather(declare_public(own))) {
    std::istringstream lines(text);
    std::size_t r = 0;
    for (Round round = 0; lines >> r >> round;) whole[r].push_back(round);
  }
  for (std::vector<Round>& rounds : whole) {  // hosts may have copies
    std::sort(rounds.begin(), rounds.end());
    rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
  }
  return whole;
}

/// Clients that are not lost, and whose private state is not there.
std::vector<Client> LearningRun::missing_clients(const std::vector<std::vector<Round>>& whole,
                                                 const Layout& before) const {
  const auto is_gone = [&](int r) { return whole[static_cast<std::size_t>(r)].empty(); };
  return present_of(clients_of_ranks(before, is_gone), members_);
}

/// The clients that --lost names, and that were not lost before.
std::vector<Client> LearningRun::named_as_lost(const std::vector<Client>& missing, const Layout& before) const {
  if (*common().lost == missing_word) return missing;
  std::vector<Client> named;
  try {
    named = present_of(parse_clients(*common().lost, before.clients()), members_);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--lost '{}': {}", *common().lost, error.what()));
  }
  std::vector<Client> unnamed;
  std::set_difference(missing.begin(), missing.end(), named.begin(), named.end(), std::back_inserter(unnamed));
  check(unnamed.empty(),
        "--lost {}: the private state of clients {} is not there either (they could not go on) bring it back, or name "
        "them too: --lost missing",
        *common().lost, list_of_clients(unnamed));
  return named;
}

/// A folder all of whose clients are lost counts if it has the checkpoint that the others go on from.
void LearningRun::lose(const std::vector<std::vector<Round>>& whole, const Layout& before) {
  const std::vector<Client> named = named_as_lost(missing_clients(whole, before), before);
  Membership after = members_;
  if (!named.empty()) after.lose(0, named);
  check(!after.present().empty(),
        "--lost {}: no client is left of {} (a run needs one) bring a private folder back, or start a run of its own",
        *common().lost, before.clients());
  const std::vector<Round> rounds_of_all = common_rounds(whole, before, after);
  check<DataError>(!rounds_of_all.empty(),
                   "--lost {}: the clients that are left have no checkpoint in common (nothing is there to go on from) "
                   "name more clients, or start a run of its own",
                   *common().lost);
  const Round from = rounds_of_all.back();
  for (int r = 0; r < before.ranks(); ++r) {
    const std::vector<Round>& rounds = whole[static_cast<std::size_t>(r)];
    if (before.count(r) > 0 && !std::binary_search(rounds.begin(), rounds.end(), from)) gone_.push_back(r);
  }
  changes_ = !named.empty() || !gone_.empty() || !directory_->place().all_see_own();
  if (!named.empty()) members_.lose(from, named);
  if (common().rewire && !named.empty()) rewired_ = *common().rewire;
  if (named.empty()) notes_.push_back(fmt::format("--lost {}: no other client is lost", *common().lost));
}

void LearningRun::join(const std::vector<std::vector<Round>>& whole, const Layout& before) {
  const Client count = *common().join;
  refuse_prices_of_clients(common().privacy);
  const std::vector<Client> missing = missing_clients(whole, before);
  check(missing.empty(),
        "--join {}: the private state of clients {} is not there (the others cannot wait for them) bring it back, or "
        "go on without these clients first: --lost missing",
        count, list_of_clients(missing));
  const std::vector<Round> rounds = common_rounds(whole, before, members_);
  check<DataError>(
      !rounds.empty(),
      "--join {}: there is no checkpoint that all clients have (nothing is there to go on from) start a run "
      "of its own with more --clients",
      count);
  members_.join(rounds.back(), count, source_of_joining());
  changes_ = true;
  if (common().rewire) rewired_ = *common().rewire;
}

/// The source of the clients that join.
std::string LearningRun::source_of_joining() const {
  const std::string& of_run = common().data.source;
  check(
      common().source_of_joining || is_per_client(of_run) || is_synthetic(of_run),
      "--join {} without --source: all records of '{}' are dealt to the clients that are there. Say where those of the "
      "new clients are: --source",
      *common().join, of_run);
  const std::string source = common().source_of_joining.value_or(of_run);
  check(source != "-" && !is_in_memory(source),
        "--join with --source '{}': the run must find these records again whenever it goes on. Give a file.", source);
  return source;
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

std::vector<char> LearningRun::lost_here() const {
  std::vector<char> lost;
  for (Client u = first_client(); u < first_client() + client_count(); ++u) lost.push_back(members_.is_lost(u) ? 1 : 0);
  return lost;
}

Client LearningRun::clients_at_first() const {
  return goes_on_ ? members_.at_first() : layout_->clients();
}

/// Notes on the clients that are lost or have joined.
void LearningRun::tell_of_changes() {
  for (const auto& [kind, round, clients, source] : members_.changes()) {
    if (kind == Membership::Change::Kind::loss) {
      notes_.push_back(fmt::format(
          "lost after round {}, for good: clients {}. The others count equally. What the lost have released stays "
          "charged; where their ledgers are gone, no file of this run says how much that was",
          round, list_of_clients(clients)));
    } else {
      notes_.push_back(fmt::format(
          "joined after round {}: clients {}, with records from '{}'. All count equally from then on. Settings that a "
          "rule has chosen stay as they were; a release costs the new clients what it costs the others, and their "
          "ledgers begin there",
          round, list_of_clients(clients), source));
    }
  }
}

}  // namespace starling
