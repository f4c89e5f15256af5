#include "faults.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "data/cells/number.hpp"

namespace starling {
namespace {

/// A message after the place of its record; all of it if it does not begin with `place`.
std::string_view after(std::string_view place, std::string_view message) {
  const bool begins = message.starts_with(place) && message.substr(place.size()).starts_with(": ");
  return begins ? message.substr(place.size()) : message;
}

/// "data.csv: row 12" as "data.csv: row" and 12. No number if the place does not end with one.
std::pair<std::string_view, std::optional<std::size_t>> split_place(std::string_view place) {
  const std::size_t space = place.rfind(' ');
  if (space == std::string_view::npos) return {place, std::nullopt};
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(place.data() + space + 1, place.data() + place.size(), number);
  if (error != std::errc{} || stop != place.data() + place.size()) return {place, std::nullopt};
  return {place.substr(0, space), number};
}

/// "; also row 4, rows 7 to 9", for the places after the first; nothing if there is none.
std::string further(const std::vector<std::string>& places) {
  std::vector<std::string> runs;
  for (std::size_t i = 1; i < places.size();) {
    const auto [what, first] = split_place(places[i]);
    std::size_t end = i + 1;
    while (first && end < places.size() && split_place(places[end]) == std::pair(what, std::optional(*first + end - i)))
      ++end;
    const std::string_view shown =
        what == split_place(places[0]).first && first ? what.substr(what.rfind(' ') + 1) : what;
    if (!first) runs.emplace_back(shown);
    if (first && end - i == 1) runs.push_back(fmt::format("{} {}", shown, *first));
    if (first && end - i > 1) runs.push_back(fmt::format("{}s {} to {}", shown, *first, *first + end - i - 1));
    i = end;
  }
  return runs.empty() ? "" : fmt::format("; also {}", fmt::join(runs, ", "));
}

}  // namespace

void Faults::List::add(const std::string& place, const std::string& message) {
  const auto fault = after(place, message);
  const auto same = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) { return kind.fault == fault; });
  if (same != kinds_.end()) {
    same->places.push_back(place);
  } else {
    kinds_.push_back({message, std::string(fault), {place}});
  }
  ++size_;
}

std::string Faults::List::text() const {
  std::string text;
  std::string_view columns;  // of text, as the last message has listed them
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    std::string_view message = kinds_[k].message;
    const std::string_view own = message.substr(std::min(message.find(other_texts_mark), message.size()));
    if (own == columns) message.remove_suffix(own.size());
    if (!own.empty()) columns = own;
    if (message.ends_with('.')) message.remove_suffix(1);
    text += fmt::format("{}({}) {}{}", k == 0 ? "" : "; ", k + 1, message, further(kinds_[k].places));
  }
  return text;
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
    return fmt::format("{} faulty records: {}{}.", faults.size(), faults.text(), end);
  };
  throw RecordError(list(told_), list(shown_));
}

}  // namespace starling
