// Reports add up to the same figures for any limit of memory.
#include "output/network_reporter.hpp"

#include <bit>
#include <cmath>
#include <gmock/gmock.h>

#include "fake_view.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::network_reporter_test {

using testing_support::world;

constexpr std::size_t d = 3;
constexpr std::size_t clients = 83;

/// Where client j of rank r is after `done` rounds: at places that no sum of theirs holds exactly.
Vector place_of(int r, std::size_t j, Round done) {
  Vector x(d);
  for (std::size_t i = 0; i < d; ++i) {
    x[i] = std::sin(100 * r + static_cast<double>(j * d + i)) / static_cast<double>(done + 3);
  }
  return x;
}

/// Clients of a rank; counts how many models it has given in blocks.
class Places final : public testing_support::FakeView {
 public:
  Places() : FakeView(d, clients) {}
  [[nodiscard]] std::size_t given() const { return given_; }
  [[nodiscard]] std::size_t blocks() const { return blocks_; }

  [[nodiscard]] Released<Columns> some_models(std::size_t first, std::size_t count) const override {
    given_ += count;
    ++blocks_;
    return FakeView::some_models(first, count);
  }

 private:
  [[nodiscard]] Vector place(std::size_t k) const override { return place_of(world().rank(), k, done()); }
  mutable std::size_t given_ = 0;
  mutable std::size_t blocks_ = 0;
};

struct Reports {
  std::vector<NetworkFigures> history;  ///< rank 0's
  std::size_t given = 0;
  std::size_t blocks = 0;
};

/// The reports of rounds 0, 1 and 2, which are all landmarks.
Reports reports_of(std::size_t most_numbers) {
  Agreement agreement(world());
  std::vector<int> active;
  for (int r = 0; r < world().size(); ++r) active.push_back(r);
  const TestScore test = [](View x) { return Score{x[0] * x[0] + x[1] / 3, x[2] > 0 ? 1 : 0, 1}; };
  const auto first = static_cast<Client>(clients) * world().rank();
  NetworkReporter reporter(agreement, active, first, MetricsPolicy(MetricsPolicy::Sharing::local),
                           Scores::losses_and_accuracies, test, nullptr, {}, Models::one_each, most_numbers);
  Places view;
  reporter.after(view);
  for (Round t = 0; t < 2; ++t) {
    view.go(t + 1);
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
    const Reports some = reports_of(8 * at_once * d + d - 1);
    EXPECT_EQ(bits_of(some.history), bits_of(whole.history)) << at_once;
    EXPECT_EQ(some.blocks, 3 * ((clients + at_once - 1) / at_once)) << at_once;
    EXPECT_EQ(some.given, 3 * clients) << at_once;
  }
  EXPECT_EQ(reports_of(1).blocks, 3 * clients) << "a model may exceed the limit";
}

TEST(NetworkReporter, TellsHowFarModelsAreApart) {
  const Reports some = reports_of(2 * d);
  if (world().rank() != 0) return;
  const auto all = clients * static_cast<std::size_t>(world().size());
  for (const NetworkFigures& figures : some.history) {
    std::vector<Vector> models;
    for (int r = 0; r < world().size(); ++r) {
      for (std::size_t j = 0; j < clients; ++j) models.push_back(place_of(r, j, figures.done));
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

}  // namespace starling::network_reporter_test
