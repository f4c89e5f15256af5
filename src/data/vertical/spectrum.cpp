#include "spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "core/check.hpp"
#include "core/random.hpp"
#include "core/text/names.hpp"
#include "data/generators/generators.hpp"
#include "data/generators/synthetic.hpp"
#include "data/passes.hpp"

namespace starling {

namespace {

/// Address of values that all receivers share. No receiver has this number.
constexpr std::uint64_t no_client = std::numeric_limits<std::uint64_t>::max();

/// Address of round t, from 0. Draws before the first round have t = −1.
AddressedRandom address(std::uint64_t seed, std::uint64_t receiver, Round t) {
  return {seed, Purpose::data, receiver, static_cast<std::uint64_t>(t + 1)};
}

constexpr double lattice = 50;  // metres between nodes of the field: about where shadowing is no longer the same
constexpr std::size_t nodes_of_side = 11;

/// From 0 to 1, level at both ends.
double smooth(double x) {
  return x * x * (3 - 2 * x);
}

double distance(const Place& a, const Place& b) {
  return std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
}

/// A place that may lie beyond the sides, by no more than their length, reflected into the square.
double reflected(double x) {
  if (x < 0) return -x;
  return x > SpectrumWorld::side ? 2 * SpectrumWorld::side - x : x;
}

/// Places evenly on a circle about the square's centre. A single transmitter stands at the centre.
std::vector<Place> places_of_transmitters(std::size_t count) {
  constexpr double centre = SpectrumWorld::side / 2;
  constexpr double radius = 150;  // metres
  if (count == 1) return {{centre, centre}};
  std::vector<Place> places;
  for (std::size_t n = 0; n < count; ++n) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(count);
    places.push_back({centre + radius * std::cos(angle), centre + radius * std::sin(angle)});
  }
  return places;
}

}  // namespace

SpectrumWorld::SpectrumWorld(const SpectrumPlan& plan, std::uint64_t seed)
    : plan_(plan), seed_(seed), transmitters_(places_of_transmitters(plan.transmitters)) {
  if (!plan.trajectory.empty()) {
    trajectories_ = Trajectories(plan.trajectory, plan.receivers + plan.transmitters, side);
    for (std::size_t n = 0; n < transmitters_.size(); ++n) {
      if (trajectories_.has(plan.receivers + n)) transmitters_[n] = trajectories_.at(plan.receivers + n, 0);
    }
  }
  AddressedRandom random = address(seed_, no_client, -1);
  for (std::size_t i = 0; i < nodes_of_side * nodes_of_side; ++i) nodes_.push_back(strongest * random.uniform());
}

std::vector<std::string> SpectrumWorld::column_names() const {
  std::vector<std::string> names{"x", "y"};
  for (std::size_t i = 0; i < plan_.samples; ++i) names.push_back(fmt::format("rss{}", i));
  return names;
}

double SpectrumWorld::shadowing(const Place& place) const {
  const auto cell = [](double x) { return std::min(static_cast<std::size_t>(x / lattice), nodes_of_side - 2); };
  const std::size_t column = cell(place.x);
  const std::size_t row = cell(place.y);
  const double a = smooth(place.x / lattice - static_cast<double>(column));
  const double b = smooth(place.y / lattice - static_cast<double>(row));
  const double* const low = nodes_.data() + row * nodes_of_side + column;
  const double* const high = low + nodes_of_side;
  return (1 - b) * ((1 - a) * low[0] + a * low[1]) + b * ((1 - a) * high[0] + a * high[1]);
}

void SpectrumWorld::draw_powers(Round t, MutableView powers) const {
  AddressedRandom random = address(seed_, no_client, t);
  for (double& power : powers) power = static_cast<double>(1 + random.below(levels));
}

double SpectrumWorld::received(const Place& place, View powers, Round t) const {
  double sum = 0;
  for (std::size_t n = 0; n < transmitters_.size(); ++n) {
    const std::size_t mover = plan_.receivers + n;
    const Place transmitter = trajectories_.has(mover) ? trajectories_.at(mover, t) : transmitters_[n];
    const double decibels = powers[n] - 40 * std::log10(std::max(distance(place, transmitter), nearest));
    sum += plan_.sum == SpectrumPlan::Sum::power ? std::pow(10, decibels / 10) : decibels;
  }
  return plan_.sum == SpectrumPlan::Sum::power ? 10 * std::log10(sum) : sum;
}

