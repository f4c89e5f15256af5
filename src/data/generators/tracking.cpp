#include <cmath>
#include <limits>

#include "core/numerics/kernels.hpp"
#include "generators.hpp"

namespace starling {

namespace {

/// No client's number: the address of the target's own draws.
constexpr std::uint64_t nobody = std::numeric_limits<std::uint64_t>::max();

void draw_normals(AddressedRandom& random, MutableView values) {
  for (double& value : values) value = random.normal();
}

void to_unit_length(MutableView v) {
  const double norm = norm2(v);
  for (double& value : v) value /= norm;
}

/// θ_t on the unit sphere: each round along a great circle, by the angle whose chord is `path`, so that ‖θ_{t+1} − θ_t‖
/// is `path` in every round. Every `period` rounds it takes a direction drawn anew.
class Target {
 public:
  Target(std::size_t d, double path, Round period, std::uint64_t seed)
      : angle_(2 * std::asin(path / 2)), period_(period), seed_(seed), position_(d), direction_(d) {
    AddressedRandom random(seed_, Purpose::data, nobody, 0);
    draw_normals(random, position_);
    to_unit_length(position_);
    turn();
  }

  /// θ_t, t from 1, into `values`. Cheap for the same round, a later one, and any one with period 0; other earlier ones
  /// cost the way from the milestone before them. The bits do not depend on earlier requests.
  void at(Round t, MutableView values) {
    go_to(period_ == 0 ? 0 : (t - 1) / period_);
    const Round steps = t - 1 - leg_ * period_;
    place(static_cast<double>(steps), values);
  }

 private:
  static constexpr Round legs_per_milestone = 1024;

  /// The direction of this leg: a unit vector drawn at right angles to the position.
  void turn() {
    AddressedRandom random(seed_, Purpose::data, nobody, static_cast<std::uint64_t>(leg_ + 1));
    draw_normals(random, direction_);
    axpy(-dot(position_, direction_), position_, direction_);
    to_unit_length(direction_);
  }
  void place(double steps, MutableView values) const {
    const double c = std::cos(steps * angle_);
    const double s = std::sin(steps * angle_);
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = c * position_[j] + s * direction_[j];
  }
  void go_to(Round leg) {
    if (leg < leg_) {
      const auto k = static_cast<std::size_t>(leg / legs_per_milestone);
      leg_ = static_cast<Round>(k) * legs_per_milestone;
      position_ = milestones_[k];
      turn();
    }
    while (leg_ < leg) {
      // The start points of the legs 0, 1024, 2048, … that were reached are kept.
      if (leg_ == static_cast<Round>(milestones_.size()) * legs_per_milestone) milestones_.push_back(position_);
      Vector next(position_.size());
      place(static_cast<double>(period_), next);
      to_unit_length(next);
      position_ = std::move(next);
      ++leg_;
      turn();
    }
  }

  double angle_;
  Round period_;
  std::uint64_t seed_;
  Round leg_ = 0;
  Vector position_;  ///< where leg_ begins
  Vector direction_;
  std::vector<Vector> milestones_;
};

/// Client u's record of round t is θ_t + o_u. The o_u are `spread` times random unit vectors, less their mean over the
/// clients: Σ o_u = 0.
class Tracking {
 public:
  Tracking(std::size_t d, double spread, Target target, const Audience& audience)
      : spread_(spread), seed_(audience.seed), mean_(d), offset_(d), target_(std::move(target)) {
    for (Client u = 0; u < audience.clients; ++u) {
      draw_direction(u);
      axpy(1 / static_cast<double>(audience.clients), offset_, mean_);
    }
  }

  [[nodiscard]] double operator()(Round t, Client client, AddressedRandom&, MutableView values) {
    target_.at(t, values);
    draw_direction(client);
    for (std::size_t j = 0; j < values.size(); ++j) values[j] += spread_ * (offset_[j] - mean_[j]);
    return 0;
  }

 private:
  /// Draws the direction of the client's offset, from an address that no round has.
  void draw_direction(Client client) {
    AddressedRandom random(seed_, Purpose::data, static_cast<std::uint64_t>(client), 0);
    draw_normals(random, offset_);
    to_unit_length(offset_);
  }

  double spread_;
  std::uint64_t seed_;
  Vector mean_;
  Vector offset_;  ///< scratch
  Target target_;  ///< remembers where it was
};

}  // namespace

std::unique_ptr<Generator> make_tracking(const Spec& spec, const Audience& audience) {
  const std::size_t d = features_of(spec, "d", 5, 2);
  const double spread = number_within(spec, "spread", 0.5, 0, 1e6);
  const double path = number_within(spec, "path", 0.01, 0, 2);
  const long long period = integer_within(spec, "period", 0, 0, 1'000'000'000'000);
  const Target target(d, path, period, audience.seed);
  const std::int64_t records = records_of(spec);
  return std::make_unique<Generator>(d, records, Tracking(d, spread, target, audience));
}

}  // namespace starling
