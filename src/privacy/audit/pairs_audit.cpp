#include "privacy/audit/pairs_audit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "chain_filter.hpp"
#include "core/check.hpp"
#include "core/numerics/dense.hpp"
#include "core/numerics/kernels.hpp"
#include "privacy/noise/grid.hpp"

namespace starling {

namespace {

using dense::MatrixXd;
using dense::VectorXd;

constexpr double clips_of_victim = 4;
constexpr std::size_t most_coalitions = 128;
constexpr std::size_t coordinates_seen = 2;
constexpr double deviations_of_chance = 3.1;  // 99.9 %, one side

using Coalition = std::vector<char>;  ///< by client: whether it is one of them

/// All coalitions of so many clients; none if they are too many.
std::vector<Coalition> coalitions_of(Client clients, Client colluding) {
  std::vector<Coalition> all;
  Coalition members(static_cast<std::size_t>(clients), 0);
  std::fill_n(members.begin(), colluding, 1);
  do {
    all.push_back(members);
  } while (std::ranges::prev_permutation(members).found && all.size() <= most_coalitions);
  check(all.size() <= most_coalitions,
        "{} of {} clients: an audit looks from the side of {} coalitions at most. Take fewer.", colluding, clients,
        most_coalitions);
  return all;
}

/// I + r² L of the clients that are not in the coalition; rows of those that are, are those of I.
MatrixXd precision_of(const PairGraph& graph, double ratio, const Coalition& coalition) {
  MatrixXd matrix = MatrixXd::Identity(graph.clients(), graph.clients());
  for (Client u = 0; u < graph.clients(); ++u) {
    for (const Client v : graph.partners(u)) {
      if (coalition[static_cast<std::size_t>(u)] != 0 || coalition[static_cast<std::size_t>(v)] != 0) continue;
      matrix(u, u) += ratio * ratio;
      matrix(u, v) -= ratio * ratio;
    }
  }
  return matrix;
}

/// "client 2 and 4"; "outsiders".
std::string in_words(const Coalition& coalition) {
  std::string text;
  for (std::size_t u = 0; u < coalition.size(); ++u) {
    if (coalition[u] != 0) text += fmt::format("{}{}", text.empty() ? "client " : " and ", u);
  }
  return text.empty() ? "outsiders" : text;
}

}  // namespace

class PairsAudit::Runs {
 public:
  Runs(Mechanism& mechanism, double price, PairsAuditPlan plan, AuditKeys keys);

  [[nodiscard]] AuditSubject subject(Client victim, std::size_t coalition, const std::shared_ptr<Runs>& self);
  [[nodiscard]] std::size_t coalitions() const { return watches_.size(); }
  [[nodiscard]] bool has(std::size_t coalition, Client u) const {
    return watches_[coalition].coalition[static_cast<std::size_t>(u)] != 0;
  }
  [[nodiscard]] Charge claim() const {
    return Charge::gaussian(std::sqrt(static_cast<double>(uses_)) * mechanism_.charge(price_).mu);
  }
  [[nodiscard]] const Sum& sum() const { return sum_; }

 private:
  /// A coalition, and second moments of what it sees.
  struct Watch {
    Coalition coalition;
    MatrixXd moments;
  };
  /// Weights of sums in which a victim's record shows most to a coalition.
  struct Aim {
    const Watch* watch = nullptr;
    VectorXd claimed;   ///< for the noise that is claimed
    VectorXd measured;  ///< for the noise that the pilot has measured
  };
  struct Pair {
    Client first = 0;
    Client second = 0;
    std::unique_ptr<PairNoise> noise;  ///< with the key that its first end knows
  };
  static constexpr Client nobody = -1;

  void play(const NoiseKey& key, Client victim, double sign);
  void release(const NoiseKey& key, Client u, Round t, Client victim, double sign);
  void draw_pairs(Round t);
  [[nodiscard]] bool knows(const Coalition& coalition, const Pair& pair) const {
    return coalition[static_cast<std::size_t>(pair.first)] != 0 ||
           coalition[static_cast<std::size_t>(pair.second)] != 0;
  }
  void take_away(const Coalition& coalition);
  void look(const Coalition& coalition);
  void forget(const Coalition& coalition, VectorXd& noise) const;
  void measure();
  [[nodiscard]] Aim aim(const Watch& watch, Client victim) const;
  void observe(const NoiseKey& key, Client victim, int side, const Aim& aim, MutableView seen);

