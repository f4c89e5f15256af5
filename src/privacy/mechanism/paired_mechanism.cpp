#include "privacy/mechanism/paired_mechanism.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "privacy/pairs/pair_noise.hpp"
#include "privacy/parts.hpp"
#include "privacy/rows.hpp"

namespace starling {

PairedMechanism::PairedMechanism(const std::string& name, const ReleaseSettings& settings, SecondPart second)
    : Mechanism(settings), part_(std::move(second)) {
  kind_ = divisible_row(name, "two").price_kind();
  check(is_whole(settings.unit),
        "unit component with two releases a round: a component of a gradient is no part of the second. Use --unit "
        "record.");
  check(part_.of_first_rounds || (part_.share > 0 && part_.share < 1),
        "a share of {} for the second release: it lies between 0 and 1.", part_.share);
  ReleaseSettings of_part = settings;
  of_part.price = {first_price(settings.price.least), first_price(settings.price.most)};
  first_ = mechanism_table().make(name, of_part);
  check(!settings.correlation || !part_.once_of || part_.of_first_rounds,
        "correlated noise with sums that are released once: inference from them is known for independent noise. Use "
        "--noise-correlation none.");
  of_part.correlation.reset();
  of_part.price = {second_price(settings.price.least),
                   part_.alone_in > 0 ? settings.price.most : second_price(settings.price.most)};
  of_part.clip = part_.clip;
  of_part.dimension = part_.dimension;
  of_part.replacement = part_.replacement;
  of_part.batch = part_.once_of.value_or(settings.batch);
  check(part_.alone_in == 0 || !(settings.correlation || part_.once_of || part_.of_first_rounds),
        "a second part that is alone in the first rounds, of other records or beside correlated noise");
  check(!part_.of_first_rounds || part_.once_of, "records of first rounds whose sum is not released once");
  check(!part_.once_of || kind_ != PriceKind::epsilon,
        "mechanism '{}' with sums that are released once: what that costs who has many records is known of Gaussian "
        "noise. Choose gaussian.",
        name);
  second_ = mechanism_table().make(name, of_part);
}

double PairedMechanism::first_price(double price) const {
  switch (kind_) {
    case PriceKind::none:
      return price;
    case PriceKind::epsilon:
      return (1 - part_.share) * price;
    case PriceKind::mu:
      break;
  }
  if (part_.of_first_rounds) return price;
  return std::sqrt(1 - part_.share) * price * short_of_one;
}

double PairedMechanism::second_price(double price) const {
  switch (kind_) {
    case PriceKind::none:
      return price;
    case PriceKind::epsilon:
      return price - first_price(price);
    case PriceKind::mu:
      break;
  }
  if (part_.of_first_rounds) return price;
  return std::sqrt(part_.share) * price * short_of_one;
}

/// Of the noise of a client that nobody else hides.
double PairedMechanism::own_share() const {
  return std::sqrt(terms_of(settings_).exposure);
}

double PairedMechanism::deviation(double price) const {
  check<FailureError>(!settings_.correlation, "the deviation of correlated noise, which differs from round to round");
  return own_share() * deviation_of(kind_, first_->settings(), first_price(price));
}

double PairedMechanism::second_deviation(double price) const {
  return own_share() * deviation_of(kind_, second_->settings(), second_price(price));
}

double PairedMechanism::deviation_alone(double price) const {
  return own_share() * deviation_of(kind_, second_->settings(), price);
}

Charge PairedMechanism::charge(double price) const {
  switch (kind_) {
    case PriceKind::none:
      return Charge::unbounded();
    case PriceKind::epsilon:
      // Both are multiples of 2^-39: their sum is exact.
      return Charge::laplace(first_->charge(first_price(price)).epsilon + second_->charge(second_price(price)).epsilon);
    case PriceKind::mu:
      break;
  }
  return Charge::gaussian(price);
}

Accumulation PairedMechanism::accumulation() const {
  if (kind_ == PriceKind::none) return {};
  if (part_.of_first_rounds) return {.correlation = settings_.correlation, .first_rounds = *part_.of_first_rounds};
  if (part_.once_of) return {.once = part_.share};
  return {.correlation = settings_.correlation, .independent = settings_.correlation ? part_.share : 0};
}

std::string PairedMechanism::description() const {
  const char* const each = summand_of(settings_.unit);
  if (kind_ == PriceKind::none) {
    return fmt::format("{} So was each {}'s part in {}, the second part of a release. ", first_->description(), each,
                       part_.what);
  }
  if (part_.of_first_rounds) {
    return fmt::format(
        "Sums of each record's {0} over all records of the first {1} rounds are released once; those records are used "
        "in nothing else, and what is said of gradients holds for them with a bound of their own: {2} Of the other "
        "records gradients are released: {3}",
        part_.what, *part_.of_first_rounds, second_->description(), first_->description());
  }
  if (part_.once_of) {
    return fmt::format(
        "Of what a {0} pays, releases of gradients have {1:g} of the square of mu: {2} Sums over all {0}s of each "
        "{0}'s {3} are released once, after the last round, for the rest, and what is said of gradients holds for "
        "them with a bound of their own: {4}",
        each, 1 - part_.share, first_->description(), part_.what, second_->description());
  }
  const std::string alone = part_.alone_in == 0
                                ? ""
                                : fmt::format("In the first {} there is a second part alone, at the whole price. ",
                                              part_.alone_in == 1 ? "round" : fmt::format("{} rounds", part_.alone_in));
  return alone + fmt::format(
                     "Each release has two parts, whose noise is independent. The first, of gradients, has {:g} of {}: "
                     "{} The second, of each {}'s {}, has the rest, and what is said of gradients holds for it with a "
                     "bound of its own: {}",
                     1 - part_.share, kind_ == PriceKind::mu ? "the square of mu" : "epsilon", first_->description(),
                     each, part_.what, second_->description());
}

void PairedMechanism::release(const ReleaseAddress& address, double price, const NoiseKey& key,
                              const Secret<Vector>& sum, Released<Vector>& noisy_mean) {
  check_price(price);
  first_->release(address, first_price(price), key, sum, noisy_mean);
}

void PairedMechanism::release_second(const ReleaseAddress& address, double price, const NoiseKey& key,
                                     const Secret<Vector>& sum, Released<Vector>& noisy_mean) {
  check_price(price);
  const double paid = address.round < part_.alone_in ? price : second_price(price);
  second_->release({address.path, address.client, address.round, address.index + 1, address.block}, paid, key, sum,
                   noisy_mean);
}

}  // namespace starling
