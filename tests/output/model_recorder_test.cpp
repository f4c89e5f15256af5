// What a rank's recorder leaves of few clients and of very many, against what it was shown. One rank: what ranks' files
// make together is tested by whole runs.
#include "output/model_recorder.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "fake_view.hpp"
#include "files/durable_file.hpp"
#include "hdf5/file.hpp"
#include "output/spread.hpp"
#include "report/pictures/pictures.hpp"
#include "report/view/run_reading.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::model_recorder_test {

using hdf5::File;
using namespace testing_support;

constexpr std::size_t d = 2;
constexpr Round rounds = 4;
constexpr Client first = 0;

/// Client k is at ((k mod 7) t, k) after t rounds, has mass 1 + k / 1000, is absent in every (k + 2)th round, and has
/// had k mod 3 records a round, each with loss 2 k t in the t-th round and every other one right.
class SomeClients final : public testing_support::FakeView {
 public:
  explicit SomeClients(std::size_t count) : FakeView(d, count) {
    for (std::size_t k = 0; k < count; ++k) masses_[k] = 1 + static_cast<double>(k) / 1000;
  }
  /// Plays rounds until so many are done.
  void play(Round done) {
    for (Round t = this->done(); t < done; go(++t)) {
      for (std::size_t k = 0; k < played_.tallies.size(); ++k) {
        played_.tallies[k].update([&](Score& score) {
          const auto records = static_cast<std::int64_t>(k % 3);
          score += {static_cast<double>(records) * loss(k, t + 1), records / 2, records};
        });
      }
    }
  }
  [[nodiscard]] static double loss(std::size_t k, Round t) {
    return 2 * static_cast<double>(k) * static_cast<double>(t);
  }
  [[nodiscard]] Standing standing(std::size_t k) const override {
    return done() % static_cast<Round>(k + 2) != 0 ? Standing::present : Standing::absent;
  }

 private:
  [[nodiscard]] Vector place(std::size_t k) const override {
    return {static_cast<double>(k % 7) * static_cast<double>(done()), static_cast<double>(k)};
  }
};

/// A run of one rank's clients in a folder of its own.
class RecordedRun {
 public:
  RecordedRun(std::size_t count, const std::string& choice, MetricsPolicy::Sharing sharing)
      : RecordedRun(count, RecordedChoice::parse(choice), sharing) {}
  RecordedRun(std::size_t count, const RecordedChoice& choice, MetricsPolicy::Sharing sharing)
      : directory_(folder_ / "run", "", agreement_), view_(count) {
    const auto clients = static_cast<Client>(count);
    recorded_ = who_is_recorded(clients, choice, d);
    const MetricsPolicy policy(sharing);
    const Scores scores = Scores::losses_and_accuracies;
    write_run_file(directory_, {Layout(clients, 1), d, recorded_, policy.shared() ? scores : Scores::none}, {});
    ModelRecorder recorder(directory_, 0, first, count, d, recorded_, policy, RecordRounds(1), scores);
    for (Round t = 0; t <= rounds; ++t) {
      view_.play(t);
      recorder.after(view_);
    }
    recorder.finish(view_, rounds, view_.models());
  }

  [[nodiscard]] std::string path() const { return directory_.path(); }
  [[nodiscard]] const Recorded& recorded() const { return recorded_; }
  [[nodiscard]] const SomeClients& view() const { return view_; }
  [[nodiscard]] std::string metrics() const {
    return read_whole_file(directory_.private_folder(0) + "/metrics.csv").value();
  }
  [[nodiscard]] bool has(const std::string& name) const { return file().has(name); }
  [[nodiscard]] std::pair<hdf5::Sizes, Vector> numbers(const std::string& name) const {
    return file().read<double>(name);
  }
  [[nodiscard]] ClientSpread spread(Round record, std::size_t figure) const {
    const auto [sizes, values] = numbers("/spread");
    EXPECT_THAT(sizes, ElementsAre(rounds + 1, 1, 5, numbers_of_a_spread));
    ClientSpread result{};
    const auto from = (static_cast<std::size_t>(record) * 5 + figure) * numbers_of_a_spread;
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(from), result.size(), result.begin());
    return result;
  }

 private:
  [[nodiscard]] File file() const { return {path() + "/run.h5", File::Mode::read}; }
  TemporaryFolder folder_;
  Agreement agreement_{world()};
  RunDirectory directory_;
  SomeClients view_;
  Recorded recorded_;
};

