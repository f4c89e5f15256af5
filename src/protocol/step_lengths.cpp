#include "starling/protocol/step_lengths.hpp"

#include <cmath>
#include <limits>

namespace starling {

namespace {

/// From here on a block needs eight terms: (512/c)^9 <= 2^-63.
constexpr double far = 0x1p16;
constexpr int terms = 8;
/// What std::pow's number may be off the power, in units in the last place, less the series' own error.
constexpr double most_off = 0.46;
/// Whether a long double has digits to tell what is left of a power below the nearest number.
constexpr bool tells_rests = std::numeric_limits<long double>::digits >= 64;

/// The powers (c + h)^{−α} for h = 0, …, block − 1, 0 <= α <= 1.
class PowerSeries {
 public:
  PowerSeries(double c, double alpha) {
    const long double power = std::pow(static_cast<long double>(c), -static_cast<long double>(alpha));
    high_ = static_cast<double>(power);
    low_ = static_cast<double>(power - high_);
    double factor = high_;
    for (int k = 0; k < terms; ++k) factors_[k] = factor *= (-alpha - k) / (k + 1) / c;
  }

  /// The nearest number; what is left of the power goes to `rest`.
  [[nodiscard]] double at(double h, double& rest) const {
    double more = factors_[terms - 1] * h;
    for (int k = terms - 1; k > 0; --k) more = (more + factors_[k - 1]) * h;
    more += low_;
    const double number = high_ + more;
    rest = more - (number - high_);  // exact, since |more| < high_ (Dekker 1971)
    return number;
  }

 private:
  double high_;
  double low_;
  double factors_[terms];  ///< high_ · (−α over k) c^{−k}, k = 1, …
};

}  // namespace

void StepLengths::fill(std::size_t block) {
  block_ = block;
  const double first = static_cast<double>(block * block_size);
  const double c = first + offset_;
  const auto power = [this](double place) { return std::pow(place, -power_); };
  std::array<double, block_size> rests{};
  if (!tells_rests || c < far || !(power_ >= 0 && power_ <= 1)) {
    for (std::size_t k = 0; k < lengths_.size(); ++k) lengths_[k] = power(first + static_cast<double>(k) + offset_);
  } else {
    const PowerSeries series(c, power_);
    for (int k = 0; k < static_cast<int>(block_size); ++k) {  // vectors of these become doubles at once
      const auto at = static_cast<std::size_t>(k);
      lengths_[at] = series.at(first + k + offset_ - c, rests[at]);
    }
    const double least = lengths_.back();
    const double clear = most_off * (least - std::nextafter(least, 0));
    for (std::size_t k = 0; k < lengths_.size(); ++k) {
      if (!(std::abs(rests[k]) < clear)) lengths_[k] = power(first + static_cast<double>(k) + offset_);
    }
  }
  for (double& length : lengths_) length *= step_;
}

}  // namespace starling
