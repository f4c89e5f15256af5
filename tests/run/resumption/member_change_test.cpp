// The clients with which a run goes on, after --lost and --join.
#include "run/resumption/resumption.hpp"
#include "support/testing.hpp"

namespace starling::member_change_test {

using Clients = std::vector<Client>;
using Ranks = std::vector<int>;

/// A run of six clients on three ranks, without those that were lost after 5 rounds.
RunIdentity six_clients(const Clients& lost_before = {}) {
  Membership members(6);
  if (!lost_before.empty()) members.lose(5, lost_before);
  return {.run = "1a", .inputs = "", .clients = 6, .ranks = 3, .members = members};
}

LearningConfig without(const std::string& clients) {
  LearningConfig config;
  config.lost = clients;
  return config;
}

LearningConfig with_more(Client count, const std::string& source_of_run) {
  LearningConfig config;
  config.join = count;
  config.data.source = source_of_run;
  return config;
}

void attempt(const LearningConfig& config, const WholeCheckpoints& checkpoints) {
  static_cast<void>(change_members(config, six_clients(), checkpoints));
}

TEST(MemberChange, OthersGoOnFromTheirNewestCommonCheckpoint) {
  const MemberChange change = change_members(without("missing"), six_clients(), {{10, 20, 30}, {}, {10, 20}});
  EXPECT_EQ(change.members.lost(), (Clients{2, 3}));
  EXPECT_EQ(change.members.changes().back().round, 20);
  EXPECT_EQ(change.gone, (Ranks{1}));
  EXPECT_TRUE(change.moves);
  EXPECT_TRUE(change.notes.empty());
}

TEST(MemberChange, AFolderOfLostClientsCountsIfItHasThatCheckpoint) {
  EXPECT_TRUE(change_members(without("2,3"), six_clients(), {{10, 20}, {20, 30}, {20}}).gone.empty());
  EXPECT_EQ(change_members(without("2,3"), six_clients(), {{10, 20}, {10}, {20}}).gone, (Ranks{1}));
}

TEST(MemberChange, AClientCanBeLostWhoseRankStays) {
  const MemberChange change = change_members(without("2"), six_clients(), {{10}, {10}, {10}});
  EXPECT_EQ(change.members.present(), (Clients{0, 1, 3, 4, 5}));
  EXPECT_TRUE(change.gone.empty());
}

TEST(MemberChange, NobodyIsLostTwice) {
  const MemberChange none = change_members(without("3"), six_clients({3}), {{10}, {10}, {10}});
  EXPECT_FALSE(none.moves);
  EXPECT_EQ(none.members.changes().size(), 1U);
  EXPECT_EQ(none.notes.size(), 1U);
  const MemberChange folder = change_members(without("missing"), six_clients({2, 3}), {{10}, {}, {10}});
  EXPECT_TRUE(folder.moves);
  EXPECT_EQ(folder.gone, (Ranks{1}));
  EXPECT_EQ(folder.members.changes().size(), 1U);
}

TEST(MemberChange, RefusesALossAfterWhichNobodyCanGoOn) {
  EXPECT_THROW(attempt(without("0"), {{10}, {}, {10}}), UsageError);  // 2 and 3 are missing too
  EXPECT_THROW(attempt(without("0-5"), {{10}, {10}, {10}}), UsageError);
  EXPECT_THROW(attempt(without("6"), {{10}, {10}, {10}}), UsageError);
  EXPECT_THROW(attempt(without("0,1"), {{10}, {10}, {20}}), DataError);
}

TEST(MemberChange, ClientsJoinAfterTheNewestCommonCheckpoint) {
  LearningConfig config = with_more(2, "site-{client}.csv");
  const MemberChange change = change_members(config, six_clients(), {{10, 20}, {10}, {10}});
  EXPECT_EQ(change.members.clients(), 8);
  EXPECT_EQ(change.members.changes().back().round, 10);
  EXPECT_EQ(change.members.changes().back().source, "site-{client}.csv");
  EXPECT_TRUE(change.moves);
  config.source_of_joining = "new.csv";
  config.rewire = "ring";
  const MemberChange other = change_members(config, six_clients(), {{10}, {10}, {10}});
  EXPECT_EQ(other.members.changes().back().source, "new.csv");
  EXPECT_EQ(other.rewired, "ring");
}

TEST(MemberChange, RefusesToJoinWithoutAllOthersOrWithoutOwnRecords) {
  EXPECT_THROW(attempt(with_more(1, "site-{client}.csv"), {{10}, {}, {10}}), UsageError);
  EXPECT_THROW(attempt(with_more(1, "site-{client}.csv"), {{10}, {20}, {10}}), DataError);
  EXPECT_THROW(attempt(with_more(1, "all.csv"), {{10}, {10}, {10}}), UsageError);
  LearningConfig pipe = with_more(1, "site-{client}.csv");
  pipe.source_of_joining = "-";
  EXPECT_THROW(attempt(pipe, {{10}, {10}, {10}}), UsageError);
  LearningConfig priced = with_more(1, "site-{client}.csv");
  priced.privacy.epsilon = "clients:1,2,1,2,1,2";
  EXPECT_THROW(attempt(priced, {{10}, {10}, {10}}), UsageError);
}

TEST(MemberChange, NotesNameEveryChange) {
  EXPECT_TRUE(notes_on_changes(Membership(6)).empty());
  Membership members(6);
  members.lose(5, {3});
  members.join(7, 2, "new.csv");
  const std::vector<std::string> notes = notes_on_changes(members);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].substr(0, 43), "lost after round 5, for good: clients 3. Th");
  EXPECT_EQ(notes[1].substr(0, 54), "joined after round 7: clients 6,7, with records from '");
}

}  // namespace starling::member_change_test
