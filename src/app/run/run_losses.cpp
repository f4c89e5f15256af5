// Clients that a resumed run has lost.
#include "app/console/version.hpp"
#include "folder_regrouping.hpp"
#include "learning_run.hpp"
#include <algorithm>
#include <iterator>
#include <sstream>

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

std::vector<Client> without(const std::vector<Client>& clients, const LostClients& lost) {
  std::vector<Client> others;
  std::copy_if(clients.begin(), clients.end(), std::back_inserter(others), [&](Client u) { return !lost.has(u); });
  return others;
}

}  // namespace

/// Finds out without which clients the run goes on, and from which round. Changes no file. **Collective.**
void LearningRun::choose_lost() {
  if (!goes_on_ || !common().lost) return;
  agreement_.together([&] {
    const std::string why_not = why_no_client_is_lost();
    check(why_not.empty(), "--lost: {}", why_not);
  });
  const RunIdentity identity = directory_->identity();
  const Layout before(identity.clients, identity.ranks);
  const std::vector<std::vector<Round>> whole = look_at_folders(before);
  agreement_.together([&] { lose(whole, before); });
}

/// The rounds of whole checkpoints in each private folder; none of a folder that is not there. **Collective.**
std::vector<std::vector<Round>> LearningRun::look_at_folders(const Layout& before) {
  std::string own;
  for (int r = world_.rank(); r < before.ranks(); r += world_.size()) {
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
  return whole;
}

/// The clients that --lost names, and that were not lost before.
std::vector<Client> LearningRun::named_as_lost(const std::vector<std::vector<Round>>& whole,
                                               const Layout& before) const {
  const auto is_gone = [&](int r) { return whole[static_cast<std::size_t>(r)].empty(); };
  const std::vector<Client> missing = without(clients_of_ranks(before, is_gone), lost_);
  if (*common().lost == missing_word) return missing;
  std::vector<Client> named;
  try {
    named = without(parse_clients(*common().lost, before.clients()), lost_);
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
  const std::vector<Client> named = named_as_lost(whole, before);
  LostClients after = lost_;
  if (!named.empty()) after.add(0, named);
  check(after.count() < before.clients(),
        "--lost {}: no client is left of {} (a run needs one) bring a private folder back, or start a run of its own",
        *common().lost, before.clients());
  std::vector<Round> common_rounds;
  bool first = true;
  for (int r = 0; r < before.ranks(); ++r) {
    const std::vector<Client> clients = clients_of_ranks(before, [r](int other) { return other == r; });
    if (without(clients, after).empty()) continue;
    const std::vector<Round>& rounds = whole[static_cast<std::size_t>(r)];
    std::vector<Round> both;
    std::set_intersection(common_rounds.begin(), common_rounds.end(), rounds.begin(), rounds.end(),
                          std::back_inserter(both));
    common_rounds = first ? rounds : both;
    first = false;
  }
  check<DataError>(!common_rounds.empty(),
                   "--lost {}: the clients that are left have no checkpoint in common (nothing is there to go on from) "
                   "name more clients, or start a run of its own",
                   *common().lost);
  const Round from = common_rounds.back();
  for (int r = 0; r < before.ranks(); ++r) {
    const std::vector<Round>& rounds = whole[static_cast<std::size_t>(r)];
    if (before.count(r) > 0 && !std::binary_search(rounds.begin(), rounds.end(), from)) gone_.push_back(r);
  }
  loses_ = !named.empty() || !gone_.empty();
  if (!named.empty()) lost_.add(from, named);
  if (common().rewire && !named.empty()) rewired_ = *common().rewire;
  if (named.empty()) notes_.push_back(fmt::format("--lost {}: no other client is lost", *common().lost));
}

/// All that determines the releases of those that are left must be what it was after the last loss. **Collective.**
void LearningRun::settle_matter() {
  if (!lost_.any()) return;
  agreement_.together([&] {
    const std::string before = directory_->identity().matter;
    const std::string& now = privacy_->determined_by();
    check(
        before.empty() || before == now,
        "--resume '{}': its data, configuration, keys or build are not those with which it went on without clients {} "
        "(it would be another run) put them back",
        directory_->path(), list_of_clients(lost_.all()));
    if (first_rank() && before != now) directory_->settle_matter(now);
  });
}

/// The clients that are left begin anew with the models that they have, and their state is durable before any release.
/// **Collective.**
void LearningRun::leave_lost_behind() {
  agreement_.together([&] {
    if (plays(world_.rank())) go_on_without_lost();
  });
  const bool had = feed_.losses == lost_.losses().size();
  leave_out_rounds("the clients that are lost");
  if (had) feed_.left_out.pop_back();  // a crash came when other ranks had no such checkpoint
  feed_.losses = lost_.losses().size();
  agreement_.together([&] {
    if (plays(world_.rank())) checkpointer_->write_now(feed_.left_out.back().at);
  });
}

std::vector<char> LearningRun::lost_here() const {
  std::vector<char> lost;
  for (Client u = first_client(); u < first_client() + client_count(); ++u) lost.push_back(lost_.has(u) ? 1 : 0);
  return lost;
}

/// Notes on the clients that are lost.
void LearningRun::tell_of_lost() {
  for (const auto& [round, clients] : lost_.losses()) {
    notes_.push_back(
        fmt::format("lost after round {}, for good: clients {}. The others count equally. What the lost have released "
                    "stays charged; "
                    "where their ledgers are gone, no file of this run says how much that was",
                    round, list_of_clients(clients)));
  }
}

}  // namespace starling
