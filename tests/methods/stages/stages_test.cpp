// Stages of a run, made of values: what a method has settled, what a directory goes through, and that a protocol is
// complete when it is made.
#include <filesystem>
#include <sys/stat.h>

#include "graph/graph.hpp"
#include "methods/fedavg/fedavg_method.hpp"
#include "methods/infer/infer_method.hpp"
#include "methods/omd/omd_method.hpp"
#include "methods/renewable/renewable_method.hpp"
#include "methods/vertical/vertical_method.hpp"
#include "output/checkpoints/kept_parts.hpp"
#include "run/privacy/run_facts.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/stages/play.hpp"
#include "run/stages/run_home.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::stages_test {

using namespace testing_support;

/// A run of a method, by the words of its command line, up to some stage.
template <class Made, class Config, Options (*declare)(Config&), void (*complete)(Config&, const Options&)>
class Staged {
 public:
  explicit Staged(const std::vector<std::string>& words) : configuration_(declare, complete) {
    std::vector<std::string> all{"--output", output(), "--progress", "off"};
    all.insert(all.end(), words.begin(), words.end());
    configuration_.read(all);
    run_.settle_configuration();
  }

  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  /// The folder goes when nobody looks at it any more.
  ~Staged() { run_.agreement.barrier(); }

  Method& settle() {
    method_ = std::make_unique<Made>(run_, home_, configuration_);
    return *method_;
  }
  /// The protocol of a run that has begun in its directory.
  std::unique_ptr<Play> play() {
    settle();
    home_.make();
    privacy_.emplace(run_.agreement, *run_.inputs.layout, run_.common().privacy, method_->privacy_facts());
    privacy_->open();
    privacy_->move_in(home_.directory().private_folder(world().rank()));
    return method_->make({run_, home_.directory(), &*privacy_, privacy_->run_id()});
  }
  RunContext& run() { return run_; }
  RunHome& home() { return home_; }
  /// The same on all ranks.
  [[nodiscard]] std::string output() { return Agreement(world()).broadcast(declare_public(folder_ / "run")); }

 private:
  TemporaryFolder folder_;
  Configured<Config> configuration_;
  RunContext run_{world(), "staged", configuration_, {}};
  RunHome home_{run_};
  std::unique_ptr<Made> method_;
  std::optional<RunPrivacy> privacy_;
};

using Omd = Staged<OmdMethod, OmdConfig, omd_options, complete_omd_config>;
using FedAverage = Staged<FedAvgMethod, FedAvgConfig, fedavg_options, complete_fedavg_config>;
using Infer = Staged<InferMethod, InferConfig, infer_options, complete_infer_config>;
using Renew = Staged<RenewableMethod, RenewableConfig, renewable_options, complete_renewable_config>;
using VerticalStaged = Staged<VerticalMethod, VerticalConfig, vertical_options, complete_vertical_config>;

const std::vector<std::string> logistic{"--source", "synthetic:logistic:n=60,p=3", "--clients", "5", "--batch", "4"};