  [[nodiscard]] Client clients() const { return plan_.graph.clients(); }
  [[nodiscard]] Eigen::Index size() const {
    return static_cast<Eigen::Index>(clients()) * plan_.rounds * static_cast<Eigen::Index>(coordinates_);
  }
  [[nodiscard]] Eigen::Index place(Client u, Round t, std::size_t coordinate) const {
    return (u * plan_.rounds + t) * static_cast<Eigen::Index>(coordinates_) + static_cast<Eigen::Index>(coordinate);
  }
  /// Without a correlation one that changes nothing.
  [[nodiscard]] ChainFilter filter() const {
    NoiseCorrelation none;
    none.omega = {0, 0};
    return ChainFilter(mechanism_.settings().correlation.value_or(none));
  }
  [[nodiscard]] bool used(Round t) const { return t % apart_ == 0 && t / apart_ < uses_; }

  Mechanism& mechanism_;
  double price_;
  PairsAuditPlan plan_;
  AuditKeys keys_;
  std::size_t coordinates_;
  double records_;
  double step_;
  double own_sigma_;  ///< of a client's own noise, in integers
  std::int64_t uses_ = 1;
  Round apart_ = 1;
  Vector record_;   ///< gradient of the record that differs, of side 0, clipped
  Vector moved_;    ///< by round: how C moves a record that is used
  Round next_ = 0;  ///< rounds of all runs ascend
  std::vector<Pair> pairs_;
  std::vector<Watch> watches_;
  Sum sum_;
  // Of the last run:
  std::vector<ChainFilter> filters_;              ///< by client and coordinate
  std::vector<Released<Vector>> released_;        ///< by client
  VectorXd noise_;                                ///< N, in integers, and what the record moves it by
  VectorXd left_;                                 ///< of it, what a coalition does not know
  VectorXd view_;                                 ///< what a coalition sees, in units of a client's own noise
  std::vector<std::vector<std::int64_t>> known_;  ///< by round and pair: B, as its first end has it
  Vector seen_of_victim_;
};

PairsAudit::Runs::Runs(Mechanism& mechanism, double price, PairsAuditPlan plan, AuditKeys keys)
    : mechanism_(mechanism),
      price_(price),
      plan_(std::move(plan)),
      keys_(std::move(keys)),
      coordinates_(std::min(coordinates_seen, mechanism.settings().dimension)),
      records_(static_cast<double>(mechanism.settings().batch)),
      step_(mechanism.settings().clip / static_cast<double>(gaussian_reach(price))),
      own_sigma_(mechanism.own_deviation(mechanism.settings().price.most).value() * records_ / step_),
      record_(mechanism.settings().dimension, 0.0) {
  if (const auto& correlation = mechanism.settings().correlation) {
    uses_ = correlation->uses;
    apart_ = correlation->apart;
  }
  check(apart_ * (uses_ - 1) < plan_.rounds, "{} rounds, and {} uses of a record {} apart: play more rounds.",
        plan_.rounds, uses_, apart_);
  record_[0] = clips_of_victim * mechanism.settings().clip;
  record_ = clipped(std::move(record_), mechanism.clip());
  ChainFilter moves = filter();
  for (Round t = 0; t < plan_.rounds; ++t) moved_.push_back(moves.next(t, used(t) ? 1 : 0));
  for (auto& [u, ends] : plan_.ends) {
    for (const PairEnd& end : ends) {
      if (end.adds == 0) continue;
      pairs_.push_back(
          {u, end.partner, std::make_unique<PairNoise>(terms_of(mechanism.settings()), PairNoise::Ends{{u, {end}}})});
    }
  }
  for (const Coalition& coalition : coalitions_of(clients(), plan_.colluding)) watches_.push_back({coalition, {}});
  measure();
}

/// A run of all clients, from round 0 of chains.
void PairsAudit::Runs::play(const NoiseKey& key, Client victim, double sign) {
  mechanism_.begin_chains();
  filters_.assign(static_cast<std::size_t>(clients()) * coordinates_, filter());
  released_.assign(static_cast<std::size_t>(clients()), declare_public(Vector(record_.size(), 0.0)));
  noise_ = VectorXd::Zero(size());
  known_.clear();
  seen_of_victim_.clear();
  for (Round t = 0; t < plan_.rounds; ++t) {
    const std::vector<Released<Vector>> before = released_;
    for (Client u = 0; u < clients(); ++u) {
      released_[static_cast<std::size_t>(u)] = before[static_cast<std::size_t>((u + 1) % clients())];
    }
    for (Client u = 0; u < clients(); ++u) release(key, u, t, victim, sign);
    draw_pairs(t);
  }
  next_ += plan_.rounds;
}

/// `released_` has what the client's records repeat, and then what it releases.
void PairsAudit::Runs::release(const NoiseKey& key, Client u, Round t, Client victim, double sign) {
  Released<Vector>& noisy = released_[static_cast<std::size_t>(u)];
  const bool differs = u == victim && used(t);
  Vector sum(record_.size(), 0.0);
  if (!differs || records_ > 1) sum = clipped(noisy.value(), mechanism_.clip());
  const Vector known(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(coordinates_));
  if (differs) axpy(sign, record_, sum);
  mechanism_.release({ReleasePath::by_itself, u, next_ + t, 0}, price_, key, Secret<Vector>(std::move(sum)), noisy);
  for (std::size_t j = 0; j < coordinates_; ++j) {
    const double noise = (noisy.value()[j] * records_ - known[j]) / step_;
    ChainFilter& filter = filters_[static_cast<std::size_t>(u) * coordinates_ + j];
    noise_[place(u, t, j)] = filter.next(t, noise);
  }
  if (u == victim) seen_of_victim_.push_back(noisy.value()[0]);
}

void PairsAudit::Runs::draw_pairs(Round t) {
  for (const Pair& pair : pairs_) {
    std::vector<std::int64_t>& drawn = known_.emplace_back(record_.size(), 0);
    pair.noise->add({ReleasePath::by_itself, pair.first, next_ + t, 0}, own_sigma_, drawn);
  }
}

/// `left_` becomes what honest clients have of `noise_` beside what a coalition knows; 0 of the coalition.
void PairsAudit::Runs::take_away(const Coalition& coalition) {
  left_ = noise_;
  std::size_t at = 0;
  for (Round t = 0; t < plan_.rounds; ++t) {
    for (const Pair& pair : pairs_) {
      const std::vector<std::int64_t>& drawn = known_[at++];
      if (!knows(coalition, pair)) continue;
      for (std::size_t j = 0; j < coordinates_; ++j) {
        left_[place(pair.first, t, j)] -= static_cast<double>(drawn[j]);
        left_[place(pair.second, t, j)] += static_cast<double>(drawn[j]);
      }
    }
  }
  forget(coalition, left_);
}

/// `view_` becomes the honest clients' noise, and then the noise that a coalition knows: whoever finds out by itself
/// where the latter is in the former finds faults too.
void PairsAudit::Runs::look(const Coalition& coalition) {
  view_ = VectorXd::Zero(size() + static_cast<Eigen::Index>(known_.size() * coordinates_));
  view_.head(size()) = noise_;
  forget(coalition, view_);
  Eigen::Index at = size();
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const bool is_known = knows(coalition, pairs_[i % pairs_.size()]);
    for (std::size_t j = 0; j < coordinates_; ++j) view_[at++] = is_known ? static_cast<double>(known_[i][j]) : 0;
  }
  view_ /= own_sigma_;
}

