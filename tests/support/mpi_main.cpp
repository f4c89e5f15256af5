#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include "mpi_testing.hpp"
#include "net/agreement.hpp"
#include "one_file.hpp"
#include "test_seal.hpp"

namespace starling::testing_support {

namespace {

World* the_world = nullptr;

/// Shows failures only, with the rank: what ranks above 0 say.
class FailurePrinter : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", the_world->rank(),
                 result.file_name() == nullptr ? "?" : result.file_name(), result.line_number(), result.message());
  }
};

}  // namespace

World& world() {
  return *the_world;
}

std::vector<std::string> heard(std::size_t count) {
  std::vector<std::string> messages;
  for (int waits = 0; waits < 20'000 && messages.size() < count; ++waits) {
    const std::string message = message_of<PeerError>([] { std::ignore = world().go_on_waiting(); });
    if (!message.empty()) messages.push_back(message);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return messages;
}

/// Fails on every rank when a test failed on any rank, or when no test ran.
int agree_on(int failed) {
  const bool ran = testing::UnitTest::GetInstance()->test_to_run_count() > 0;
  const std::string verdict = failed != 0 ? "failed" : ran ? "passed" : "ran no test";
  int result = 0;
  const auto verdicts = Agreement(world()).all_gather(declare_public(verdict));
  for (std::size_t r = 0; r < verdicts.size(); ++r) {
    if (verdicts[r] == "passed") continue;
    result = 1;
    if (world().rank() == 0) std::fprintf(stderr, "rank %zu %s\n", r, verdicts[r].c_str());
  }
  return result;
}

}  // namespace starling::testing_support

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  starling::testing_support::choose_file(argc, argv);
  starling::World world;
  world.set_watchdog(30);
  starling::testing_support::the_world = &world;
  // STARLING_TEST_SEAL: messages are sealed, within hosts too, or between every other rank, as if two hosts had them.
  if (const char* const which = std::getenv("STARLING_TEST_SEAL"); which != nullptr) {
    const bool within = std::string(which) == "within";
    world.seal(
        starling::testing_support::seal_terms(world.rank(), world.size(), within ? 1 : 2, within, starling::has_aes()));
  }
  if (world.rank() != 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new starling::testing_support::FailurePrinter);
  }
  return starling::testing_support::agree_on(RUN_ALL_TESTS());
}
