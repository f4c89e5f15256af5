#include "privacy/audit/chain_subject.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "chain_filter.hpp"
#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "core/snapshot.hpp"
#include "privacy/noise/grid.hpp"

namespace starling {

namespace {

constexpr double clips_of_record = 4;  ///< length of the raw gradient of the record that differs
constexpr int lives_of_crashes = 3;

/// Numbers that stand before the releases in an observation.
enum Number : std::size_t { of_one_life, wholeness, of_all_lives, repetition };

const NoiseCorrelation& correlation_of(const Protection& mechanism) {
  check(mechanism.settings().correlation.has_value(),
        "a chain of releases without a correlation: the noise is independent. Audit single releases.");
  return *mechanism.settings().correlation;
}

/// The runs behind the observations of one subject.
class ChainRuns {
 public:
  ChainRuns(Mechanism& mechanism, double price, const ChainPlan& plan, const AuditKeys& keys);

  [[nodiscard]] std::size_t numbers() const { return plan_.lives > 1 ? 4 : 2; }
  [[nodiscard]] std::size_t length() const { return numbers() + entries_.size(); }
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] double step() const { return step_ / records_; }

  void observe(int side, std::int64_t sample, MutableView seen);

 private:
  /// A release in coordinate 0.
  struct Entry {
    int life = 0;
    Round round = 0;
    double known = 0;  ///< the sum without the record that differs
    double seen = 0;   ///< the mean
  };
  [[nodiscard]] bool used(Round t) const { return shift_of_record_[static_cast<std::size_t>(t)] != 0; }
  /// Whether the data are other ones than those of the first life.
  [[nodiscard]] bool is_other(const Entry& entry) const { return entry.life > 0 && !repeats(entry); }
  /// Whether the data are once more those of the first life.
  [[nodiscard]] bool repeats(const Entry& entry) const {
    return entry.life > 0 && entry.life == plan_.lives - 1 && entry.round == plan_.checkpoint;
  }
  [[nodiscard]] double weight(Round t) const { return weights_[static_cast<std::size_t>(t)]; }
  /// v of ChainFilter, in steps.
  [[nodiscard]] double noise(const Entry& entry) const { return (entry.seen * records_ - entry.known) / step_; }
  void play(const NoiseKey& key, int side);
  void release(const NoiseKey& key, int side, Entry& entry);
  void restore(const Snapshot& checkpoint);
  [[nodiscard]] double matched(int lives) const;
  [[nodiscard]] double repeated() const;
  [[nodiscard]] double whole() const;

