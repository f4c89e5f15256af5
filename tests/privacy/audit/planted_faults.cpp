#include "privacy/audit/planted_faults.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/kernels.hpp"
#include "privacy/audit/audit_subjects.hpp"
#include "privacy/audit/chain_in_doubles.hpp"

namespace starling {

namespace {

/// The price at which the worker's noise is that of the fault, over the price that is claimed.
double price_factor(PlantedFault fault, const ReleaseSettings& settings) {
  if (fault == PlantedFault::half_sensitivity) return 2;
  return fault == PlantedFault::no_column_norm ? noise_factor(settings.correlation.value()) : 1;
}

/// A mechanism with a faulty release, which makes the claims of the honest mechanism.
class Faulty final : public Mechanism {
 public:
  /// `honest` makes the claims, `worker` the noise.
  Faulty(PlantedFault fault, std::unique_ptr<Mechanism> honest, std::unique_ptr<Mechanism> worker)
      : Mechanism(honest->settings()),
        fault_(fault),
        price_factor_(price_factor(fault, settings_)),
        honest_(std::move(honest)),
        worker_(std::move(worker)) {}

  [[nodiscard]] Clip clip() const override { return fault_ == PlantedFault::forgotten_clip ? Clip{} : honest_->clip(); }
  [[nodiscard]] Charge charge(double price) const override { return honest_->charge(price); }
  [[nodiscard]] PriceKind price_kind() const override { return honest_->price_kind(); }
  [[nodiscard]] PrivacyUnit unit() const override { return honest_->unit(); }
  [[nodiscard]] std::string neighbours() const override { return honest_->neighbours(); }
  [[nodiscard]] std::string description() const override {
    return "A fault is planted: for tests of audits; not private.";
  }

  void release(const ReleaseAddress& address, double price, const NoiseKey& key, const Secret<Vector>& sum,
               Released<Vector>& noisy_mean) override {
    const Vector& values = open(sum);
    const Vector within = fault_ == PlantedFault::forgotten_clip ? reachable(values) : values;
    const NoiseKey public_key = NoiseKey::from_seed(1, address.client);
    if (fault_ == PlantedFault::kept_sums && address.round == 0) worker_->begin_chains();  // another run
    worker_->release(address, price * price_factor_, fault_ == PlantedFault::seeded_generator ? public_key : key,
                     Secret<Vector>(within), noisy_mean);
    scale_ = 2 * settings_.clip / (price * static_cast<double>(settings_.batch));
    noisy_mean.update([&](Vector& noisy) { spoil(values, within, noisy); });
  }

  void persist(Snapshot& snapshot) override { worker_->persist(snapshot); }
  void begin_chains() override {
    if (fault_ != PlantedFault::kept_sums) worker_->begin_chains();
  }

 private:
  /// The nearest sum in the same direction that a batch of clipped records can have.
  [[nodiscard]] Vector reachable(const Vector& values) const {
    const Clip each = worker_->clip();
    return clipped(values, {each.kind, each.bound * static_cast<double>(settings_.batch)});
  }

  void spoil(const Vector& values, const Vector& within, Vector& noisy) const {
    const auto m = static_cast<double>(settings_.batch);
    if (fault_ == PlantedFault::bare_coordinate) noisy.back() = sum(values) / m;
    for (std::size_t j = 0; j < noisy.size(); ++j) {
      if (fault_ == PlantedFault::forgotten_clip) noisy[j] += (values[j] - within[j]) / m;
      if (spoils_noise()) noisy[j] = values[j] / m + spoilt(noisy[j] - values[j] / m);
    }
  }

  [[nodiscard]] bool spoils_noise() const {
    return fault_ == PlantedFault::half_noise || fault_ == PlantedFault::clamped_noise || fault_ == PlantedFault::atom;
  }
  [[nodiscard]] double spoilt(double noise) const {
    if (fault_ == PlantedFault::half_noise) return noise / 2;
    if (fault_ == PlantedFault::clamped_noise) return std::clamp(noise, -scale_, scale_);
    const double end = std::log(5.0) * std::log(5.0) * scale_;  // the dissertation's b at T = 5
    return std::abs(noise) > end ? end / 2 : noise;
  }

  PlantedFault fault_;
  double price_factor_;
  std::unique_ptr<Mechanism> honest_;
  std::unique_ptr<Mechanism> worker_;
  double scale_ = 0;  ///< scale of the honest noise in the mean, at the last price
};

}  // namespace

const std::vector<PlantedFaultRow>& planted_faults() {
  static const std::vector<PlantedFaultRow> rows{
      {PlantedFault::half_noise, "half the noise"},
      {PlantedFault::clamped_noise, "noise clamped at its scale"},
      {PlantedFault::atom, "large noise replaced by an atom"},
      {PlantedFault::half_sensitivity, "sensitivity C for 2C"},
      {PlantedFault::seeded_generator, "a seeded generator"},
      {PlantedFault::forgotten_clip, "a forgotten clip"},
      {PlantedFault::bare_coordinate, "a coordinate without noise"},
  };
  return rows;
}

const std::vector<PlantedFaultRow>& planted_chain_faults() {
  static const std::vector<PlantedFaultRow> rows{
      {PlantedFault::half_sensitivity, "sensitivity C for 2C"},
      {PlantedFault::seeded_generator, "a seeded generator"},
      {PlantedFault::no_column_norm, "no norm of the column"},
      {PlantedFault::unrounded_sums, "noise taken back unrounded"},
      {PlantedFault::kept_sums, "old noise on other data"},
      {PlantedFault::noise_met_twice, "noise used again"},
  };
  return rows;
}

std::unique_ptr<Mechanism> plant(PlantedFault fault, const MechanismRow& mechanism, const ReleaseSettings& settings) {
  const Spec spec = Spec::parse(mechanism.name);
  if (fault == PlantedFault::unrounded_sums || fault == PlantedFault::noise_met_twice) {
    return std::make_unique<ChainInDoubles>(
        fault == PlantedFault::unrounded_sums ? ChainInDoubles::Fault::unrounded : ChainInDoubles::Fault::same_noise,
        mechanism.make(spec, settings));
  }
  ReleaseSettings used = settings;
  used.price.least *= price_factor(fault, settings);
  used.price.most *= price_factor(fault, settings);
  return std::make_unique<Faulty>(fault, mechanism.make(spec, settings), mechanism.make(spec, used));
}

}  // namespace starling
