/// The files that describe sweeps, and the states of runs.
#include "app/sweep/sweep.hpp"

#include <filesystem>

#include "app/program.hpp"
#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::sweep_test {

using testing::EndsWith;
using namespace testing_support;

constexpr const char* head = "[sweep]\ncommand = omd\nranks = 2\n[options]\nsource = synthetic:drift\nrounds = 10\n";

class SweepFile : public testing::Test {
 protected:
  Sweep read(const std::string& text) { return read_sweep(folder_.write("s.ini", text), commands()); }
  TemporaryFolder folder_;
};

TEST_F(SweepFile, IsTheProductOfItsValues) {
  const Sweep sweep = read(std::string(head) + "mechanism = none\nstep = 1 | 1/2\nseed = 2..4\n");
  EXPECT_EQ(sweep.ranks, 2);
  EXPECT_THAT(sweep.varied, ElementsAre("step", "seed"));
  ASSERT_EQ(sweep.runs.size(), 6U);
  EXPECT_EQ(sweep.runs[0].name, "step-1_seed-2");
  EXPECT_EQ(sweep.runs[5].name, "step-1-2_seed-4");
  EXPECT_THAT(sweep.runs[5].words,
              ElementsAre("--source=synthetic:drift", "--rounds=10", "--mechanism=none", "--step=1/2", "--seed=4"));
  EXPECT_THAT(sweep.runs[5].configuration, HasSubstr("\nstep = 1/2\n"));
}

TEST_F(SweepFile, LeavesCommasAndSwitchesToTheOption) {
  const Sweep sweep = read(std::string(head) + "mechanism = none\nlazy = 0 | 0.5\nasync = false | true\n");
  ASSERT_EQ(sweep.runs.size(), 4U);
  EXPECT_EQ(sweep.runs[3].words.back(), "--async");
  EXPECT_EQ(sweep.runs[2].words.back(), "--lazy=0.5");
  EXPECT_EQ(read("[sweep]\ncommand = omd\n[options]\nsource = synthetic:drift:informative=1,n=5\nmechanism = none\n")
                .runs[0]
                .name,
            "run");
}

TEST_F(SweepFile, IsRefusedWithThePlace) {
  const std::string good = head;
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"", "has no command"},
           {"[sweep]\ncommand = data\n", "no runs of 'data'"},
           {"[sweep]\ncommand = omd\ncolour = 1\n", "s.ini:3: unknown key 'colour'"},
           {"[sweep]\nranks = 0\n", "s.ini:2: ranks"},
           {"[other]\n", "unknown section"},
           {"ranks = 1\n", "before any section"},
           {good + "nonsense\n", "s.ini:7: 'nonsense' is no line"},
           {good + "epsilom = 1\n", "s.ini:7: unknown key 'epsilom'"},
           {good + "output = x\n", "set by the sweep itself"},
           {good + "resume = x\n", "resume is for one run"},
           {good + "seed = 1\nseed = 2\n", "s.ini:8: seed stands twice"},
           {good + "seed = 1 | 1\n", "the value '1' twice"},
           {good + "seed = 1 |\n", "empty value"},
           {good + "seed = 3..1\n", "range 3..1 is empty"},
           {good + "seed = 1..200 \nstep = 1|2|3|4|5|6|7|8|9\nbatch = 1..100\n", "more than 10000 runs"},
           {good + "mechanism = none\nstep = 1 | -1\n", "run step--1"},
           {good + "lazy = 0.1, 0.2\n", "| separates"},
           {good + "async = maybe\n", "Give true or false"}}) {
    EXPECT_THAT(message_of<UsageError>([&, t = text] { return read(t); }), HasSubstr(why)) << text;
  }
}

TEST_F(SweepFile, BecomesAJobArray) {
  const Sweep sweep = read("[slurm]\ntime = 02:00:00\n" + std::string(head) + "mechanism = none\nseed = 1..7\n");
  const std::string script = slurm_script(sweep, "/results", 3);
  EXPECT_THAT(script, HasSubstr("#SBATCH --array=1-7%3\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --ntasks=2\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --time=02:00:00\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --requeue\n"));
  EXPECT_THAT(script, HasSubstr("--output /results --launcher srun --only \"$SLURM_ARRAY_TASK_ID\")\n"));
  EXPECT_THAT(script, HasSubstr("runs=(seed-1 seed-2 "));
  EXPECT_THAT(script, Not(HasSubstr("module load")));
}

