/// Reports of finished, unfinished and damaged run directories.
#include "app/report/report.hpp"

#include <limits>
#include <memory>
#include <sstream>

#include <nlohmann/json.hpp>

#include "app/report/comparison.hpp"
#include "app/report/tables.hpp"
#include "core/check.hpp"
#include "core/random.hpp"
#include "files/durable_file.hpp"
#include "hdf5/file.hpp"
#include "output/intervals/interval.hpp"
#include "output/intervals/study.hpp"
#include "report/pictures/picture.hpp"
#include "report/summaries.hpp"
#include "report/summary.hpp"
#include "support/slow.hpp"
#include "support/testing.hpp"

namespace starling::report_test {

namespace fs = std::filesystem;
using namespace testing_support;

constexpr double inf = std::numeric_limits<double>::infinity();

Summary example() {
  Summary summary = stopped_run(2);
  summary.ranks = 1;
  summary.dimension = 3;
  summary.part<RunScores>().progressive = Score{1.0 / 3, 90, 120};
  summary.part<RunScores>().last_loss = 0.1 + 0.2;
  summary.part<Steps>().largest_debt = 0.5;
  summary.part<RunTraffic>().edges = {{0, 1, 40, 960}, {1, 0, 39, 936}};
  summary.part<RunTimes>().wall = 0.7;
  summary.part<FinalModels>().mean = {0.5, -0.25, 1.0 / 7};
  return summary;
}

Summary aggregated_example() {
  return aggregated(example(), {{0, 1, 40, 800}, {1, 0, 40, 1600}});
}

/// One of inference whose clients have their own intervals, and one that studied replications.
Summary inferred_example(Client clients) {
  Summary summary = example();
  summary.command = "infer";
  summary.part<RunIntervals>().records = 80;
  summary.part<RunIntervals>().intervals.clear();
  for (Client u = 0; u < clients; ++u) {
    for (const char* method : {"random-scaling", "plug-in"}) {
      summary.part<RunIntervals>().intervals.push_back({"age", 1.5, 1.0 / 3, 1, 2 + 0.1 * u, 0.95, method, u});
      summary.part<RunIntervals>().intervals.push_back({"intercept", 0.1, std::nan(""), -1, 1, 0.95, method, u});
    }
  }
  return summary;
}
Summary studied_example() {
  Summary summary = inferred_example(1);
  Study study;
  for (const double truth : {1.5, 3.0, 1.25}) {
    study.add({40, 80, {{"age", 1.5, std::nan(""), 1, 2, 0.95, "random-scaling"}}}, {truth});
  }
  summary.add(study.cells());
  return summary;
}

void withhold(Summary& summary) {
  summary.part<RunScores>().progressive = std::nullopt;
  summary.part<RunScores>().last_loss = std::nullopt;
  summary.withheld = {"loss.mean", "loss.last", "metrics.progressive_accuracy", "accuracy"};
}

constexpr const char* history_text =
    "rounds,loss,accuracy,test_loss,test_accuracy,consensus_error,mass,in_flight,present\n"
    "0,,,,,0,2,,\n10,0.5,0.75,,,1e-3,2,,\n40,0.25,0.875,,,1e-4,2,,\n";

/// A run directory of two clients on one rank, as far as asked.
class SomeRun {
 public:
  SomeRun() {
    fs::create_directories(path() + "/clients");
    fs::create_directories(path() + "/private/0");
    write("config.ini", "mechanism = laplace\nepsilon = 1/2\n");
  }
  explicit SomeRun(const Summary& summary) : SomeRun() {
    write_records(summary.get<RunTraffic>().edges);
    write("history.csv", history_text);
    write("summary.json", to_json(summary));
  }

  [[nodiscard]] std::string path() const { return folder_ / "run"; }
  void write(const std::string& name, const std::string& text) const { folder_.write("run/" + name, text); }
  void write_records(const std::vector<EdgeTraffic>& edges = {}) const {
    using hdf5::File;
    const File part(path() + "/clients/0.h5", File::Mode::create);
    part.write<std::int64_t>("/rounds", {2}, {0, 40});
    part.write<std::int64_t>("/clients", {2}, {0, 1});
    const File file(path() + "/run.h5", File::Mode::create);
    file.link_external("/rounds", "clients/0.h5");
    file.write<std::int64_t>("/recorded_clients", {2}, {0, 1});
    file.write<double>("/model", {2, 2, 3}, {0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6.5});
    file.write<double>("/final_model", {2, 3}, {1, 2, 3, 4, 5, 6.5});
    std::vector<std::int64_t> rows;
    for (const EdgeTraffic& edge : edges) rows.insert(rows.end(), {edge.from, edge.to, edge.messages, edge.bytes});
    file.write<std::int64_t>("/traffic", {edges.size(), 4}, rows);
    for (const auto& [name, value] : notes) file.attribute("/", name, value);
  }

