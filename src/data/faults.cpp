#include "faults.hpp"

#include <fmt/ranges.h>

namespace starling {

void Faults::add(const RecordError& fault) {
  faults_.push_back(fault);
  if (faults_.size() == most) throw_list("; reading stopped here");
}

void Faults::throw_all() const {
  if (faults_.size() == 1) throw faults_.front();
  if (!faults_.empty()) throw_list("");
}

void Faults::throw_list(const std::string& end) const {
  std::vector<std::string> told;
  std::vector<std::string> shown;
  for (const RecordError& fault : faults_) {
    told.push_back(fmt::format("({}) {}", told.size() + 1, fault.what()));
    shown.push_back(fmt::format("({}) {}", shown.size() + 1, fault.shown()));
  }
  throw RecordError(fmt::format("{} faulty records: {}{}", faults_.size(), fmt::join(told, "; "), end),
                    fmt::format("{} faulty records: {}{}", faults_.size(), fmt::join(shown, "; "), end));
}

}  // namespace starling
