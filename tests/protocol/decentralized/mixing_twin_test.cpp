// Mixing against a plain loop over all clients. Bit for bit, on any layout, by messages and through windows, whoever is
// slow; and both send as much.
#include <bit>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <thread>

#include "core/random.hpp"
#include "graph/graph.hpp"
#include "protocol/decentralized/synchronous_mixer.hpp"
#include "protocol/plain_mixing.hpp"
#include "protocol/troubled.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::mixing_twin_test {

using testing_support::PlainMixing;
using testing_support::world;

/// A[to][from] of a few clients, one matrix after the other, over and over.
class Matrices final : public Schedule {
 public:
  using Matrix = std::vector<Vector>;
  explicit Matrices(std::vector<Matrix> matrices) : matrices_(std::move(matrices)) {}
  [[nodiscard]] Client clients() const override { return static_cast<Client>(matrices_.front().size()); }
  [[nodiscard]] Round period() const override { return static_cast<Round>(matrices_.size()); }
  [[nodiscard]] Links links(Client u, Round t) const override {
    const Matrix& a = matrices_[static_cast<std::size_t>(t) % matrices_.size()];
    const auto me = static_cast<std::size_t>(u);
    Links links;
    links.own = a[me][me];
    for (std::size_t v = 0; v < a.size(); ++v) {
      if (v != me && a[v][me] > 0) links.out.push_back({static_cast<Client>(v), a[v][me]});
      if (v != me && a[me][v] > 0) links.in.push_back({static_cast<Client>(v), a[me][v]});
    }
    return links;
  }
  [[nodiscard]] std::string digest() const override { return "of a test"; }

 private:
  std::vector<Matrix> matrices_;
};

/// Clients that give all away and get nothing, or something only later; one whose share is below the least mass; one
/// that nobody meets.
std::unique_ptr<Schedule> givers() {
  const double third = 1.0 / 3;
  const Matrices::Matrix all_from_0 = {
      {0, 0, 0, 0, 0}, {0.7, 0.5, 0, third, 0}, {0.3, 0, 1, 0, 0}, {0, 0.5, 0, 2 * third, 0}, {0, 0, 0, 0, 1}};
  const Matrices::Matrix from_nothing = {
      {0, 0, 0, 0, 0}, {0, 1 - 0x1p-30, 0, 0, 0}, {0, 0, 0.5, 0.25, 0}, {0, 0, 0.5, 0.75, 0}, {1, 0x1p-30, 0, 0, 1}};
  const Matrices::Matrix least_to_0 = {
      {1, 0, 0, 0x1p-46, 0}, {0, 0.1, 0.3, 0, 0}, {0, 0.9, 0.7, 0, 0}, {0, 0, 0, 1 - 0x1p-46, 0}, {0, 0, 0, 0, 1}};
  const Matrices::Matrix swap = {
      {1, 0, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 0, 0.6, 0.1}, {0, 0, 0, 0.4, 0.9}};
  const Matrices::Matrix back_to_0 = {
      {1, 0, 0, 0.2, 0.1}, {0, 1, 0, 0, 0.2}, {0, 0, 1, 0.2, 0}, {0, 0, 0, 0.6, 0}, {0, 0, 0, 0, 0.7}};
  return std::make_unique<Matrices>(
      std::vector<Matrices::Matrix>{all_from_0, from_nothing, least_to_0, swap, from_nothing, back_to_0, swap});
}

struct Case {
  std::string name;
  std::function<std::unique_ptr<Schedule>()> schedule;
  std::size_t dimension;
  MixingSettings settings = {};
  Round rounds = 25;
};

