#include "core/regrouping.hpp"

#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::regrouping_test {

using namespace testing_support;

/// State of some clients, with something of every kind.
struct State {
  explicit State(const ClientGroup& group) : group(group), columns(2, static_cast<std::size_t>(group.count)) {}

  void persist(Snapshot& snapshot) {
    snapshot.part("state");
    snapshot(round);
    snapshot.of_clients(numbers, texts, columns, later);
    snapshot.by_client(edges, [](const std::pair<Client, int>& edge) { return edge.first; });
    snapshot.sums(messages, seconds, bits);
    snapshot.of_any_rank(clock);
    has_spread = snapshot.of_group(spread);
    snapshot.of_first_rank(group.first == 0, model);
  }

  /// What client u has.
  void fill() {
    for (Client u = group.first; u < group.end(); ++u) {
      numbers.push_back(u * 1.5);
      texts.emplace_back(static_cast<std::size_t>(u), 'x');
      columns[static_cast<std::size_t>(u - group.first)][1] = u;
      for (int i = 0; i < u % 3; ++i) edges.emplace_back(u, i);
    }
    messages = group.first;
    seconds = 0.5 * group.first;
    bits = std::uint64_t{1} << static_cast<unsigned>(group.first);
    clock = group.first + 0.25;
    spread = group.first + 0.75;
    model = {7, 8};
  }

  ClientGroup group;
  Round round = 12;
  Vector numbers;
  std::vector<std::string> texts;
  Columns columns;
  Vector later;  ///< of what the run has not come to
  std::vector<std::pair<Client, int>> edges;
  std::int64_t messages = 0;
  double seconds = 0;
  std::uint64_t bits = 0;
  double clock = 0;
  double spread = -1;
  bool has_spread = false;
  Vector model;
};

GroupSnapshot part_of(const ClientGroup& group, Round round = 12) {
  State state(group);
  state.fill();
  state.round = round;
  Snapshot writing;
  writing(state);
  return {group, writing.content()};
}

State read(const ClientGroup& group, const Secret<std::string>& content) {
  State state(group);
  Snapshot reading(content);
  reading(state);
  reading.require_end();
  return state;
}

std::string bytes_of(const Secret<std::string>& content) {
  std::string copy;
  Secret<std::string>(content).update([&](const std::string& text) { copy = text; });
  return copy;
}

TEST(Regrouping, GivesEachClientWhatItHad) {
  const std::vector<GroupSnapshot> parts{part_of({0, 3}), part_of({3, 1}), part_of({4, 5})};
  for (const ClientGroup& group : {ClientGroup{0, 9}, ClientGroup{0, 1}, ClientGroup{2, 3}, ClientGroup{4, 2}}) {
    std::vector<GroupSnapshot> of_group;
    for (const GroupSnapshot& part : parts) {
      if (part.group.meets(group)) of_group.push_back(part);
    }
    const State state = read(group, regroup(of_group, group));
    State alone(group);
    alone.fill();
    EXPECT_EQ(state.round, 12);
    EXPECT_EQ(state.numbers, alone.numbers);
    EXPECT_EQ(state.texts, alone.texts);
    EXPECT_EQ(state.columns.flat()[1], alone.columns.flat()[1]);
    EXPECT_EQ(state.edges, alone.edges);
    EXPECT_TRUE(state.later.empty());
    EXPECT_EQ(state.clock, of_group.front().group.first + 0.25);
    EXPECT_FALSE(state.has_spread);
    EXPECT_EQ(state.spread, -1) << "no spread of these clients is known";
    EXPECT_EQ(state.model, group.first == 0 ? (Vector{7, 8}) : Vector());
  }
}

TEST(Regrouping, CountsEachSumOnce) {
  const std::vector<GroupSnapshot> parts{part_of({0, 3}), part_of({3, 1}), part_of({4, 5})};
  std::int64_t messages = 0;
  double seconds = 0;
  std::uint64_t bits = 0;
  const std::vector<ClientGroup> groups{{0, 2}, {2, 1}, {3, 6}};
  for (const ClientGroup& group : groups) {
    std::vector<GroupSnapshot> of_group;
    for (const GroupSnapshot& part : parts) {
      if (part.group.meets(group)) of_group.push_back(part);
    }
    const State state = read(group, regroup(of_group, group));
    messages += state.messages;
    seconds += state.seconds;
    bits |= state.bits;
  }
  EXPECT_EQ(messages, 0 + 3 + 4);
  EXPECT_EQ(seconds, 0.5 * (0 + 3 + 4));
  EXPECT_EQ(bits, 1U + 8U + 16U);
}

