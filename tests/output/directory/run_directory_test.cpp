#include "output/directory/run_directory.hpp"

#include <cmath>
#include <fstream>
#include <optional>
#include <sys/stat.h>

#include "files/text_files.hpp"
#include "output/directory/owners_file.hpp"
#include "output/directory/private_folders.hpp"
#include "output/intervals/interval.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::run_directory_test {

using namespace testing_support;

/// Permission bits of a file or folder; 0 if there is none.
unsigned mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : 0U;
}

/// A folder of rank 0's that all ranks know; collective, and gone only after all have ended the test.
class SharedFolder {
 public:
  SharedFolder() {
    if (world().rank() == 0) folder_.emplace();
    path_ = agreement_.broadcast(declare_public(folder_ ? *folder_ / "run" : std::string()));
  }
  ~SharedFolder() { agreement_.barrier(); }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  [[nodiscard]] const std::string& run() const { return path_; }
  [[nodiscard]] Agreement& agreement() { return agreement_; }

 private:
  std::optional<TemporaryFolder> folder_;
  Agreement agreement_{world()};
  std::string path_;
};

TEST(RunDirectory, HasAPrivateFolderForEachRank) {
  SharedFolder shared;
  const RunDirectory directory(shared.run(), "rounds = 5\n", shared.agreement());
  EXPECT_EQ(read_text(directory.path() + "/config.ini"), "rounds = 5\n# the end\n");
  EXPECT_EQ(mode_of(directory.private_folder(world().rank())), 0700U);
  EXPECT_EQ(directory.clients_file(3), directory.path() + "/" + RunDirectory::clients_name(3));
}

TEST(RunDirectory, PutsPrivateFoldersWhereTheyBelong) {
  SharedFolder shared;
  const int rank = world().rank();
  const std::string place = shared.run() + "-{host}";
  std::string folder;
  {
    const RunDirectory directory(shared.run(), "rounds = 5\n", shared.agreement(), place);
    folder = directory.private_folder(rank);
    EXPECT_TRUE(folder.starts_with(shared.run() + "-") && folder.ends_with(fmt::format("/{}", rank))) << folder;
    EXPECT_EQ(folder.find('{'), std::string::npos);
    EXPECT_EQ(mode_of(folder), 0700U);
    EXPECT_EQ(mode_of(folder + "/of-run"), 0600U);
    EXPECT_EQ(mode_of(directory.path() + "/private"), 0U);
    EXPECT_EQ(private_folders_of(directory.path()).at(static_cast<std::size_t>(rank)), folder);
  }
  std::ofstream(folder + "/ledger") << "of a run that never began";
  shared.agreement().barrier();
  const auto again = [&] { return RunDirectory::afresh(shared.run(), "rounds = 6\n", shared.agreement(), place); };
  EXPECT_EQ(again().private_folder(rank), folder);
  EXPECT_EQ(mode_of(folder + "/ledger"), 0U);
  shared.agreement().barrier();
  if (rank == 0) std::ofstream(folder + "/of-run") << "another run's\n";
  EXPECT_THROW(static_cast<void>(again()), Error) << "a folder of another run stays";
  EXPECT_EQ(mode_of(folder) != 0U, rank == 0);
}

// Rank 1 knows the directory under a name that is nothing on its host.
TEST(RunDirectory, NeedNotBeSeenByAllRanks) {
  SharedFolder shared;
  const int rank = world().rank();
  const std::string path = rank == 0 ? shared.run() : shared.run() + "-of-another-host";
  const std::string place = shared.run() + "-{host}";
  {
    const RunDirectory directory(path, "rounds = 5\n", shared.agreement(), place);
    EXPECT_EQ(directory.is_seen(), rank == 0);
    const std::string file = directory.clients_file(rank);
    const std::string name = RunDirectory::clients_name(rank);
    EXPECT_EQ(file, (rank == 0 ? path : directory.private_folder(rank) + "/released") + "/" + name);
    make_folder_of(file);
    std::ofstream(file) << "released by " << rank;
    shared.agreement().barrier();
    if (rank == 0) {
      EXPECT_EQ(mode_of(path + "/clients/1.h5"), 0U);
      directory.begin({"a run", "inputs", 4, world().size()});
      directory.has_begun();
    }
    directory.bring_in(shared.agreement());
    EXPECT_EQ(read_text(shared.run() + "/" + name), fmt::format("released by {}", rank));
    EXPECT_EQ(mode_of(directory.private_folder(rank) + "/released"), 0U);
    EXPECT_EQ(mode_of(shared.run() + "-of-another-host"), 0U);
  }
  shared.agreement().barrier();
  const RunDirectory again = RunDirectory::again(path, shared.agreement(), place);
  EXPECT_EQ(again.is_seen(), rank == 0);
  EXPECT_EQ(again.identity().clients, 4U);
  EXPECT_EQ(again.identity().ranks, world().size());
  EXPECT_TRUE(again.private_folder(rank).starts_with(shared.run() + "-"));
}