/// A coalition's own releases tell it nothing.
void PairsAudit::Runs::forget(const Coalition& coalition, VectorXd& noise) const {
  const Eigen::Index each = plan_.rounds * static_cast<Eigen::Index>(coordinates_);
  for (Client u = 0; u < clients(); ++u) {
    if (coalition[static_cast<std::size_t>(u)] != 0) noise.segment(u * each, each).setZero();
  }
}

/// Second moments of what coalitions see, and the variance of the sum over all clients.
void PairsAudit::Runs::measure() {
  double squares = 0;
  const Eigen::Index each = plan_.rounds * static_cast<Eigen::Index>(coordinates_);
  for (std::int64_t i = 0; i < plan_.pilot; ++i) {
    play(keys_(0, -1 - i), nobody, 0);
    VectorXd sum = VectorXd::Zero(each);
    for (Client u = 0; u < clients(); ++u) sum += noise_.segment(u * each, each);
    squares += (sum / own_sigma_).squaredNorm();
    for (Watch& watch : watches_) {
      look(watch.coalition);
      if (i == 0) watch.moments = MatrixXd::Zero(view_.size(), view_.size());
      watch.moments.noalias() += view_ * view_.transpose() / static_cast<double>(plan_.pilot);
    }
  }
  const double count = static_cast<double>(plan_.pilot * each);
  sum_.variance = squares / (count * static_cast<double>(clients()));
  sum_.too_much = sum_.variance > 1 + deviations_of_chance * std::sqrt(2 / count);
}