TEST(Regrouping, ChangesNothingWhereGroupsAreTheSame) {
  const GroupSnapshot part = part_of({3, 4});
  EXPECT_EQ(bytes_of(regroup({part}, part.group)), bytes_of(part.content));
  const std::vector<GroupSnapshot> parts{part_of({0, 3}), part};
  const std::vector<GroupSnapshot> all{{{0, 7}, regroup(parts, {0, 7})}};
  State again = read({0, 3}, regroup(all, {0, 3}));
  State alone({0, 3});
  alone.fill();
  EXPECT_EQ(again.texts, alone.texts);
}

/// What `group` reads if the parts of `lost` are gone, over the numbers −1.
State without(const std::vector<Client>& lost, const std::vector<GroupSnapshot>& left, const ClientGroup& group) {
  State state(group);
  state.numbers.assign(static_cast<std::size_t>(group.count), -1);
  state.texts.assign(static_cast<std::size_t>(group.count), "as before");
  for (double& number : state.columns.flat()) number = -1;
  Snapshot reading(regroup(left, group, lost));
  reading(state);
  reading.require_end();
  return state;
}

TEST(Regrouping, LeavesLostClientsAsTheyAre) {
  const State state = without({2, 3}, {part_of({0, 2}), part_of({4, 2})}, {1, 5});
  EXPECT_EQ(state.numbers, (Vector{1.5, -1, -1, 6, 7.5}));
  EXPECT_EQ(state.texts, (std::vector<std::string>{"x", "as before", "as before", "xxxx", "xxxxx"}));
  EXPECT_EQ(Vector(state.columns.flat().begin(), state.columns.flat().end()),
            (Vector{0, 1, -1, -1, -1, -1, 0, 4, 0, 5}));
  State alone({4, 2});
  alone.fill();
  EXPECT_EQ(std::vector(state.edges.begin() + 1, state.edges.end()), alone.edges);
  EXPECT_EQ(state.messages, 4) << "what was counted by the lost is gone, and another group has that of client 0";
}

TEST(Regrouping, MakesAGroupOfLostClientsFromAnyPart) {
  const State state = without({5, 6}, {part_of({2, 3})}, {5, 2});
  EXPECT_EQ(state.round, 12);
  EXPECT_EQ(state.numbers, (Vector{-1, -1}));
  EXPECT_TRUE(state.edges.empty());
  EXPECT_EQ(state.messages, 0);
}

// Columns that are made when they are needed stay unmade.
TEST(Regrouping, LeavesColumnsThatOnlyLostClientsHaveAsTheyAre) {
  Columns columns(2, 2);
  Snapshot writing;
  writing.of_clients(columns);
  Snapshot reading(regroup({{{0, 2}, writing.content()}}, {2, 3}, {2, 3, 4}));
  Columns later;
  reading.of_clients(later);
  reading.require_end();
  EXPECT_EQ(later.size(), 0U);
}

TEST(Regrouping, MissesOnlyLostClients) {
  const std::vector<GroupSnapshot> left{part_of({0, 2}), part_of({4, 2})};
  EXPECT_ERROR(DataError, "no part for client 3", regroup(left, {0, 6}, {2}));
}

TEST(Regrouping, RefusesPartsThatDoNotFitTogether) {
  const auto complaint = [](const std::vector<GroupSnapshot>& parts, const ClientGroup& group) {
    return message_of<DataError>([&] { return regroup(parts, group); });
  };
  EXPECT_EQ(complaint({part_of({0, 3})}, {0, 4}), "there is no part for client 3");
  EXPECT_EQ(complaint({part_of({0, 2}), part_of({3, 1})}, {0, 4}), "there is no part for client 2");
  EXPECT_EQ(complaint({part_of({1, 3})}, {0, 4}), "there is no part for client 0");
  EXPECT_EQ(complaint({part_of({0, 3}), part_of({3, 1}, 13)}, {0, 4}), "parts that are not after one round");
  EXPECT_EQ(complaint({part_of({0, 3}), {{3, 2}, part_of({3, 1}).content}}, {0, 5}),
            "a section of 1 entries for 2 clients");
}

TEST(Regrouping, ReadsNothingThatIsNotThere) {
  const GroupSnapshot whole = part_of({0, 2});
  const std::string bytes = bytes_of(whole.content);
  const auto regrouped = [&](std::string changed) {
    const std::vector<GroupSnapshot> parts{{{0, 2}, Secret<std::string>(std::move(changed))}, part_of({2, 2})};
    try {
      static_cast<void>(regroup(parts, {1, 2}));
      return true;
    } catch (const DataError&) {
      return false;
    }
  };
  EXPECT_TRUE(regrouped(bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(regrouped(bytes.substr(0, i))) << i;
    std::string changed = bytes;
    changed[i] = static_cast<char>(~changed[i]);
    static_cast<void>(regrouped(changed));
  }
}

}  // namespace starling::regrouping_test
