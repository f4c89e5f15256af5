/// The releases of one client in one run, and the privacy losses that they add up to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/snapshot.hpp"
#include "privacy/accounting/accounting.hpp"

namespace starling {

class Protection;

/// Releases counted by their price. Where there are more than 1024 different ones, prices are rounded up to fewer and
/// fewer binary digits, so that memory and the work of composing stay bounded; figures then err on the safe side, by a
/// factor of 1 + 2^-7 where prices lie within a factor of 256.
class PriceTally {
 public:
  void add(double price, std::int64_t count = 1);
  [[nodiscard]] const std::map<double, std::int64_t>& counts() const { return counts_; }
  [[nodiscard]] std::int64_t total() const;
  /// The dearest releases, as many as `most`.
  [[nodiscard]] PriceTally dearest(std::int64_t most) const;
  [[nodiscard]] std::vector<ChargeGroup> groups(const Protection& mechanism) const;
  void persist(Snapshot& snapshot) { snapshot(counts_, digits_); }

 private:
  [[nodiscard]] double rounded(double price) const;
  std::map<double, std::int64_t> counts_;
  int digits_ = 53;  // that prices are rounded up to
};

/// The spending of one client. Small, because there may be a million clients: while prices do not change, it needs no
/// memory of its own.
class Spending {
 public:
  /// A release in a pass of the data, from 0; passes do not go back.
  void add(double price, std::int64_t pass) {
    if (price != price_) change_price(price);
    if (pass != pass_) end_pass(pass);
    ++releases_;
    dearest_ = std::max(dearest_, price);
  }

  /// A pass without details: no release in it was dearer than `price`.
  void assume_pass(double price, std::int64_t pass) {
    if (pass != pass_) end_pass(pass);
    dearest_ = std::max(dearest_, price);
  }

  [[nodiscard]] std::int64_t releases() const { return releases_ + (earlier_ ? earlier_->releases : 0); }
  /// All releases, by price.
  [[nodiscard]] PriceTally all() const;
  /// The dearest release of each pass: no record paid more than these, since it enters one release of a pass.
  [[nodiscard]] PriceTally dearest_of_passes() const;
  /// A bound on what a unit paid that entered at most `uses` releases of each pass: as many of the dearest releases.
  [[nodiscard]] PriceTally dearest(std::int64_t uses) const;
  void persist(Snapshot& snapshot);

 private:
  /// The part that the fields below cannot hold.
  struct Earlier {
    std::int64_t releases = 0;
    PriceTally all;
    PriceTally finished_passes;
  };
  [[nodiscard]] Earlier& earlier();
  void change_price(double price);
  void end_pass(std::int64_t pass);

  double price_ = 0;           // the latest price
  std::int64_t releases_ = 0;  // the latest, at that price each
  std::int64_t passes_ = 0;    // finished since, their dearest release at that price
  std::int64_t pass_ = -1;
  double dearest_ = 0;  // in the current pass
  std::unique_ptr<Earlier> earlier_;
};

/// The privacy losses by one client's releases, by unit.
struct ClientLosses {
  std::int64_t releases = 0;
  std::int64_t participations = 0;
  PrivacyLoss component;      ///< one component of a record's gradient
  PrivacyLoss record;         ///< one record
  PrivacyLoss one_per_batch;  ///< a person with one record (or component, by unit) in each batch
  PrivacyLoss client;         ///< the owner of all records of the client

  /// Replaces each figure by the larger one of this and `other`.
  void take_worse(const ClientLosses& other);
  /// Makes all losses unbounded: records were sent without noise.
  void claim_nothing();
  /// The losses as text, for another rank.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static ClientLosses parse(const std::string& text);
};

/// One release of all records of a client at once, beside the releases of its rounds.
struct SingleRelease {
  Charge charge;             ///< of one record
  double of_each_batch = 1;  ///< records in it, at most, of a person with one record in each batch
  double of_client = 1;      ///< all records in it
  [[nodiscard]] auto operator<=>(const SingleRelease&) const = default;
};

/// δ is `delta` where it is given; else 0 where the charges are pure, 1e-5 for Gaussian ones, and the sum of the
/// charges' own δ for approximate ones. The losses of groups come from group privacy; infinite where none is claimed.
/// `single`, of unit record, is counted as well. A unit entered at most `uses` releases of each pass.
[[nodiscard]] ClientLosses losses_of(const Spending& spending, const Protection& mechanism, std::optional<double> delta,
                                     const std::optional<SingleRelease>& single = std::nullopt, std::int64_t uses = 1);

/// The size of a client's whole batch in units of the mechanism's charges (records or components), for group privacy:
/// m for records; all m d components in L1; m √d in L2, where components are orthogonal.
[[nodiscard]] double units_of_batch(const Protection& mechanism);

/// The δ of Gaussian charges where the user names none.
inline constexpr double usual_delta = 1e-5;
/// The δ that is taken where the user names none.
[[nodiscard]] double default_delta(const std::vector<ChargeGroup>& groups);

}  // namespace starling
