#include "person_slots.hpp"

#include <unordered_map>

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

}  // namespace starling
