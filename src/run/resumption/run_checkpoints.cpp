#include "run_checkpoints.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "files/tell_user.hpp"
#include "output/directory/owners_file.hpp"

namespace starling {

namespace {

/// Prints which rounds are lost because an earlier process had their records through a pipe.
void tell_of_left_out(const LeftOut& left_out) {
  const auto& [from, at, charged] = left_out;
  tell_user("note: records that a pipe gave after round {} are gone: {}\n", from,
            at == from ? fmt::format("the run goes on with others in round {}", at + 1)
                       : fmt::format("rounds {} to {}, which may have been released, are lost, and {} releases of a "
                                     "client stay charged; the run goes on with other records in round {}",
                                     from + 1, at, charged, at + 1));
}

}  // namespace

void RunCheckpoints::Feed::persist(Snapshot& snapshot) {
  const std::size_t here = dimension;
  snapshot(dimension, changes, left_out);
  check<DataError>(
      dimension == here,
      "models have {} numbers, of {} when the run began: the records have other columns. Bring records like those.",
      here, dimension);
}

RunCheckpoints::RunCheckpoints(World& world, Agreement& agreement, CheckpointTerms terms, KeptParts parts)
    : agreement_(agreement),
      terms_(std::move(terms)),
      plays_(std::ranges::binary_search(terms_.playing, agreement.rank())) {
  feed_.dimension = terms_.dimension;
  parts.put_first("records", feed_);
  checkpointer_.emplace(world, terms_.playing, terms_.folder, terms_.pace, std::move(parts));
  agreement_.together([&] {
    if (terms_.from && plays_) checkpointer_->go_back(*terms_.from);
  });
}

std::optional<std::size_t> RunCheckpoints::first_unknown_change(const Membership& members) {
  const bool is_older = terms_.from && plays_ && feed_.changes < members.changes().size();
  if (!agreement_.any(declare_public(is_older))) return std::nullopt;
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  const std::int64_t here = plays_ ? static_cast<std::int64_t>(feed_.changes) : all;
  return static_cast<std::size_t>(agreement_.min(declare_public(here)));
}

void RunCheckpoints::go_on_with(const Membership& members, RunPrivacy& privacy) {
  const bool had = feed_.changes == members.changes().size();
  leave_out(LeftOutBy::other_clients, privacy);
  if (had) feed_.left_out.pop_back();  // a crash came when other ranks had no such checkpoint
  feed_.changes = members.changes().size();
  agreement_.together([&] {
    if (plays_) checkpointer_->write_now(feed_.left_out.back().at);
  });
}

void RunCheckpoints::leave_out(LeftOutBy why, RunPrivacy& privacy) {
  const Round from = terms_.from.value_or(0);
  const Round releases = terms_.releases_of_round;
  const Round unreleased = privacy.first_unreleased();
  const Round at = std::max(from, unreleased / releases + (unreleased % releases > 0 ? 1 : 0));
  if (at > from && at >= terms_.rounds) require_end(why, from, at);
  const std::int64_t paid = privacy.leave_out(at * releases, !terms_.reads_pipes);
  agreement_.together([&] {
    if (plays_) checkpointer_->leave_out(at);
  });
  const std::int64_t charged = agreement_.max(declare_public(paid));
  feed_.left_out.push_back({from, at, charged});
  if (agreement_.rank() == 0 && terms_.reads_pipes) tell_of_left_out(feed_.left_out.back());
}

/// Requires that a run without a round left to play may end with the models after round `from`.
void RunCheckpoints::require_end(LeftOutBy why, Round from, Round at) const {
  const bool others = why == LeftOutBy::other_clients;
  const std::string& no_more = terms_.why_no_more_rounds;
  if (others && !no_more.empty()) return;
  fail<UsageError>(
      "--rounds {}: rounds {} to {} may have been released with {}: they are left out, and none is left to play. {}.",
      terms_.rounds, from + 1, at, others ? "other clients" : "records that are gone",
      others            ? "Give more --rounds, and no --lost or --join: the clients have changed already"
      : no_more.empty() ? "Give more --rounds"
                        : fmt::format("The run can have no more, since {}: start a run of its own", no_more));
}

std::optional<LeftOut> RunCheckpoints::left_out_to_end() const {
  const auto last = std::ranges::find_if(
      feed_.left_out, [this](const LeftOut& each) { return each.from < each.at && each.at == terms_.rounds; });
  return last == feed_.left_out.end() ? std::nullopt : std::optional(*last);
}

void RunCheckpoints::finish(Round done, bool needed) {
  agreement_.together([&] {
    if (!plays_) return;
    if (needed || terms_.pace.any()) checkpointer_->write_last(done);
    checkpointer_->finish();
  });
}

void RunCheckpoints::drop(Round done, const RunDirectory& directory, bool has_models) {
  agreement_.together([&] {
    if (!plays_) return;
    if (has_models && directory.is_seen()) {
      static_cast<void>(settle_file(directory.clients_file(agreement_.rank())));
    }
    if (agreement_.rank() == 0) static_cast<void>(settle_file(directory.run_file()));
    if (terms_.pace.any()) return terms_.folder.remove(0, done);
    terms_.folder.remove(0, done + 1);
    for (const char* journal : {"/journal", "/reports"}) std::filesystem::remove(terms_.folder.folder() + journal);
  });
}

}  // namespace starling
