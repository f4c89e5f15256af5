#include "privacy/accounting/spending.hpp"

#include <cmath>
#include <limits>
#include <sstream>

#include "privacy/mechanism.hpp"
#include "privacy/unit.hpp"

namespace starling {

namespace {

constexpr std::size_t most_prices = 1024;
constexpr int digits_at_first = 12;  // where rounding begins

PrivacyLoss unclaimed() {
  PrivacyLoss loss;
  loss.epsilon = std::numeric_limits<double>::infinity();
  loss.method = "none";
  return loss;
}

PrivacyLoss compose_at(const std::vector<ChargeGroup>& groups, std::optional<double> delta) {
  return compose(groups, delta.value_or(default_delta(groups)));
}

/// The charges of a group of `members` units; none if there is no such figure.
std::optional<std::vector<ChargeGroup>> of_groups(const std::vector<ChargeGroup>& groups, double members) {
  std::vector<ChargeGroup> larger;
  for (const ChargeGroup& group : groups) {
    const std::optional<Charge> charge = of_group(group.charge, members);
    if (!charge) return std::nullopt;
    larger.push_back({*charge, group.count});
  }
  return larger;
}

/// `groups`, and the charge of `members` records of a single release.
std::vector<ChargeGroup> with(std::vector<ChargeGroup> groups, const std::optional<SingleRelease>& single,
                              double members) {
  if (!single || members <= 0) return groups;
  groups.push_back({of_group(single->charge, std::max(members, 1.0)).value_or(Charge::unbounded()), 1});
  return groups;
}

/// Units of privacy in one record, in the unit that the charges count.
double units_of_record(const Protection& mechanism) {
  if (is_whole(mechanism.unit())) return 1;
  const auto d = static_cast<double>(mechanism.settings().dimension);
  return mechanism.price_kind() == PriceKind::mu ? std::sqrt(d) : d;
}

void take_worse_loss(PrivacyLoss& loss, const PrivacyLoss& other) {
  if (other.epsilon > loss.epsilon || loss.method.empty()) loss = other;
}

std::string text_of(const PrivacyLoss& loss) {
  const auto optional = [](const std::optional<double>& value) { return fmt::format("{}", value.value_or(-1)); };
  return fmt::format("{} {} {} {} {}", loss.epsilon, loss.delta, optional(loss.mu), optional(loss.renyi),
                     loss.method.empty() ? "none" : loss.method);
}

double next_number(std::istream& words) {
  std::string word;
  words >> word;
  return std::stod(word);  // unlike >>, it knows inf
}

PrivacyLoss next_loss(std::istream& words) {
  PrivacyLoss loss;
  loss.epsilon = next_number(words);
  loss.delta = next_number(words);
  if (const double mu = next_number(words); mu >= 0) loss.mu = mu;
  if (const double renyi = next_number(words); renyi >= 0) loss.renyi = renyi;
  words >> loss.method;
  return loss;
}

}  // namespace

void PriceTally::add(double price, std::int64_t count) {
  counts_[rounded(price)] += count;
  while (counts_.size() > most_prices && digits_ > 1) {
    digits_ = std::min(digits_, digits_at_first) - 1;
    std::map<double, std::int64_t> fewer;
    for (const auto& [each, releases] : counts_) fewer[rounded(each)] += releases;
    counts_ = std::move(fewer);
  }
}

double PriceTally::rounded(double price) const {
  if (digits_ == std::numeric_limits<double>::digits) return price;
  int exponent = 0;
  const double significand = std::frexp(price, &exponent);
  return std::ldexp(std::ceil(std::ldexp(significand, digits_)), exponent - digits_);
}

std::int64_t PriceTally::total() const {
  std::int64_t total = 0;
  for (const auto& [price, count] : counts_) total += count;
  return total;
}

PriceTally PriceTally::dearest(std::int64_t most) const {
  PriceTally tally;
  for (auto each = counts_.rbegin(); each != counts_.rend() && most > 0; ++each) {
    const std::int64_t taken = std::min(most, each->second);
    tally.add(each->first, taken);
    most -= taken;
  }
  return tally;
}

std::vector<ChargeGroup> PriceTally::groups(const Protection& mechanism) const {
  std::vector<ChargeGroup> groups;
  for (const auto& [price, count] : counts_) groups.push_back({mechanism.charge(price), count});
  return groups;
}

Spending::Earlier& Spending::earlier() {
  if (!earlier_) earlier_ = std::make_unique<Earlier>();
  return *earlier_;
}

void Spending::change_price(double price) {
  if (releases_ > 0) {
    earlier().releases += releases_;
    earlier().all.add(price_, releases_);
  }
  if (passes_ > 0) earlier().finished_passes.add(price_, passes_);
  releases_ = 0;
  passes_ = 0;
  price_ = price;
}

void Spending::end_pass(std::int64_t pass) {
  if (pass_ >= 0 && dearest_ == price_) ++passes_;
  if (pass_ >= 0 && dearest_ != price_) earlier().finished_passes.add(dearest_);
  pass_ = pass;
  dearest_ = 0;
}

PriceTally Spending::all() const {
  PriceTally tally = earlier_ ? earlier_->all : PriceTally();
  if (releases_ > 0) tally.add(price_, releases_);
  return tally;
}

void Spending::persist(Snapshot& snapshot) {
  bool has_earlier = earlier_ != nullptr;
  snapshot(price_, releases_, passes_, pass_, dearest_, has_earlier);
  if (has_earlier) snapshot(earlier().releases, earlier().all, earlier().finished_passes);
  if (!has_earlier) earlier_.reset();
}

PriceTally Spending::dearest(std::int64_t uses) const {
  const PriceTally of_passes = dearest_of_passes();
  if (uses == 1) return of_passes;
  return all().dearest(of_passes.total() * uses);
}

PriceTally Spending::dearest_of_passes() const {
  PriceTally tally = earlier_ ? earlier_->finished_passes : PriceTally();
  if (passes_ > 0) tally.add(price_, passes_);
  if (pass_ >= 0) tally.add(dearest_);
  return tally;
}

void ClientLosses::take_worse(const ClientLosses& other) {
  releases = std::max(releases, other.releases);
  participations = std::max(participations, other.participations);
  take_worse_loss(component, other.component);
  take_worse_loss(record, other.record);
  take_worse_loss(one_per_batch, other.one_per_batch);
  take_worse_loss(client, other.client);
}

void ClientLosses::claim_nothing() {
  for (PrivacyLoss* loss : {&component, &record, &one_per_batch, &client}) *loss = unclaimed();
}

std::string ClientLosses::text() const {
  return fmt::format("{} {} {} {} {} {}", releases, participations, text_of(component), text_of(record),
                     text_of(one_per_batch), text_of(client));
}

ClientLosses ClientLosses::parse(const std::string& text) {
  std::istringstream words(text);
  ClientLosses losses;
  words >> losses.releases >> losses.participations;
  for (PrivacyLoss* loss : {&losses.component, &losses.record, &losses.one_per_batch, &losses.client}) {
    *loss = next_loss(words);
  }
  return losses;
}

double units_of_batch(const Protection& mechanism) {
  const ReleaseSettings& settings = mechanism.settings();
  return static_cast<double>(settings.batch / settings.clients) * units_of_record(mechanism);
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

ClientLosses losses_of(const Spending& spending, const Protection& mechanism, std::optional<double> delta,
                       const std::optional<SingleRelease>& single, std::int64_t uses) {
  const PriceTally of_unit = spending.dearest(uses);
  const std::vector<ChargeGroup> record = of_unit.groups(mechanism);
  const std::vector<ChargeGroup> all = spending.all().groups(mechanism);
  ClientLosses losses;
  losses.releases = spending.releases();
  losses.participations = of_unit.total();
  const auto of_group_with = [&](const std::vector<ChargeGroup>& groups, double members, double of_single) {
    const auto larger = of_groups(groups, members);
    return larger ? compose_at(with(*larger, single, of_single), delta) : unclaimed();
  };
  const double of_each_batch = single ? single->of_each_batch : 0;
  // A component changes with its record, so it pays no more.
  losses.component = compose_at(with(record, single, 1), delta);
  losses.record = of_group_with(record, units_of_record(mechanism), 1);
  const double accumulation = mechanism.accumulation().factor(spending.releases());
  losses.one_per_batch = accumulation == 1 ? compose_at(with(all, single, of_each_batch), delta)
                                           : of_group_with(all, accumulation, of_each_batch);
  losses.client = of_group_with(all, accumulation * units_of_batch(mechanism), single ? single->of_client : 0);
  return losses;
}

}  // namespace starling
