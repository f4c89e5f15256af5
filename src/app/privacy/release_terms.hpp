/// Releases as users describe them, and their charges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "privacy/charge.hpp"

namespace starling {

/// One kind of release. A term that the mechanism does not need must be absent.
struct ReleaseTerms {
  std::string mechanism;          ///< a member of mechanism_table, pure or approximate
  std::optional<double> epsilon;  ///< of gaussian: at `delta`
  std::optional<double> mu;
  std::optional<double> sigma;        ///< standard deviation
  std::optional<double> scale;        ///< b of Laplace noise
  std::optional<double> sensitivity;  ///< of the value to one record: in L1 for `scale`, in L2 for `sigma`; default: 1
  std::optional<double> delta;        ///< of approximate, of gaussian with epsilon
  std::optional<double> rounds;       ///< T, of a mechanism that depends on it
};

/// The charge of a release, rounded towards more loss. Throws UsageError for terms that are missing, too many or out of
/// range; `where` begins its message.
[[nodiscard]] Charge charge_of(const ReleaseTerms& terms, const std::string& where);

/// Whether a mechanism of this name adds Gaussian noise.
[[nodiscard]] bool is_gaussian(const std::string& mechanism);

/// a / b, or the next double above.
[[nodiscard]] double ratio_rounded_up(double a, double b);

/// Reads a CSV file of groups: a header that names `mechanism`, `releases` and any of the terms above, then a row for
/// each group; a cell may be empty, # begins a comment. Throws UsageError naming file and line.
[[nodiscard]] std::vector<ChargeGroup> read_charge_groups(const std::string& path);

}  // namespace starling