// X is one number for all transmitters: mean shadowing at the place plus 1 dB per sample, as docs/methods/vertical.md
// has it. In a sum of powers, X is a common factor. In a sum of decibels, X counts once per transmitter (eq. 15).
void SpectrumWorld::draw_records(std::size_t receiver, const Place& place, Round t, View powers,
                                 MutableView records) const {
  AddressedRandom random = address(seed_, receiver, t);
  static_cast<void>(random.uniform());  // the direction of the step
  const double times = plan_.sum == SpectrumPlan::Sum::power ? 1 : static_cast<double>(transmitters_.size());
  const double mean_loss = shadowing(place);
  double sum = 0;
  for (std::size_t i = 0; i < slots(); ++i) {
    const MutableView record = records.subspan(i * columns(), columns());
    const double level = received(place, powers.subspan(i * transmitters_.size(), transmitters_.size()), t);
    record[0] = place.x / side - 0.5;
    record[1] = place.y / side - 0.5;
    for (double& rss : record.subspan(2)) {
      rss = level - times * (mean_loss + random.normal());
      if (i < plan_.train) sum += rss;
    }
  }
  if (plan_.level == SpectrumPlan::Level::kept) return;
  const double mean = sum / static_cast<double>(plan_.train * plan_.samples);
  for (std::size_t i = 0; i < slots(); ++i) {
    for (double& rss : records.subspan(i * columns() + 2, plan_.samples)) rss -= mean;
  }
}

SpectrumWalk::SpectrumWalk(const SpectrumWorld& world, std::size_t receiver) : world_(&world), receiver_(receiver) {
  AddressedRandom random = address(world.seed_, receiver, -1);
  const double half = receiver % 2 == 0 ? 1 : 0;
  place_.x = SpectrumWorld::side / 2 * (half + random.uniform());
  place_.y = SpectrumWorld::side * random.uniform();
  const double angle = 2 * std::numbers::pi * random.uniform();
  heading_ = {std::cos(angle), std::sin(angle)};
}

const Place& SpectrumWalk::at(Round t) {
  if (world_->trajectories_.has(receiver_)) return place_ = world_->trajectories_.at(receiver_, t);
  while (round_ < t) step();
  return place_;
}

void SpectrumWalk::step() {
  ++round_;
  if (world_->plan().walk == SpectrumPlan::Walk::random) {
    const double angle = 2 * std::numbers::pi * address(world_->seed_, receiver_, round_).uniform();
    heading_ = {std::cos(angle), std::sin(angle)};
  }
  const double v = world_->plan().v;
  const Place beyond{place_.x + v * heading_.x, place_.y + v * heading_.y};
  place_ = {reflected(beyond.x), reflected(beyond.y)};
  if (place_.x != beyond.x) heading_.x = -heading_.x;
  if (place_.y != beyond.y) heading_.y = -heading_.y;
}

namespace {

class SpectrumStream final : public VerticalStream {
 public:
  SpectrumStream(std::shared_ptr<const SpectrumWorld> world, std::size_t first, std::size_t count, bool targets_known)
      : world_(std::move(world)), first_(first), targets_known_(targets_known), passes_(std::nullopt, Batching()) {
    for (std::size_t k = first; k < first + count; ++k) walks_.emplace_back(*world_, k);
    inputs_.resize(count);
    powers_.resize(world_->slots() * world_->transmitters().size());
  }

  void load(Round t) override {
    static_cast<void>(passes_.advance(t));
    learning_ = world_->plan().train;
    testing_ = world_->plan().test;
    world_->draw_powers(t, powers_);
    if (targets_known_) targets_.update([this](Vector& targets) { targets = powers_; });
    for (std::size_t k = 0; k < walks_.size(); ++k) {
      const Place& place = walks_[k].at(t);
      inputs_[k].update([&](Vector& records) {
        records.resize(world_->slots() * world_->columns());
        world_->draw_records(first_ + k, place, t, powers_, records);
      });
    }
  }
  [[nodiscard]] std::int64_t participations() const override { return passes_.participations(); }
  void align(std::span<const std::uint64_t> order) override {
    check<DataError>(order.empty(), "a spectrum's records have no ids: {} were given to align them by.", order.size());
  }
  void settle(const VerticalShape& /*joined*/) override {}