/// Ranks take their time for their steps, now one and now another.
void dawdle(Round t) {
  AddressedRandom random(9, Purpose::experiment, static_cast<std::uint64_t>(world().rank()),
                         static_cast<std::uint64_t>(t));
  if (random.uniform() < 0.1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Adds what client u's step adds in round t, which nobody averages away.
void step(MutableView state, Client u, Round t) {
  AddressedRandom random(3, Purpose::experiment, static_cast<std::uint64_t>(u), static_cast<std::uint64_t>(t));
  for (double& value : state) value += random.uniform() - 0.3;
}

bool differs(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) != std::bit_cast<std::uint64_t>(b);
}

/// Mixes beside the plain loop; returns the traffic of this rank's clients.
std::vector<std::int64_t> play(const Case& c, ExchangeWay way) {
  const auto schedule = c.schedule();
  const auto of_mixer = c.schedule();
  const Layout layout(schedule->clients(), world().size());
  Neighbours neighbours(world(), layout, message_length(c.dimension, c.settings), way);
  EXPECT_EQ(neighbours.has_windows(), way == ExchangeWay::windows && world().size() > 1);
  SynchronousMixer mixer(neighbours, c.dimension, *of_mixer, c.settings);
  const std::size_t count = neighbours.count();
  if (count > 0) {
    const bool has_all = mixer.plan_ahead();
    EXPECT_EQ(has_all, schedule->period() == 1);
    if (has_all) of_mixer->forget_links();  // it will never ask again
  }
  Holdings holdings{declare_public(Columns(c.dimension, count)), Vector(count, 1.0)};
  const auto clients = static_cast<std::size_t>(schedule->clients());
  PlainMixing twin(*schedule, c.settings, std::vector<Vector>(clients, Vector(c.dimension)));
  TimeShares shares;
  std::size_t different = 0;
  bool stayed = false;
  for (Round t = 0; t < c.rounds && count > 0; ++t) {
    EXPECT_TRUE(mixer.begin_round(t));
    dawdle(t);
    for (std::size_t u = 0; u < clients; ++u) step(twin.states()[u], static_cast<Client>(u), t);
    holdings.state.update([&](Columns& state) {
      for (std::size_t k = 0; k < count; ++k) step(state[k], neighbours.first() + static_cast<Client>(k), t);
    });
    Stopwatch watch(false);
    mixer.mix(holdings, watch, shares);
    twin.mix(t);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t u = static_cast<std::size_t>(neighbours.first()) + k;
      const View x = holdings.state.value()[k];
      different += differs(holdings.mass[k], twin.masses()[u]) ? 1 : 0;
      for (std::size_t i = 0; i < c.dimension; ++i) different += differs(x[i], twin.states()[u][i]) ? 1 : 0;
    }
    for (const double w : twin.masses()) stayed = stayed || w < negligible_mass;
  }
  mixer.finish(holdings);
  EXPECT_EQ(different, 0U) << (way == ExchangeWay::windows ? "through windows" : "by messages");
  EXPECT_TRUE(stayed || c.name != "givers" || count == 0) << "the case that is meant to be seen";
  std::vector<std::int64_t> traffic{neighbours.wire_traffic().messages, neighbours.wire_traffic().bytes};
  for (const EdgeTraffic& edge : neighbours.edge_traffic()) {
    traffic.insert(traffic.end(), {edge.from, edge.to, edge.messages, edge.bytes});
  }
  return traffic;
}

class MixingTwin : public testing::TestWithParam<Case> {};

TEST_P(MixingTwin, HasTheSameBits) {
  EXPECT_EQ(play(GetParam(), ExchangeWay::messages), play(GetParam(), ExchangeWay::windows));
}

