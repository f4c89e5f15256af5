// Weights under absence and loss: both ends of an edge agree, and the sums that mixing needs stay what they were.
#include "graph/overlays/overlays.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "graph/analysis/analysis.hpp"
#include "graph/graph.hpp"
#include "support/testing.hpp"

namespace starling::overlays_test {

using testing_support::test_name;

struct Case {
  std::string family;
  WeightRule rule;
  MissingWeight missing;
  friend void PrintTo(const Case& c, std::ostream* out) {
    *out << c.family << " by " << name_of(c.rule) << ' ' << static_cast<int>(c.missing);
  }
};

const std::vector<Case> cases = {
    {"complete", WeightRule::sender, MissingWeight::split_anew},
    {"star", WeightRule::sender, MissingWeight::split_anew},
    {"one-peer-exponential", WeightRule::sender, MissingWeight::split_anew},
    {"b-connected", WeightRule::sender, MissingWeight::split_anew},
    {"random-matching:rounds=endless", WeightRule::sender, MissingWeight::split_anew},
    {"erdos-renyi:directed=1,rounds=endless", WeightRule::sender, MissingWeight::split_anew},
    {"erdos-renyi:rounds=endless", WeightRule::sender, MissingWeight::sender_keeps},
    {"star", WeightRule::metropolis, MissingWeight::sender_keeps},
    {"small-world", WeightRule::metropolis, MissingWeight::receiver_keeps},
    {"b-connected", WeightRule::receiver, MissingWeight::receiver_keeps},
    {"exponential", WeightRule::receiver, MissingWeight::sender_keeps},
    {"random-regular:degree=3,rounds=endless", WeightRule::receiver, MissingWeight::receiver_keeps},
};
constexpr Client n = 9;
constexpr Round rounds = 60;

class Overlays : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] static std::unique_ptr<Graph> graph() { return make_graph(GetParam().family, n, GetParam().rule); }
  [[nodiscard]] static std::unique_ptr<Schedule> attended(Round steps = 1) {
    const Dropout dropout{{0.1, 0.6, 0.3, 0.5, 0.1, 0.05, 0.5, 0.2, 0.4}, 3};
    return std::make_unique<AttendedSchedule>(graph(), absence_table().make("markov:length=2", dropout), Departures(),
                                              GetParam().missing, steps);
  }
  [[nodiscard]] static std::unique_ptr<Schedule> lossy(std::unique_ptr<Schedule> schedule, LossModel model) {
    return std::make_unique<LossySchedule>(std::move(schedule), LinkLossSettings{0.3, model, 4}, GetParam().missing);
  }
  /// Which sums are one of the graph and stay so.
  [[nodiscard]] static bool of_senders() { return GetParam().missing != MissingWeight::receiver_keeps; }
};

/// A[to, from] of one exchange, own shares included; lost edges under {from, to, true}.
struct Matrix {
  std::map<std::pair<Client, Client>, double> arrives;
  std::map<std::pair<Client, Client>, double> lost;
};

/// Built from the senders' rows, and compared with the receivers'.
Matrix matrix_of(const Schedule& schedule, Round t) {
  Matrix matrix;
  std::size_t received = 0;
  std::size_t sent = 0;
  for (Client u = 0; u < schedule.clients(); ++u) {
    const Links links = schedule.links(u, t);
    matrix.arrives[{u, u}] = links.own;
    for (const Arc& arc : links.out) matrix.arrives[{u, arc.peer}] = links.share * arc.weight;
    for (const Arc& arc : links.lost) matrix.lost[{u, arc.peer}] = links.share * arc.weight;
    sent += links.out.size();
  }
  for (Client u = 0; u < schedule.clients(); ++u) {
    const Links links = schedule.links(u, t);
    for (const Arc& arc : links.in) {
      const double weight = schedule.links(arc.peer, t).share * arc.weight;
      EXPECT_EQ(matrix.arrives.count({arc.peer, u}), 1u) << arc.peer << " to " << u << " in " << t;
      EXPECT_EQ((matrix.arrives[{arc.peer, u}]), weight) << arc.peer << " to " << u << " in " << t;
    }
    received += links.in.size();
  }
  EXPECT_EQ(sent, received);
  return matrix;
}

double sum_of(const Matrix& matrix, Client u, bool as_sender) {
  double sum = 0;
  for (const auto& [ends, weight] : matrix.arrives) sum += (as_sender ? ends.first : ends.second) == u ? weight : 0;
  return sum;
}

/// What is lost on the way still left its sender.
double lost_by(const Matrix& matrix, Client u) {
  double sum = 0;
  for (const auto& [ends, weight] : matrix.lost) sum += ends.first == u ? weight : 0;
  return sum;
}