PairsAudit::Runs::Aim PairsAudit::Runs::aim(const Watch& watch, Client victim) const {
  const double ratio = terms_of(mechanism_.settings()).ratio;
  const MatrixXd of_clients = dense::inverse(precision_of(plan_.graph, ratio, watch.coalition));
  Aim aim{&watch, VectorXd::Zero(size()), {}};
  VectorXd signal = VectorXd::Zero(watch.moments.rows());
  for (Round t = 0; t < plan_.rounds; ++t) {
    signal[place(victim, t, 0)] = moved_[static_cast<std::size_t>(t)];
    for (Client u = 0; u < clients(); ++u) {
      aim.claimed[place(u, t, 0)] = of_clients(u, victim) * moved_[static_cast<std::size_t>(t)];
    }
  }
  MatrixXd moments = watch.moments;
  for (Eigen::Index i = 0; i < moments.rows(); ++i) {
    if (moments(i, i) == 0) moments(i, i) = 1;  // nothing is seen there
    moments(i, i) += 1e-9;                      // noise may be a sum of other noise
  }
  aim.measured = dense::CholeskyFactor(moments).solve(signal);
  return aim;
}

void PairsAudit::Runs::observe(const NoiseKey& key, Client victim, int side, const Aim& aim, MutableView seen) {
  play(key, victim, side == 0 ? 1 : -1);
  take_away(aim.watch->coalition);
  seen[0] = step_ * aim.claimed.dot(left_);
  look(aim.watch->coalition);
  seen[1] = step_ * own_sigma_ * aim.measured.dot(view_);
  std::ranges::copy(seen_of_victim_, seen.begin() + 2);
}

AuditSubject PairsAudit::Runs::subject(Client victim, std::size_t coalition, const std::shared_ptr<Runs>& self) {
  const Watch& watch = watches_[coalition];
  AuditSubject subject;
  subject.name = fmt::format("one record of client {} of {} at +C or at -C, seen over {} rounds by {}", victim,
                             clients(), plan_.rounds, in_words(watch.coalition));
  subject.names = {"the sum that is best for the claimed noise", "the sum that is best for the measured noise"};
  for (Round t = 0; t < plan_.rounds; ++t) subject.names.push_back(fmt::format("the release of round {}", t));
  subject.length = subject.names.size();
  subject.step = step_ / records_;
  subject.observe = [self, aim = aim(watch, victim), victim](int side, std::int64_t sample, MutableView seen) {
    self->observe(self->keys_(side, sample), victim, side, aim, seen);
  };
  return subject;
}

PairsAudit::PairsAudit(Mechanism& mechanism, double price, PairsAuditPlan plan, AuditKeys keys)
    : runs_(std::make_shared<Runs>(mechanism, price, std::move(plan), std::move(keys))) {}
PairsAudit::~PairsAudit() = default;

std::vector<AuditSubject> PairsAudit::subjects(Client victim) {
  std::vector<AuditSubject> subjects;
  for (std::size_t i = 0; i < runs_->coalitions(); ++i) {
    if (!runs_->has(i, victim)) subjects.push_back(runs_->subject(victim, i, runs_));
  }
  return subjects;
}

Charge PairsAudit::claim() const {
  return runs_->claim();
}

const PairsAudit::Sum& PairsAudit::sum() const {
  return runs_->sum();
}

}  // namespace starling
