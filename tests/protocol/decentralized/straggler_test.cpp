// A rank that is twenty times slower, by real work (docs/methods/decentralized.md, "Stragglers"): the others keep their
// pace, and all end at the optimum of all clients, the slow one counted in full.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "protocol/network.hpp"
#include "support/testing.hpp"

namespace starling::straggler_test {

using namespace testing_support;

/// Computes for a while, and cannot be left out by the compiler.
void work(int amount) {
  volatile double x = 1;
  for (int i = 0; i < amount * 20000; ++i) x = x * 0.999999 + 1e-3;
}

/// Seconds that this rank's rounds took.
class RoundClock final : public Observer {
 public:
  void after(const RoundView&) override {
    const auto now = std::chrono::steady_clock::now();
    if (rounds_++ == 0) start_ = now;
    end_ = now;
  }
  [[nodiscard]] double rounds_per_second() const {
    return static_cast<double>(rounds_ - 1) / std::chrono::duration<double>(end_ - start_).count();
  }

 private:
  std::int64_t rounds_ = 0;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point end_;
};

struct Outcome {
  double rate = 0;   ///< rounds per second of this rank
  double error = 0;  ///< largest distance of a client's model to the optimum, on rank 0
  double mass = 0;
};

constexpr Client clients = 6;

constexpr Round rounds = 4000;

Outcome play(std::optional<double> deadline, int slowness, Round played = rounds) {
  const auto topology = topology_table().make("directed-ring", clients, WeightRule::sender);
  std::vector<Vector> minimisers;
  double optimum = 0;
  for (Client u = 0; u < clients; ++u) {
    minimisers.push_back({static_cast<double>(u * u)});
    optimum += minimisers.back()[0] / clients;
  }
  RunSettings settings;
  settings.rounds = played;
  settings.step = 0.5;
  settings.deadline = deadline;
  const bool slow = world().rank() + 1 == world().size();
  settings.work = [=] { work(slow ? slowness : 1); };
  RoundClock clock;
  settings.observers = {&clock};
  const auto result =
      run_network(*topology, settings, "euclidean", "free", std::vector<Vector>(clients, {0.0}), minimisers);
  Outcome outcome{clock.rounds_per_second(), 0, result.mass};
  for (const Vector& model : result.models) outcome.error = std::max(outcome.error, std::abs(model[0] - optimum));
  return outcome;
}

// Of several repetitions the best counts: what else the machine does can only slow ranks down and stall them.
// The yardstick is a run in step over the time that the straggler takes: waiting for it, everybody would have played a
// twentieth of the rounds.
TEST(Straggler, NeitherHoldsTheOthersUpNorIsDropped) {
  constexpr int slowness = 20;
  const Outcome in_step = play(std::nullopt, 1, rounds / slowness);
  double rate_alike = 0;
  double rate = 0;
  double error = std::numeric_limits<double>::infinity();
  for (int repetition = 0; repetition < 5; ++repetition) {
    const Outcome alike = play(0, 1);
    const Outcome with_straggler = play(0, slowness);
    rate_alike = std::max(rate_alike, alike.rate);
    rate = std::max(rate, with_straggler.rate);
    if (world().rank() != 0) continue;
    EXPECT_NEAR(alike.mass, clients, 1e-9);
    EXPECT_NEAR(with_straggler.mass, clients, 1e-9);
    error = std::min(error, with_straggler.error);
  }
  if (world().rank() != 0) return;
  EXPECT_GE(rate / rate_alike, 0.8);
  EXPECT_LE(error, 2 * in_step.error);
  fmt::print("rounds per second with a straggler: {:.3f} of those without; error {:.3g}, in step {:.3g}\n",
             rate / rate_alike, error, in_step.error);
}

}  // namespace starling::straggler_test
