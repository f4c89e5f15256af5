/// `--exchange`.
#pragma once

namespace starling {

/// Transport of vectors between ranks of one host. Vectors to other hosts travel as messages. The choice changes no
/// result.
enum class ExchangeWay {
  automatic,  ///< windows if the system has memory to share, else messages
  messages,
  windows,  ///< memory that the ranks of a host share: receivers read vectors in their senders' memory
};

}  // namespace starling