void expect_sums(const Schedule& schedule, bool of_senders, double tolerance = 1e-14) {
  for (Round t = 0; t < rounds; ++t) {
    const Matrix matrix = matrix_of(schedule, t);
    for (Client u = 0; u < n; ++u) {
      const double sum = sum_of(matrix, u, of_senders) + (of_senders ? lost_by(matrix, u) : 0);
      EXPECT_NEAR(sum, 1, tolerance) << "client " << u << " in exchange " << t;
    }
  }
}

bool sums_are_one(const Graph& graph, bool of_senders) {
  const TopologyAnalysis analysis = analyse(GraphSample(graph));
  return (of_senders ? analysis.sender_sums : analysis.receiver_sums).is_one();
}

TEST_P(Overlays, KeepTheSumsThatMixingNeeds) {
  if (!sums_are_one(*graph(), of_senders())) GTEST_SKIP() << "the graph's own are not one";
  expect_sums(*attended(), of_senders());
  for (const LossModel model : {LossModel::acknowledged, LossModel::unacknowledged}) {
    expect_sums(*lossy(graph(), model), of_senders());
    expect_sums(*lossy(attended(), model), of_senders());
  }
}

TEST_P(Overlays, BothEndsAgreeWhateverTheSums) {
  for (Round t = 0; t < rounds; ++t) {
    static_cast<void>(matrix_of(*attended(), t));
    static_cast<void>(matrix_of(*lossy(attended(), LossModel::unacknowledged), t));
  }
}

TEST_P(Overlays, TheAbsentHaveNoLinksAndNobodyElseLosesAny) {
  const auto plain = graph();
  const auto schedule = attended();
  for (Round t = 0; t < rounds; ++t) {
    for (Client u = 0; u < n; ++u) {
      const Links links = schedule->links(u, t);
      const bool here = schedule->attendance(u, t) == Attendance::present;
      if (!here) {
        EXPECT_EQ(links, Links{});
        continue;
      }
      std::vector<Client> expected;
      for (const Arc& arc : plain->links(u, t).out) {
        if (schedule->attendance(arc.peer, t) == Attendance::present) expected.push_back(arc.peer);
      }
      std::vector<Client> found;
      for (const Arc& arc : links.out) found.push_back(arc.peer);
      EXPECT_EQ(found, expected);
    }
  }
}

TEST_P(Overlays, AttendanceGoesByRoundAndLinksByExchange) {
  constexpr Round steps = 3;
  const auto plain = graph();
  const auto by_round = attended();
  const auto by_exchange = attended(steps);
  for (Round t = 0; t < 20; ++t) {
    for (Client u = 0; u < n; ++u) {
      const bool here = by_exchange->attendance(u, t) == Attendance::present;
      EXPECT_EQ(here, by_round->attendance(u, t) == Attendance::present);
      for (Round g = 0; g < steps; ++g) {
        const Links links = by_exchange->links(u, t * steps + g);
        if (!here) {
          EXPECT_EQ(links, Links{});
        }
        for (const Arc& arc : links.out) EXPECT_EQ(by_round->attendance(arc.peer, t), Attendance::present);
        const Links all = plain->links(u, t * steps + g);
        EXPECT_LE(links.out.size(), all.out.size());
        for (const Arc& arc : links.out) {
          const auto same = [&](const Arc& other) { return other.peer == arc.peer; };
          EXPECT_TRUE(std::any_of(all.out.begin(), all.out.end(), same));
        }
      }
    }
  }
}

TEST_P(Overlays, NeverRepeatAndHaveDigestsOfTheirOwn) {
  const auto plain = graph();
  const auto schedule = attended();
  EXPECT_EQ(schedule->period(), 0);
  EXPECT_EQ(schedule->digest(), attended()->digest());
  const std::set<std::string> digests = {plain->digest(),
                                         schedule->digest(),
                                         attended(2)->digest(),
                                         lossy(graph(), LossModel::acknowledged)->digest(),
                                         lossy(graph(), LossModel::unacknowledged)->digest(),
                                         lossy(attended(), LossModel::acknowledged)->digest()};
  EXPECT_EQ(digests.size(), 6u);
}

TEST_P(Overlays, WithNothingOnTheyAreTheGraph) {
  const auto plain = graph();
  if (GetParam().missing == MissingWeight::split_anew) GTEST_SKIP() << "shares move to the sender";
  const AttendedSchedule attended_by_all(graph(), nullptr, {}, GetParam().missing);
  const LossySchedule lossless(graph(), {}, GetParam().missing);
  EXPECT_EQ(attended_by_all.period(), plain->period());
  EXPECT_EQ(lossless.period(), plain->period());
  for (Client u = 0; u < n; ++u) {
    EXPECT_EQ(attended_by_all.links(u, 5), plain->links(u, 5));
    EXPECT_EQ(lossless.links(u, 5), plain->links(u, 5));
  }
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  const auto& [family, rule, missing] = info.param;
  return test_name(fmt::format("{}_{}_{}", family, name_of(rule), static_cast<int>(missing)));
}

