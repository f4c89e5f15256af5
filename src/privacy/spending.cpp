#include "starling/privacy/spending.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace starling {

namespace {

constexpr std::size_t most_prices = 1024;
constexpr double usual_delta = 1e-5;

Loss unclaimed() {
  Loss loss;
  loss.epsilon = std::numeric_limits<double>::infinity();
  loss.method = "none";
  return loss;
}

Loss compose_at(const std::vector<ChargeGroup>& groups, std::optional<double> delta) {
  return compose(groups, delta.value_or(default_delta(groups)));
}

/// Of a group of `members` of what the charges count.
Loss of_groups(const std::vector<ChargeGroup>& groups, double members, std::optional<double> delta) {
  std::vector<ChargeGroup> larger;
  for (const ChargeGroup& group : groups) {
    const std::optional<Charge> charge = of_group(group.charge, members);
    if (!charge) return unclaimed();
    larger.push_back({*charge, group.count});
  }
  return compose_at(larger, delta);
}

/// How many of its components a record counts for: all d in L1, √d in L2, where they are orthogonal.
double components_of_record(const Mechanism& mechanism) {
  const auto d = static_cast<double>(mechanism.settings().dimension);
  return mechanism.price_kind() == PriceKind::mu ? std::sqrt(d) : d;
}

}  // namespace

void PriceTally::add(double price, std::int64_t count) {
  counts_[price] += count;
  if (counts_.size() > most_prices) merge();
}

void PriceTally::merge() {
  std::map<double, std::int64_t> merged;
  for (auto cheaper = counts_.begin(); cheaper != counts_.end();) {
    const auto dearer = std::next(cheaper);
    if (dearer == counts_.end()) {
      merged[cheaper->first] += cheaper->second;
      break;
    }
    merged[dearer->first] += cheaper->second + dearer->second;
    cheaper = std::next(dearer);
  }
  counts_ = std::move(merged);
}

std::vector<ChargeGroup> PriceTally::groups(const Mechanism& mechanism) const {
  std::vector<ChargeGroup> groups;
  for (const auto& [price, count] : counts_) groups.push_back({mechanism.charge(price), count});
  return groups;
}

void Spending::add(double price, std::int64_t pass) {
  ++releases_;
  all_.add(price);
  if (pass != pass_) {
    if (pass_ >= 0) finished_passes_.add(dearest_);
    pass_ = pass;
    dearest_ = price;
  }
  dearest_ = std::max(dearest_, price);
}

std::int64_t Spending::participations() const {
  const PriceTally dearest = dearest_of_passes();
  std::int64_t total = 0;
  for (const auto& [price, count] : dearest.counts()) total += count;
  return total;
}

PriceTally Spending::dearest_of_passes() const {
  PriceTally tally = finished_passes_;
  if (pass_ >= 0) tally.add(dearest_);
  return tally;
}

double default_delta(const std::vector<ChargeGroup>& groups) {
  double own = 0;
  bool gaussian = false;
  for (const ChargeGroup& group : groups) {
    own += static_cast<double>(group.count) * group.charge.delta;
    gaussian = gaussian || group.charge.kind == ChargeKind::gaussian;
  }
  return std::min(1.0, own + (gaussian ? usual_delta : 0));
}

ClientLosses losses_of(const Spending& spending, const Mechanism& mechanism, std::optional<double> delta) {
  const std::vector<ChargeGroup> record = spending.dearest_of_passes().groups(mechanism);
  const std::vector<ChargeGroup> all = spending.all().groups(mechanism);
  const bool by_component = mechanism.unit() == PrivacyUnit::component;
  const double in_record = by_component ? components_of_record(mechanism) : 1;
  const auto batch = static_cast<double>(mechanism.settings().batch);
  ClientLosses losses;
  losses.releases = spending.releases();
  losses.participations = spending.participations();
  losses.component = compose_at(record, delta);  // a component changes with its record, so it pays no more
  losses.record = by_component ? of_groups(record, in_record, delta) : losses.component;
  losses.one_per_batch = compose_at(all, delta);
  losses.client = of_groups(all, batch * in_record, delta);
  return losses;
}

}  // namespace starling
