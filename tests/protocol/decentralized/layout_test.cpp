// The same clients on any number of ranks: equal bit for bit. Each rank count plays the whole network and compares with
// one rank's digest, which is worked out here by an independent serial simulation of the same round.
#include "protocol/network.hpp"
#include "protocol/troubled.hpp"
#include "support/testing.hpp"
#include <bit>
#include <cmath>
#include <functional>
#include <map>

#include "starling/core/numerics/kernels.hpp"
#include "starling/core/random.hpp"

namespace starling::layout_test {

using namespace testing_support;

/// A number of twice a double's digits: the rounded value and the rest.
struct Double2 {
  double value = 0;
  double rest = 0;
};

/// a + b, whose rest is exact (Knuth).
Double2 two_sum(double a, double b) {
  const double sum = a + b;
  const double a_part = sum - b;
  const double b_part = sum - a_part;
  return {sum, (a - a_part) + (b - b_part)};
}

/// Sum of the shares sent over an edge, and the sum that the receiver has seen last.
struct EdgeSums {
  std::vector<Double2> sent;
  std::vector<Double2> seen;
};

/// The method of docs/methods/decentralized.md written down once more, for all clients in one loop: Euclidean, free,
/// push-sum, quadratic losses.
class Simulation {
 public:
  Simulation(const Schedule& schedule, const RunSettings& settings, std::vector<Vector> x)
      : schedule_(schedule), settings_(settings), n_(x.size()), d_(x.front().size()), x_(std::move(x)), w_(n_, 1.0) {}

  std::vector<Vector> play(const std::vector<Vector>& minimisers) {
    Vector debt(n_, 0.0);
    for (Round t = 0; t < settings_.rounds; ++t) {
      for (std::size_t u = 0; u < n_; ++u) {
        const Attendance attendance = schedule_.attendance(static_cast<Client>(u), t);
        if (attendance == Attendance::gone) continue;
        if (attendance == Attendance::absent && settings_.absent == OmdSettings::Absent::freezes) continue;
        debt[u] += settings_.step / std::pow(static_cast<double>(t + 1), settings_.step_power);
        const double use = std::min(debt[u], settings_.step * w_[u]);
        debt[u] -= use;
        for (std::size_t i = 0; i < d_; ++i) x_[u][i] += -(use / w_[u]) * (x_[u][i] - minimisers[u][i]);
      }
      for (Round g = 0; g < settings_.gossip_steps; ++g) mix(t * settings_.gossip_steps + g);
    }
    return x_;
  }

 private:
  void mix(Round step) {
    // (s, w) of each client, and what it has left once its neighbours have theirs
    std::vector<Vector> message(n_, Vector(d_ + 1));
    for (std::size_t u = 0; u < n_; ++u) {
      for (std::size_t i = 0; i < d_; ++i) message[u][i] = w_[u] * x_[u][i];
      message[u][d_] = w_[u];
    }
    std::vector<Vector> left = message;
    std::map<std::pair<Client, Client>, Vector> arrived;
    for (std::size_t u = 0; u < n_; ++u) {
      const auto from = static_cast<Client>(u);
      const Links links = schedule_.links(from, step);
      for (const Arc& arc : links.out) {
        arrived[{arc.peer, from}] = send(from, arc, links.share, message[u], left[u]);
        EdgeSums& edge = sums_[{from, arc.peer}];
        edge.seen = edge.sent;
      }
      for (const Arc& arc : links.lost) send(from, arc, links.share, message[u], left[u]);
      for (std::size_t i = 0; i < d_ && settings_.running_sums; ++i) left[u][i] = left[u][d_] * x_[u][i];
    }
    for (std::size_t u = 0; u < n_; ++u) {
      const auto to = static_cast<Client>(u);
      const Links links = schedule_.links(to, step);
      if (links.in.empty() && links.out.empty() && links.lost.empty()) continue;
      arrived[{to, to}] = left[u];
      Vector total(d_ + 1, 0.0);
      for (auto& [ends, share] : arrived) {  // in sender order
        if (ends.first != to) continue;
        for (std::size_t i = 0; i <= d_; ++i) total[i] += share[i];
      }
      w_[u] = total[d_];
      for (std::size_t i = 0; i < d_; ++i) x_[u][i] = total[i] / w_[u];
    }
  }

  /// What the receiver of this edge gets, deducted from what is left.
  Vector send(Client from, const Arc& arc, double share, const Vector& message, Vector& left) {
    Vector part(d_ + 1);
    if (!settings_.running_sums) {
      for (std::size_t i = 0; i <= d_; ++i) part[i] = arc.weight * (share * message[i]);
      for (std::size_t i = 0; i <= d_; ++i) left[i] -= part[i];
      return part;
    }
    EdgeSums& edge = sums_[{from, arc.peer}];
    edge.sent.resize(d_ + 1);
    edge.seen.resize(d_ + 1);
    const double before = left[d_];
    left[d_] -= std::min(share * arc.weight * message[d_], before);
    const double mass = before - left[d_];
    const auto u = static_cast<std::size_t>(from);
    for (std::size_t i = 0; i <= d_; ++i) {
      Double2& sent = edge.sent[i];
      const Double2 sum = two_sum(sent.value, i < d_ ? mass * x_[u][i] : mass);
      sent = two_sum(sum.value, sent.rest + sum.rest);
      const Double2 news = two_sum(sent.value, -edge.seen[i].value);
      part[i] = news.value + (news.rest + (sent.rest - edge.seen[i].rest));
    }
    return part;
  }

