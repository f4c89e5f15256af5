#include "core/snapshot.hpp"

#include <limits>

#include "core/check.hpp"
#include "core/round_set.hpp"
#include "support/testing.hpp"

namespace starling::snapshot_test {

using namespace testing_support;

enum class Colour { red, green };

/// Something of every kind.
struct Everything {
  bool flag = false;
  double number = 0;
  Colour colour = Colour::red;
  std::string text;
  Vector vector;
  std::vector<std::string> texts;
  std::array<std::int64_t, 2> pair{};
  std::optional<double> some;
  std::optional<double> none = 3;
  std::map<int, Vector> map;
  Secret<Vector> secret;
  Released<Vector> released = declare_public(Vector());
  std::vector<Secret<double>> secrets;
  RoundSet rounds;
  void persist(Snapshot& snapshot) {
    snapshot(flag, number, colour, text, vector, texts, pair, some, none, map, secret, released, secrets, rounds);
  }
};

Everything example() {
  Everything all;
  all.flag = true;
  all.number = -0.0;
  all.colour = Colour::green;
  all.text = std::string("a\0b", 3);
  all.vector = {1, std::numeric_limits<double>::infinity(), 5e-324};
  all.texts = {"", "two"};
  all.pair = {-1, 1};
  all.some = 2;
  all.none.reset();
  all.map = {{3, {1, 2}}, {5, {}}};
  all.secret = Secret<Vector>({4, 5});
  all.released = declare_public(Vector{6});
  all.secrets.assign(2, Secret<double>(8));
  all.rounds.add(1);
  all.rounds.add(2);
  all.rounds.add(9);
  return all;
}

TEST(Snapshot, GivesBackWhatItWasGiven) {
  Everything before = example();
  Snapshot writing;
  writing.part("all");
  writing(before);
  Snapshot reading(writing.content());
  Everything after;
  reading.part("all");
  reading(after);
  reading.require_end();
  EXPECT_TRUE(after.flag);
  EXPECT_TRUE(std::signbit(after.number));
  EXPECT_EQ(after.colour, Colour::green);
  EXPECT_EQ(after.text, before.text);
  EXPECT_EQ(after.vector, before.vector);
  EXPECT_EQ(after.texts, before.texts);
  EXPECT_EQ(after.pair, before.pair);
  EXPECT_EQ(after.some, before.some);
  EXPECT_FALSE(after.none);
  EXPECT_EQ(after.map, before.map);
  after.secret.update([](const Vector& value) { EXPECT_EQ(value, (Vector{4, 5})); });
  EXPECT_EQ(after.released.value(), Vector{6});
  ASSERT_EQ(after.secrets.size(), 2U);
  after.secrets[1].update([](double value) { EXPECT_EQ(value, 8); });
  EXPECT_EQ(after.rounds, before.rounds);
}

TEST(Snapshot, ReadsNothingThatIsNotThere) {
  Everything all = example();
  Snapshot writing;
  writing(all);
  Secret<std::string> content = writing.content();
  std::size_t size = 0;
  content.update([&](const std::string& text) { size = text.size(); });
  // Whatever is cut off or changed, it is read as something else or refused, and never beyond its end.
  const auto read = [](const Secret<std::string>& changed) {
    Snapshot reading(changed);
    Everything everything;
    reading(everything);
  };
  for (std::size_t cut = 0; cut < size; ++cut) {
    EXPECT_THROW(read(content.map([cut](const std::string& text) { return text.substr(0, cut); })), DataError) << cut;
  }
  for (std::size_t byte = 0; byte < size; ++byte) {
    try {
      read(content.map([byte](std::string text) {
        text[byte] = static_cast<char>(~text[byte]);
        return text;
      }));
    } catch (const DataError&) {
    }
  }
}

TEST(Snapshot, SaysWhatItMisses) {
  Snapshot writing;
  writing.part("one");
  Snapshot reading(writing.content());
  EXPECT_ERROR(DataError, "part 'one' where 'two' was expected", reading.part("two"));
  Snapshot again(writing.content());
  EXPECT_ERROR(DataError, "11 bytes are left", again.require_end());
}

/// State of some clients, with something of every kind.
struct OfClients {
  explicit OfClients(const ClientGroup& group) : group(group), columns(2, static_cast<std::size_t>(group.count)) {}

