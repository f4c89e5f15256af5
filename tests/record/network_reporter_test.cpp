// What reports add up to, whatever room they look at models in.
#include "starling/record/network_reporter.hpp"

#include "support/mpi_testing.hpp"
#include "support/testing.hpp"
#include <bit>
#include <cmath>
#include <gmock/gmock.h>

namespace starling {
namespace {

using testing_support::world;

constexpr std::size_t d = 3;
constexpr std::size_t clients = 11;

/// Clients of a rank, at places that no sum of theirs holds exactly; counts how many models it has given in blocks.
class Places final : public RoundView {
 public:
  Places() : masses_(clients, 1.0), tallies_(clients), played_(clients), rounds_(clients) {}
  void go() { ++done_; }
  [[nodiscard]] std::size_t given() const { return given_; }
  [[nodiscard]] std::size_t blocks() const { return blocks_; }

  [[nodiscard]] Round done() const override { return done_; }
  [[nodiscard]] Released<Columns> models() const override { return some_models(0, clients); }
  [[nodiscard]] Released<Columns> some_models(std::size_t first, std::size_t count) const override {
    given_ += count;
    ++blocks_;
    Columns some(d, count);
    for (std::size_t k = 0; k < count; ++k) {
      const View x = model(first + k);
      std::copy(x.begin(), x.end(), some[k].begin());
    }
    return declare_public(some);
  }
  [[nodiscard]] View model(std::size_t k) const override {
    shown_.resize(d);
    for (std::size_t i = 0; i < d; ++i) {
      shown_[i] = std::sin(static_cast<double>(100 * world().rank()) + static_cast<double>(k * d + i)) /
                  static_cast<double>(done_ + 3);
    }
    return shown_;
  }
  [[nodiscard]] bool stepped(std::size_t) const override { return true; }
  [[nodiscard]] View masses() const override { return masses_; }
  [[nodiscard]] bool was_present(std::size_t) const override { return true; }
  [[nodiscard]] double mass_in_flight() const override { return 0; }
  [[nodiscard]] std::span<const Arrival> arrivals() const override { return {}; }
  [[nodiscard]] const std::vector<Secret<Score>>& tallies() const override { return tallies_; }
  [[nodiscard]] const std::vector<Secret<double>>& played() const override { return played_; }
  [[nodiscard]] const std::vector<RoundSet>& rounds_played() const override { return rounds_; }

 private:
  Round done_ = 0;
  Vector masses_;
  mutable Vector shown_;
  mutable std::size_t given_ = 0;
  mutable std::size_t blocks_ = 0;
  std::vector<Secret<Score>> tallies_;
  std::vector<Secret<double>> played_;
  std::vector<RoundSet> rounds_;
};

struct Reports {
  std::vector<NetworkFigures> history;  ///< rank 0's
  std::size_t given = 0;
  std::size_t blocks = 0;
};

/// Of rounds 0, 1 and 2, which are all landmarks.
Reports reports_of(std::size_t most_numbers) {
  Agreement agreement(world());
  std::vector<int> active;
  for (int r = 0; r < world().size(); ++r) active.push_back(r);
  const TestScore test = [](View x) { return Score{x[0] * x[0] + x[1] / 3, x[2] > 0 ? 1 : 0, 1}; };
  NetworkReporter reporter(agreement, world().rank(), active, MetricsPolicy(MetricsPolicy::Sharing::local),
                           Scores::losses_and_accuracies, test, nullptr, "", Models::one_each, most_numbers);
  Places view;
  reporter.after(view);
  for (Round t = 0; t < 2; ++t) {
    view.go();
    reporter.after(view);
  }
  reporter.finish(view, 2);
  return {reporter.history(), view.given(), view.blocks()};
}

std::vector<std::uint64_t> bits_of(const std::vector<NetworkFigures>& history) {
  std::vector<std::uint64_t> bits;
  for (const NetworkFigures& each : history) {
    for (const double figure : {each.test_loss, each.test_accuracy, each.consensus_error, each.mass}) {
      EXPECT_FALSE(std::isnan(figure));
      bits.push_back(std::bit_cast<std::uint64_t>(figure));
    }
  }
  return bits;
}

TEST(NetworkReporter, LooksAtAFewModelsAtATimeForTheSameBits) {
  const Reports whole = reports_of(most_numbers_of_models);
  EXPECT_EQ(whole.history.size(), world().rank() == 0 ? 3U : 0U);
  EXPECT_EQ(whole.blocks, 3U) << "each report works models out once";
  EXPECT_EQ(reports_of(clients * d).blocks, 3U);
  for (const std::size_t at_once : {1U, 2U, 4U, 10U}) {
    const Reports some = reports_of(at_once * d + d - 1);
    EXPECT_EQ(bits_of(some.history), bits_of(whole.history)) << at_once;
    EXPECT_EQ(some.blocks, 3 * 2 * ((clients + at_once - 1) / at_once)) << at_once;
    EXPECT_EQ(some.given, 3 * 2 * clients) << at_once;
  }
  EXPECT_EQ(reports_of(1).blocks, 3 * 2 * clients) << "a model may be larger than the room";
}

TEST(NetworkReporter, TellsHowFarModelsAreApart) {
  const Reports some = reports_of(2 * d);
  if (world().rank() != 0) return;
  const auto all = clients * static_cast<std::size_t>(world().size());
  for (const NetworkFigures& figures : some.history) {
    std::vector<Vector> models;
    for (int r = 0; r < world().size(); ++r) {
      for (std::size_t j = 0; j < clients; ++j) {
        Vector& x = models.emplace_back();
        for (std::size_t i = 0; i < d; ++i) {
          x.push_back(std::sin(100 * r + static_cast<double>(j * d + i)) / static_cast<double>(figures.done + 3));
        }
      }
    }
    double error = 0;
    for (std::size_t i = 0; i < d; ++i) {
      double mean = 0;
      for (const Vector& x : models) mean += x[i] / static_cast<double>(all);
      for (const Vector& x : models) error += (x[i] - mean) * (x[i] - mean) / static_cast<double>(all);
    }
    EXPECT_NEAR(figures.consensus_error, error, 1e-12 * error + 1e-15);
  }
}

}  // namespace
}  // namespace starling