  const Schedule& schedule_;
  const RunSettings& settings_;
  std::size_t n_;
  std::size_t d_;
  std::vector<Vector> x_;
  Vector w_;
  std::map<std::pair<Client, Client>, EdgeSums> sums_;
};

struct Case {
  std::string name;
  std::function<std::unique_ptr<Schedule>()> schedule;
  std::size_t dimension;  ///< on both sides of the switch to persistent requests
  RunSettings settings = {};
};

std::unique_ptr<Graph> ready(const std::string& name) {
  return read_graph(testing_support::source_folder() + "/topologies/" + name);
}

class AnyLayout : public testing::TestWithParam<Case> {};

TEST_P(AnyLayout, GivesTheBitsOfASerialSimulation) {
  const auto schedule = GetParam().schedule();
  const std::size_t d = GetParam().dimension;
  const auto n = static_cast<std::uint64_t>(schedule->clients());
  std::vector<Vector> start;
  std::vector<Vector> minimisers;
  for (std::uint64_t u = 0; u < n; ++u) {
    AddressedRandom random(3, Purpose::experiment, u, 0);
    Vector& x = start.emplace_back(d);
    Vector& c = minimisers.emplace_back(d);
    for (double& value : x) value = random.normal();
    for (double& value : c) value = random.normal();
  }
  RunSettings settings = GetParam().settings;
  settings.rounds = 60;
  settings.step = 0.7;
  const auto expected = Simulation(*schedule, settings, start).play(minimisers);
  for (const ExchangeWay way : {ExchangeWay::messages, ExchangeWay::windows}) {
    settings.exchange = way;
    const auto result = run_network(*schedule, settings, "euclidean", "free", start, minimisers);
    if (world().rank() != 0) continue;
    std::size_t different = 0;
    for (std::size_t u = 0; u < n; ++u) {
      for (std::size_t i = 0; i < d; ++i) {
        different +=
            std::bit_cast<std::uint64_t>(result.models[u][i]) != std::bit_cast<std::uint64_t>(expected[u][i]) ? 1 : 0;
      }
    }
    EXPECT_EQ(different, 0U) << (way == ExchangeWay::windows ? "through windows" : "by messages");
    EXPECT_NEAR(result.mass + result.in_flight, static_cast<double>(n), 1e-12);
  }
}

RunSettings with(const std::function<void(RunSettings&)>& change) {
  RunSettings settings;
  change(settings);
  return settings;
}

std::vector<Case> cases() {
  const auto endless = [](const std::string& spec, Client n) { return make_graph(spec, n, WeightRule::sender); };
  const RunSettings sums = with([](RunSettings& s) { s.running_sums = true; });
  const RunSettings freezing = with([](RunSettings& s) { s.absent = OmdSettings::Absent::freezes; });
  const RunSettings twice = with([](RunSettings& s) { s.gossip_steps = 2; });
  return {
      {"unbalanced", [] { return ready("unbalanced-5.topo"); }, 3},
      {"unbalanced long", [] { return ready("unbalanced-5.topo"); }, 2500},  // several stretches of a sum
      {"phases", [] { return ready("jointly-connected-4.topo"); }, 17},
      {"one peer", [] { return ready("one-peer-exponential-8.topo"); }, 5},
      {"random", [] { return ready("erdos-renyi-20.topo"); }, 130},
      {"running sums", [] { return ready("unbalanced-5.topo"); }, 3, sums},
      {"endless matching", [=] { return endless("random-matching:rounds=endless", 9); }, 4},
      {"endless random", [=] { return endless("erdos-renyi:rounds=endless,p=0.3", 12); }, 120},
      {"endless random with running sums", [=] { return endless("erdos-renyi:rounds=endless,p=0.3", 12); }, 3, sums},
      {"absent and lossy", [] { return troubled(ready("unbalanced-5.topo"), LossModel::acknowledged); }, 3},
      {"freezing and lossy", [] { return troubled(10); }, 7, freezing},
      {"absent, losses unknown",
       [=] { return troubled(endless("b-connected:rounds=endless,window=3", 10), LossModel::unacknowledged); }, 7,
       sums},
      {"explicit weights, losses unknown",
       [] { return troubled(ready("lost-link-4.topo"), LossModel::unacknowledged); }, 110, sums},
      {"two gossip steps", [] { return troubled(10, 2); }, 7, twice},
  };
}

INSTANTIATE_TEST_SUITE_P(Graphs, AnyLayout, testing::ValuesIn(cases()),
                         [](const auto& row) { return testing_support::test_name(row.param.name); });

}  // namespace starling::layout_test
