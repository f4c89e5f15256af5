/// Evaluation passes over records that a test lists.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "model/linear_model.hpp"
#include "regret/evaluation_pass.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::testing_support {

struct Row1 {
  Vector features;
  double label;
};

/// `batch` of some records a round, once through them.
class ListStream final : public Stream {
 public:
  ListStream(std::vector<Row1> records, std::size_t batch) : records_(std::move(records)), batch_size_(batch) {}
  [[nodiscard]] const Secret<Batch>& next(Round t) override {
    const std::size_t from = static_cast<std::size_t>(t) * batch_size_;
    batch_.update([&](Batch& batch) {
      batch.clear();
      for (std::size_t i = from; i < std::min(from + batch_size_, records_.size()); ++i) {
        batch.add({records_[i].features, {}}, records_[i].label);
      }
    });
    return batch_;
  }
  [[nodiscard]] bool ended(Round t) override { return static_cast<std::size_t>(t) * batch_size_ >= records_.size(); }
  [[nodiscard]] std::int64_t participations() const override { return 1; }
  [[nodiscard]] std::optional<std::int64_t> records() const override {
    return static_cast<std::int64_t>(records_.size());
  }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const override { return std::nullopt; }
  [[nodiscard]] std::optional<Round> rounds() const override { return std::nullopt; }

 private:
  std::vector<Row1> records_;
  std::size_t batch_size_;
  Secret<Batch> batch_;
};

struct Game {
  std::string loss;
  std::string domain;
  std::size_t batch = 1;
  double l2 = 0;
  Round rounds = 1000;
  std::vector<Round> marks = {};
  std::vector<std::pair<std::size_t, Round>> absent = {};  ///< (client, round) that is not played
};

/// What `action` makes of a pass over `data`, a list of records per client, whose clients have played `played` each
/// before each mark.
template <class Action>
auto with_pass(
    const Game& game, const std::vector<std::vector<Row1>>& data, const std::vector<Vector>& played, Action&& action,
    const std::function<bool()>& interrupted = [] { return false; }) {
  const Layout layout(static_cast<Client>(data.size()), world().size());
  const auto loss = loss_table().make(game.loss);
  const auto domain = domain_table().make(game.domain);
  LinearModel model(*loss, data.front().front().features.size(), false);
  EvaluationData own;
  for (Client k = 0; k < layout.count(world().rank()); ++k) {
    const auto u = static_cast<std::size_t>(layout.first(world().rank()) + k);
    own.streams.push_back(std::make_unique<ListStream>(data[u], game.batch));
    own.played.emplace_back(played[u]);
    const auto rounds = static_cast<Round>((data[u].size() + game.batch - 1) / game.batch);
    RoundSet set;
    for (Round t = 0; t < std::min(rounds, game.rounds); ++t) {
      if (std::find(game.absent.begin(), game.absent.end(), std::pair(u, t)) == game.absent.end()) set.add(t);
    }
    own.rounds.push_back(set);
  }
  own.marks = game.marks;
  own.batch = game.batch;
  own.l2.lambda = game.l2;
  Agreement agreement(world());
  const MetricsPolicy shared(MetricsPolicy::Sharing::shared);
  const EvaluationPass pass(agreement, shared, model, *domain, own, interrupted);
  return action(pass);
}

/// The same where all clients have played the same loss, in all rounds together.
template <class Action>
auto with_pass(const Game& game, const std::vector<std::vector<Row1>>& data, double played, Action&& action) {
  return with_pass(game, data, std::vector<Vector>(data.size(), Vector{played}), std::forward<Action>(action));
}

/// Labels ±1 that depend on the first feature, with noise; client u has 20 + u records.
inline std::vector<std::vector<Row1>> random_data(std::size_t clients, std::size_t d) {
  std::vector<std::vector<Row1>> data(clients);
  for (std::size_t u = 0; u < clients; ++u) {
    AddressedRandom random(5, Purpose::experiment, u, 0);
    for (std::size_t i = 0; i < 20 + u; ++i) {
      Row1 row{Vector(d), 0};
      for (double& value : row.features) value = random.normal();
      row.label = row.features[0] + 2 * random.normal() > 0 ? 1 : -1;
      data[u].push_back(std::move(row));
    }
  }
  return data;
}

}  // namespace starling::testing_support
