#include "faults.hpp"

#include <algorithm>
#include <string_view>

namespace starling {
namespace {

/// A message after the place of its record; all of it if it does not begin with `place`.
std::string_view after(std::string_view place, std::string_view message) {
  const bool begins = message.starts_with(place) && message.substr(place.size()).starts_with(": ");
  return begins ? message.substr(place.size()) : message;
}

}  // namespace

void Faults::List::add(const std::string& place, const std::string& message) {
  const auto kind = after(place, message);
  const auto first = std::find(kinds_.begin(), kinds_.end(), kind);
  text_ += fmt::format("{}({}) ", kinds_.empty() ? "" : "; ", kinds_.size() + 1);
  text_ += first == kinds_.end() ? message : fmt::format("{}: as ({})", place, first - kinds_.begin() + 1);
  kinds_.emplace_back(kind);
}

void Faults::add(const RecordError& fault, const std::string& place) {
  if (told_.size() == 0) first_ = fault;
  told_.add(place, fault.what());
  shown_.add(place, fault.shown());
  if (shown_.size() == most || shown_.text().size() >= most_bytes) throw_list("; reading stopped here");
}

void Faults::throw_all() const {
  if (told_.size() == 1) throw *first_;
  if (told_.size() > 1) throw_list("");
}

void Faults::throw_list(std::string_view end) const {
  const auto list = [&](const List& faults) {
    return fmt::format("{} faulty records: {}{}", faults.size(), faults.text(), end);
  };
  throw RecordError(list(told_), list(shown_));
}

}  // namespace starling
