// Mixing against a plain loop: the sums of docs/methods/decentralized.md, "One round", client by client, with all
// vectors in one place. Bit for bit, on any layout, by messages and through windows.
#include "protocol/troubled.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"
#include <algorithm>
#include <bit>
#include <functional>
#include <memory>

#include "starling/core/random.hpp"
#include "starling/graph/graph.hpp"
#include "starling/protocol/decentralized/synchronous_mixer.hpp"

namespace starling::mixing_twin_test {

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

/// Entry i of what client u's step adds in round t.
double step_of(Client u, Round t, std::size_t i) {
  AddressedRandom random(3, Purpose::experiment, static_cast<std::uint64_t>(u) << 20 | i,
                         static_cast<std::uint64_t>(t));
  return random.uniform() - 0.3;
}

/// All clients, by the method's formulas.
struct Twin {
  std::vector<Vector> x;
  Vector w;

  Twin(std::size_t clients, std::size_t d) : x(clients, Vector(d)), w(clients, 1) {}

  void mix(const Schedule& schedule, double lazy, Round t) {
    const std::size_t d = x.front().size();
    std::vector<Links> links;
    std::vector<Vector> sent;
    std::vector<Vector> kept;
    for (std::size_t u = 0; u < x.size(); ++u) {
      links.push_back(schedule.links(static_cast<Client>(u), t));
      const double share = w[u] < negligible_mass ? 0 : links[u].share * (1 - lazy);
      Vector s(x[u]);
      for (double& entry : s) entry *= w[u];
      s.push_back(w[u]);
      kept.push_back(s);
      for (double& entry : s) entry *= share;
      for (const Arc& arc : links[u].out) {
        for (std::size_t i = 0; i <= d; ++i) kept[u][i] -= arc.weight * s[i];
      }
      sent.push_back(std::move(s));
    }
    for (std::size_t u = 0; u < x.size(); ++u) {
      if (links[u].in.empty() && links[u].out.empty()) continue;
      Vector sum(d + 1);
      std::vector<Arc> terms = links[u].in;
      const auto own =
          std::find_if(terms.begin(), terms.end(), [&](const Arc& arc) { return arc.peer > static_cast<Client>(u); });
      terms.insert(own, {static_cast<Client>(u), 1});
      for (const Arc& arc : terms) {
        const bool is_own = arc.peer == static_cast<Client>(u);
        const Vector& term = is_own ? kept[u] : sent[static_cast<std::size_t>(arc.peer)];
        for (std::size_t i = 0; i <= d; ++i) sum[i] += arc.weight * term[i];
      }
      w[u] = sum[d];
      if (w[u] < negligible_mass) continue;
      for (std::size_t i = 0; i < d; ++i) x[u][i] = sum[i] / w[u];
    }
  }
};

struct Case {
  std::string name;
  std::function<std::unique_ptr<Schedule>()> schedule;
  std::size_t dimension;
  double lazy = 0;
};

class MixingTwin : public testing::TestWithParam<std::tuple<Case, ExchangeWay>> {};

TEST_P(MixingTwin, HasTheSameBits) {
  const Case& c = std::get<0>(GetParam());
  const ExchangeWay way = std::get<1>(GetParam());
  const auto schedule = c.schedule();
  const auto of_mixer = c.schedule();
  const Layout layout(schedule->clients(), world().size());
  Neighbours neighbours(world(), layout, message_length(c.dimension, Mixing::push_sum), way);
  MixingSettings settings;
  settings.lazy = c.lazy;
  SynchronousMixer mixer(neighbours, *of_mixer, settings);
  const std::size_t count = neighbours.count();
  if (count > 0) {
    const bool has_all = mixer.plan_ahead();
    EXPECT_EQ(has_all, schedule->period() == 1);
    if (has_all) of_mixer->forget_links();  // it will never ask again
  }
  Holdings holdings{declare_public(Columns(c.dimension, count)), Vector(count, 1.0)};
  Twin twin(static_cast<std::size_t>(schedule->clients()), c.dimension);
  TimeShares shares;
  std::size_t different = 0;
  bool stayed = false;
  for (Round t = 0; t < 25 && count > 0; ++t) {
    EXPECT_TRUE(mixer.begin_round(t));
    for (std::size_t u = 0; u < twin.x.size(); ++u) {
      for (std::size_t i = 0; i < c.dimension; ++i) twin.x[u][i] += step_of(static_cast<Client>(u), t, i);
    }
    const auto first = static_cast<std::size_t>(neighbours.first());
    holdings.state.update([&](Columns& state) {
      for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t i = 0; i < c.dimension; ++i) state[k][i] += step_of(static_cast<Client>(first + k), t, i);
      }
    });
    Stopwatch watch(false);
    mixer.mix(holdings, watch, shares);
    twin.mix(*schedule, c.lazy, t);
    const auto differs = [](double a, double b) {
      return std::bit_cast<std::uint64_t>(a) != std::bit_cast<std::uint64_t>(b);
    };
    for (std::size_t k = 0; k < count; ++k) {
      const View x = holdings.state.value()[k];
      different += differs(holdings.mass[k], twin.w[first + k]) ? 1 : 0;
      for (std::size_t i = 0; i < c.dimension; ++i) different += differs(x[i], twin.x[first + k][i]) ? 1 : 0;
    }
    for (const double w : twin.w) stayed = stayed || w < negligible_mass;
  }
  mixer.finish(holdings);
  EXPECT_EQ(different, 0U);
  EXPECT_TRUE(stayed || c.name != "givers" || count == 0) << "the case that is meant to be seen";
}

std::vector<Case> cases() {
  const auto sender = [](const std::string& spec, Client n) {
    return [=] { return make_graph(spec, n, WeightRule::sender); };
  };
  return {{"givers", givers, 5},
          {"exponential", sender("exponential", 8), 1100},  // two stretches
          {"random", sender("random-regular:degree=4,seed=2", 30), 50},
          {"lazy givers", givers, 5, 0.3},
          {"absences and losses", [] { return testing_support::troubled(10); }, 70},
          {"one peer", sender("one-peer-exponential", 11), 9},
          {"complete", sender("complete", 9), 37}};
}

INSTANTIATE_TEST_SUITE_P(Graphs, MixingTwin,
                         testing::Combine(testing::ValuesIn(cases()),
                                          testing::Values(ExchangeWay::messages, ExchangeWay::windows)),
                         [](const auto& row) {
                           const bool messages = std::get<1>(row.param) == ExchangeWay::messages;
                           return testing_support::test_name(std::get<0>(row.param).name) +
                                  (messages ? "_by_messages" : "_through_windows");
                         });

}  // namespace starling::mixing_twin_test
