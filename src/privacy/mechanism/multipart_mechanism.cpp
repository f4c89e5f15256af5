#include "privacy/mechanism/multipart_mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/check.hpp"
#include "privacy/parts.hpp"
#include "privacy/rows.hpp"

namespace starling {

MultipartMechanism::MultipartMechanism(const std::string& name, const ReleaseSettings& settings, std::size_t releases)
    : Protection(settings), name_(name), releases_(releases) {
  kind_ = divisible_row(name, "several").price_kind();
  check(is_whole(settings.unit),
        "unit component with several releases a round: a component of a gradient is no part of the others. Use --unit "
        "record.");
  check(settings.replacement == 2, "a replaced record that moves a release by {} clips: rows of a matrix move by 2.",
        settings.replacement);
  check(!settings.correlation,
        "correlated noise with several releases a round: it is made for one. Use --noise-correlation none.");
  check(releases >= 1 && releases <= most_releases, "{} releases a round: must be 1 to {}.", releases, most_releases);
  gradients_ = make_part(settings.clip, settings.dimension);
}

std::unique_ptr<Mechanism> MultipartMechanism::make_part(double clip, std::size_t dimension) const {
  ReleaseSettings of_part = settings_;
  of_part.price = {part_price(settings_.price.least), part_price(settings_.price.most)};
  of_part.clip = clip;
  of_part.dimension = dimension;
  return mechanism_table().make(name_, of_part);
}

std::size_t MultipartMechanism::add(const std::string& what, double clip, std::size_t dimension, Scale scale) {
  const auto same = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) {
    const ReleaseSettings& settings = part.mechanism->settings();
    return part.what == what && settings.clip == clip && settings.dimension == dimension;
  });
  if (same != parts_.end()) return static_cast<std::size_t>(same - parts_.begin());
  check(parts_.size() < most_parts, "{} kinds of releases: must be fewer than 2^16.", parts_.size() + 1);
  parts_.push_back({what, make_part(clip, dimension), scale});
  return parts_.size() - 1;
}

const MultipartMechanism::Part& MultipartMechanism::part(std::size_t number) const {
  check<FailureError>(number < parts_.size(), "part {} of a release: it has {}.", number, parts_.size());
  return parts_[number];
}

double MultipartMechanism::part_price(double round_price) const {
  const auto count = static_cast<double>(releases_);
  switch (kind_) {
    case PriceKind::none:
      return round_price;
    case PriceKind::epsilon:
      return round_price / count * short_of_one;
    case PriceKind::mu:
      break;
  }
  return round_price / std::sqrt(count) * short_of_one;
}

Clip MultipartMechanism::clip(std::size_t number) const {
  return part(number).mechanism->clip();
}

double MultipartMechanism::deviation(std::size_t number, double round_price) const {
  return deviation_of(kind_, part(number).mechanism->settings(), part_price(round_price));
}

Charge MultipartMechanism::charge(double round_price) const {
  switch (kind_) {
    case PriceKind::none:
      return Charge::unbounded();
    case PriceKind::epsilon:
      // A multiple of 2^-39, the same for each part whatever its clip: the product is exact.
      return Charge::laplace(static_cast<double>(releases_) * gradients_->charge(part_price(round_price)).epsilon);
    case PriceKind::mu:
      break;
  }
  return Charge::gaussian(round_price);
}

std::string MultipartMechanism::list_of_parts() const {
  std::set<std::string> known;  // networks of different sizes have parts that differ in dimension alone
  std::string list;
  for (const Part& part : parts_) {
    const ReleaseSettings& settings = part.mechanism->settings();
    std::string text = part.what;
    const double times = part.scale == Scale::rows ? static_cast<double>(settings.batch) : 1;
    if (kind_ != PriceKind::none) {
      text += fmt::format(" (norm at most {:g}, standard deviation {})", settings.clip,
                          size_range(times * deviation_of(kind_, settings, settings.price.most),
                                     times * deviation_of(kind_, settings, settings.price.least)));
    }
    if (known.insert(text).second) list += (list.empty() ? "" : "; ") + text;
  }
  return list;
}

std::string MultipartMechanism::description() const {
  if (kind_ == PriceKind::none) {
    return fmt::format("{} So is all else that a round releases, in at most {} part(s): {}.", gradients_->description(),
                       releases_, list_of_parts());
  }
  return fmt::format(
      "A round's release has at most {0} part(s), of the same records and with independent noise, each with 1/{0} of "
      "{1}. {2} What is said of gradients holds for each kind of part with a norm and a standard deviation of its own: "
      "{3}.",
      releases_, kind_ == PriceKind::mu ? "the square of mu" : "epsilon", gradients_->description(), list_of_parts());
}

std::string MultipartMechanism::parameters() const {
  std::string text = fmt::format("releases={}", releases_);
  for (const Part& part : parts_) {
    std::string what = part.what;
    std::replace(what.begin(), what.end(), ' ', '-');
    const ReleaseSettings& settings = part.mechanism->settings();
    text += fmt::format(" part={} clip={} dimension={}", what, settings.clip, settings.dimension);
  }
  return text;
}

void MultipartMechanism::release(std::size_t number, const ReleaseAddress& address, double round_price,
                                 const NoiseKey& key, const Secret<Vector>& sum, Released<Vector>& noisy_mean) {
  check_price(round_price);
  check<FailureError>(address.index < releases_, "release {} of a round that is charged for {}: counted from 0.",
                      address.index, releases_);
  // No two parts meet the same noise, even where an index is given twice.
  const auto index = static_cast<std::uint32_t>(number * releases_ + address.index);
  part(number).mechanism->release({address.path, address.client, address.round, index, address.block},
                                  part_price(round_price), key, sum, noisy_mean);
}

}  // namespace starling
