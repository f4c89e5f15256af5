/// A round's release in several parts of the same price and with the same kind of noise, for online vertical federated
/// learning (docs/methods/vertical.md).
///
/// All parts are computed from the same m records, so a record pays for each. Parts with independent noise are one
/// release of the vector of all parts, each measured in its own noise scale: of P parts of Gaussian noise the μ² add
/// up, so each has μ/√P of the round's; of P parts of Laplace noise the ε add up, so each has ε/P
/// (docs/methods/privacy.md, "Accounting"). That holds as well where a part is computed from what parts before it
/// released, as a second local step is: the loss of each is the same whatever those were (Dong, Roth and Su 2022,
/// corollary 3.3).
///
/// A part is a sum over records, or a matrix of m rows of e numbers, row i made of record i alone, all rows in one
/// vector of m e numbers. Such a matrix is a sum too, of m vectors that are zero outside of their own row, and
/// privacy/noise/grid.hpp proves its sensitivity as that of any sum: with rows clipped to the part's bound
/// (privacy/clip_rows.hpp) replacing one record moves it by at most 2 C. Their supports are disjoint, but that makes
/// the bound no smaller: a record and its replacement have the same row, and rows x and −x of norm C are 2 C apart.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "privacy/mechanism.hpp"

namespace starling {

class MultipartMechanism final : public Protection {
 public:
  /// `name` is a mechanism whose row is divisible; `settings` have the prices of whole rounds, and clip and dimension
  /// of gradients; `releases` is P: the most that any client makes in a round. A client with fewer pays for P all the
  /// same. Throws UsageError for other mechanisms, for the unit component, and for no releases.
  MultipartMechanism(const std::string& name, const ReleaseSettings& settings, std::size_t releases);

  /// The use of a release, for descriptions: a mean, as `release` gives it, or m times the mean, the rows of a matrix.
  enum class Scale { mean, rows };
  /// A kind of release: `what`, of each record, for descriptions ("embedding"); bound on a record's norm, infinite: no
  /// clipping (`none` alone); entries. Returns its number; what is there already is not added again. Ranks describe the
  /// run alike if all add the parts of all clients. Throws UsageError where the part's sensitivity cannot be proved.
  std::size_t add(const std::string& what, double clip, std::size_t dimension, Scale scale = Scale::mean);

  /// The clipping of gradients.
  [[nodiscard]] Clip clip() const override { return gradients_->clip(); }
  /// The clipping of records before they enter this part.
  [[nodiscard]] Clip clip(std::size_t part) const;
  /// The charge of a whole round.
  [[nodiscard]] Charge charge(double round_price) const override;
  [[nodiscard]] PriceKind price_kind() const override { return gradients_->price_kind(); }
  [[nodiscard]] std::string neighbours() const override { return gradients_->neighbours(); }
  [[nodiscard]] std::string description() const override;

  /// P.
  [[nodiscard]] std::size_t releases() const { return releases_; }
  /// The number of kinds that were added.
  [[nodiscard]] std::size_t parts() const { return parts_.size(); }
  /// Standard deviation of the noise on a component of a part's noisy mean (of the sum: m times that), in a round of
  /// this price; 0 without noise.
  [[nodiscard]] double deviation(std::size_t part, double round_price) const;
  /// The parameters of all parts on one line, for ledgers: "releases=3 part=embedding clip=1 dimension=320 …".
  [[nodiscard]] std::string parameters() const;

  /// A noisy mean: `sum` / m with noise, for the m of the settings. `address.index` numbers the client's releases of
  /// the round, each once: 0 … P − 1. As Mechanism::release otherwise.
  void release(std::size_t part, const ReleaseAddress& address, double round_price, const NoiseKey& key,
               const Secret<Vector>& sum, Released<Vector>& noisy_mean);

 private:
  struct Part {
    std::string what;
    std::unique_ptr<Mechanism> mechanism;
    Scale scale;
  };
  // So that (part, index) fits into a ReleaseAddress.
  static constexpr std::size_t most_releases = 1U << 16U;
  static constexpr std::size_t most_parts = 1U << 16U;

  [[nodiscard]] std::unique_ptr<Mechanism> make_part(double clip, std::size_t dimension) const;
  [[nodiscard]] double part_price(double round_price) const;
  [[nodiscard]] const Part& part(std::size_t number) const;
  [[nodiscard]] std::string list_of_parts() const;

  std::string name_;
  std::size_t releases_;
  PriceKind kind_ = PriceKind::none;
  std::unique_ptr<Mechanism> gradients_;  ///< of the settings' clip and dimension
  std::vector<Part> parts_;
};

}  // namespace starling
