/// Mechanisms: the only way from Secret to Released (method 6, "The release").
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/core/check.hpp"
#include "starling/core/sized.hpp"
#include "starling/core/table.hpp"
#include "starling/privacy/charge.hpp"
#include "starling/privacy/keys/keys.hpp"

namespace starling {

/// Whose loss is counted: one record replaced, or one component of one record's gradient.
enum class PrivacyUnit { record, component };

/// What the price of a release is: how much of it a record pays, in the mechanism's own measure.
enum class PriceKind {
  none,     ///< nothing is protected, whatever is paid
  epsilon,  ///< ε of pure differential privacy
  mu,       ///< μ of Gaussian differential privacy
};

/// Prices that the releases of a run may have, 0 < least <= most.
struct PriceRange {
  double least = 1;
  double most = 1;
  [[nodiscard]] static PriceRange of(double price) { return {price, price}; }
};

/// Everything public that the releases of a run depend on.
struct ReleaseSettings {
  PriceRange price;
  double clip = 1;  ///< C, norm bound of one record's gradient; infinite: no clipping (`none` alone)
  PrivacyUnit unit = PrivacyUnit::record;
  std::size_t batch = 1;      ///< m, public: sums are divided by it whatever a batch really holds
  std::size_t dimension = 1;  ///< d
  Round rounds = 1;           ///< T (the dissertation's truncation depends on it)
  std::string run_id;
  /// How far, in clips, replacing one record moves a sum: 2, or √2 where the parts of any two records have a
  /// non-negative inner product (Gaussian noise under unit record alone; proof in privacy/noise/grid.hpp).
  double replacement = 2;
  std::size_t clients = 1;  ///< whose records enter one sum, each with batch / clients of them
};

/// Holds both keys for all mechanisms: opens the secret, makes the released.
class Release {
 protected:
  template <class T>
  static const T& open(const Secret<T>& secret) {
    return secret.open(OpenKey());
  }
  template <class T>
  static Released<T> make(T value) {
    return Released<T>(ReleaseKey(), std::move(value));
  }
  /// A copy, for an aggregator that is trusted with it.
  template <class T>
  static Entrusted<T> hand_over(const Secret<T>& secret) {
    return Entrusted<T>(ReleaseKey(), open(secret));
  }
  /// Words that are noised and masked.
  static Masked make_share(std::vector<std::uint64_t> words) { return Masked(ReleaseKey(), std::move(words)); }
  /// Writes sum / divisor to `mean` as it is. Protects nothing: for `--mechanism none`, whose runs say so.
  static void publish_unprotected(const Secret<Vector>& sum, double divisor, Released<Vector>& mean) {
    const Vector& values = open(sum);
    mean.update([&](Vector& result) {
      result.resize(values.size());
      sized(values.size(), [divisor, from = values.data(), to = result.data()](auto n) {
        for (std::size_t i = 0; i < n; ++i) to[i] = from[i] / divisor;
      });
    });
  }
};

/// What protects the releases of one run: how it wants gradients clipped and what a release costs. Neither can be left
/// out: both are pure. How a release is made is the business of those who derive from it.
class Protection : protected Release {
 public:
  explicit Protection(ReleaseSettings settings) : settings_(std::move(settings)) {}
  virtual ~Protection() = default;

  /// How each record's gradient must be clipped before the sum.
  [[nodiscard]] virtual Clip clip() const = 0;
  /// Loss of one record (or component) by one release at a price. It never exceeds the price.
  /// Neighbours differ by replacing that record: its clipped gradient moves by up to 2C, not C.
  [[nodiscard]] virtual Charge charge(double price) const = 0;
  [[nodiscard]] virtual PriceKind price_kind() const = 0;
  /// How many times more somebody pays who has records in so many releases than these releases' charges come to: sums
  /// over all records that are released later move by all of them at once.
  [[nodiscard]] virtual double accumulation(std::int64_t /*releases*/) const { return 1; }
  /// The unit that `charge` counts.
  [[nodiscard]] virtual PrivacyUnit unit() const { return settings_.unit; }
  /// Completes "two data sets count as neighbours if …": the difference that `charge` is the price of.
  [[nodiscard]] virtual std::string neighbours() const;
  /// One sentence for the privacy statement: what is added, and what is proved of it.
  [[nodiscard]] virtual std::string description() const = 0;

  [[nodiscard]] const ReleaseSettings& settings() const { return settings_; }

 protected:
  /// Throws DataError unless `sum` has d finite components.
  void check_sum(const ReleaseAddress& address, View sum) const {
    check<DataError>(sum.size() == settings_.dimension,
                     "the gradient sum of client {} has {} components (the mechanism was made for {})", address.client,
                     sum.size(), settings_.dimension);
    const std::int64_t wild = sized(sum.size(), [from = sum.data()](auto n) {
      std::int64_t any = 0;
      for (std::size_t i = 0; i < n; ++i) any |= std::isfinite(from[i]) ? 0 : 1;
      return any;
    });
    check<DataError>(wild == 0,
                     "the gradient sum of client {} in round {} is not finite (noise cannot hide that) check the "
                     "records for missing or huge values",
                     address.client, address.round);
  }
  /// Throws FailureError unless the settings' range has the price: what was proved was proved for that range.
  void check_price(double price) const;

  ReleaseSettings settings_;
};

/// A protection under which each client's releases can be seen by all.
class Mechanism : public Protection {
 public:
  using Protection::Protection;

  /// The noisy mean of a batch's clipped gradients: `sum` is their sum over at most m records, the result has the scale
  /// of sum / m. `price` lies in the settings' range, `key` is the client's for the run. The same arguments give the
  /// same bytes. Allocates nothing once `noisy_mean` has d components. Throws DataError if `sum` is not finite or not
  /// within what the clip promises.
  virtual void release(const ReleaseAddress& address, double price, const NoiseKey& key, const Secret<Vector>& sum,
                       Released<Vector>& noisy_mean) = 0;
};

using MechanismTable = Table<Mechanism, const ReleaseSettings&>;
/// none, laplace, gaussian, dissertation.
[[nodiscard]] const MechanismTable& mechanism_table();

}  // namespace starling
