/// Blocks of rounds that a ledger's rows reserve.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "privacy/charge.hpp"
#include "privacy/client_range.hpp"

namespace starling {

/// The cost of one pass over the data: the largest charge to a record.
struct PassCharge {
  std::int64_t pass = 1;
  Charge charge;
  [[nodiscard]] bool operator==(const PassCharge&) const = default;
};

/// Reserved rounds of one client, or of each of several adjacent clients.
struct Reservation {
  ClientRange clients;
  Round first = 0;
  Round last = 0;                    ///< inclusive
  std::string records;               ///< which records enter: "0..31999 in passes 1..1", "as they arrive"
  std::vector<PassCharge> passes;    ///< the largest charge to a record for every pass of these rounds
  std::vector<ChargeGroup> charges;  ///< all releases of a client, in the order of their rounds
  std::string digest;                ///< how the data are digested for the noise
  [[nodiscard]] bool operator==(const Reservation&) const = default;
  /// Whether both are equal but for their clients.
  [[nodiscard]] bool says_the_same(const Reservation& other) const;
};

/// Consecutive blocks, from round 0 on. Copies share what they have in common, so that histories may part and meet
/// without any cost that grows with their length. (`clients` of a block says whom a row was about: there may have been
/// others that said the same.)
class LedgerBlocks {
 public:
  [[nodiscard]] bool empty() const { return last_ == nullptr; }
  /// The last block. The history must not be empty.
  [[nodiscard]] const std::shared_ptr<const Reservation>& last() const { return last_->block; }
  [[nodiscard]] std::vector<const Reservation*> in_order() const;
  /// Equal for copies, while there are any.
  [[nodiscard]] const void* identity() const { return last_.get(); }
  void push(std::shared_ptr<const Reservation> block);
  void pop() { last_ = std::shared_ptr<const Link>(last_->before); }
  /// Whether all blocks are equal but for their clients. Quick where histories have met before, or differ.
  [[nodiscard]] bool operator==(const LedgerBlocks& other) const;

 private:
  struct Link {
    Link(std::shared_ptr<const Reservation> what, std::shared_ptr<const Link> earlier);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link();  // link by link: long histories would exhaust the stack
    std::shared_ptr<const Reservation> block;
    mutable std::shared_ptr<const Link> before;
    std::size_t digest;  ///< of this and all before: where it differs, they do
  };
  std::shared_ptr<const Link> last_;
};

}  // namespace starling
