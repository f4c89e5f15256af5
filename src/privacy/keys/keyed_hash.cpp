#include "keyed_hash.hpp"

#include <memory>

#include "core/check.hpp"

namespace starling {

namespace {

struct FreeMac {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
using MacContext = std::unique_ptr<EVP_MAC_CTX, FreeMac>;

MacContext make_context(const char* name) {
  const std::unique_ptr<EVP_MAC, FreeMac> mac(EVP_MAC_fetch(nullptr, name, nullptr));
  check<FailureError>(
      mac != nullptr,
      "the cryptographic library has no {}: noise keys are made with it. Enable OpenSSL's default provider.", name);
  MacContext context(EVP_MAC_CTX_new(mac.get()));
  check_mac(context != nullptr);
  return context;
}

}  // namespace

void check_mac(bool done) {
  check<FailureError>(done, "a keyed hash failed in the cryptographic library");
}

EVP_MAC_CTX* blake2b_context() {
  thread_local const MacContext context = make_context("BLAKE2BMAC");
  return context.get();
}

EVP_MAC_CTX* poly1305_context() {
  thread_local const MacContext context = make_context("POLY1305");
  return context.get();
}

}  // namespace starling
