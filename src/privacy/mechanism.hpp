/// Noise mechanisms, and the table of them. A mechanism is the only way from Secret to Released
/// (docs/methods/privacy.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/snapshot.hpp"
#include "core/text/spec.hpp"
#include "privacy/charge.hpp"
#include "privacy/correlation.hpp"
#include "privacy/keys/keys.hpp"
#include "privacy/unit.hpp"

namespace starling {

class PairNoise;

/// The measure in which a mechanism with charges of this kind is priced.
[[nodiscard]] PriceKind price_kind_of(ChargeKind charge);

/// The public settings of a run's releases.
struct ReleaseSettings {
  PriceRange price = {};
  double clip = 1;  ///< C, norm bound of one record's gradient; infinite: no clipping (only without noise)
  PrivacyUnit unit = PrivacyUnit::record;
  std::size_t batch = 1;      ///< m, public: the divisor of every sum, also of smaller batches
  std::size_t dimension = 1;  ///< d
  Round rounds = 1;           ///< T, for mechanisms whose row says `depends_on_rounds`
  std::string run_id = {};
  /// The sensitivity of a sum in clips: 2, or √2 where the contributions of any two records have a non-negative inner
  /// product (only Gaussian noise, and not unit component; proof in privacy/noise/grid.hpp).
  double replacement = 2;
  /// Of unit person: records come through pipes, each in a slot of its own (data/serving/person_uses.hpp).
  bool persons_in_slots = false;
  std::size_t clients = 1;  ///< clients with records in one sum, batch / clients records each
  /// The correlation of a client's noise over the rounds; none: the noise is independent. Only for Gaussian noise.
  std::optional<NoiseCorrelation> correlation = {};
  /// Noise between pairs of clients, beside each client's own; none: a client's own hides its records alone. Only for
  /// Gaussian noise.
  std::shared_ptr<PairNoise> pairs = {};
};

/// Access to secrets for mechanisms: opens a Secret, makes a Released.
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
  /// A masked share of noisy words.
  static Masked make_share(std::vector<std::uint64_t> words) { return Masked(ReleaseKey(), std::move(words)); }
  /// Writes sum / divisor to `mean` without noise. Protects nothing: only for `--mechanism none`.
  static void publish_unprotected(const Secret<Vector>& sum, double divisor, Released<Vector>& mean);
};

/// The protection of one run's releases: clipping and privacy accounting. Derived classes make the releases.
class Protection : protected Release {
 public:
  explicit Protection(ReleaseSettings settings) : settings_(std::move(settings)) {}
  virtual ~Protection() = default;

  /// The clipping of each record's gradient before the sum.
  [[nodiscard]] virtual Clip clip() const = 0;
  /// The privacy loss of one record (or component) by one release at a price. The loss never exceeds the price.
  /// Neighbours differ in one replaced record: its clipped gradient moves by up to 2C, not C.
  [[nodiscard]] virtual Charge charge(double price) const = 0;
  [[nodiscard]] virtual PriceKind price_kind() const = 0;
  /// Standard deviation of a client's own noise in a component of its first mean at this price, without noise that
  /// pairs share; 0 without noise, none where it is not known.
  [[nodiscard]] virtual std::optional<double> own_deviation(double /*price*/) const { return std::nullopt; }
  /// How charges rise for somebody with a record in each of many releases.
  [[nodiscard]] virtual Accumulation accumulation() const { return {}; }
  /// The unit that `charge` counts.
  [[nodiscard]] virtual PrivacyUnit unit() const { return settings_.unit; }
  /// The neighbouring relation of `charge`, as the end of "two data sets count as neighbours if …".
  [[nodiscard]] virtual std::string neighbours() const;
  /// One sentence for the privacy statement: the noise, and the guarantee.
  [[nodiscard]] virtual std::string description() const = 0;

  [[nodiscard]] const ReleaseSettings& settings() const { return settings_; }

 protected:
  /// Throws DataError unless `sum` has d finite components.
  void check_sum(const ReleaseAddress& address, View sum) const;
  /// Throws FailureError for a price outside the settings' range, for which alone the sensitivity was proved.
  void check_price(double price) const;

  ReleaseSettings settings_;
};

/// A noise mechanism: a protection whose releases everybody may see.
class Mechanism : public Protection {
 public:
  using Protection::Protection;

  /// Writes the noisy mean of a batch's clipped gradients. `sum` is their sum over at most m records; the result has
  /// the scale of sum / m. `price` lies in the settings' range, `key` is the client's for the run. The same arguments
  /// give the same bytes. Allocates nothing once `noisy_mean` has d components. Throws DataError if `sum` is not finite
  /// or larger than clipped records can make it.
  virtual void release(const ReleaseAddress& address, double price, const NoiseKey& key, const Secret<Vector>& sum,
                       Released<Vector>& noisy_mean) = 0;

  /// The noise that later releases take back, of the clients that have released. Nothing under independent noise.
  virtual void persist(Snapshot& /*snapshot*/) {}
  /// Later releases take back no noise of earlier ones. Needed before other data are released than those that a client
  /// released before: old noise on new data would give their difference away.
  virtual void begin_chains() {}
};

/// A member of the mechanism table: its name, help and maker, and its capabilities. The rest of the program asks the
/// row, never the name. The conformance tests compare each row with the mechanism that it makes.
struct MechanismRow : Table<Mechanism, const ReleaseSettings&>::Row {
  ChargeKind charge = ChargeKind::pure;  ///< the kind of all its charges: fixes price, accounting and law of the noise
  bool depends_on_rounds = false;        ///< the noise depends on ReleaseSettings::rounds
  /// The claim is about means that differ by 1 in one component, which no replaced record brings about. Audits then see
  /// the release alone, never a protocol or a run with canaries.
  bool about_means = false;

  [[nodiscard]] PriceKind price_kind() const { return price_kind_of(charge); }
  [[nodiscard]] bool protects() const { return charge != ChargeKind::unbounded; }
  [[nodiscard]] bool gaussian() const { return charge == ChargeKind::gaussian; }
  /// Whether several releases of one round can share a price: their charges add up to a charge of the same kind, and
  /// the noise has a known deviation.
  [[nodiscard]] bool divisible() const { return charge == ChargeKind::laplace || gaussian() || !protects(); }
};

/// The `make` of a row whose mechanism takes no parameters but the settings.
template <class Made>
std::unique_ptr<Mechanism> make_mechanism(const Spec& /*spec*/, const ReleaseSettings& settings) {
  return std::make_unique<Made>(settings);
}

/// The table of mechanisms.
class MechanismTable : public Table<Mechanism, const ReleaseSettings&> {
 public:
  explicit MechanismTable(std::vector<MechanismRow> rows);

  [[nodiscard]] const std::vector<MechanismRow>& rows() const { return rows_; }
  /// The row that the spec text names. Throws UsageError listing the known names.
  [[nodiscard]] const MechanismRow& row(std::string_view text) const;
  /// The first row with charges of this kind. Throws FailureError if there is none.
  [[nodiscard]] const MechanismRow& first(ChargeKind charge) const;
  /// The names of the rows with this capability, as "none, laplace".
  [[nodiscard]] std::string names_where(bool (MechanismRow::*capability)() const) const;
  /// The table with one more member.
  [[nodiscard]] MechanismTable with(MechanismRow row) const;

 private:
  std::vector<MechanismRow> rows_;
};

/// The mechanisms that src/privacy/rows.hpp lists.
[[nodiscard]] const MechanismTable& mechanism_table();

}  // namespace starling
