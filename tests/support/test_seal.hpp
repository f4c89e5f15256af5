/// Terms of seals for tests: keys that anybody can compute.
#pragma once

#include <string>

#include "net/seal/seal_terms.hpp"

namespace starling::testing_support {

/// Terms of rank `own` of `ranks`. Host of rank r is r modulo `hosts`.
inline SealTerms seal_terms(int own, int ranks, int hosts, bool within_hosts, bool by_aes, unsigned char start = 1) {
  SealTerms terms;
  const auto key = [&](int from, int to) {
    SealKey result;
    result.bytes[0] = static_cast<unsigned char>(from + 1);
    result.bytes[1] = static_cast<unsigned char>(to + 1);
    return result;
  };
  for (int r = 0; r < ranks; ++r) {
    terms.to.push_back(key(own, r));
    terms.from.push_back(key(r, own));
    terms.names.push_back("rank " + std::to_string(r));
    terms.hosts.push_back("host " + std::to_string(r % hosts));
  }
  terms.start[0] = start;
  terms.within_hosts = within_hosts;
  terms.by_aes = by_aes;
  return terms;
}

}  // namespace starling::testing_support
