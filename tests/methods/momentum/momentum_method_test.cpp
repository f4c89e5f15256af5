// The method that docs/how-to/add-a-learning-method.md adds: its models are those of a plain loop, and its command has
// what all learning commands have.
#include "momentum_method.hpp"

#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>

#include "files/durable_file.hpp"
#include "net/agreement.hpp"
#include "output/model_file/saved_model.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::momentum_method_test {

using namespace testing_support;

constexpr int clients = 3;
constexpr int rounds = 7;

struct Row {
  double x;
  double z;
  double label;
};

std::vector<Row> rows_of(int client) {
  std::vector<Row> rows;
  for (int i = 0; i < 4; ++i)
    rows.push_back({0.5 * i - client, 0.25 * client + 0.1 * i, (i + client) % 2 ? 1.0 : -1.0});
  return rows;
}

/// Logistic regression by momentum, with all of a client's records in each batch.
std::vector<double> plain_loop(double step, double beta) {
  double theta[2] = {0, 0};
  double velocity[2] = {0, 0};
  for (int t = 0; t < rounds; ++t) {
    double mean[2] = {0, 0};
    for (int k = 0; k < clients; ++k) {
      for (const Row& row : rows_of(k)) {
        const double slope = -row.label / (1 + std::exp(row.label * (theta[0] * row.x + theta[1] * row.z)));
        mean[0] += slope * row.x / 4 / clients;
        mean[1] += slope * row.z / 4 / clients;
      }
    }
    for (int j = 0; j < 2; ++j) {
      velocity[j] = beta * velocity[j] + mean[j];
      theta[j] -= step * velocity[j];
    }
  }
  return {theta[0], theta[1]};
}

void write_records(const std::string& folder) {
  for (int k = 0; k < clients; ++k) {
    std::ofstream file(fmt::format("{}/site-{}.csv", folder, k));
    file << "x,z,y\n";
    for (const Row& row : rows_of(k)) file << fmt::format("{},{},{}\n", row.x, row.z, row.label);
  }
}

/// The model that a run of these words ends with, on rank 0; empty elsewhere. `write` writes records to a folder, which
/// the words name by {}.
Vector model_of(const std::function<void(const std::string& folder)>& write, std::vector<std::string> words) {
  Agreement agreement(world());
  const TemporaryFolder own;
  const std::string folder = agreement.broadcast(declare_public(own / ""));
  agreement.together([&] {
    if (world().rank() == 0) write(folder);
  });
  words[1] = folder + words[1];
  words.insert(words.end(), {"--output", folder + "run", "--progress", "off"});
  Configured<MomentumConfig> configuration(momentum_options, complete_momentum_config);
  configuration.read(words);
  const auto settle = [&](RunContext& run, RunHome& home) {
    return std::make_unique<MomentumMethod>(run, home, configuration);
  };
  std::string noted;
  const auto note = [&](const std::string& path) { noted = path; };
  EXPECT_EQ(run_method(world(), {"momentum", settle}, configuration, {"starling momentum", ""}, note), ExitCode::done);
  EXPECT_EQ(noted, folder + "run");
  Vector model;
  agreement.together([&] {
    if (world().rank() == 0) model = read_model(folder + "run/model.h5").parameters;
  });
  return model;
}

TEST(MomentumMethod, ItsModelIsThatOfAPlainLoopOnAnyRanks) {
  const Vector model = model_of(
      write_records, {"--source", "site-{client}.csv", "--clients", std::to_string(clients), "--batch", "4", "--epochs",
                      std::to_string(rounds), "--mechanism", "none", "--step", "0.3", "--momentum", "0.8"});
  if (world().rank() != 0) return;
  const std::vector<double> expected = plain_loop(0.3, 0.8);
  ASSERT_EQ(model.size(), 2u);
  EXPECT_NEAR(model[0], expected[0], 1e-12);
  EXPECT_NEAR(model[1], expected[1], 1e-12);
}

/// Each record has the gradient −1 at 0. Three persons, one of them with three records, make a step of 1; as records
/// they would make one of 5/3.
TEST(MomentumMethod, APersonCountsOnceAndIsClippedAsAWhole) {
  const auto write = [](const std::string& folder) {
    std::ofstream(folder + "visits.csv") << "x,who,y\n1,a,1\n1,a,1\n1,a,1\n1,b,1\n1,c,1\n";
  };
  const Vector model =
      model_of(write, {"--source", "visits.csv", "--clients",  "1",   "--batch",     "3",        "--loss", "squared",
                       "--unit",   "person",     "--person",   "who", "--mechanism", "gaussian", "--mu",   "1000",
                       "--step",   "1",          "--momentum", "0"});
  if (world().rank() != 0) return;
  ASSERT_EQ(model.size(), 1u);
  EXPECT_NEAR(model[0], 1, 0.01);
}

/// The file that a diff of the page adds, from its first include on; empty if there is none.
std::string added_by_page(const std::string& name) {
  std::istringstream page(read_whole_file(source_folder() + "/docs/how-to/add-a-learning-method.md").value());
  std::string file;
  bool here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("+++ ")) {
      here = line == "+++ b/src/methods/momentum/" + name;
    } else if (!line.starts_with('+')) {
      here = false;
    } else if (here && !(file.empty() && !line.starts_with("+#"))) {
      file += line.substr(1) + "\n";
    }
  }
  return file;
}

TEST(MomentumMethod, ThePageAddsThisMethod) {
  for (const std::string name : {"momentum_method.hpp", "momentum_method.cpp"}) {
    const std::string file = read_whole_file(source_folder() + "/tests/methods/momentum/" + name).value();
    EXPECT_EQ(added_by_page(name), file.substr(file.find('#'))) << name;
  }
}

}  // namespace starling::momentum_method_test
