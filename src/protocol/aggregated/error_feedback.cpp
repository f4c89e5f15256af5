#include "error_feedback.hpp"

#include <cmath>

#include "core/check.hpp"

namespace starling {

void ErrorFeedback::add_kept(MutableView message, MutableView kept) const {
  for (std::size_t j = 0; j < kept.size(); ++j) message[j] += kept[j];
  std::vector<std::byte> bytes(codec_->bytes(message.size()));
  Vector received(message.size());
  codec_->encode(message, bytes);
  codec_->decode(bytes, received);
  for (std::size_t j = 0; j < kept.size(); ++j) {
    kept[j] = message[j] - received[j];
    check<DataError>(std::isfinite(kept[j]),
                     "an update has numbers that --message-precision cannot hold. Choose float32 or double, or scale "
                     "the features.");
  }
}

}  // namespace starling