std::vector<Case> cases() {
  const auto sender = [](const std::string& spec, Client n) {
    return [=] { return make_graph(spec, n, WeightRule::sender); };
  };
  const MixingSettings plain{.mixing = Mixing::plain};
  const MixingSettings lazy{.lazy = 0.25, .gossip_steps = 3};
  const MixingSettings twice{.gossip_steps = 2};
  const auto in = [](const char* precision) { return MixingSettings{.precision = precision}; };
  return {
      {"givers in 5 bits", givers, 50, in("bits:5")},
      {"ring in 8 bits", sender("ring", 7), 300, in("bits:8")},
      {"absences and losses in half floats", [] { return testing_support::troubled(10); }, 71, in("float16")},
      {"complete in pairs of 3 bits", sender("complete", 9), 33, in("hexagonal:3")},
      {"givers", givers, 5},
      {"lazy givers", givers, 5, {.lazy = 0.3}},
      {"ring", sender("ring", 7), 300},
      {"directed ring", sender("directed-ring", 8), 20},
      {"exponential", sender("exponential", 8), 5000},  // several stretches of a sum
      {"random", sender("random-regular:degree=4,seed=2", 30), 50},
      {"complete", sender("complete", 7), 1000},
      {"complete of many clients", sender("complete", 23), 3},
      {"one peer", sender("one-peer-exponential", 8), 40},
      {"one peer lazily", sender("one-peer-exponential", 11), 40, lazy},
      {"endless matching", sender("random-matching:rounds=endless", 9), 100},
      {"absences and losses", [] { return testing_support::troubled(10); }, 70},
      {"absences and losses in two gossip steps", [] { return testing_support::troubled(9, 2); }, 7, twice},
      {"plain", sender("ring", 6), 60, plain},
      {"fewer clients than ranks", sender("complete", 3), 60},
      {"one long block of a rank", sender("directed-ring", 8), 280'000, {}, 4},  // on two ranks and four
  };
}

/// Σ s of all clients, and how far models lie apart: Σ ‖x_u − x̄‖² / V.
struct State {
  Vector sums;
  double apart = 0;
};
State state_of(const PlainMixing& mixing, const std::vector<Vector>& models) {
  const std::size_t d = models.front().size();
  State state{Vector(d + 1)};
  Vector mean(d);
  for (std::size_t u = 0; u < models.size(); ++u) {
    for (std::size_t i = 0; i < d; ++i) {
      state.sums[i] += mixing.masses()[u] * models[u][i];
      mean[i] += models[u][i] / static_cast<double>(models.size());
    }
    state.sums[d] += mixing.masses()[u];
  }
  for (const Vector& model : models) {
    for (std::size_t i = 0; i < d; ++i) state.apart += (model[i] - mean[i]) * (model[i] - mean[i]);
  }
  state.apart /= static_cast<double>(models.size());
  return state;
}

class Rounded : public testing::TestWithParam<Case> {};

// Whatever rounding takes from a message stays with its sender. (The plain loop has the mixer's bits, as tested above.)
TEST_P(Rounded, LosesNothingAndAgreesUpToTheFloor) {
  const Case& c = GetParam();
  const auto schedule = c.schedule();
  std::vector<Vector> start(static_cast<std::size_t>(schedule->clients()), Vector(c.dimension));
  for (std::size_t u = 0; u < start.size(); ++u) step(start[u], static_cast<Client>(u), 0);
  PlainMixing mixing(*schedule, c.settings, start);
  const State first = state_of(mixing, start);
  for (Round t = 0; t < 400; ++t) mixing.mix(t);
  const State last = state_of(mixing, mixing.states());
  for (std::size_t i = 0; i < first.sums.size(); ++i) EXPECT_NEAR(last.sums[i], first.sums[i], 1e-11) << i;
  if (c.name.starts_with("givers") || c.name.starts_with("absences"))
    return;  // these are not connected, or not for long
  const double width = 1 / (std::exp2(std::stod(c.settings.precision.substr(c.settings.precision.find(':') + 1))) - 1);
  EXPECT_LT(last.apart, first.apart / 4);
  EXPECT_LT(last.apart, static_cast<double>(c.dimension) * width * width / 4) << "the floor of the page";
}

INSTANTIATE_TEST_SUITE_P(Graphs, Rounded, testing::ValuesIn([] {
                           std::vector<Case> rounded;
                           for (const Case& c : cases()) {
                             if (c.settings.rounds_messages()) rounded.push_back(c);
                           }
                           return rounded;
                         }()),
                         [](const auto& row) { return testing_support::test_name(row.param.name); });

INSTANTIATE_TEST_SUITE_P(Graphs, MixingTwin, testing::ValuesIn(cases()),
                         [](const auto& row) { return testing_support::test_name(row.param.name); });

}  // namespace starling::mixing_twin_test