INSTANTIATE_TEST_SUITE_P(Cases, Overlays, testing::ValuesIn(cases), name_of_case);

std::unique_ptr<AbsenceModel> absent_in(const std::string& text, Client clients) {
  const testing_support::TemporaryFolder folder;
  return read_absences(folder.write("absent.csv", text), clients);
}

TEST(Absence, SplitsOverThosePresent) {
  const AttendedSchedule schedule(make_graph("complete", 4, WeightRule::sender), absent_in("1,2\n", 4), {},
                                  MissingWeight::split_anew);
  EXPECT_EQ(schedule.links(0, 0), (Links{0.25, {{1, 1}, {2, 1}, {3, 1}}, {{1, 1}, {2, 1}, {3, 1}}, 0.25}));
  EXPECT_EQ(schedule.links(0, 1), (Links{1.0 / 3, {{1, 1}, {3, 1}}, {{1, 1}, {3, 1}}, 1.0 / 3}));
  EXPECT_EQ(schedule.links(2, 1), Links{});
  EXPECT_EQ(schedule.attendance(2, 1), Attendance::absent);
}

TEST(Absence, LeavesTheWeightWithItsSenderOrReceiver) {
  const std::string text =
      "clients 3\nweights explicit\nedge 0 0 0.5\nedge 0 1 0.25\nedge 0 2 0.25\nedge 1 0 1\nedge 2 0 0.125\n"
      "edge 2 2 0.875\n";
  const auto links = [&](MissingWeight missing, Client u) {
    return AttendedSchedule(parse_graph(text, "g"), absent_in("0,2\n", 3), {}, missing).links(u, 0);
  };
  EXPECT_EQ(links(MissingWeight::sender_keeps, 0), (Links{0.75, {{1, 0.25}}, {{1, 1}}}));
  EXPECT_EQ(links(MissingWeight::receiver_keeps, 0), (Links{0.625, {{1, 0.25}}, {{1, 1}}}));
  EXPECT_EQ(links(MissingWeight::sender_keeps, 1), (Links{0, {{0, 1}}, {{0, 0.25}}}));
}

// A rank pays for its own clients and their neighbours, whoever else there is; rounds may be asked for in any order.
TEST(Absence, IsWorkedOutOnceForAClientAndRound) {
  constexpr Client many = 100'000;
  std::vector<int> asked(many, 0);
  const AbsenceModel counted{[&asked](Client u, Round t) {
                               ++asked[static_cast<std::size_t>(u)];
                               return (u + t) % 3 == 0;
                             },
                             [] { return "counted"; }};
  const AttendedSchedule schedule(make_graph("ring", many, WeightRule::sender), std::make_unique<AbsenceModel>(counted),
                                  {}, MissingWeight::sender_keeps);
  for (Client u = 1'000; u < 1'010; ++u) {
    const Links row = schedule.links(u, 4);
    for (const Arc& arc : row.out) EXPECT_NE((arc.peer + 4) % 3, 0);
    EXPECT_EQ(schedule.attendance(u, 4) == Attendance::absent, (u + 4) % 3 == 0);
  }
  int looked_at = 0;
  for (const int times : asked) {
    EXPECT_LE(times, 1);
    looked_at += times;
  }
  EXPECT_LE(looked_at, 12);
  for (const Round t : {4, 5, 4, 0, 7}) {
    EXPECT_EQ(schedule.attendance(1'004, t) == Attendance::absent, (1'004 + t) % 3 == 0) << t;
  }
}