TEST(RunDirectory, MustBeSeenWhereItHoldsPrivateFolders) {
  SharedFolder shared;
  const int rank = world().rank();
  const std::string path = rank == 0 ? shared.run() : shared.run() + "-of-another-host";
  const std::string refused = message_of<Error>([&] { return RunDirectory(path, "", shared.agreement()); });
  EXPECT_EQ(refused.empty(), world().size() == 1);
  if (rank == 1) {
    EXPECT_THAT(refused, HasSubstr("is not seen from here"));
    EXPECT_THAT(refused, HasSubstr("--private DIR"));
  }
  shared.agreement().barrier();
  if (world().size() == 1) return;
  EXPECT_TRUE(std::filesystem::is_empty(shared.run()));
  EXPECT_EQ(mode_of(shared.run() + "-of-another-host"), 0U);
}

TEST(RunDirectory, PlacesHaveNoOtherBraces) {
  EXPECT_NO_THROW(check_private_place("/scratch/{host}/{host}-run"));
  for (const char* wrong : {"/scratch/{client}", "/scratch/{hosts}", "/scratch/{host", "/scratch/host}"}) {
    EXPECT_ERROR(UsageError, "only {host}", check_private_place(wrong)) << wrong;
  }
}

// On every rank, although rank 0 alone looks.
TEST(RunDirectory, OverwritesNothing) {
  SharedFolder shared;
  if (world().rank() == 0) {
    std::filesystem::create_directories(shared.run());
    std::ofstream(shared.run() + "/thesis.txt") << "years of work";
  }
  const std::string message = message_of<Error>([&] { return RunDirectory(shared.run(), "", shared.agreement()); });
  EXPECT_NE(message, "");
  if (world().rank() == 0) {
    EXPECT_THAT(message, HasSubstr("is not empty"));
    EXPECT_EQ(read_text(shared.run() + "/thesis.txt"), "years of work");
    EXPECT_FALSE(std::filesystem::exists(shared.run() + "/config.ini"));
  }
}

TEST(RunDirectory, RefusesAFile) {
  SharedFolder shared;
  if (world().rank() == 0) std::ofstream(shared.run()) << "a file";
  const std::string message = message_of<Error>([&] { return RunDirectory(shared.run(), "", shared.agreement()); });
  EXPECT_NE(message, "");
  if (world().rank() == 0) {
    EXPECT_THAT(message, HasSubstr("is not a directory"));
  }
}

TEST(RunDirectory, TakesAnEmptyFolder) {
  SharedFolder shared;
  if (world().rank() == 0) std::filesystem::create_directories(shared.run());
  EXPECT_EQ(message_of([&] { return RunDirectory(shared.run(), "", shared.agreement()); }), "");
}

// What a user keeps under the same names is no run's, and is never emptied.
TEST(RunDirectory, AFolderOfSomebodyElseIsNoRunThatNeverBegan) {
  SharedFolder shared;
  const int rank = world().rank();
  if (rank == 0) {
    std::filesystem::create_directories(shared.run() + "/private");
    std::ofstream(shared.run() + "/config.ini") << "source = mine.csv\n";
    std::ofstream(shared.run() + "/private/notes.txt") << "x";
  }
  EXPECT_FALSE(RunDirectory::never_began(shared.run(), shared.agreement()));
  const std::string refused =
      message_of<Error>([&] { return RunDirectory::afresh(shared.run(), "rounds = 6\n", shared.agreement()); });
  if (rank == 0) {
    EXPECT_THAT(refused, HasSubstr("is not empty"));
    EXPECT_TRUE(std::filesystem::exists(shared.run() + "/private/notes.txt"));
  }
}