TEST_F(SweepFile, HasTheLauncherAndTheModulesOfTheFileInAJobArray) {
  const std::string launcher = "[sweep]\ncommand = omd\nlauncher = srun --mpi=pmix\n";
  const Sweep sweep = read("[slurm]\nmodules = gcc openmpi/4.1\naccount = a1\npartition = long\n" + launcher +
                           "[options]\nsource = synthetic:drift:n=9\nmechanism = none\n");
  const std::string script = slurm_script(sweep, "/results", 0);
  EXPECT_THAT(script, HasSubstr("--launcher 'srun --mpi=pmix' --only"));
  EXPECT_TRUE(script.starts_with("#!/bin/bash -l\n"));  // a login shell knows modules
  EXPECT_THAT(script, HasSubstr("#SBATCH --account=a1\n#SBATCH --partition=long\nmodule load gcc openmpi/4.1\n"));
}

TEST_F(SweepFile, SharesALedgerWhereTwoRunsNameIt) {
  const std::string options = std::string(head) + "mechanism = laplace\nepsilon = 1\nseed = 1..2\n";
  EXPECT_EQ(shared_ledger(read(options)), "");
  EXPECT_THAT(shared_ledger(read(options + "ledger = book\n")), EndsWith("/book"));
  EXPECT_THAT(shared_ledger(read(options + "ledger = a | b\n")), EndsWith("/a"));
  EXPECT_EQ(shared_ledger(read(std::string(head) + "mechanism = laplace\nepsilon = 1\nledger = a | b\n")), "");
}

TEST(SweepRunState, IsToldByTheDirectory) {
  const TemporaryFolder folder;
  const SweepRun run{"r", {}, "step = 1\n"};
  const std::string output = folder / ".";
  EXPECT_EQ(state_of(output, run), SweepState::missing);
  note_options(output, run);
  EXPECT_EQ(state_of(output, run), SweepState::missing);
  std::filesystem::create_directories(folder / "r/private/0");
  EXPECT_EQ(state_of(output, run), SweepState::broken);
  folder.write("r/run-id", "id\ndigest\n");
  EXPECT_EQ(state_of(output, run), SweepState::begun);
  folder.write("r/summary.json", R"({"rounds": 3, "rounds_planned": 5})");
  EXPECT_EQ(state_of(output, run), SweepState::begun);
  folder.write("r/summary.json", R"({"rounds": 5, "rounds_planned": 5})");
  EXPECT_EQ(state_of(output, run), SweepState::finished);
  folder.write("r/private/0/checkpoint-5", "");
  EXPECT_EQ(state_of(output, run), SweepState::begun);  // killed while it wrote its results
  folder.write("r/run-id", "id\ndigest\nfinished\n");
  EXPECT_EQ(state_of(output, run), SweepState::finished);
  const SweepRun other{"r", {}, "step = 2\n"};
  EXPECT_ERROR(UsageError, "here step = 2, there step = 1", state_of(output, other));
  EXPECT_EQ(put_aside(output, run), output + "/r.broken-1");
  EXPECT_EQ(state_of(output, run), SweepState::missing);
}

TEST(ChildEnvironment, HasNoVariablesOfALaunch) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_SIZE"})
    EXPECT_TRUE(is_of_launch(name, false)) << name;
  for (const char* name : {"OMPI_MCA_mtl", "OMPI_ALLOW_RUN_AS_ROOT", "PATH", "SLURM_JOB_ID"}) {
    EXPECT_FALSE(is_of_launch(name, false)) << name;
  }
  EXPECT_TRUE(is_of_launch("OMPI_MCA_ess", true));
  EXPECT_FALSE(is_of_launch("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", true));
}

}  // namespace starling::sweep_test