TEST(Absence, TheGoneDoNotComeBack) {
  const AttendedSchedule schedule(make_graph("ring", 4, WeightRule::sender), absent_in("2,3\n4,3\n", 4),
                                  {std::nullopt, 3, std::nullopt, 4}, MissingWeight::split_anew);
  using A = Attendance;
  std::vector<A> of_one;
  std::vector<A> of_three;
  for (Round t = 0; t < 6; ++t) {
    of_one.push_back(schedule.attendance(1, t));
    of_three.push_back(schedule.attendance(3, t));
  }
  EXPECT_EQ(of_one, (std::vector<A>{A::present, A::present, A::present, A::gone, A::gone, A::gone}));
  EXPECT_EQ(of_three, (std::vector<A>{A::present, A::present, A::absent, A::present, A::gone, A::gone}));
  EXPECT_EQ(schedule.links(0, 1'000), Links({1, {}, {}, 1}));
  EXPECT_EQ(schedule.period(), 0);
}

TEST(Absence, WhoeverIsLostIsNotAbsent) {
  const auto left = [] {
    return std::make_unique<AttendedSchedule>(make_graph("ring", 4, WeightRule::sender), nullptr,
                                              Departures{std::nullopt, 0, std::nullopt, std::nullopt},
                                              MissingWeight::split_anew);
  };
  const AttendedSchedule schedule(left(), absent_in("2,1\n2,3\n", 4), {}, MissingWeight::split_anew);
  EXPECT_EQ(schedule.attendance(1, 2), Attendance::gone);
  EXPECT_EQ(schedule.attendance(3, 2), Attendance::absent);
}

// 20,000 draws of probability 0.3: within 5 standard errors, which one seed in 1.7 million misses.
TEST(Loss, LosesEachMessageWithItsProbability) {
  constexpr Round exchanges = 10'000;
  for (const LossModel model : {LossModel::acknowledged, LossModel::unacknowledged}) {
    const LossySchedule schedule(make_graph("ring", 2, WeightRule::sender), {0.3, model, 1}, MissingWeight::split_anew);
    double arrived = 0;
    double both = 0;
    for (Round t = 0; t < exchanges; ++t) {
      const auto there = schedule.links(0, t).out.size();
      const auto back = schedule.links(0, t).in.size();
      arrived += static_cast<double>(there + back);
      both += static_cast<double>(there * back);
    }
    EXPECT_NEAR(arrived / (2 * exchanges), 0.7, 5 * std::sqrt(0.21 / (2 * exchanges)));
    EXPECT_NEAR(both / exchanges, 0.49, 5 * std::sqrt(0.49 * 0.51 / exchanges)) << "directions hang together";
  }
}

TEST(Loss, TheSenderKeepsWhatItKnowsToBeLost) {
  const LossySchedule known(make_graph("ring", 2, WeightRule::sender), {0.5, LossModel::acknowledged, 1},
                            MissingWeight::split_anew);
  const LossySchedule unknown(make_graph("ring", 2, WeightRule::sender), {0.5, LossModel::unacknowledged, 1},
                              MissingWeight::split_anew);
  int lost = 0;
  for (Round t = 0; t < 50; ++t) {
    const Links aware = known.links(0, t);
    const Links unaware = unknown.links(0, t);
    EXPECT_TRUE(aware.lost.empty());
    EXPECT_EQ(aware.own, aware.out.empty() ? 1 : 0.5);
    EXPECT_EQ(unaware.own, 0.5);
    EXPECT_EQ(unaware.out, aware.out);
    EXPECT_EQ(unaware.in, aware.in);
    if (aware.out.empty()) {
      EXPECT_EQ(unaware.lost, (std::vector<Arc>{{1, 0.5}}));
    }
    lost += aware.out.empty() ? 1 : 0;
  }
  EXPECT_TRUE(lost > 10 && lost < 40) << lost;
}

TEST(GraphOfSome, HasTheirEdgesAlone) {
  const std::vector<Client> some{1, 2, 5, 7};
  const auto small = make_graph("exponential", 4, WeightRule::sender);
  const GraphOfSome graph(make_graph("exponential", 4, WeightRule::sender), some, 9);
  EXPECT_EQ(graph.clients(), 9);
  EXPECT_EQ(graph.period(), small->period());
  for (Client u = 0; u < 9; ++u) {
    const auto place = std::find(some.begin(), some.end(), u);
    const Links links = graph.links(u, 3);
    if (place == some.end()) {
      EXPECT_EQ(graph.attendance(u, 3), Attendance::gone);
      EXPECT_EQ(links, Links());
      continue;
    }
    EXPECT_EQ(graph.attendance(u, 3), Attendance::present);
    Links expected = small->links(static_cast<Client>(place - some.begin()), 3);
    for (auto* arcs : {&expected.out, &expected.in}) {
      for (Arc& arc : *arcs) arc.peer = some[static_cast<std::size_t>(arc.peer)];
    }
    EXPECT_EQ(links, expected) << u;
  }
  EXPECT_NE(graph.digest(), GraphOfSome(make_graph("exponential", 4, WeightRule::sender), {0, 2, 5, 7}, 9).digest());
}

TEST(Overlays, RepeatWithoutClientsThatNeverCome) {
  Departures departures(6);
  departures[2] = 0;
  const auto ring = [] { return make_graph("exponential", 6, WeightRule::sender); };
  const AttendedSchedule without(ring(), nullptr, departures, MissingWeight::split_anew);
  EXPECT_EQ(without.period(), ring()->period());
  EXPECT_EQ(without.attendance(2, 0), Attendance::gone);
  departures[3] = 1;
  EXPECT_EQ(AttendedSchedule(ring(), nullptr, departures, MissingWeight::split_anew).period(), 0);
}

}  // namespace starling::overlays_test