TEST(RunDirectory, OfARunThatNeverBeganIsTakenAfresh) {
  SharedFolder shared;
  const int rank = world().rank();
  EXPECT_FALSE(RunDirectory::never_began(shared.run(), shared.agreement())) << "there is none";
  {
    const RunDirectory first(shared.run(), "rounds = 5\n", shared.agreement());
    std::ofstream(first.private_folder(rank) + "/ledger") << "rows";
    EXPECT_TRUE(RunDirectory::never_began(shared.run(), shared.agreement()));
    shared.agreement().barrier();
  }
  const auto again = [&] {
    return RunDirectory::afresh(shared.run(), "rounds = 6\noutput = elsewhere\n", shared.agreement());
  };
  std::optional<RunDirectory> second(again());
  EXPECT_FALSE(std::filesystem::exists(second->private_folder(rank) + "/ledger"));
  EXPECT_EQ(read_text(second->path() + "/config.ini"), "rounds = 6\noutput = " + shared.run() + "\n# the end\n");
  const std::string held = message_of<Error>([&] { return again(); });
  if (rank == 0) {
    EXPECT_THAT(held, HasSubstr("goes on"));
  }
  shared.agreement().barrier();
  if (rank == 0) second->has_begun();
  shared.agreement().barrier();
  EXPECT_FALSE(RunDirectory::never_began(shared.run(), shared.agreement()));
  shared.agreement().barrier();
  if (rank == 0) std::ofstream(shared.run() + "/run-is-beginning");
  second.reset();
  for (const char* trace : {"run-id", "history.csv", "run.h5", "summary.json", "clients/0.h5"}) {
    shared.agreement().barrier();
    if (rank == 0) {
      make_folder_of(shared.run() + "/" + trace);
      std::ofstream(shared.run() + "/" + trace) << "x";
    }
    EXPECT_FALSE(RunDirectory::never_began(shared.run(), shared.agreement())) << trace;
    const std::string refused = message_of<Error>([&] { return again(); });
    if (rank == 0) {
      EXPECT_THAT(refused, HasSubstr("is not empty"));
      std::filesystem::remove(shared.run() + "/" + trace);
    }
  }
}

// The file run-id says what has become of the clients, in order.
TEST(RunDirectory, RemembersWhoWasLostAndWhoJoined) {
  SharedFolder shared;
  const RunDirectory directory(shared.run(), "", shared.agreement());
  if (world().rank() != 0) return;
  Membership members(4);
  members.lose(100, {1, 3});
  members.join(200, 2, "a folder/new-{client}.csv");
  members.lose(300, {4});
  directory.begin({"id", "inputs", members.clients(), 3, members, "directed-ring", "", {0, 2, 2}, 7});
  const RunIdentity identity = directory.identity();
  EXPECT_EQ(identity.clients, 6);
  EXPECT_EQ(identity.members.at_first(), 4);
  EXPECT_EQ(identity.members.clients(), 6);
  EXPECT_EQ(identity.members.lost(), (std::vector<Client>{1, 3, 4}));
  ASSERT_EQ(identity.members.changes().size(), 3U);
  EXPECT_EQ(identity.members.changes()[1].round, 200);
  EXPECT_EQ(identity.members.changes()[1].clients, (std::vector<Client>{4, 5}));
  EXPECT_EQ(identity.members.changes()[1].source, "a folder/new-{client}.csv");
  EXPECT_EQ(identity.rewired, "directed-ring");
  EXPECT_EQ(identity.moves, 7);
  EXPECT_EQ(identity.layout().count(0), 2);
  EXPECT_EQ(identity.layout().count(2), 4);
  for (const char* const damaged : {"0 2", "1 2 3", "0 3 2", "0 2 7", "0 2 x"}) {
    const std::string text = fmt::format("id\ninputs\n6 clients on 3 ranks\nfirst-clients {}\n", damaged);
    EXPECT_ERROR(UsageError, "first-clients", RunIdentity::parse(text, "run")) << damaged;
  }
}

