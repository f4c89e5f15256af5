/// Messages of mixing in few bits (docs/methods/decentralized.md, "Compressed messages").
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "codec/codec.hpp"
#include "core/columns.hpp"

namespace starling {

/// Least share of its mass that a client keeps where messages are rounded: what rounding takes away stays with it.
constexpr double least_kept_share = 0x1p-20;
/// The share that a client keeps whose graph leaves it less.
constexpr double share_kept_instead = 0.25;
/// Least mass that a client splits where messages are rounded. What it keeps of that is not negligible.
constexpr double least_mass_rounded = 0x1p-23;

/// Rounds pairs (s, w) to what their receivers decode, and packs them into the doubles that `Neighbours` carries. The
/// mass w is not rounded. Equal pairs give equal bits.
class RoundedMessages {
 public:
  /// For pairs of `length` numbers. `how` names a quantiser.
  RoundedMessages(std::string_view how, std::size_t length);

  /// Doubles that hold a message.
  [[nodiscard]] std::size_t words() const { return words_; }
  /// Writes `pair` into `message`, and rounds it to what receivers get. Throws DataError for a pair that is not finite
  /// after rounding.
  void send(MutableView pair, MutableView message) const;
  void receive(View message, MutableView pair) const;

 private:
  std::unique_ptr<Codec> codec_;
  std::size_t bytes_;
  std::size_t words_;
};

}  // namespace starling