 private:
  std::shared_ptr<const SpectrumWorld> world_;
  std::size_t first_;
  bool targets_known_;
  Passes passes_;
  std::vector<SpectrumWalk> walks_;
  Vector powers_;
};

std::string choice(const Spec& spec, std::string_view key, std::string_view first, std::string_view second) {
  std::string value = spec.find(key).value_or(std::string(first));
  check(value == first || value == second, "'{}': {}", spec.text(),
        unknown_name(key, value, {std::string(first), std::string(second)}));
  return value;
}

/// `slots` are divided into halves, or as `train` or `test` wants.
void read_slots(const Spec& spec, SpectrumPlan& plan) {
  constexpr long long most = 100'000;
  const bool train = spec.find("train").has_value();
  const bool test = spec.find("test").has_value();
  long long learning = integer_within(spec, "train", 20, 1, most);
  long long scored = integer_within(spec, "test", 20, 0, most);
  if (spec.find("slots")) {
    const long long slots = integer_within(spec, "slots", 40, 1, 2 * most);
    if (!train) learning = test ? slots - scored : (slots + 1) / 2;
    if (!test) scored = slots - learning;
    check(learning >= 1 && scored >= 0 && learning + scored == slots,
          "'{}': slots={}: it is train + test, and train is at least 1. Give two of the three.", spec.text(), slots);
  }
  plan.train = static_cast<std::size_t>(learning);
  plan.test = static_cast<std::size_t>(scored);
}

SpectrumPlan read_plan(const Spec& spec, std::size_t parties) {
  SpectrumPlan plan;
  plan.receivers = static_cast<std::size_t>(
      integer_within(spec, "receivers", static_cast<long long>(parties), 1, std::numeric_limits<Client>::max()));
  check(plan.receivers == parties,
        "'{}': {} receivers and {} parties: each party is a receiver. Leave receivers= out or give as many parties.",
        spec.text(), plan.receivers, parties);
  plan.transmitters = static_cast<std::size_t>(integer_within(spec, "transmitters", 2, 1, 1000));
  read_slots(spec, plan);
  plan.samples = static_cast<std::size_t>(integer_within(spec, "samples", 100, 1, 100'000));
  check((plan.train + plan.test) * plan.samples <= 100'000'000,
        "'{}': {} slots of {} samples: a round of a receiver is kept in memory. Give fewer.", spec.text(),
        plan.train + plan.test, plan.samples);
  plan.v = number_within(spec, "v", 1, 0, SpectrumWorld::side);
  plan.trajectory = spec.find("trajectory").value_or("");
  if (choice(spec, "walk", "random", "heading") == "heading") plan.walk = SpectrumPlan::Walk::heading;
  if (choice(spec, "sum", "power", "decibel") == "decibel") plan.sum = SpectrumPlan::Sum::decibel;
  if (choice(spec, "level", "centred", "kept") == "kept") plan.level = SpectrumPlan::Level::kept;
  return plan;
}

}  // namespace

const Table<SpectrumWorld, const SpectrumAudience&>& spectrum_table() {
  static const Table<SpectrumWorld, const SpectrumAudience&> table(
      "generator of vertical data",
      {{"spectrum",
        "powers of transmitters, told by receivers that walk among them, each of which is a party; 500 m by 500 m",
        {{"receivers", "as many as parties (as many)"},
         {"transmitters", "whose powers, 1 to 4 dB, are a record's targets (2)"},
         {"train", "slots of a round that are learned from (20)"},
         {"test", "slots of a round that are only scored (20)"},
         {"slots", "train + test (40)"},
         {"samples", "a receiver's measurements in a slot (100)"},
         {"v", "metres that a receiver walks between two rounds (1)"},
         {"walk", "random: each time in another direction; heading: straight on between the sides (random)"},
         {"trajectory",
          "CSV of mover, round, x, y in metres: receivers are movers from 0 on, then transmitters; straight on between "
          "rows (others walk, or stand)"},
         {"sum", "power: of what arrives; decibel: of its decibels, as the paper's eq. 15 (power)"},
         {"level",
          "centred: less the receiver's mean of the round's training slots; kept: in dB as received (centred)"}},
        [](const Spec& spec, const SpectrumAudience& audience) {
          return std::make_unique<SpectrumWorld>(read_plan(spec, audience.parties), audience.seed);
        }}});
  return table;
}

std::unique_ptr<SpectrumWorld> make_spectrum(const std::string& source, const SpectrumAudience& audience) {
  check(is_spectrum(source), "'{}' is no spectrum: nothing else has receivers. Give synthetic:spectrum.", source);
  return spectrum_table().make(std::string_view(source).substr(source.find(':') + 1), audience);
}

std::unique_ptr<VerticalStream> open_spectrum(std::shared_ptr<const SpectrumWorld> world, std::size_t first,
                                              std::size_t count, bool targets_known) {
  return std::make_unique<SpectrumStream>(std::move(world), first, count, targets_known);
}

std::string spectrum_help() {
  return spectrum_table().help();
}

SpectrumScene spectrum_scene(const std::string& source, std::uint64_t seed, std::size_t parties, Round rounds,
                             std::size_t cells) {
  check(rounds >= 1 && cells >= 1, "a scene of {} rounds and {} cells: at least one of each.", rounds, cells);
  const auto world = make_spectrum(source, {parties, seed});
  SpectrumScene scene;
  scene.transmitters = world->transmitters();
  for (std::size_t k = 0; k < parties; ++k) {
    SpectrumWalk walk(*world, k);
    std::vector<Place>& path = scene.paths.emplace_back();
    for (Round t = 0; t < rounds; ++t) path.push_back(walk.at(t));
  }
  scene.cells = cells;
  const double width = SpectrumWorld::side / static_cast<double>(cells);
  for (std::size_t row = 0; row < cells; ++row) {
    for (std::size_t column = 0; column < cells; ++column) {
      const Place centre{(static_cast<double>(column) + 0.5) * width, (static_cast<double>(row) + 0.5) * width};
      scene.shadowing.push_back(world->shadowing(centre));
    }
  }
  return scene;
}

}  // namespace starling
