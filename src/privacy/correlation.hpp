/// Correlated Gaussian noise: which share of earlier noise a release takes back (docs/methods/privacy.md, "Correlated
/// noise"; McMahan and others, "A hassle-free algorithm for strong differential privacy in federated learning systems",
/// 2024, buffered linear Toeplitz matrices).
///
/// Round t of a client releases q_t + σ o_t with o_t = Z_t − Σ_j ω_j S_j, S_j ← θ_j S_j + Z_t, S_j = 0 at first, Z_t
/// independent standard Gaussian vectors. So o = C⁻¹ Z for the lower triangular Toeplitz matrix C with the coefficients
/// of C(z) = 1/(1 − Σ_j ω_j z/(1 − θ_j z)): c_0 = 1, all others not negative. Observers of y = q + σ C⁻¹ Z see the
/// Gaussian mechanism C q + σ Z, in which a record of round s moves round t by c_{t−s} times what it moves q_s.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/links.hpp"

namespace starling {

/// The correlation of a run's noise. 0 < ω_j < 1 and 0 <= θ_j < 1 are multiples of 2^-20, and Σ_j ω_j/(1 − θ_j) < 1, so
/// that Σ c converges.
struct NoiseCorrelation {
  static constexpr std::size_t buffers = 2;

  std::array<double, buffers> omega{};
  std::array<double, buffers> theta{};
  std::int64_t uses = 1;  ///< passes over the data: so often is a record used at most
  Round apart = 0;        ///< rounds between two uses, at least; without meaning for one use

  /// "omega=… theta=… uses=… apart=…", which parse() reads back to the same bits.
  [[nodiscard]] std::string text() const;
  /// Throws UsageError for other texts, and for numbers outside the ranges above.
  [[nodiscard]] static NoiseCorrelation parse(const std::string& text);
};

/// Sizes for which correlated noise is proved (src/privacy/mechanism/correlated_gaussian.hpp).
struct CorrelationLimits {
  static constexpr std::size_t batch = std::size_t{1} << 21;  ///< most records of a sum, whose integers are below 2^61
  static constexpr Round rounds = Round{1} << 28;             ///< most rounds of a chain
};

/// The correlation with the least column norm × prefix deviation for `passes` passes of `rounds_of_pass` rounds, found
/// within a second. Passes of more than 2^20 rounds together are planned as if they had so many: longer runs lose
/// little and cost nothing. Throws UsageError unless both are at least 1.
[[nodiscard]] NoiseCorrelation best_correlation(Round rounds_of_pass, std::int64_t passes);

/// c_0 … c_{rounds−1}.
[[nodiscard]] std::vector<double> column_of(const NoiseCorrelation& correlation, std::size_t rounds);

/// √(‖Σ_{j<k} C e_{jb}‖²/k) for k = `uses` and b = `apart`, over endless columns, rounded up: the noise that a price of
/// μ for each use needs, in multiples of independent noise of the same price. All k uses then cost √k μ, and fewer cost
/// no more than their number says (proof in correlation.cpp). 1 for independent noise.
[[nodiscard]] double noise_factor(const NoiseCorrelation& correlation);

/// ‖C 1‖ over `rounds` rounds, rounded up: what a record in every round moves C q, in multiples of what it moves q in a
/// round. √rounds for independent noise.
[[nodiscard]] double norm_of_all_rounds(const NoiseCorrelation& correlation, Round rounds);

/// v: the root of the mean square of prefix sums of the noise over `rounds` rounds, in multiples of the deviation that
/// independent noise of the same price has in a round: noise_factor × rms_t ‖row t of (prefix sums) C⁻¹‖. For
/// independent noise √((rounds + 1)/2).
[[nodiscard]] double prefix_noise(const std::optional<NoiseCorrelation>& correlation, Round rounds);

/// ‖C⁻ᵀ η‖: the deviation of Σ η_i o_{t_i} in multiples of the deviation of Z, for releases in the rounds `rounds`,
/// ascending, with the factors `factors`. Rounds without a release have no noise of their own. ‖η‖ for independent
/// noise.
[[nodiscard]] double noise_of_sum(const std::optional<NoiseCorrelation>& correlation, const std::vector<Round>& rounds,
                                  const std::vector<double>& factors);

/// The facts that say by how much the charges of n releases rise for somebody with a record in each of them. The
/// charges of independent noise do not rise: √n μ in all. Charges rise where a record moves later releases too, and
/// where one sum has several of the records.
struct Accumulation {
  std::optional<NoiseCorrelation> correlation = std::nullopt;  ///< of the noise over the releases
  double independent = 0;  ///< share of μ² of a second part of each release, whose noise is independent
  double once = 0;         ///< share of μ² of a sum over the records of all releases, which is released once
  Round first_rounds = 0;  ///< so many first releases are one sum, whose records are in nothing else

  /// Whether charges rise at all.
  [[nodiscard]] bool any() const { return correlation || independent > 0 || once > 0 || first_rounds > 0; }
  /// The factor on each of the charges of `releases` releases, 1 or more, rounded up.
  [[nodiscard]] double factor(std::int64_t releases) const;
};

}  // namespace starling
