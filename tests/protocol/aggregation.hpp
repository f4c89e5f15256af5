/// A network of clients around an aggregator, for tests of the aggregator modes: fixed records, no noise unless asked.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "net/root/root.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"
#include "protocol/renewable/offline_renewable.hpp"
#include "protocol/renewable/online_renewable.hpp"
#include "protocol/renewable/paper_renewable.hpp"
#include "protocol/renewable/private_renewable.hpp"
#include "support/mpi_testing.hpp"

namespace starling::testing_support {

/// Batches of one client, one a round.
using Batches = std::vector<Batch>;

/// Serves them once, or again in every pass.
class FixedStream final : public Stream {
 public:
  FixedStream(Batches batches, std::int64_t passes) : passes_(passes) {
    for (Batch& batch : batches) {
      records_ += static_cast<std::int64_t>(batch.size());
      batches_.emplace_back(std::move(batch));
    }
  }
  [[nodiscard]] const Secret<Batch>& next(Round t) override {
    return batches_[static_cast<std::size_t>(t) % batches_.size()];
  }
  [[nodiscard]] bool ended(Round t) override { return t >= static_cast<Round>(batches_.size()) * passes_; }
  [[nodiscard]] std::int64_t participations() const override { return passes_; }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return records_; }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const override { return static_cast<Round>(batches_.size()); }
  [[nodiscard]] std::optional<Round> rounds() const override { return static_cast<Round>(batches_.size()) * passes_; }

 private:
  std::int64_t passes_;
  std::int64_t records_ = 0;
  std::vector<Secret<Batch>> batches_;
};

/// Records of two classes about ±shift in every coordinate; client u has `batches` − u mod 3 batches of m records.
inline std::vector<Batches> two_classes(Client clients, std::size_t p, std::size_t m, std::size_t batches,
                                        double shift) {
  std::vector<Batches> all;
  for (Client u = 0; u < clients; ++u) {
    Batches own;
    for (std::size_t t = 0; t + static_cast<std::size_t>(u % 3) < batches; ++t) {
      AddressedRandom random(11, Purpose::data, static_cast<std::uint64_t>(u), t);
      Batch batch;
      batch.clear();
      for (std::size_t i = 0; i < m; ++i) {
        const double y = random.uniform() < 0.5 ? 1 : -1;
        Vector x(p);
        for (double& entry : x) entry = y * shift + random.normal();
        batch.add({x, {}}, y);
      }
      own.push_back(std::move(batch));
    }
    all.push_back(std::move(own));
  }
  return all;
}

/// One rank's part of an aggregated run over `records` of all clients. `Clients` are AggregatedClients or a derived
/// class whose model is a `ClientModel`.
template <class Clients, class ClientModel>
struct RankOf {
  RankOf(World& world, const std::vector<Batches>& records, ClientModel& model, const Protection& protection,
         Round rounds, std::size_t batch, const std::string& price = "1", std::int64_t passes = 1)
      : layout(static_cast<Client>(records.size()), world.size()),
        first(layout.first(world.rank())),
        count(static_cast<std::size_t>(layout.count(world.rank()))),
        prices(Prices::parse(price, "price", rounds, static_cast<Client>(records.size()), 0, 1e6)),
        accounts(protection, prices, rounds, first, std::vector<ServedRounds>(count)),
        root(world, layout) {
    std::vector<NoiseKey> keys;
    std::vector<std::unique_ptr<Stream>> streams;
    for (std::size_t k = 0; k < count; ++k) {
      keys.push_back(NoiseKey::from_seed(1, first + static_cast<Client>(k)));
      streams.push_back(std::make_unique<FixedStream>(records[static_cast<std::size_t>(first) + k], passes));
    }
    clients.emplace(model, accounts, std::move(keys), std::move(streams), batch);
  }

  Layout layout;
  Client first;
  std::size_t count;
  Prices prices;
  Accounts accounts;
  Root root;
  std::optional<Clients> clients;
};
using AggregatedRank = RankOf<RenewableClients, CurvedModel>;

/// The models after each round, which the view must show alike in both ways.
class Path final : public Observer {
 public:
  void after(const RoundView& view) override {
    EXPECT_EQ(view.done(), static_cast<Round>(models.size()));
    const Released<Columns> all = view.models();
    for (std::size_t k = 0; k < all.value().size(); ++k) {
      const View one = view.model(k);
      EXPECT_TRUE(std::equal(one.begin(), one.end(), all.value()[k].begin(), all.value()[k].end())) << k;
    }
    const View theta = view.model(0);
    models.emplace_back(theta.begin(), theta.end());
  }
  std::vector<Vector> models;
};

/// `none` for whole messages.
inline std::unique_ptr<Mechanism> publisher(const CurvedModel& model, bool with_slopes) {
  const ReleaseSettings settings{.clip = std::numeric_limits<double>::infinity(),
                                 .dimension = MessageLayout{model.dimension(), model.triangles(), with_slopes}.size()};
  return mechanism_table().make("none", settings);
}

}  // namespace starling::testing_support
