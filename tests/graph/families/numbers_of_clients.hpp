/// Numbers of clients that topology families take, for the conformance tests.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/links.hpp"

namespace starling::testing_support {

/// The members of `numbers` that the family takes. Families that do not take all numbers are named here.
inline std::vector<Client> taken(const std::string& family, std::initializer_list<Client> numbers) {
  std::vector<Client> result;
  for (const Client n : numbers) {
    if (family != "hypercube" || std::has_single_bit(static_cast<std::uint64_t>(n))) result.push_back(n);
  }
  return result;
}

}  // namespace starling::testing_support