using Sharing = MetricsPolicy::Sharing;
constexpr std::size_t many = 2101;

void expect_equal(const ClientSpread& found, const ClientSpread& expected) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(found[i])) << i;
    } else {
      EXPECT_NEAR(found[i], expected[i], 1e-9 * std::abs(expected[i]) + 1e-12) << i;
    }
  }
}

TEST(ModelRecorder, KeepsFiguresOfAllWhereTheyAreFew) {
  const RecordedRun run(20, "3", Sharing::shared);
  EXPECT_FALSE(run.has("/spread"));
  for (const char* name : {"/mass", "/presence", "/loss", "/accuracy"}) {
    EXPECT_THAT(run.numbers(name).first, ElementsAre(rounds + 1, 20)) << name;
  }
  EXPECT_THAT(run.numbers("/model").first, ElementsAre(rounds + 1, 3, d));
  EXPECT_THAT(run.metrics(), HasSubstr("\n3,19,1,114,0,0\n"));  // 2 · 19 · 3
  EXPECT_THAT(run.metrics(), Not(HasSubstr("median")));
}

TEST(ModelRecorder, KeepsThoseOfSomeWhereTheyAreVeryMany) {
  const RecordedRun run(many, "sample:4", Sharing::shared);
  EXPECT_THAT(run.recorded().clients, ElementsAre(0, 525, 1050, 1575));
  for (const char* name : {"/mass", "/presence", "/loss", "/accuracy"}) {
    EXPECT_THAT(run.numbers(name).first, ElementsAre(rounds + 1, 4)) << name;
  }
  const Vector masses = run.numbers("/mass").second;
  EXPECT_THAT(Vector(masses.begin(), masses.begin() + 4), ElementsAre(1, 1.525, 2.05, 2.575));
  const Vector models = run.numbers("/model").second;
  EXPECT_EQ(models[(2 * 4 + 1) * d + 1], 525);
  EXPECT_EQ(models[(2 * 4 + 3) * d], 0) << "1575 is a multiple of 7";
  const auto [sizes, all] = run.numbers("/final_model");
  EXPECT_THAT(sizes, ElementsAre(many, d));
  EXPECT_EQ(all[d * 2000 + 1], 2000);
}

TEST(ModelRecorder, KeepsFiguresOfTenWhereAllHaveOneModel) {
  const RecordedRun run(2050, of_one_model, Sharing::shared);
  EXPECT_THAT(run.numbers("/model").first, ElementsAre(rounds + 1, 1, d));
  for (const char* name : {"/mass", "/presence", "/loss", "/accuracy"}) {
    EXPECT_THAT(run.numbers(name).first, ElementsAre(rounds + 1, 10)) << name;
  }
  const Vector losses = run.numbers("/loss").second;
  EXPECT_EQ(losses[3 * 10 + 2], SomeClients::loss(410, 3));
  EXPECT_THAT(run.metrics(), HasSubstr("\n3,410,2,2460,0.5,0\n"));
  const NetworkRecords read = read_network(run.path());
  EXPECT_THAT(read.listed, ElementsAre(0, 205, 410, 615, 820, 1025, 1230, 1435, 1640, 1845));
  EXPECT_EQ(read.masses.size(), 10U * (rounds + 1));
  EXPECT_THAT(read_models(run.path()).clients, ElementsAre(0));
}