  Mechanism& mechanism_;
  double price_;
  ChainPlan plan_;
  AuditKeys keys_;
  NoiseCorrelation correlation_;
  double records_;
  double step_;
  Vector record_;           ///< gradient of the record that differs, of side 0, clipped
  Vector shift_of_record_;  ///< by round: 1 where the record is used
  Vector weights_;          ///< h: `shift_of_record_` as C moves it
  std::vector<Entry> entries_;
  Released<Vector> noisy_;
};

ChainRuns::ChainRuns(Mechanism& mechanism, double price, const ChainPlan& plan, const AuditKeys& keys)
    : mechanism_(mechanism),
      price_(price),
      plan_(plan),
      keys_(keys),
      correlation_(correlation_of(mechanism)),
      records_(static_cast<double>(mechanism.settings().batch)),
      step_(mechanism.settings().clip / static_cast<double>(gaussian_reach(price))),
      record_(mechanism.settings().dimension, 0.0),
      noisy_(declare_public(Vector(record_.size(), 0.0))) {
  const std::int64_t uses = plan.lives > 1 ? 1 : correlation_.uses;
  const Round last = plan.first_use + (uses - 1) * correlation_.apart;
  check(plan.first_use >= 0 && last < (plan.lives > 1 ? plan.checkpoint : plan.rounds) && plan.checkpoint < plan.rounds,
        "{} rounds, a checkpoint after {} and {} use(s) from round {} on, {} apart: the uses must come before both. "
        "Play more rounds.",
        plan.rounds, plan.checkpoint, uses, plan.first_use, correlation_.apart);
  record_[0] = clips_of_record * mechanism.settings().clip;
  record_ = clipped(std::move(record_), mechanism.clip());
  shift_of_record_.assign(static_cast<std::size_t>(plan.rounds), 0.0);
  for (std::int64_t k = 0; k < uses; ++k) {
    shift_of_record_[static_cast<std::size_t>(plan.first_use + k * correlation_.apart)] = 1;
  }
  ChainFilter moves(correlation_);
  for (Round t = 0; t < plan.rounds; ++t) {
    weights_.push_back(moves.next(t, shift_of_record_[static_cast<std::size_t>(t)]));
  }
  for (int life = 0; life < plan.lives; ++life) {
    for (Round t = life == 0 ? 0 : plan.checkpoint; t < plan.rounds; ++t) entries_.push_back({life, t, 0, 0});
  }
}

std::vector<std::string> ChainRuns::names() const {
  std::vector<std::string> names{"the statistic matched to the chain", "whether noises are whole numbers"};
  if (plan_.lives > 1) names.insert(names.end(), {"the statistic matched to all lives", "a round released again"});
  for (const Entry& entry : entries_) {
    names.push_back(entry.life == 0 ? fmt::format("the release of round {}", entry.round)
                                    : fmt::format("the release of round {} in life {}", entry.round, entry.life + 1));
  }
  return names;
}

void ChainRuns::observe(int side, std::int64_t sample, MutableView seen) {
  play(keys_(side, sample), side);
  seen[of_one_life] = step() * matched(1);
  seen[wholeness] = whole();
  if (plan_.lives > 1) {
    seen[of_all_lives] = step() * matched(plan_.lives);
    seen[repetition] = step() * repeated();
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) seen[numbers() + i] = entries_[i].seen;
}

void ChainRuns::play(const NoiseKey& key, int side) {
  mechanism_.begin_chains();
  noisy_ = declare_public(Vector(record_.size(), 0.0));
  Snapshot checkpoint;
  for (Entry& entry : entries_) {
    if (entry.round == plan_.checkpoint && plan_.lives > 1) {
      if (entry.life == 0) {
        checkpoint(mechanism_, noisy_);
      } else {
        restore(checkpoint);
        mechanism_.begin_chains();
      }
    }
    release(key, side, entry);
  }
}

void ChainRuns::restore(const Snapshot& checkpoint) {
  Snapshot reading(checkpoint.content());
  reading(mechanism_, noisy_);
}

void ChainRuns::release(const NoiseKey& key, int side, Entry& entry) {
  Vector sum(record_.size(), 0.0);
  if (!used(entry.round) || records_ > 1) {
    axpy(is_other(entry) ? -records_ : records_, noisy_.value(), sum);
    sum = clipped(std::move(sum), mechanism_.clip());
  }
  entry.known = sum[0];
  if (used(entry.round)) axpy(side == 0 ? 1 : -1, record_, sum);
  mechanism_.release({ReleasePath::by_itself, 0, entry.round, 0}, price_, key, Secret<Vector>(std::move(sum)), noisy_);
  entry.seen = noisy_.value()[0];
}

/// Σ h_t û_t/‖h‖ over the first lives, as if all went on with the sums of the checkpoint.
double ChainRuns::matched(int lives) const {
  ChainFilter filter(correlation_);
  ChainFilter at_checkpoint = filter;
  double product = 0;
  double squares = 0;
  for (const Entry& entry : entries_) {
    if (entry.life >= lives) break;
    if (entry.round == plan_.checkpoint)
      (entry.life == 0 ? at_checkpoint : filter) = entry.life == 0 ? filter : at_checkpoint;
    const double independent = filter.next(entry.round, noise(entry));
    if (repeats(entry)) continue;  // it may be the same release
    product += weight(entry.round) * independent;
    squares += weight(entry.round) * weight(entry.round);
  }
  return product / std::sqrt(squares);
}

/// The difference of the two releases of the checkpoint's round, less what the first took back if the record were at 0:
/// with the same noise in both, what is left is the record's part of the latter.
double ChainRuns::repeated() const {
  ChainFilter filter(correlation_);
  for (Round t = 0; t < plan_.checkpoint; ++t) filter.next(t, noise(entries_[static_cast<std::size_t>(t)]));
  const Entry& first = entries_[static_cast<std::size_t>(plan_.checkpoint)];
  const Entry& second = *std::ranges::find_if(entries_, [this](const Entry& entry) { return repeats(entry); });
  return noise(second) - noise(first) - filter.taken_back(plan_.checkpoint);
}

/// Distances of the noises that side 0 implies from whole numbers, less those of side 1, in the first life.
double ChainRuns::whole() const {
  double difference = 0;
  for (const double sign : {1.0, -1.0}) {
    ChainFilter filter(correlation_);
    for (Round t = 0; t < plan_.rounds; ++t) {
      const double record = sign * record_[0] * shift_of_record_[static_cast<std::size_t>(t)];
      const Entry& entry = entries_[static_cast<std::size_t>(t)];
      const double sum = std::nearbyint((entry.known + record) / step_);
      const double implied = entry.seen * records_ / step_ - sum + filter.taken_back(t);
      filter.add(t, std::nearbyint(implied));
      difference += sign * std::abs(implied - std::nearbyint(implied));
    }
  }
  return difference;
}

}  // namespace

std::vector<ChainPlan> chain_plans(const NoiseCorrelation& correlation, Round rounds) {
  ChainPlan whole;
  whole.rounds = rounds;
  if (correlation.uses > 1 || rounds < 2) return {whole};
  ChainPlan crashes = whole;
  crashes.lives = lives_of_crashes;
  crashes.checkpoint = 1;
  return {whole, crashes};
}

AuditSubject chain_subject(Mechanism& mechanism, double price, const ChainPlan& plan, const AuditKeys& keys) {
  const auto runs = std::make_shared<ChainRuns>(mechanism, price, plan, keys);
  const std::int64_t uses = plan.lives > 1 ? 1 : correlation_of(mechanism).uses;
  AuditSubject subject;
  subject.name = "one record at +C or at -C in round " + std::to_string(plan.first_use);
  if (uses > 1) {
    subject.name += fmt::format(" and {} times more, {} rounds apart", uses - 1, correlation_of(mechanism).apart);
  }
  subject.name += fmt::format(", seen over {} rounds", plan.rounds);
  if (plan.lives > 1) {
    subject.name +=
        fmt::format(", and again over those after round {} in {} more lives", plan.checkpoint, plan.lives - 1);
  }
  subject.length = runs->length();
  subject.names = runs->names();
  subject.step = runs->step();
  subject.observe = [runs](int side, std::int64_t sample, MutableView seen) { runs->observe(side, sample, seen); };
  return subject;
}

Charge chain_claim(const Mechanism& mechanism, double price) {
  const auto uses = static_cast<double>(correlation_of(mechanism).uses);
  return Charge::gaussian(std::sqrt(uses) * mechanism.charge(price).mu);
}

}  // namespace starling