  std::vector<std::pair<std::string, std::string>> notes{
      {"command", "omd"},         {"command_line", "starling omd"},    {"task", "classification"},
      {"rounds_planned", "1000"}, {"started", "2020-01-31T23:59:59Z"}, {"epsilon_per_release", "0.5"},
      {"noise_key", "random"}};

 private:
  TemporaryFolder folder_;
};

std::string head_of(const std::string& text, const std::string& table) {
  return text.substr(0, table.size());
}

class FinishedRun : public testing::TestWithParam<std::pair<const char*, Summary>> {};

// Not alike: the same text.
TEST_P(FinishedRun, ShowsTheTableOfItsEnd) {
  const Summary& summary = GetParam().second;
  const SomeRun run(summary);
  const RunReport report(run.path());
  EXPECT_EQ(report.state(), RunState::finished);
  EXPECT_EQ(head_of(report.text(), to_table(summary)), to_table(summary));
  EXPECT_EQ(report.json(), to_json(summary));
}

std::vector<std::pair<const char*, Summary>> summaries() {
  std::vector<std::pair<const char*, Summary>> rows{{"an ordinary one", example()}};
  const auto add = [&](const char* name, auto&& change) {
    rows.emplace_back(name, example());
    change(rows.back().second);
  };
  add("withheld", withhold);
  add("tested", [](Summary& summary) { summary.part<RunScores>().test = Score{10.0 / 3, 41, 50}; });
  add("tested and withheld", [](Summary& summary) {
    withhold(summary);
    summary.withheld.pop_back();
    summary.part<RunScores>().test = Score{10.0 / 3, 41, 50};
  });
  add("regression", [](Summary& summary) { summary.classifies = false; });
  add("averaging", [](Summary& summary) {
    summary.learned = summary.classifies = false;
    summary.part<RunScores>().progressive = std::nullopt;
  });
  add("no noise", [](Summary& summary) {
    summary.part<PrivacyReport>().mechanism = "none";
    summary.part<PrivacyReport>().release.epsilon = summary.part<PrivacyReport>().losses.record.epsilon =
        summary.part<PrivacyReport>().losses.client.epsilon = inf;
    summary.part<PrivacyReport>().losses.one_per_batch.epsilon = summary.part<PrivacyReport>().clip = inf;
  });
  add("a public key", [](Summary& summary) { summary.part<PrivacyReport>().noise_key = NoiseKeyPolicy::seed; });
  add("by component", [](Summary& summary) { summary.part<PrivacyReport>().unit = PrivacyUnit::component; });
  add("no rounds", [](Summary& summary) {
    summary.rounds = 0;
    summary.part<RunScores>().progressive = Score{};
    summary.part<RunTimes>().wall = 0;
    summary.part<RunTimes>().shares = {};
  });
  add("diverged", [](Summary& summary) {
    summary.part<Consensus>().error = inf;
    summary.part<Consensus>().mass = std::numeric_limits<double>::quiet_NaN();
  });
  add("fifteen edges", [](Summary& summary) { summary.part<RunTraffic>().edges.assign(15, {7, 8, 1, 2}); });
  add("more edges than the file lists", [](Summary& summary) {
    for (Client u = 0; u < 1200; ++u) summary.part<RunTraffic>().edges.push_back({u, u + 1, 2, 3});
  });
  rows.emplace_back("aggregated", aggregated_example());
  rows.emplace_back("inferred", inferred_example(2));
  rows.emplace_back("inferred by many clients", inferred_example(6));
  rows.emplace_back("a study of replications", studied_example());
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Summaries, FinishedRun, testing::ValuesIn(summaries()),
                         [](const auto& row) { return test_name(row.param.first); });

TEST(Report, AddsTheCurve) {
  const SomeRun run(example());
  const std::string text = RunReport(run.path()).text();
  EXPECT_THAT(text, HasSubstr("40         0.250000          87.50 %        1.000e-04                2\n"));
}

TEST(Report, ShowsSummariesThatDoNotTellTheirTask) {
  const SomeRun run(example());
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(to_json(example()));
  json.erase("task");
  json["traffic"].erase("edge_count");
  json.erase("aggregated");
  run.write("summary.json", json.dump());
  EXPECT_EQ(head_of(RunReport(run.path()).text(), to_table(example())), to_table(example()));
}

// Unfinished runs.

TEST(UnfinishedRun, IsStartingBeforeAnythingIsRecorded) {
  const SomeRun run;
  const RunReport report(run.path());
  EXPECT_EQ(report.state(), RunState::starting);
  EXPECT_THAT(report.text(), HasSubstr("nothing is recorded yet"));
  EXPECT_NE(report.draw(run.path(), {true, true, false}), "");
  EXPECT_FALSE(fs::exists(run.path() + "/loss.svg"));
}

TEST(UnfinishedRun, IsRunningAsLongAsItsHistoryIsHeld) {
  const SomeRun run;
  run.write_records();
  {
    HistoryFile history(run.path() + "/history.csv");
    NetworkFigures figures;
    figures.done = 64;
    figures.consensus_error = 0.5;
    history.append(figures);
    history.flush();
    const RunReport report(run.path());
    EXPECT_EQ(report.state(), RunState::running);
    EXPECT_THAT(report.text(), HasSubstr("running: round 64 of 1000"));
  }
  const RunReport report(run.path());
  EXPECT_EQ(report.state(), RunState::silent);
  EXPECT_THAT(report.text(), HasSubstr("round 64 of 1000 at the last record; has not written for"));
}

TEST(UnfinishedRun, SaysWhatItKnowsUnderTheKeysOfTheSummary) {
  SomeRun run;
  run.write_records();
  run.write("history.csv", std::string(history_text) + "90,0.1,0.9");  // cut
  const auto json = nlohmann::json::parse(RunReport(run.path()).json());
  const auto summary = nlohmann::json::parse(to_json(example()));
  EXPECT_EQ(json["rounds"], 40);
  EXPECT_EQ(json["rounds_planned"], 1000);
  EXPECT_EQ(json["clients"], 2);
  EXPECT_EQ(json["dimension"], 3);
  EXPECT_EQ(json["consensus_error"], 1e-4);
  EXPECT_EQ(json["privacy"]["mechanism"], "laplace");
  EXPECT_EQ(json["privacy"]["epsilon_per_release"], 0.5);
  EXPECT_TRUE(json["privacy"]["epsilon"].is_null());
  EXPECT_TRUE(json["final_model"].is_null());
  EXPECT_EQ(json["state"], "silent");
  EXPECT_EQ(json["withheld"], nlohmann::json({"loss.mean", "loss.last", "metrics.progressive_accuracy", "accuracy"}));
  for (const char* key : {"command", "task", "loss", "accuracy", "metrics", "mass", "regret", "traffic", "time"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
}

TEST(UnfinishedRun, MeansTheLossOverItsRounds) {
  SomeRun run;
  run.write_records();
  hdf5::File(run.path() + "/run.h5", hdf5::File::Mode::append).write<double>("/loss", {1, 2}, {0.5, 0.5});
  run.write("history.csv", history_text);
  const auto json = nlohmann::json::parse(RunReport(run.path()).json());
  EXPECT_EQ(json["loss"]["mean"], (10 * 0.5 + 30 * 0.25) / 40);
  EXPECT_EQ(json["loss"]["last"], 0.25);
  EXPECT_EQ(json["withheld"], nlohmann::json::array());
}

// As a kill in the middle of a writing may leave it.
TEST(UnfinishedRun, ShowsItsHistoryEvenIfARanksFileIsCut) {
  const SomeRun run;
  run.write_records();
  run.write("history.csv", history_text);
  fs::resize_file(run.path() + "/clients/0.h5", 300);
  const RunReport report(run.path());
  EXPECT_THAT(report.text(), HasSubstr("round 40 of 1000"));
  EXPECT_THAT(report.draw(run.path(), {true, true, false}), Not(HasSubstr("no pictures: cannot")));
}

TEST(Report, DrawsIntervalsOnTheirWay) {
  const SomeRun run(inferred_example(1));
  write_interval_path(run.path(), {{10, 20, {{"age", 1.5, 0, 1, 2, 0.95, "random-scaling"}}},
                                   {40, 80, {{"age", 1.25, 0, 1, 1.5, 0.95, "random-scaling"}}}});
  const std::string problem = RunReport(run.path()).draw(run.path(), {true, true, false});
  EXPECT_TRUE(fs::exists(run.path() + "/intervals.gp"));
  EXPECT_TRUE(fs::exists(run.path() + "/intervals.csv"));
  EXPECT_EQ(fs::exists(run.path() + "/intervals.svg"), problem.empty()) << problem;
  EXPECT_EQ(fs::exists(run.path() + "/intervals.png"), problem.empty()) << problem;
}

// Studies leave no records of single runs.
TEST(Report, ShowsAStudyOfReplications) {
  const SomeRun run;
  run.write("summary.json", to_json(studied_example()));
  const RunReport report(run.path());
  EXPECT_EQ(report.text(), to_table(studied_example()) + files_row(run.path()));
  EXPECT_TRUE(report.draw(run.path(), {true, true, false}).starts_with("no pictures: a study"));
  EXPECT_FALSE(Comparison({report, report}, {}).text().empty());
  EXPECT_THAT(report.text(), Not(HasSubstr("\n  messages ")));
}

TEST(Report, SaysWhereItCannotDraw) {
  const SomeRun run(example());
  const TemporaryFolder folder;
  const std::string problem = RunReport(run.path()).draw(folder.write("file", "") + "/below", {});
  EXPECT_TRUE(problem.starts_with("no pictures: cannot write")) << problem;
}

// Tables of models, and convergence.

TEST(Report, WritesTheRecordedModels) {
  const SomeRun run(example());
  std::ostringstream out;
  RunReport(run.path()).write_models(out);
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 * 2 * 3);
  EXPECT_TRUE(text.starts_with("round,client,coordinate,value\n0,0,0,0\n")) << text;
  EXPECT_TRUE(text.ends_with("40,1,1,5\n40,1,2,6.5\n")) << text;
}

TEST(Convergence, IsTheDistanceToTheTarget) {
  RecordedModels models{{0, 5}, {0, 3}, 2, {0, 0, 3, 4, 1, 1, 1, 1}};
  const Convergence convergence = convergence_to(models, Vector{0, 0}, "zero");
  EXPECT_EQ(convergence.distances[0], (Vector{0, 5}));
  EXPECT_EQ(convergence_so_far(models).distances[1], (Vector{0, 0}));
  EXPECT_NE(message_of<DataError>([&] { return convergence_to(models, Vector{1}, ""); }), "");
}

TEST(CurveTable, TakesLinesFromTheFirstToTheLast) {
  std::vector<NetworkFigures> history(100);
  for (std::size_t i = 0; i < history.size(); ++i) {
    history[i].done = static_cast<Round>(i);
    history[i].loss = 1;
  }
  std::istringstream lines(curve_table(history, 12));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  ASSERT_EQ(found.size(), 13U);
  EXPECT_EQ(found[1].substr(0, 12), "           0");
  EXPECT_EQ(found[12].substr(0, 12), "          99");
  EXPECT_THAT(found[0], Not(HasSubstr("accuracy")));  // unknown everywhere
}

// Comparisons.

TEST(Comparison, ShowsSettingsThatDifferAndFiguresSideBySide) {
  const SomeRun one(example());
  Summary summary = example();
  withhold(summary);
  const SomeRun other(summary);
  other.write("config.ini", "mechanism = laplace\nepsilon = 2\nbatch = 4\noutput = elsewhere\n");
  const std::string text = Comparison({RunReport(one.path()), RunReport(other.path())}, {}).text();
  EXPECT_THAT(text, Not(HasSubstr("mechanism")));
  EXPECT_THAT(text, Not(HasSubstr("elsewhere")));
  const auto row = [&](const std::string& name) {
    const auto at = text.find("\n  " + name + " ");
    EXPECT_NE(at, std::string::npos) << name << " in\n" << text;
    std::istringstream words(text.substr(at + 3 + name.size(), text.find('\n', at + 1) - at - 3 - name.size()));
    std::string first;
    std::string second;
    words >> first >> second;
    return std::pair(first, second);
  };
  EXPECT_EQ(row("epsilon"), std::pair(std::string("1/2"), std::string("2")));
  EXPECT_EQ(row("batch"), std::pair(std::string("-"), std::string("4")));
  EXPECT_EQ(row("loss, mean"), std::pair(std::string("0.002778"), std::string("withheld")));
  EXPECT_EQ(row("client epsilon"), std::pair(std::string("60"), std::string("60")));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(Comparison, CallsInfiniteLossesUnbounded) {
  Summary summary = example();
  summary.part<PrivacyReport>().mechanism = "none";
  summary.part<PrivacyReport>().release.epsilon = summary.part<PrivacyReport>().losses.record.epsilon =
      summary.part<PrivacyReport>().losses.client.epsilon = inf;
  const SomeRun run(summary);
  const std::string text = Comparison({RunReport(run.path()), RunReport(run.path())}, {}).text();
  EXPECT_THAT(text, HasSubstr("unbounded"));
}

TEST(Comparison, MakesOneLineOfRunsThatDifferBySeedsAlone) {
  const auto run_of = [](double loss, const std::string& configuration) {
    Summary summary = example();
    summary.part<RunScores>().progressive = Score{loss * 120, 90, 120};
    auto run = std::make_unique<SomeRun>(summary);
    run->write("config.ini", configuration);
    return run;
  };
  const auto one = run_of(1, "epsilon = 2\nseed = 1\noutput = a\n");
  const auto two = run_of(2, "epsilon = 2\nseed = 2\noutput = b\n");
  const auto three = run_of(3, "epsilon = 2\nseed = 3\noutput = c\n");
  const auto other = run_of(7, "epsilon = 4\nseed = 1\noutput = d\n");
  std::vector<RunReport> runs;
  for (const auto* run : {&one, &two, &three, &other}) runs.emplace_back((*run)->path());
  const Comparison comparison(runs, {{"epsilon"}, {"loss"}});
  EXPECT_EQ(comparison.groups(), 2U);
  const std::string csv = comparison.table(TableFormat::csv);
  EXPECT_EQ(csv, fmt::format("run,n,epsilon,loss.mean,loss.mean sd,loss.mean n\n{},3,2,2,1,3\n{},1,4,7,,1\n",
                             one->path(), other->path()));
  EXPECT_THAT(comparison.table(TableFormat::text), HasSubstr("2.000000 ± 1.000000"));
  EXPECT_THAT(comparison.table(TableFormat::latex), HasSubstr("\n2 & 2.000000 $\\pm$ 1.000000 \\\\\n"));
  EXPECT_THAT(comparison.table(TableFormat::markdown), HasSubstr(" | 3 | 2 | 2.000000 ± 1.000000 |\n"));
}

TEST(Comparison, NamesWhatIsNearAnUnknownKey) {
  const SomeRun run(example());
  const std::vector<RunReport> runs{RunReport(run.path())};
  const auto message = [&](const ComparisonRequest& request) {
    return message_of<UsageError>([&] { Comparison{runs, request}; });
  };
  EXPECT_THAT(message({{"epsilom"}, {}}), HasSubstr("Near: epsilon"));
  EXPECT_THAT(message({{}, {"accurracy"}}), HasSubstr("Near: accuracy"));
  EXPECT_NE(message({{}, {"nothing.like.it"}}), "");
  EXPECT_EQ(value_of(ComparedRun(runs.front()), "mechanism.epsilon"), "1/2");
}

/// Runs with an accuracy each, whose options are the text.
class SomeRuns {
 public:
  void add(const std::string& configuration, std::int64_t correct) {
    Summary summary = example();
    summary.part<RunScores>().test = Score{0.5, correct, 1000};
    runs_.push_back(std::make_unique<SomeRun>(summary));
    runs_.back()->write("config.ini", configuration);
    reports_.emplace_back(runs_.back()->path());
  }
  [[nodiscard]] const std::vector<RunReport>& reports() const { return reports_; }
  [[nodiscard]] std::string script(const ComparisonRequest& request) const {
    const TemporaryFolder folder;
    const std::string problem = Comparison(reports_, request).draw(folder / ".", {});
    EXPECT_EQ(fs::exists(folder / "compare.svg"), problem.empty()) << problem;
    return read_whole_file(folder / "compare.gp").value();
  }

 private:
  std::vector<std::unique_ptr<SomeRun>> runs_;
  std::vector<RunReport> reports_;
};

/// Three prices and no price, on two graphs of other sizes, with two seeds each.
SomeRuns sweep() {
  SomeRuns runs;
  for (const char* price : {"epsilon = 10\n", "epsilon = .3\n", "epsilon = 1\n", "mechanism = none\n"}) {
    for (const char* graph : {"topology = /a/ring-8.topo\nclients = 8\n", "topology = /a/star-5.topo\nclients = 5\n"}) {
      for (int seed = 0; seed < 2; ++seed) {
        runs.add(fmt::format("{}{}seed = {}\n", price, graph, seed), 800 + 20 * seed);
      }
    }
  }
  return runs;
}

TEST(Comparison, DrawsAFigureAgainstOneKeyWithPanelsForAnother) {
  const SomeRuns runs = sweep();
  const std::string script = runs.script({{"epsilon", "topology"}, {"test accuracy"}});
  EXPECT_THAT(script, HasSubstr("set xlabel 'epsilon'"));
  EXPECT_THAT(script, HasSubstr("\nset logscale x\nset xtics nomirror norotate ('0.3' 0.3, '1' 1, '10' 10)\n"));
  EXPECT_THAT(script, HasSubstr("set title 'topology ring-8'"));
  EXPECT_THAT(script, HasSubstr("set title 'topology star-5'"));
  EXPECT_THAT(script, HasSubstr("set ylabel 'test accuracy in %'"));
  EXPECT_THAT(script, HasSubstr("<< END\n0.3 80 82\n1 80 82\n10 80 82\nEND"));  // the band of two runs
  EXPECT_THAT(script, HasSubstr("<< END\n0.3 81\n1 81\n10 81\nEND"));
  EXPECT_THAT(script, HasSubstr("<< END\n0.3 81\n10 81\nEND"));  // runs without a price, across
  EXPECT_THAT(script, HasSubstr("title 'without epsilon'"));
  EXPECT_THAT(script, Not(HasSubstr("clients")));  // they follow from the graph
}

TEST(Comparison, TakesTheOptionsThatDifferWhereThereAreManyLines) {
  const SomeRuns runs = sweep();
  SomeRuns more = sweep();
  for (const char* graph : {"ring-8", "star-5"})
    more.add(fmt::format("epsilon = 20\ntopology = /a/{}.topo\n", graph), 900);
  EXPECT_THAT(runs.script({}), HasSubstr("set xlabel 'round'"));
  EXPECT_THAT(more.script({}), HasSubstr("set xlabel 'epsilon'"));
}

TEST(Comparison, DrawsWordsAsPlacesSideBySide) {
  const std::string script = sweep().script({{"topology"}, {"test accuracy"}});
  EXPECT_THAT(script, HasSubstr("('ring-8' 0, 'star-5' 1)"));
  EXPECT_THAT(script, HasSubstr("with vectors nohead"));
  for (const char* label : {"epsilon 0.3", "epsilon 1", "epsilon 10", "mechanism none"}) {
    EXPECT_THAT(script, HasSubstr(fmt::format("title '{}'", label)));
  }
}

TEST(Comparison, IsAPivotWithNamesInLatex) {
  const SomeRuns runs = sweep();
  EXPECT_EQ(Comparison(runs.reports(), {{"epsilon", "topology"}, {"test accuracy"}}).table(TableFormat::latex),
            "% test accuracy in %, mean ± standard deviation of 2 runs\n\\begin{tabular}{lrr}\n\\hline\n"
            "epsilon & topology ring-8 & topology star-5 \\\\\n\\hline\n"
            "0.3 & 81.00 $\\pm$ 1.41 & 81.00 $\\pm$ 1.41 \\\\\n1 & 81.00 $\\pm$ 1.41 & 81.00 $\\pm$ 1.41 \\\\\n"
            "10 & 81.00 $\\pm$ 1.41 & 81.00 $\\pm$ 1.41 \\\\\n- & 81.00 $\\pm$ 1.41 & 81.00 $\\pm$ 1.41 \\\\\n"
            "\\hline\n\\end{tabular}\n");
  // What the key does not tell apart has a column of its own, and what follows from it has none.
  EXPECT_THAT(Comparison(runs.reports(), {{"epsilon"}, {"test accuracy"}}).table(TableFormat::latex),
              HasSubstr("{llr}\n\\hline\nepsilon & clients & test accuracy in \\% \\\\\n\\hline\n0.3 & 8 & 81.00"));
}

// Bad input.

TEST(BadRun, IsNoDirectory) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& path) { return message_of<UsageError>([&] { RunReport{path}; }); };
  EXPECT_THAT(message(folder / "none"), HasSubstr("no such directory"));
  EXPECT_THAT(message(folder.write("file", "x")), HasSubstr("it is a file"));
  EXPECT_THAT(message(folder / "."), HasSubstr("neither config.ini nor summary.json"));
}

TEST(BadRun, LacksItsFiles) {
  for (const char* name : {"run.h5", "history.csv"}) {
    const SomeRun run(example());
    fs::remove(run.path() + "/" + name);
    const std::string message = message_of<DataError>([&] { RunReport{run.path()}; });
    EXPECT_THAT(message, HasSubstr(name));
  }
}

// Else HDF5 would show zeros for the models of its clients.
TEST(BadRun, LacksTheFileOfARank) {
  const SomeRun run(example());
  fs::remove(run.path() + "/clients/0.h5");
  std::ostringstream out;
  EXPECT_ERROR(DataError, "missing", RunReport(run.path()).write_models(out));
  EXPECT_NE(message_of<DataError>([&] { return RunReport(run.path()).draw(run.path(), {true, true, false}); }), "");
  EXPECT_EQ(out.str(), "");
  EXPECT_FALSE(fs::exists(run.path() + "/pictures.gp"));
}

TEST(BadRun, HasATruncatedRunFile) {
  const SomeRun run(example());
  fs::resize_file(run.path() + "/run.h5", 700);
  EXPECT_NE(message_of<DataError>([&] { RunReport{run.path()}; }), "");
}

TEST(BadRun, HasDamagedIntervals) {
  const SomeRun run(inferred_example(1));
  run.write("intervals.csv", "steps,records,name,estimate,low,high,level,method\n10,20,age,1.5\n");
  const std::string message = message_of<DataError>([&] { RunReport{run.path()}; });
  EXPECT_THAT(message, HasSubstr("intervals.csv"));
}

class WrongSummary : public testing::TestWithParam<std::pair<const char*, const char*>> {};

// Each is refused with the key that is wrong.
TEST_P(WrongSummary, NamesFileAndKey) {
  const SomeRun run(example());
  const auto& [path, value] = GetParam();
  auto json = nlohmann::ordered_json::parse(to_json(example()));
  std::string pointer = std::string("/") + path;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  json[nlohmann::ordered_json::json_pointer(pointer)] = nlohmann::ordered_json::parse(value);
  run.write("summary.json", json.dump());
  const std::string message = message_of<DataError>([&] { RunReport{run.path()}; });
  EXPECT_THAT(message, HasSubstr("summary.json"));
  EXPECT_THAT(message, HasSubstr(path));
}

INSTANTIATE_TEST_SUITE_P(Keys, WrongSummary,
                         testing::Values(std::pair{"clients", "\"two\""}, std::pair{"clients", "null"},
                                         std::pair{"clients", "-1"}, std::pair{"rounds", "1.5"},
                                         std::pair{"rounds", "1e300"}, std::pair{"rounds", "18446744073709551615"},
                                         std::pair{"loss.mean", "\"low\""}, std::pair{"accuracy", "[]"},
                                         std::pair{"command", "7"}, std::pair{"withheld", "{}"},
                                         std::pair{"withheld", "[1]"}, std::pair{"traffic.edges", "[[0, 1, 2]]"},
                                         std::pair{"traffic.edges", "[[0, 99999999999, 2, 3]]"},
                                         std::pair{"traffic.messages", "{}"}, std::pair{"privacy.private", "1"},
                                         std::pair{"privacy.in_short", "{}"}, std::pair{"time.wall", "\"\""},
                                         std::pair{"notes", "\"a\""}, std::pair{"final_model", "[1, null, 2]"}),
                         [](const auto& row) { return test_name(std::to_string(row.index) + row.param.first); });

TEST(WrongSummary, MayHaveAnotherDimension) {
  const SomeRun run(example());
  Summary summary = example();
  summary.part<FinalModels>().mean.pop_back();
  run.write("summary.json", to_json(summary));
  EXPECT_ERROR(DataError, "dimension", RunReport{run.path()});
}

/// Pieces that matter to a reader of JSON.
std::string piece(AddressedRandom& random) {
  static const std::vector<std::string> pieces{
      "{",     "}",  "[",     "]",     "\"",  ":",       ",",    "null",
      "true",  "-1", "1e999", "1e300", "0.5", "\\u0000", "\xFF", "99999999999999999999",
      "\"x\"", "{}", "[[]]"};
  return pieces[random.below(pieces.size())];
}

std::string mutated(std::string text, AddressedRandom& random) {
  const std::uint64_t changes = 1 + random.below(3);
  for (std::uint64_t k = 0; k < changes; ++k) {
    const std::size_t at = random.below(text.size() + 1);
    switch (random.below(4)) {
      case 0:
        text.insert(at, piece(random));
        break;
      case 1:
        text.erase(at, random.below(30));
        break;
      case 2:
        text.replace(at, std::min<std::size_t>(text.size() - at, 1 + random.below(8)), piece(random));
        break;
      default:
        if (random.below(8) == 0) text.resize(at);
        break;
    }
  }
  return text;
}

/// Replaces the value of a random key, at any depth, by another of any type.
std::string revalued(const std::string& text, AddressedRandom& random) {
  static const std::vector<std::string> values{"null", "true", "-3", "1e300", "\"text\"", "[]", "{}", "[1, 2]", "0"};
  auto json = nlohmann::ordered_json::parse(text).flatten();
  auto chosen = json.begin();
  std::advance(chosen, static_cast<long>(random.below(json.size())));
  *chosen = nullptr;
  auto whole = json.unflatten();
  whole[nlohmann::ordered_json::json_pointer(chosen.key())] =
      nlohmann::ordered_json::parse(values[random.below(values.size())]);
  return whole.dump(2);
}

struct MutatedSummary {
  const char* name;
  Summary summary;
  int changes;  ///< with --long; else a quarter
};
class Mutation : public testing::TestWithParam<MutatedSummary> {};

// A report or an error of ours, whatever has become of the file.
TEST_P(Mutation, OfTheSummaryGivesATableOrADataError) {
  const SomeRun run(GetParam().summary);
  const std::string text = to_json(GetParam().summary);
  const int changes = GetParam().changes / (slow() ? 1 : 4);
  int shown = 0;
  int refused = 0;
  for (int i = 0; i < changes; ++i) {
    AddressedRandom random(1, Purpose::experiment, 0, static_cast<std::uint64_t>(i));
    fs::remove(run.path() + "/summary.json");  // some file systems wait for the disk where a file is overwritten
    run.write("summary.json", i % 2 == 0 ? mutated(text, random) : revalued(text, random));
    try {
      const RunReport report(run.path());
      EXPECT_FALSE(Comparison({report, report}, {}).text().empty());
      ++shown;
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_EQ(shown + refused, changes);
  EXPECT_GT(shown, changes / 40);
  EXPECT_GT(refused, changes / 40);
}

INSTANTIATE_TEST_SUITE_P(Summaries, Mutation,
                         testing::Values(MutatedSummary{"ordinary", example(), 4000},
                                         MutatedSummary{"inferred", inferred_example(5), 1000},
                                         MutatedSummary{"studied", studied_example(), 1000}),
                         [](const auto& row) { return row.param.name; });

// A wrong value that the table does not need must not stop a comparison half-way either: see above.
TEST(MutationOfFiles, OfTheHistoryGivesLinesOrADataError) {
  const SomeRun run(example());
  const std::uint64_t changes = slow() ? 2000 : 500;
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < changes; ++i) {
    AddressedRandom random(2, Purpose::experiment, 0, i);
    fs::remove(run.path() + "/history.csv");
    run.write("history.csv", mutated(history_text, random));
    try {
      EXPECT_FALSE(RunReport(run.path()).text().empty());
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, changes / 20);
}

}  // namespace starling::report_test
