/// Generators without a known regression, and the parameters of all.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "data/generators/synthetic.hpp"
#include "data/settings.hpp"

namespace starling {

/// docs/methods/decentralized.md.
[[nodiscard]] std::unique_ptr<Generator> make_drift(const Spec& spec, const Audience& audience);
/// A target that moves, and clients around it.
[[nodiscard]] std::unique_ptr<Generator> make_tracking(const Spec& spec, const Audience& audience);
/// docs/methods/renewable.md; section 6 of the paper cited there.
[[nodiscard]] std::unique_ptr<Generator> make_two_gaussians(const Spec& spec, const Audience& audience);

/// The loss's own form of a drawn label. Throws DataError, naming the source, for a label that does not fit the loss.
[[nodiscard]] double mapped(const DataSettings& settings, const std::string& source, double label);

/// A generator's parameter. Throws UsageError unless low <= value <= high.
[[nodiscard]] long long integer_within(const Spec& spec, std::string_view key, long long otherwise, long long low,
                                       long long high);
[[nodiscard]] double number_within(const Spec& spec, std::string_view key, double otherwise, double low, double high);
/// The parameter that is the number of features.
[[nodiscard]] std::size_t features_of(const Spec& spec, std::string_view key, long long otherwise, long long least = 1);
/// The parameter `n`.
[[nodiscard]] std::int64_t records_of(const Spec& spec);

}  // namespace starling