// A crash before the step that counts leaves new folders, one behind it earlier ones. Both are removed, and no others.
TEST(RunDirectory, MovesClientsInOneStep) {
  for (const std::string place : {"", "-{host}"}) {
    SharedFolder shared;
    const int rank = world().rank();
    const auto again = [&] {
      return RunDirectory::again(shared.run(), shared.agreement(), place.empty() ? "" : shared.run() + place);
    };
    std::string first;
    {
      const RunDirectory directory(shared.run(), "", shared.agreement(), place.empty() ? "" : shared.run() + place);
      first = directory.private_folder(rank);
      if (rank == 0) directory.begin({"a run", "inputs", 4, world().size()});
      std::ofstream(first + "/ledger") << "rows";
    }
    const std::string second = first + ".1";
    const std::string of_another = first + ".kept";
    std::filesystem::create_directory(of_another);
    shared.agreement().barrier();
    {
      RunDirectory directory = again();
      directory.begin_move();
      EXPECT_EQ(directory.make_next_folder(rank), second);
      EXPECT_EQ(directory.place().earlier_folder(rank), first);
    }
    shared.agreement().barrier();
    {
      RunDirectory directory = again();
      EXPECT_EQ(mode_of(second), 0U) << "it did not come to count";
      EXPECT_EQ(directory.private_folder(rank), first);
      directory.begin_move();
      static_cast<void>(directory.make_next_folder(rank));
      directory.take_next_folders(shared.agreement(), directory.identity());
      EXPECT_EQ(directory.private_folder(rank), second);
      EXPECT_EQ(directory.identity().moves, 1);
      EXPECT_EQ(mode_of(first), 0U);
      std::filesystem::create_directory(first);  // as if a crash had come before it was removed
      if (!place.empty()) std::filesystem::copy_file(second + "/of-run", first + "/of-run");
    }
    shared.agreement().barrier();
    const RunDirectory directory = again();
    EXPECT_EQ(directory.private_folder(rank), second);
    EXPECT_EQ(mode_of(first), 0U);
    EXPECT_NE(mode_of(of_another), 0U);
    EXPECT_EQ(private_folders_of(shared.run()).size(), static_cast<std::size_t>(world().size()));
  }
}

TEST(RunDirectory, KeepsCoefficientsWithAllTheirDigits) {
  SharedFolder shared;
  const RunDirectory directory(shared.run(), "", shared.agreement());
  if (world().rank() != 0) return;
  const double nan = std::nan("");
  write_coefficients(directory, {{"a, \"b\"", 1.0 / 3, 0.1 + 0.2, -1e-300, 2, 0.95, "model"},
                                 {"intercept", -1, nan, nan, nan, nan, ""}});
  EXPECT_EQ(read_text(directory.path() + "/coefficients.csv"),
            "name,estimate,standard_error,low,high,level,method\n"
            "\"a, \"\"b\"\"\",0.3333333333333333,0.30000000000000004,-1e-300,2,0.95,model\n"
            "intercept,-1,,,,,\n");
}

TEST(RunDirectory, KeepsWhoseCoefficientsTheyAre) {
  SharedFolder shared;
  const RunDirectory directory(shared.run(), "", shared.agreement());
  if (world().rank() != 0) return;
  write_coefficients(directory, {{"x", 1, std::nan(""), 0.5, 2, 0.9, "random-scaling", 0},
                                 {"x", 2, std::nan(""), 1, 3, 0.9, "random-scaling", 12}});
  EXPECT_EQ(read_text(directory.path() + "/coefficients.csv"),
            "client,name,estimate,standard_error,low,high,level,method\n"
            "0,x,1,,0.5,2,0.9,random-scaling\n"
            "12,x,2,,1,3,0.9,random-scaling\n");
}

// Readable by its owner alone from its first moment, whatever the umask.
TEST(OwnersFile, IsTheOwnersAlone) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  const OwnersFile file(folder / "metrics.csv");
  ::umask(before);
  EXPECT_EQ(mode_of(folder / "metrics.csv"), 0600U);
  EXPECT_EQ(read_text(folder / "metrics.csv"), "");
}

TEST(OwnersFile, AppendsPublicAndSecretText) {
  const TemporaryFolder folder;
  const OwnersFile file(folder / "metrics.csv");
  file.append_text("rounds,loss\n");
  file.append(Secret<std::string>("1,0.5\n"));
  OwnersFile(folder / "metrics.csv").append_text("2,0.25\n");
  EXPECT_EQ(read_text(folder / "metrics.csv"), "rounds,loss\n1,0.5\n2,0.25\n");
  EXPECT_EQ(mode_of(folder / "metrics.csv"), 0600U);
}

TEST(OwnersFile, SaysWhereItCannotWrite) {
  const TemporaryFolder folder;
  EXPECT_ERROR(FailureError, "none/metrics.csv", OwnersFile(folder / "none/metrics.csv"));
}

}  // namespace starling::run_directory_test
