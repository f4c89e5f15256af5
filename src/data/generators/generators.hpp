/// Generators without a known regression, and the parameters of all.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "data/generators/synthetic.hpp"
#include "data/settings.hpp"

namespace starling {

/// y = 1 + Σ x_j + sd N(0, 1), with x ~ N(0, Σ), Σ_jk = correlation^|j−k|. Clients' intercepts lie evenly between
/// 1 − apart and 1 + apart.
[[nodiscard]] std::unique_ptr<Generator> make_counts(const Spec& spec, const Audience& audience);
[[nodiscard]] std::unique_ptr<Generator> make_linear(const Spec& spec, const Audience& audience);
/// P(y = 1) = 1/(1 + exp(−1 − Σ x_j)), else y = 0.
[[nodiscard]] std::unique_ptr<Generator> make_logistic(const Spec& spec, const Audience& audience);
/// Generator as `linear`, with noise shifted so that the robust (τ, c)-expectile of the noise is 0.
[[nodiscard]] std::unique_ptr<Generator> make_expectile(const Spec& spec, const Audience& audience);
/// Premiums of health insurance (insurance.cpp).
[[nodiscard]] std::unique_ptr<Generator> make_insurance(const Spec& spec, const Audience& audience);
/// Fares of a ride-sharing platform (insurance.cpp).
[[nodiscard]] std::unique_ptr<Generator> make_rides(const Spec& spec, const Audience& audience);

/// Shift of the noise of the generator `expectile`: the m with E ψ(sd Z − m) = 0 for a standard normal Z. ψ is the
/// slope of the loss expectile:τ,c. Accurate to 1e-12 sd, for c >= sd/1000.
[[nodiscard]] double gaussian_expectile(double sd, double tau, double c);

/// Standard normals by Box and Muller, using both numbers of a pair. The first of a pair is that of
/// AddressedRandom::normal().
class NormalPairs {
 public:
  explicit NormalPairs(AddressedRandom& random) : random_(random) {}
  double operator()();

 private:
  AddressedRandom& random_;
  double second_ = 0;
  bool waits_ = false;  ///< the second of a pair
};

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
