#include "data/serving/person_uses.hpp"

#include <sys/random.h>

#include "core/check.hpp"
#include "core/digest.hpp"

namespace starling {

PersonUses::PersonUses() : key_(32, '\0') {
  check<FailureError>(::getentropy(key_.data(), key_.size()) == 0,
                      "no random bytes from the operating system: the hashes of persons are keyed with them.");
}

std::string PersonUses::identify(std::string_view value) const {
  constexpr std::size_t digits = 32;
  const std::string inner = sha256(key_ + std::string(value));
  return sha256(key_ + inner).substr(0, digits);
}

bool PersonUses::use(const std::string& person, std::int64_t most) {
  std::int64_t& rounds = rounds_[person];
  if (rounds >= most) return false;
  ++rounds;
  return true;
}

}  // namespace starling
