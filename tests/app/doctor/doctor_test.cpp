#include <functional>
#include <set>

#include <nlohmann/json.hpp>

#include "app/doctor/doctor_config.hpp"
#include "app/doctor/doctor_text.hpp"
#include "core/check.hpp"
#include "output/directory/disk_trial.hpp"
#include "support/testing.hpp"

namespace starling::doctor_test {

using namespace testing_support;

/// Two hosts of four CPUs with two bound ranks each, and nothing to complain of.
LaunchFacts healthy() {
  LaunchFacts facts;
  for (int r = 0; r < 4; ++r) {
    RankFacts rank;
    rank.host = r < 2 ? "alpha" : "beta";
    rank.version = "0.1.0 (abc)";
    rank.build = std::string(64, 'a');
    rank.mpi = "Open MPI v4.1.4";
    rank.threads = "single";
    rank.hdf5 = "1.10.8";
    rank.launched = 4;
    rank.cpus_of_host = 4;
    rank.cpus = {r % 2};
    rank.yields = false;
    rank.memory = std::int64_t{8} << 30;
    rank.shared_memory = std::int64_t{1} << 30;
    rank.free_space = std::int64_t{100} << 30;
    facts.ranks.push_back(rank);
  }
  facts.directory = "/scratch";
  facts.graph = "ring.topo of 4 clients";
  facts.clients = 4;
  facts.ranks_with_clients = 4;
  facts.clocks = {{0, 0}, {1e-6, 1e-6}, {-2e-5, 1e-5}, {1e-5, 1e-5}};
  facts.ways = {{0, 1, 1, 1e-6}, {1, 2, 1, 2e-5}, {2, 3, 1, 1.1e-6}, {3, 0, 1, 2.1e-5}};
  facts.exchange = {2e-5, 2.5e-5, 2.4e-5, 2.2e-5};
  return facts;
}

Finding found(const LaunchFacts& facts, const std::string& name) {
  for (const Examined& each : examine(facts)) {
    if (each.name == name) return each.finding;
  }
  ADD_FAILURE() << "no check " << name;
  return {};
}

/// The checks that are not ok, as "name: verdict".
std::vector<std::string> complaints(const LaunchFacts& facts) {
  std::vector<std::string> names;
  for (const auto& [name, finding] : examine(facts)) {
    if (finding.verdict != Verdict::ok) names.push_back(name + ": " + name_of(finding.verdict));
  }
  return names;
}

/// What one change of healthy facts does: this complaint, with its value and advice, and no other.
struct Ailment {
  std::string complaint;
  std::function<void(LaunchFacts&)> cause;
  std::string value;
  std::string advice;
};

std::vector<Ailment> ailments() {
  return {
      {"starling: bad", [](auto& f) { f.ranks[2].build[0] = 'b'; }, "rank 2 on beta: 0.1.0 (abc), digest baaaaaaaaaaa",
       "one program"},
      {"MPI: bad", [](auto& f) { f.ranks[1].mpi = "Open MPI v5.0.0"; }, "rank 1 on alpha: Open MPI v5.0.0",
       "same module"},
      {"threads: look", [](auto& f) { f.ranks[3].threads = "multiple"; }, "multiple on rank 3 on beta", "single"},
      {"ranks: look", [](auto& f) { f.clients = f.ranks_with_clients = 3; }, "4 on 2 hosts (2 to 2 on each)",
       "1 host no client"},
      {"ranks: bad",
       [](auto& f) {
         f.ranks.resize(1);
         f.clocks.resize(1);
         f.exchange.resize(1);
         f.ways.clear();
         f.clients = f.ranks_with_clients = 1;
       },
       "1, though the launcher started 4", "--mpi=pmix"},
      {"CPUs: look",
       [](auto& f) {
         f.ranks[2].cpus_of_host = f.ranks[3].cpus_of_host = 1;
         f.ranks[2].yields = true;
         f.ranks[2].cpus = f.ranks[3].cpus = {0};
       },
       "2 ranks on 1 CPU of beta, ranks that wait yield", "take turns"},
      {"CPUs: bad",
       [](auto& f) {
         f.ranks[2].cpus_of_host = f.ranks[3].cpus_of_host = 1;
         f.ranks[2].cpus = f.ranks[3].cpus = {0};
       },
       "do not yield", "OMPI_MCA_mpi_yield_when_idle"},
      {"CPUs: look",
       [](auto& f) {
         f.ranks[2].cpus_of_host = f.ranks[3].cpus_of_host = 1;
         f.ranks[2].yields.reset();
         f.ranks[2].cpus = f.ranks[3].cpus = {0};
       },
       "2 ranks on 1 CPU of beta", "take turns"},
      {"binding: bad", [](auto& f) { f.ranks[3].cpus = {0}; }, "2 ranks of beta are bound to 1 of its 4 CPUs: 0",
       "1 rank must share"},
      {"memory: look", [](auto& f) { f.ranks[2].memory = 200 << 20; }, "100 MB for each rank on beta", "fewer ranks"},
      {"memory: bad", [](auto& f) { f.ranks[2].memory = 100 << 20; }, "50 MB for each rank on beta", "fewer ranks"},
      {"memory: look",
       [](auto& f) {
         for (auto& rank : f.ranks) rank.memory.reset();
       },
       "unknown", "/proc/meminfo"},
      {"free space: look", [](auto& f) { f.ranks[1].free_space = 500 << 20; }, "500 MB in /scratch, as rank 1 on alpha",
       "--output"},
      {"free space: bad", [](auto& f) { f.ranks[1].free_space = 1 << 20; }, "1 MB in", "--output"},
      {"free space: look", [](auto& f) { f.ranks[1].free_space.reset(); }, "unknown on rank 1 on alpha", "see HDF5"},
      {"/dev/shm: look", [](auto& f) { f.ranks[2].shared_memory = 24 << 20; }, "12 MB for each rank on beta",
       "container"},
      {"/dev/shm: bad", [](auto& f) { f.ranks[2].shared_memory = 8 << 20; }, "4 MB for each rank on beta", "container"},
      {"HDF5: bad", [](auto& f) { f.ranks[1].disk_problem = f.ranks[3].disk_problem = "read-only file system"; },
       "not on rank 1 on alpha and 1 other", "read-only file system"},
      {"sharing: bad", [](auto& f) { f.ranks[2].sharing_problem = "is not seen"; }, "not on rank 2 on beta",
       "is not seen"},
      {"entropy: bad", [](auto& f) { f.ranks[2].entropy_problem = "none yet"; }, "not on rank 2 on beta", "none yet"},
      {"clocks: look",
       [](auto& f) {
         f.clocks[3] = {-2, 0.5};
       },
       "rank 3 on beta differs from rank 0's by -2 s", "NTP"},
      {"clocks: bad",
       [](auto& f) {
         f.clocks[2] = {3600, 0.5};
       },
       "3.6e+03 s", "NTP"},
      {"edges: look", [](auto& f) { f.ways[1].seconds = 5e-3; }, "slowest 5 ms (rank 1 on alpha to rank 2 on beta)",
       "btl_tcp_if_include"},
      {"exchange: look", [](auto& f) { f.exchange[1] = 2e-3; }, "2 ms over ring.topo of 4 clients, on rank 1 on alpha",
       "CPUs"},
      {"exchange: bad", [](auto& f) { f.exchange[1] = 0.3; }, "300 ms", "CPUs"},
  };
}

TEST(DoctorChecks, AHealthyLaunchHasNoComplaint) {
  const LaunchFacts facts = healthy();
  EXPECT_THAT(complaints(facts), IsEmpty());
  EXPECT_EQ(verdict_of(examine(facts)), Verdict::ok);
  EXPECT_EQ(found(facts, "edges").value,
            "4 between ranks: median 20 us, slowest 21 us (rank 3 on beta to rank 0 on alpha)");
}

TEST(DoctorChecks, EachAilmentIsToldByItsOwnCheckAlone) {
  std::set<std::string> checked;
  for (const Ailment& ailment : ailments()) {
    LaunchFacts facts = healthy();
    ailment.cause(facts);
    EXPECT_THAT(complaints(facts), ElementsAre(ailment.complaint));
    const std::string name = ailment.complaint.substr(0, ailment.complaint.find(':'));
    EXPECT_THAT(found(facts, name).value, HasSubstr(ailment.value)) << ailment.complaint;
    EXPECT_THAT(found(facts, name).advice, HasSubstr(ailment.advice)) << ailment.complaint;
    checked.insert(name);
  }
  for (const DoctorCheck& check : doctor_checks()) EXPECT_TRUE(checked.contains(check.name)) << check.name;
}

TEST(DoctorChecks, WhatIsNoAilment) {
  LaunchFacts facts = healthy();
  facts.clocks[3] = {5, 4.95};  // it may be as little as 50 ms
  EXPECT_EQ(found(facts, "clocks").verdict, Verdict::ok);
  facts.ways = {{0, 1, 1, 1e-6}, {1, 0, 1, 1e-6}, {1, 2, 1, 9e-5}};  // slow beside memory, and short anyway
  EXPECT_EQ(found(facts, "edges").verdict, Verdict::ok);
  for (RankFacts& rank : facts.ranks) rank.cpus = {0, 1, 2, 3};
  EXPECT_EQ(found(facts, "binding").verdict, Verdict::ok);
  for (RankFacts& rank : facts.ranks) rank.cpus = {2, 3};  // as when bound to one of two sockets
  EXPECT_EQ(found(facts, "binding").verdict, Verdict::ok);
}

TEST(DoctorChecks, TheWorstIsTheVerdict) {
  LaunchFacts facts = healthy();
  facts.ranks[2].memory = 200 << 20;
  EXPECT_EQ(verdict_of(examine(facts)), Verdict::look);
  facts.ranks[0].entropy_problem = "none yet";
  EXPECT_EQ(verdict_of(examine(facts)), Verdict::bad);
}

TEST(RanksWithACpu, IsTheLargestMatching) {
  EXPECT_EQ(ranks_with_a_cpu({}), 0u);
  EXPECT_EQ(ranks_with_a_cpu({{0}, {0}}), 1u);
  EXPECT_EQ(ranks_with_a_cpu({{0, 1}, {0}}), 2u) << "the first has to give way";
  EXPECT_EQ(ranks_with_a_cpu({{0, 1}, {0, 2}, {0}, {1}}), 3u) << "three CPUs";
  EXPECT_EQ(ranks_with_a_cpu({{0, 1}, {1, 2}, {2, 3}, {3}, {0}}), 4u);
  EXPECT_EQ(ranks_with_a_cpu({{5}, {}, {7}}), 2u);
}

TEST(DoctorText, TableAndJsonSayTheSame) {
  LaunchFacts facts = healthy();
  facts.ways[1].seconds.reset();
  facts.exchange[3].reset();
  facts.ranks[3].disk_problem = "a \xff name";  // no UTF-8
  const std::vector<Examined> checks = examine(facts);
  const std::string table = doctor_table(facts, checks);
  const auto json = nlohmann::json::parse(doctor_json(facts, checks));
  EXPECT_EQ(json["verdict"], "bad");
  ASSERT_EQ(json["checks"].size(), doctor_checks().size());
  for (const auto& check : json["checks"]) {
    EXPECT_THAT(table, HasSubstr(fmt::format("{:<12}{:<6}{}\n", check["name"].get<std::string>(),
                                             check["verdict"].get<std::string>(), check["value"].get<std::string>())));
  }
  EXPECT_EQ(json["edges"][0]["seconds"], 1e-6);
  EXPECT_TRUE(json["edges"][1]["seconds"].is_null());
  EXPECT_TRUE(json["exchange"][3].is_null());
  EXPECT_EQ(json["ranks"][2]["host"], "beta");
  EXPECT_THAT(found(facts, "edges").value, HasSubstr("4 between ranks (3 of them timed)"));
  EXPECT_THAT(table, HasSubstr("slowest edges, one way\n       21.00 us  rank 3 on beta to rank 0 on alpha\n"));
  EXPECT_THAT(table, HasSubstr("\n1 bad, 0 to look at\n"));
  EXPECT_THAT(doctor_table(healthy(), examine(healthy())), HasSubstr("nothing stands in the way of a run"));
}

TEST(DoctorHelp, NamesEveryCheck) {
  for (const DoctorCheck& check : doctor_checks())
    EXPECT_THAT(doctor_manual().more, HasSubstr("  " + check.name + " "));
}

TEST(DoctorConfig, ReadsWhatItPrintsAndRefusesTheRest) {
  const testing_support::TemporaryFolder folder;
  const std::string text =
      parse_doctor_config({"--topology", "g.topo", "--clients", "8", "--dimension", "7", "--seconds", "3"}).text;
  EXPECT_EQ(parse_doctor_config({"--config", folder.write("doctor.ini", text)}).text, text);
  const auto refusal = [](std::vector<std::string> words) {
    return message_of<UsageError>([&] { return parse_doctor_config(words); });
  };
  EXPECT_THAT(refusal({"--clients", "8", "--clients-per-rank", "2"}), HasSubstr("exclude each other"));
  EXPECT_THAT(refusal({"--dimension", "0"}), HasSubstr("--dimension"));
  EXPECT_THAT(refusal({"--seconds", "0"}), HasSubstr("--seconds"));
}

TEST(DiskTrial, FindsWhatIsDamaged) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder / "trial.h5";
  write_trial(path);
  EXPECT_NO_THROW(read_trial(path));
  EXPECT_ERROR(FailureError, "cannot open", write_trial(path)) << "it exists";
  EXPECT_ERROR(FailureError, "cannot open", read_trial(folder / "none.h5"));
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-64, std::ios::end);
  file.write("damaged", 7);
  file.close();
  EXPECT_ERROR(FailureError, "does not hold what was written", read_trial(path));
}

}  // namespace starling::doctor_test