TEST(ModelRecorder, SaysOfAllHowFiguresAreSpread) {
  const RecordedRun run(many, "sample:4", Sharing::shared);
  for (const Round t : {Round{0}, Round{1}, Round{3}}) {
    Vector losses;
    Vector accuracies;
    Vector masses;
    Vector presences;
    Vector distances;
    double mean = 0;
    for (std::size_t k = 0; k < many; ++k) mean += static_cast<double>(k % 7) * static_cast<double>(t) / many;
    for (std::size_t k = 0; k < many; ++k) {
      masses.push_back(1 + static_cast<double>(k) / 1000);
      if (t > 0) presences.push_back(t % static_cast<Round>(k + 2) != 0 ? 1 : 0);
      const double across = static_cast<double>(k % 7) * static_cast<double>(t) - mean;
      distances.push_back(std::hypot(across, static_cast<double>(k) - (many - 1) / 2.0));
      if (t == 0 || k % 3 == 0) continue;
      losses.push_back(SomeClients::loss(k, t));
      accuracies.push_back(k % 3 == 2 ? 0.5 : 0);
    }
    expect_equal(run.spread(t, 0), spread_of(masses));
    expect_equal(run.spread(t, 1), spread_of(presences));
    expect_equal(run.spread(t, 2), spread_of(distances));
    expect_equal(run.spread(t, 3), spread_of(losses));
    expect_equal(run.spread(t, 4), spread_of(accuracies));
  }
}

TEST(ModelRecorder, LeavesMetricsOfPrivateRecordsWithTheirOwner) {
  const RecordedRun run(many, "sample:4", Sharing::local);
  EXPECT_FALSE(run.has("/loss"));
  for (const std::size_t figure : {3U, 4U}) {
    for (const double number : run.spread(2, figure)) EXPECT_TRUE(std::isnan(number)) << figure;
  }
  EXPECT_EQ(run.spread(2, 0)[0], many);
  const std::string rows = run.metrics();
  // Of 2,101 clients 701 have had no record; of the others half have had one and half two. 1575 is a multiple of 3.
  EXPECT_THAT(rows, HasSubstr("\n2,clients,1400,,,0\n"));
  EXPECT_THAT(rows, HasSubstr("\n2,mean,2100,"));
  EXPECT_THAT(rows, HasSubstr("\n2,least,,4,0,\n"));      // client 1's: 2 · 1 · 2
  EXPECT_THAT(rows, HasSubstr("\n2,most,,8396,0.5,\n"));  // client 2099's
  EXPECT_THAT(rows, Not(HasSubstr("\n2,1,")));
  EXPECT_THAT(rows, Not(HasSubstr("\n2,0,"))) << "it has had no record";
}

TEST(ModelRecorder, WritesNoModelWhereNobodyIsRecorded) {
  const RecordedRun run(many, "none", Sharing::shared);
  for (const char* name : {"/model", "/mass", "/presence", "/loss", "/final_model"})
    EXPECT_FALSE(run.has(name)) << name;
  EXPECT_EQ(run.spread(3, 0)[0], many);
  const RunNotes notes = read_notes(run.path());
  EXPECT_EQ(notes.clients, static_cast<Client>(many));
  EXPECT_EQ(notes.dimension, d);
  EXPECT_TRUE(notes.shares_losses);
  EXPECT_TRUE(read_models(run.path()).clients.empty());
  EXPECT_EQ(last_recorded_round(run.path()), rounds);
}

TEST(ModelRecorder, TellsReadersWhoseFiguresThereAre) {
  const NetworkRecords few = read_network(RecordedRun(20, "3", Sharing::shared).path());
  EXPECT_EQ(few.listed.size(), 20U);
  const RecordedRun run(many, "sample:4", Sharing::shared);
  const NetworkRecords some = read_network(run.path());
  EXPECT_EQ(some.clients, many);
  EXPECT_THAT(some.listed, ElementsAre(0, 525, 1050, 1575));
  EXPECT_EQ(some.masses.size(), 4U * (rounds + 1));
}

}  // namespace starling::model_recorder_test
