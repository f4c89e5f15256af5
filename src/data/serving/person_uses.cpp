#include "data/serving/person_uses.hpp"

#include <sys/random.h>

#include "core/check.hpp"
#include "core/digest.hpp"

namespace starling {

void PersonSlots::clear() {
  values_.clear();
  records_.clear();
}

void PersonSlots::add(const std::string& value, const Row& row, double label) {
  values_.push_back(value);
  records_.add(row, label);
}

void PersonSlots::serve(PersonUses& uses, std::int64_t most, Batch& batch) {
  std::unordered_map<std::string, std::vector<std::size_t>> slots;
  std::vector<const std::string*> in_order;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    std::vector<std::size_t>& own = slots[values_[i]];
    if (own.empty()) in_order.push_back(&values_[i]);
    own.push_back(i);
  }
  for (const std::string* value : in_order) {
    if (!uses.use(uses.identify(*value), most)) continue;
    batch.begin_person();
    for (const std::size_t i : slots[*value]) batch.add(records_.row(i), records_.label(i));
  }
}

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
