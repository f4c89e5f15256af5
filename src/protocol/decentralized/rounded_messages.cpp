#include "rounded_messages.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace starling {

RoundedMessages::RoundedMessages(std::string_view how, std::size_t length)
    : codec_(make_model_codec(how)),
      bytes_(codec_->bytes(length)),
      words_((bytes_ + sizeof(double) - 1) / sizeof(double)) {}

void RoundedMessages::send(MutableView pair, MutableView message) const {
  std::fill(message.begin(), message.end(), 0.0);
  codec_->encode(pair, std::as_writable_bytes(message).first(bytes_));
  receive(message, pair);
  check<DataError>(std::all_of(pair.begin(), pair.end(), [](double x) { return std::isfinite(x); }),
                   "a model has numbers that --message-precision cannot hold. Choose float32 or double, or scale the "
                   "features.");
}

void RoundedMessages::receive(View message, MutableView pair) const {
  codec_->decode(std::as_bytes(message).first(bytes_), pair);
}

}  // namespace starling
