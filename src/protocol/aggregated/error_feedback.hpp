/// Messages to and from an aggregator in few bits, with error feedback (docs/methods/decentralized.md, "Compressed
/// messages"; Seide, Fu, Droppo, Li and Yu 2014).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "core/columns.hpp"

namespace starling {

/// Codec of messages whose sender adds what rounding took from its messages before. So all that was ever sent differs
/// from all that was to be sent by one rounding. The last number of a message, a weight, is not rounded.
class ErrorFeedback {
 public:
  /// `how` names a quantiser.
  explicit ErrorFeedback(const std::string& how) : codec_(make_model_codec(how)) {}

  [[nodiscard]] const Codec& codec() const { return *codec_; }
  /// Adds what the sender has kept, one number less than the message has, to `message`, and keeps what the encoding
  /// takes from it. Throws DataError if rounding makes a number infinite.
  void add_kept(MutableView message, MutableView kept) const;

 private:
  std::unique_ptr<Codec> codec_;
};

}  // namespace starling
