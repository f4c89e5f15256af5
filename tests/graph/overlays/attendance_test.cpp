// Who is there in which round: shares, runs, and that looking back gives what a simulation forwards gives.
#include "graph/overlays/attendance.hpp"

#include "core/random.hpp"
#include "graph/statistics.hpp"
#include "support/testing.hpp"

namespace starling::attendance_test {

using namespace testing_support;

std::unique_ptr<AbsenceModel> model(const std::string& spec, std::vector<double> shares, std::uint64_t seed = 1) {
  return absence_table().make(spec, Dropout{std::move(shares), seed});
}

struct Runs {
  double absent = 0;  ///< rounds
  double runs = 0;    ///< of absent rounds that began
};

Runs count(const AbsenceModel& absences, Client u, Round rounds) {
  Runs result;
  bool before = false;
  for (Round t = 0; t < rounds; ++t) {
    const bool absent = absences.absent(u, t);
    result.absent += absent ? 1 : 0;
    result.runs += absent && !before ? 1 : 0;
    before = absent;
  }
  return result;
}

// The probabilities of chapter 5. Means of 40,000 rounds within 5 standard errors, which one seed in 1.7 million
// misses; the rounds of a chain count for (1 + λ)/(1 − λ) times fewer, λ = 1 − a − b being its second eigenvalue.
const std::vector<double> shares = {0.1, 0.6, 0.3, 0.5, 0.05};
constexpr Round rounds = 40'000;

void expect_share(double absent, double share, double inflation, const std::string& what) {
  const double error = std::sqrt(share * (1 - share) * inflation / rounds);
  EXPECT_NEAR(absent / rounds, share, 5 * error) << what;
}

TEST(Attendance, UniformHasItsShareAndIndependentRounds) {
  const auto absences = model("uniform", shares);
  for (Client u = 0; u < 5; ++u) {
    const double p = shares[static_cast<std::size_t>(u)];
    const Runs found = count(*absences, u, rounds);
    expect_share(found.absent, p, 1, fmt::format("client {}", u));
    EXPECT_NEAR(found.runs / rounds, p * (1 - p), 5 * std::sqrt(p * (1 - p) / rounds));
  }
}

TEST(Attendance, MarkovHasItsShareInRunsOfItsLength) {
  for (const double length : {1.5, 4.0, 25.0}) {
    const auto absences = model(fmt::format("markov:length={}", length), shares);
    for (Client u = 0; u < 5; ++u) {
      const double p = shares[static_cast<std::size_t>(u)];
      const double leave = 1 / length;
      const double second = 1 - leave - leave * p / (1 - p);
      const Runs found = count(*absences, u, rounds);
      const std::string what = fmt::format("client {}, runs of {}", u, length);
      expect_share(found.absent, p, (1 + second) / (1 - second), what);
      // Lengths are geometric: their standard deviation is below their mean.
      EXPECT_NEAR(found.absent / found.runs, length, 5 * length / std::sqrt(found.runs)) << what;
    }
  }
}

TEST(Attendance, GilbertElliottHasItsShareAndClusters) {
  const auto absences = model("gilbert-elliott:length=20,good=0.05,bad=0.8", shares);
  for (Client u = 0; u < 5; ++u) {
    const double p = shares[static_cast<std::size_t>(u)];
    const Runs found = count(*absences, u, rounds);
    expect_share(found.absent, p, 2 * 20, fmt::format("client {}", u));
    if (p > 0.05) {
      EXPECT_LT(found.runs / found.absent, 0.8 * (1 - p)) << "absences do not come together";
    }
  }
}

TEST(Attendance, RoundsOfDifferentClientsAreIndependent) {
  for (const char* spec : {"uniform", "markov:length=2"}) {
    const auto absences = model(spec, {0.5, 0.5});
    double both = 0;
    for (Round t = 0; t < rounds; ++t) both += absences->absent(0, t) && absences->absent(1, t) ? 1 : 0;
    EXPECT_NEAR(both / rounds, 0.25, 5 * std::sqrt(0.25 * 0.75 / rounds)) << spec;
  }
}

/// The chain of `markov`, forwards, by the same draws.
std::vector<bool> simulated(double share, double length, std::uint64_t seed, Client u, Round count) {
  const auto draw = [&](Round t) {
    return AddressedRandom(seed, Purpose::attendance, static_cast<std::uint64_t>(u), static_cast<std::uint64_t>(t))
        .uniform();
  };
  std::vector<bool> absent{draw(0) < share};
  for (Round t = 1; t < count; ++t) {
    const double probability = absent.back() ? 1 - 1 / length : share / (1 - share) / length;
    absent.push_back(draw(t) < probability);
  }
  return absent;
}

TEST(Attendance, LookingBackGivesWhatASimulationForwardsGives) {
  // Chains that like to stay, hardly remember, and like to change.
  for (const auto& [share, length] :
       {std::pair{0.3, 12.0}, {0.05, 3.0}, {0.6, 2.5}, {0.5, 1.1}, {0.45, 1.0}, {0.0, 5.0}}) {
    const auto absences = model(fmt::format("markov:length={}", length), {share, share, share}, 9);
    for (Client u = 0; u < 3; ++u) {
      const std::vector<bool> expected = simulated(share, length, 9, u, 2'000);
      for (Round t = 1'999; t >= 0; --t) {
        ASSERT_EQ(absences->absent(u, t), expected[static_cast<std::size_t>(t)]) << share << ' ' << length << ' ' << t;
      }
    }
  }
}

TEST(Attendance, StartsInItsStationaryState) {
  // Round 0 of 20,000 clients; error rate one in 1.7 million for each.
  const std::vector<double> many(20'000, 0.2);
  for (const char* spec : {"uniform", "markov:length=50", "gilbert-elliott"}) {
    const auto absences = model(spec, many);
    double absent = 0;
    for (Client u = 0; u < 20'000; ++u) absent += absences->absent(u, 0) ? 1 : 0;
    EXPECT_NEAR(absent / 20'000, 0.2, 5 * std::sqrt(0.16 / 20'000)) << spec;
  }
}

TEST(Attendance, FollowsItsSeed) {
  for (const auto& row : absence_table().rows()) {
    const auto one = model(row.name, {0.5}, 1);
    const auto two = model(row.name, {0.5}, 2);
    EXPECT_NE(one->text(), two->text());
    EXPECT_EQ(one->text(), model(row.name, {0.5}, 1)->text());
    int different = 0;
    for (Round t = 0; t < 200; ++t) different += one->absent(0, t) != two->absent(0, t) ? 1 : 0;
    EXPECT_GT(different, 20) << row.name;
  }
}

TEST(Attendance, NobodyIsAbsentWithAShareOfZero) {
  for (const auto& row : absence_table().rows()) EXPECT_EQ(count(*model(row.name, {0}), 0, 500).absent, 0) << row.name;
}

TEST(Attendance, RefusesWhatNoChainCanDo) {
  const std::vector<std::tuple<std::string, double, std::string>> table = {
      {"markov:length=0.5", 0.2, "length=0.5"},
      {"markov:length=2", 0.9, "Raise length to 9"},
      {"markov:length=1", 0.5, "look back"},
      {"markov:length=1e8", 0.5, "look back"},
      {"gilbert-elliott:bad=0.5", 0.6, "a share of 0.6"},
      {"gilbert-elliott:good=0.3", 0.2, "a share of 0.2"},
      {"gilbert-elliott:bad=1.5", 0.2, "bad=1.5"},
      {"uniform:length=3", 0.2, "length"},
      {"erlang", 0.2, "known are uniform, gilbert-elliott, markov"},
  };
  for (const auto& [spec, share, part] : table) {
    EXPECT_THAT(message_of<UsageError>([&, &text = spec, p = share] { return model(text, std::vector<double>{p}); }),
                HasSubstr(part));
  }
}

TEST(AttendanceFiles, ListAbsencesAndDepartures) {
  const TemporaryFolder folder;
  const auto absences = read_absences(folder.write("a.csv", "round,client\n3,1\n0,2\n3,0\n3,1\n"), 3);
  int absent = 0;
  for (Client u = 0; u < 3; ++u) absent += static_cast<int>(count(*absences, u, 10).absent);
  EXPECT_EQ(absent, 3);
  EXPECT_TRUE(absences->absent(1, 3) && absences->absent(2, 0) && absences->absent(0, 3));
  const Departures departures = read_departures(folder.write("d.csv", "# who goes\n2,7\n0,0\n"), 3);
  EXPECT_EQ(departures, (Departures{0, std::nullopt, 7}));
}

TEST(AttendanceFiles, SharesAreOneForAllOrOneForEach) {
  const TemporaryFolder folder;
  EXPECT_EQ(parse_dropout("0.2", 3), (std::vector<double>{0.2, 0.2, 0.2}));
  EXPECT_EQ(parse_dropout("0.1,1/2,0", 3), (std::vector<double>{0.1, 0.5, 0}));
  EXPECT_EQ(parse_dropout("clients:" + folder.write("p.csv", "client,share\n1,0.5\n0,0.1\n"), 2),
            (std::vector<double>{0.1, 0.5}));
}

TEST(AttendanceFiles, AreRefusedWithFileAndLine) {
  const TemporaryFolder folder;
  const auto refusal = [](const std::function<void()>& read) { return message_of<UsageError>(read); };
  const auto absences = [&](const std::string& text) {
    return refusal([&] { static_cast<void>(read_absences(folder.write("a.csv", text), 3)); });
  };
  EXPECT_THAT(absences("0,1\n2,3\n"),
              HasSubstr("a.csv:2: client 3: clients have the numbers 0 to 2. Take one of them."));
  EXPECT_THAT(absences("0,0.5\n"), HasSubstr("a.csv:1: client 0.5"));
  EXPECT_THAT(absences("0,nan\n"), HasSubstr("a.csv:1"));
  EXPECT_THAT(absences("-1,0\n"), HasSubstr("a.csv:1"));
  EXPECT_THAT(absences("1\n"), HasSubstr("a.csv:1"));
  const auto departures = [&](const std::string& text) {
    return refusal([&] { static_cast<void>(read_departures(folder.write("d.csv", text), 3)); });
  };
  EXPECT_THAT(departures("3,1\n"), HasSubstr("d.csv:1: client 3"));
  EXPECT_THAT(departures("1,1\n1,2\n"), HasSubstr("d.csv:2: client 1 is named twice. Delete one of its lines."));
  EXPECT_THAT(departures("1,2.5\n"), HasSubstr("round 2.5: rounds are whole numbers from 0. Correct it."));
  EXPECT_THAT(departures("1,-1\n"), HasSubstr("round -1"));
  const auto shares_of = [&](const std::string& text) {
    return refusal([&] { static_cast<void>(parse_dropout(text, 3)); });
  };
  EXPECT_THAT(shares_of("0.1,0.2"), HasSubstr("2 shares for 3 clients"));
  EXPECT_THAT(shares_of("1"), HasSubstr("below 1"));
  EXPECT_THAT(shares_of("-0.1"), HasSubstr("-0.1"));
  EXPECT_THAT(shares_of("nan"), HasSubstr("nan"));
  EXPECT_THAT(shares_of("0.1,,0.2"), HasSubstr("not a number"));
  EXPECT_THAT(shares_of("clients:nowhere.csv"), HasSubstr("nowhere.csv"));
  EXPECT_THAT(shares_of("clients:" + folder.write("p.csv", "0,0.1\n2,0.1\n")),
              HasSubstr("does not name client 1: each client needs a line. Add it."));
  EXPECT_THAT(shares_of("clients:" + folder.write("p.csv", "0,0.1\n0,0.1\n")), HasSubstr("named twice"));
}

}  // namespace starling::attendance_test
