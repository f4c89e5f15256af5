#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/text/per_client.hpp"
#include "data/generators/synthetic.hpp"
#include "data/memory_records.hpp"
#include "resumption.hpp"

namespace starling {

namespace {

constexpr std::string_view missing_word = "missing";

/// Clients of a rank that are not lost, ascending.
std::vector<Client> present_on(const Layout& layout, int rank, const Membership& members) {
  std::vector<Client> present;
  for (Client u = layout.first(rank); u < layout.first(rank) + layout.count(rank); ++u) {
    if (!members.is_lost(u)) present.push_back(u);
  }
  return present;
}

/// Clients that are not lost, and have no whole checkpoint.
std::vector<Client> missing_clients(const RunIdentity& before, const WholeCheckpoints& checkpoints) {
  std::vector<Client> missing;
  for (int r = 0; r < before.ranks; ++r) {
    if (!checkpoints[static_cast<std::size_t>(r)].empty()) continue;
    const std::vector<Client> clients = present_on(before.layout(), r, before.members);
    missing.insert(missing.end(), clients.begin(), clients.end());
  }
  return missing;
}

/// Other clients go on from a checkpoint, which the run may not have come to.
void require_some_checkpoint(const std::string& option, const WholeCheckpoints& checkpoints) {
  check<DataError>(std::ranges::any_of(checkpoints, [](const auto& rounds) { return !rounds.empty(); }),
                   "{}: the run has no checkpoint yet, and other clients could not play its rounds again. Resume it "
                   "with the clients that it has and --checkpoint-every until it has one, or start a run of its own.",
                   option);
}

/// Ranks before with clients that are not lost.
std::vector<int> ranks_with_clients(const Layout& before, const Membership& members) {
  std::vector<int> ranks;
  for (int r = 0; r < before.ranks(); ++r) {
    if (!present_on(before, r, members).empty()) ranks.push_back(r);
  }
  return ranks;
}

/// The clients that --lost names, and that were not lost before.
std::vector<Client> named_as_lost(const std::string& who, const RunIdentity& before,
                                  const WholeCheckpoints& checkpoints) {
  const std::vector<Client> missing = missing_clients(before, checkpoints);
  if (who == missing_word) return missing;
  std::vector<Client> named;
  try {
    named = parse_clients(who, before.clients);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--lost '{}': {}", who, error.what()));
  }
  std::erase_if(named, [&](Client u) { return before.members.is_lost(u); });
  std::vector<Client> unnamed;
  std::set_difference(missing.begin(), missing.end(), named.begin(), named.end(), std::back_inserter(unnamed));
  check(
      unnamed.empty(),
      "--lost {}: clients {} have no whole checkpoint either: they could not go on. Bring their private folders back, "
      "or name them too: --lost missing.",
      who, list_of_clients(unnamed));
  return named;
}

/// A folder all of whose clients are lost counts if it has the checkpoint that the others go on from.
MemberChange after_loss(const LearningConfig& config, const RunIdentity& before, const WholeCheckpoints& checkpoints) {
  const std::string& who = *config.lost;
  require_some_checkpoint("--lost " + who, checkpoints);
  const Layout layout = before.layout();
  const std::vector<Client> named = named_as_lost(who, before, checkpoints);
  Membership others = before.members;
  if (!named.empty()) others.lose(0, named);
  check(!others.present().empty(),
        "--lost {}: no client is left of {}: a run needs one. Bring a private folder back, or start a run of its own.",
        who, before.clients);
  const std::vector<Round> rounds_of_all = common_rounds(checkpoints, ranks_with_clients(layout, others));
  check<DataError>(!rounds_of_all.empty(),
                   "--lost {}: the clients that are left have no checkpoint in common: nothing is there to go on from. "
                   "Name more clients, or start a run of its own.",
                   who);
  const Round from = rounds_of_all.back();
  MemberChange change{before.members, before.rewired};
  for (int r = 0; r < before.ranks; ++r) {
    const std::vector<Round>& rounds = checkpoints[static_cast<std::size_t>(r)];
    if (layout.count(r) > 0 && !std::ranges::binary_search(rounds, from)) change.gone.push_back(r);
  }
  change.moves = !named.empty() || !change.gone.empty();
  if (named.empty()) {
    change.notes.push_back(fmt::format("--lost {}: no other client is lost", who));
    return change;
  }
  change.members.lose(from, named);
  if (config.rewire) change.rewired = *config.rewire;
  return change;
}

void refuse_prices_of_clients(const PrivacyOptions& options) {
  for (const auto* each : {&options.epsilon, &options.mu, &options.total_epsilon, &options.budget}) {
    check(!*each || !(*each)->starts_with("clients:"),
          "--join: '{}' names a number for each client that the run began with, and none for others. Start a run of "
          "its own with more --clients, from the last model: --start",
          each->value_or(""));
  }
}

/// The source of the clients that join.
std::string source_of_joining(const LearningConfig& config) {
  const std::string& of_run = config.data.source;
  check(
      config.source_of_joining || is_per_client(of_run) || is_synthetic(of_run),
      "--join {} without --source: all records of '{}' are dealt to the clients that are there. Say where those of the "
      "new clients are: --source",
      *config.join, of_run);
  const std::string source = config.source_of_joining.value_or(of_run);
  check(source != "-" && !is_in_memory(source),
        "--join with --source '{}': the run must find these records again whenever it goes on. Give a file.", source);
  return source;
}

MemberChange after_join(const LearningConfig& config, const RunIdentity& before, const WholeCheckpoints& checkpoints) {
  const Client count = *config.join;
  refuse_prices_of_clients(config.privacy);
  require_some_checkpoint(fmt::format("--join {}", count), checkpoints);
  const std::vector<Client> missing = missing_clients(before, checkpoints);
  check(missing.empty(),
        "--join {}: clients {} have no whole checkpoint: the others cannot wait for them. Bring their private folders "
        "back, or go on without these clients first: --lost missing.",
        count, list_of_clients(missing));
  const std::vector<Round> rounds = common_rounds(checkpoints, ranks_with_clients(before.layout(), before.members));
  check<DataError>(!rounds.empty(),
                   "--join {}: there is no checkpoint that all clients have: nothing is there to go on from. Start a "
                   "run of its own with more --clients.",
                   count);
  MemberChange change{.members = before.members, .rewired = config.rewire.value_or(before.rewired), .moves = true};
  change.members.join(rounds.back(), count, source_of_joining(config));
  return change;
}

}  // namespace

MemberChange change_members(const LearningConfig& config, const RunIdentity& before,
                            const WholeCheckpoints& checkpoints) {
  return config.lost ? after_loss(config, before, checkpoints) : after_join(config, before, checkpoints);
}

std::vector<std::string> notes_on_changes(const Membership& members) {
  std::vector<std::string> notes;
  for (const auto& [kind, round, clients, source] : members.changes()) {
    if (kind == Membership::Change::Kind::loss) {
      notes.push_back(
          fmt::format("lost after round {}, for good: clients {}. The others count by the same rule as before. What "
                      "the lost have released "
                      "stays charged; where their ledgers are gone, no file of this run says how much that was",
                      round, list_of_clients(clients)));
    } else {
      notes.push_back(fmt::format(
          "joined after round {}: clients {}, with records from '{}'. From then on they count by the same rule as the "
          "others. Settings that a "
          "rule has chosen stay as they were; a release costs the new clients what it costs the others, and their "
          "ledgers begin there",
          round, list_of_clients(clients), source));
    }
  }
  return notes;
}

}  // namespace starling
