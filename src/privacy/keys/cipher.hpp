/// Ciphers of the cryptographic library.
#pragma once

#include <memory>

#include <openssl/evp.h>

#include "core/check.hpp"

namespace starling {

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

/// Throws FailureError unless the library call succeeded.
inline void check_cipher(bool done) {
  check<FailureError>(done, "ChaCha20 failed in the cryptographic library");
}

}  // namespace starling
