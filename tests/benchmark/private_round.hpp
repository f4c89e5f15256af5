/// A whole private round as the benchmarks play it: batches of 32 dense records, logistic loss, gradients clipped in
/// L1, exact discrete Laplace noise, exponentiated gradient on the simplex, push-sum. One client per rank.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "model/linear_model.hpp"
#include "net/neighbours/neighbours.hpp"
#include "net/world.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/decentralized/omd.hpp"
#include "protocol/decentralized/synchronous_mixer.hpp"
#include "support/endless_stream.hpp"

namespace starling::benchmark {

inline constexpr std::size_t batch_size = 32;
inline constexpr std::size_t batches = 16;
inline constexpr double clip = 1;
inline constexpr double step = 0.05;
inline constexpr Round no_end = Round{1} << 40;

/// What all contestants play, round after round the next batch.
struct Records {
  Records(std::size_t d, int rank) : labels(batches * batch_size), rows(batches * batch_size * d) {
    AddressedRandom random(1, Purpose::experiment, static_cast<std::uint64_t>(rank), 0);
    for (double& value : rows) value = random.normal() / static_cast<double>(d);
    for (double& label : labels) label = random.normal() > 0 ? 1 : -1;
  }
  Vector labels;
  Vector rows;
};

class Pool final : public testing_support::EndlessStream {
 public:
  Pool(const Records& records, std::size_t d) {
    for (std::size_t b = 0; b < batches; ++b) {
      Batch batch;
      for (std::size_t i = b * batch_size; i < (b + 1) * batch_size; ++i) {
        batch.add({View(records.rows).subspan(i * d, d), {}}, records.labels[i]);
      }
      batches_.emplace_back(std::move(batch));
    }
  }
  [[nodiscard]] const Secret<Batch>& next(Round t) override { return batches_[static_cast<std::size_t>(t) % batches]; }

 private:
  std::vector<Secret<Batch>> batches_;
};

/// Lets the protocol play so many rounds, and then so many more.
class InBlocks final : public Mixer {
 public:
  explicit InBlocks(Mixer& mixer) : Mixer(mixer.first(), mixer.count()), mixer_(mixer) {}
  void allow(int rounds) { left_ = rounds; }
  [[nodiscard]] bool begin_round(Round t) override { return left_-- > 0 && mixer_.begin_round(t); }
  [[nodiscard]] Round clock() const override { return mixer_.clock(); }
  [[nodiscard]] bool has_all_in_step() const override { return mixer_.has_all_in_step(); }
  [[nodiscard]] Attendance attendance(std::size_t k) const override { return mixer_.attendance(k); }
  [[nodiscard]] bool has_left(std::size_t k) const override { return mixer_.has_left(k); }
  void mix(Holdings& holdings, Stopwatch& watch, TimeShares& shares) override { mixer_.mix(holdings, watch, shares); }
  void finish(Holdings&) override {}
  void persist(Snapshot& snapshot) override { mixer_.persist(snapshot); }

 private:
  Mixer& mixer_;
  int left_ = 0;
};

inline ReleaseSettings release_settings(std::size_t d) {
  ReleaseSettings settings;
  settings.clip = clip;
  settings.batch = batch_size;
  settings.dimension = d;
  settings.run_id = "benchmark";
  return settings;
}

inline OmdSettings omd_settings() {
  OmdSettings settings;
  settings.rounds = no_end;
  settings.step = step;
  return settings;
}

inline Released<Columns> even_start(std::size_t d) {
  Columns start(d, 1);
  std::fill(start[0].begin(), start[0].end(), 1.0 / static_cast<double>(d));
  return declare_public(std::move(start));
}

/// The program's own round.
class PrivateRound {
 public:
  PrivateRound(World& world, const Schedule& schedule, const Records& records, std::size_t d)
      : neighbours_(world, Layout(world.size(), world.size()), message_length(d, Mixing::push_sum),
                    ExchangeWay::automatic),
        mixer_(neighbours_, d, schedule, {}),
        blocks_(mixer_),
        model_(*loss_, d, false),
        mechanism_(mechanism_table().make("laplace", release_settings(d))),
        accounts_(*mechanism_, Prices::parse("1", "price", no_end, world.size(), 1, 1), no_end, neighbours_.first(),
                  std::vector<ServedRounds>(1)),
        omd_(blocks_, *map_, learning(records, d), omd_settings(), even_start(d)) {}

  /// **Collective.**
  void play(int rounds, const std::vector<Observer*>& observers = {}) {
    blocks_.allow(rounds);
    omd_.run(observers);
  }
  [[nodiscard]] const RoundView& view() const { return omd_; }
  [[nodiscard]] Mechanism& mechanism() { return *mechanism_; }
  [[nodiscard]] Accounts& accounts() { return accounts_; }

 private:
  Learning learning(const Records& records, std::size_t d) {
    Learning learning{model_, *mechanism_, accounts_, {}, {}};
    learning.keys.push_back(NoiseKey::from_seed(1, neighbours_.first()));
    learning.streams.push_back(std::make_unique<Pool>(records, d));
    return learning;
  }

  Neighbours neighbours_;
  SynchronousMixer mixer_;
  InBlocks blocks_;
  std::unique_ptr<Domain> domain_ = domain_table().make("simplex");
  std::unique_ptr<MirrorMap> map_ = mirror_table().make("entropic", *domain_);
  std::unique_ptr<Loss> loss_ = loss_table().make("logistic");
  LinearModel model_;
  std::unique_ptr<Mechanism> mechanism_;
  Accounts accounts_;
  DecentralizedOmd omd_;
};

}  // namespace starling::benchmark