  void persist(Snapshot& snapshot) {
    snapshot(round);
    snapshot.of_clients(numbers, texts, columns, later);
    snapshot.by_client(edges, [](const std::pair<Client, int>& edge) { return edge.first; });
    snapshot.sums(messages, seconds, bits);
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
  double spread = -1;
  bool has_spread = false;
  Vector model;
};

Secret<std::string> content_of(const ClientGroup& group) {
  OfClients state(group);
  state.fill();
  Snapshot writing(group);
  writing(state);
  return writing.content();
}

OfClients read_rows(const std::vector<Secret<std::string>>& contents, OfClients state,
                    const std::vector<Client>& without = {}) {
  Snapshot reading(rows_of(contents, state.group, without));
  reading(state);
  reading.require_end();
  return state;
}

const std::vector<ClientGroup> written{{0, 3}, {3, 1}, {4, 5}};

std::vector<Secret<std::string>> all_contents() {
  std::vector<Secret<std::string>> contents;
  for (const ClientGroup& group : written) contents.push_back(content_of(group));
  return contents;
}

TEST(Rows, GiveEachClientWhatItHad) {
  for (const ClientGroup& group : {ClientGroup{0, 9}, ClientGroup{0, 1}, ClientGroup{2, 3}, ClientGroup{4, 5}}) {
    const OfClients state = read_rows(all_contents(), OfClients(group));
    OfClients alone(group);
    alone.fill();
    EXPECT_EQ(state.round, 12);
    EXPECT_EQ(state.numbers, alone.numbers);
    EXPECT_EQ(state.texts, alone.texts);
    EXPECT_EQ(state.columns.flat()[1], alone.columns.flat()[1]);
    EXPECT_EQ(state.edges, alone.edges);
    EXPECT_TRUE(state.later.empty());
    EXPECT_FALSE(state.has_spread);
    EXPECT_EQ(state.spread, -1) << "no spread of these clients is in the first content";
    EXPECT_EQ(state.model, group.first == 0 ? (Vector{7, 8}) : Vector());
  }
}

TEST(Rows, CountEachSumOnce) {
  OfClients all({0, 0});
  for (const ClientGroup& group : {ClientGroup{0, 2}, ClientGroup{2, 1}, ClientGroup{3, 6}}) {
    const OfClients state = read_rows(all_contents(), OfClients(group));
    all.messages += state.messages;
    all.seconds += state.seconds;
    all.bits |= state.bits;
  }
  EXPECT_EQ(all.messages, 0 + 3 + 4);
  EXPECT_EQ(all.seconds, 0.5 * (0 + 3 + 4));
  EXPECT_EQ(all.bits, 1U + 8U + 16U);
}

TEST(Rows, OfTheSameClientsAreTheSame) {
  const auto bytes_of = [](const Secret<std::string>& content) {
    std::string copy;
    Secret<std::string>(content).update([&](const std::string& text) { copy = text; });
    return copy;
  };
  const Secret<std::string> content = content_of({3, 4});
  EXPECT_EQ(bytes_of(rows_of({content}, {3, 4})), bytes_of(content));
  const Secret<std::string> together = rows_of({content_of({0, 3}), content}, {0, 7});
  const OfClients again = read_rows({together}, OfClients({3, 4}));
  EXPECT_EQ(again.texts, read_rows({content}, OfClients({3, 4})).texts);
  EXPECT_TRUE(read_rows({content}, OfClients({3, 4})).has_spread);
}

/// State of before, over which rows are read.
OfClients of_before(const ClientGroup& group) {
  OfClients state(group);
  state.numbers.assign(static_cast<std::size_t>(group.count), -1);
  state.texts.assign(static_cast<std::size_t>(group.count), "as before");
  for (double& number : state.columns.flat()) number = -1;
  return state;
}

TEST(Rows, OfLostClientsAreLeftAsTheyAre) {
  const OfClients state = read_rows({content_of({0, 2}), content_of({4, 2})}, of_before({1, 5}), {2, 3});
  EXPECT_EQ(state.numbers, (Vector{1.5, -1, -1, 6, 7.5}));
  EXPECT_EQ(state.texts, (std::vector<std::string>{"x", "as before", "as before", "xxxx", "xxxxx"}));
  EXPECT_EQ(Vector(state.columns.flat().begin(), state.columns.flat().end()),
            (Vector{0, 1, -1, -1, -1, -1, 0, 4, 0, 5}));
  EXPECT_EQ(state.edges, (std::vector<std::pair<Client, int>>{{1, 0}, {4, 0}, {5, 0}, {5, 1}}));
  EXPECT_EQ(state.messages, 4) << "what was counted by the lost is gone, and another group has that of client 0";
}

TEST(Rows, OfLostClientsAloneAreNone) {
  const OfClients state = read_rows({content_of({2, 3})}, of_before({5, 2}), {5, 6});
  EXPECT_EQ(state.round, 12);
  EXPECT_EQ(state.numbers, (Vector{-1, -1}));
  EXPECT_TRUE(state.edges.empty());
  EXPECT_EQ(state.messages, 0);
  // Columns that are made when they are needed stay unmade.
  Columns columns(2, 2);
  Snapshot writing({0, 2});
  writing.of_clients(columns);
  Snapshot reading(rows_of({writing.content()}, {2, 3}, {2, 3, 4}));
  Columns later;
  reading.of_clients(later);
  reading.require_end();
  EXPECT_EQ(later.size(), 0U);
}

TEST(Rows, ThatAreMissingAreNamed) {
  EXPECT_ERROR(DataError, "no row of client 3", rows_of({content_of({0, 2}), content_of({4, 2})}, {0, 6}, {2}));
  EXPECT_ERROR(DataError, "no row of client 0", rows_of({content_of({1, 3})}, {0, 4}));
  EXPECT_ERROR(DataError, "there are no snapshots", rows_of({}, {0, 4}));
  EXPECT_ERROR(DataError, "rows that do not ascend",
               read_rows({content_of({0, 2}), content_of({1, 2})}, of_before({0, 3})));
}

TEST(Rows, OfAnotherFieldAreRefused) {
  Vector numbers{1, 2};
  Snapshot writing({0, 2});
  writing.of_clients(numbers, numbers);
  Snapshot reading(writing.content());
  reading.of_clients(numbers);
  EXPECT_ERROR(DataError, "bytes are left", reading.require_end());
  std::vector<double> none;
  reading.by_client(none, [](double) { return Client{0}; });
  EXPECT_EQ(none.size(), 2U);
  Snapshot again(writing.content());
  again.each_client(0, [](std::size_t) {});
  EXPECT_ERROR(DataError, "field 1 of client 0 where field 2 was expected", again.each_client(2, [](std::size_t) {}));
}

}  // namespace starling::snapshot_test