std::vector<std::string> logistic_and(std::initializer_list<const char*> more) {
  std::vector<std::string> words = logistic;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// What every settled method shows: a model of `dimension` numbers, releases in so many rounds, and no directory yet.
template <class Stage>
void expect_settled(Stage& staged, std::size_t dimension, Round rounds, bool all_ranks_play) {
  Method& method = staged.settle();
  EXPECT_EQ(method.dimension(), dimension);
  EXPECT_FALSE(staged.home().is_there());
  EXPECT_FALSE(staged.home().has_released());
  EXPECT_FALSE(method.correlation());
  for (int r = 0; r < world().size(); ++r) {
    EXPECT_EQ(method.plays(r), all_ranks_play || staged.run().inputs.layout->count(r) > 0) << r;
  }
  const RunFacts facts = method.privacy_facts();
  EXPECT_EQ(facts.rounds, rounds);
  EXPECT_EQ(facts.dimension, dimension);
  EXPECT_EQ(facts.served.size(), static_cast<std::size_t>(staged.run().inputs.client_count()));
  EXPECT_EQ(facts.configuration, staged.run().effective);
  EXPECT_NE(method.digest_of_inputs("one"), method.digest_of_inputs("another"));
}

TEST(SettledMethods, OmdHasGraphRecordsAndModel) {
  Omd staged(logistic_and({"--mechanism", "none", "--intercept", "yes"}));
  expect_settled(staged, 4, 15, false);
}

TEST(SettledMethods, FedavgCountsLocalSteps) {
  FedAverage staged(logistic_and({"--mechanism", "none", "--local-steps", "2"}));
  expect_settled(staged, 3, 15, true);
}

TEST(SettledMethods, InferWithAnAggregatorPlaysOnAllRanks) {
  Infer staged(
      {"--source", "synthetic:linear:n=400,p=2", "--clients", "5", "--mechanism", "none", "--intercept", "no"});
  expect_settled(staged, 2, 30, true);
  Infer path({"--source", "synthetic:linear:n=400,p=2", "--clients", "5", "--mechanism", "none", "--intercept", "no",
              "--estimator", "path", "--tuning", "off"});
  expect_settled(path, 2, 400, true);
}

TEST(SettledMethods, RenewableHasAnIntercept) {
  Renew staged(
      logistic_and({"--mechanism", "gaussian", "--mu", "1", "--variant", "private", "--noise-correlation", "none"}));
  expect_settled(staged, 4, 15, true);
}

TEST(SettledMethods, VerticalRecordsTheHeadOfRankZero) {
  VerticalStaged staged({"--source", "synthetic:spectrum", "--clients", "4", "--mechanism", "none", "--rounds", "6"});
  Method& method = staged.settle();
  EXPECT_EQ(method.record_layout().clients(), 1);
  EXPECT_EQ(staged.run().inputs.layout->clients(), 5);
  EXPECT_EQ(method.privacy_facts().rounds, 6);
}

TEST(RunHome, ARefusedRunLeavesNothingUnlessItHasReleased) {
  for (const bool releases : {false, true}) {
    Omd staged(logistic_and({"--mechanism", "gaussian", "--epsilon", "1"}));
    staged.run().inputs.place_clients();
    const std::string folder = staged.home().private_folder_before_rounds();
    EXPECT_TRUE(std::filesystem::exists(folder));
    if (releases) staged.home().begin_early_release();
    EXPECT_EQ(staged.home().has_released(), releases);
    staged.run().agreement.barrier();
    staged.home().leave_nothing();
    staged.run().agreement.barrier();
    EXPECT_EQ(std::filesystem::exists(staged.output()), releases);
  }
}

TEST(RunContext, ARunWhoseStartComesThroughAPipeCannotGoOn) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "start.csv";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Omd staged(logistic_and({"--mechanism", "none", "--start", pipe.c_str()}));
  EXPECT_THAT(staged.run().why_not_resumable(), HasSubstr("come through a pipe"));
  Omd usual(logistic_and({"--mechanism", "none"}));
  EXPECT_EQ(usual.run().why_not_resumable(), "");
}

/// Plays all rounds of a protocol, without a file but those of its directory.
template <class Stage>
void expect_played(Stage& staged, Round rounds) {
  const std::unique_ptr<Play> play = staged.play();
  EXPECT_EQ(play->recording().rounds, rounds);
  std::vector<Observer*> observers;
  KeptParts parts;
  play->add_observers(observers, parts);
  staged.run().agreement.barrier();
  play->run(observers);
  const RoundsEnd end = play->end();
  EXPECT_EQ(end.done, rounds);
  EXPECT_EQ(end.least, rounds);
  EXPECT_FALSE(end.stopped);
  for (const double number : play->final_models().value().flat()) EXPECT_NE(number, 0);
}

TEST(Plays, AProtocolIsCompleteWhenItIsMade) {
  Omd omd(logistic_and({"--mechanism", "gaussian", "--mu", "1"}));
  expect_played(omd, 15);
  FedAverage fedavg(logistic_and({"--mechanism", "gaussian", "--mu", "1", "--local-steps", "3"}));
  expect_played(fedavg, 5);
  Renew renewable(logistic_and({"--mechanism", "gaussian", "--mu", "1", "--variant", "private"}));
  expect_played(renewable, 15);
}

// It is the last one: ranks that have failed together do not go on.
TEST(UnsettledMethods, AProblemOfOneStageLeavesNoDirectory) {
  Omd staged(logistic_and({"--mechanism", "none", "--rounds", "99"}));
  const std::string why = message_of<Error>([&] { staged.settle(); });
  EXPECT_THAT(why, testing::AnyOf(HasSubstr("--rounds 99 is beyond the data"), HasSubstr("failed in validation")));
  EXPECT_FALSE(staged.home().is_there());
  EXPECT_FALSE(std::filesystem::exists(staged.output()));
}

}  // namespace starling::stages_test
