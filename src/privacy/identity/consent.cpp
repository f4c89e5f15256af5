#include "privacy/identity/consent.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "files/durable_file.hpp"

namespace starling {

namespace {

constexpr std::string_view never_word = "never-";
constexpr std::string_view most_word = "most-";
constexpr std::string_view least_word = "least-";

std::string without_blanks(const std::string& text) {
  constexpr const char* blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> words_of_list(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream list(text);
  for (std::string word; std::getline(list, word, ',');) words.push_back(without_blanks(word));
  return words;
}

bool is_listed(const std::string& list, const std::string& found) {
  const std::vector<std::string> words = words_of_list(list);
  const std::string name = found.substr(0, found.find(':'));
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word == found || word == name; });
}

}  // namespace

std::map<std::string, std::string> options_in(const std::string& configuration) {
  std::map<std::string, std::string> options;
  std::istringstream lines(configuration);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t sign = line.find('=');
    if (line.starts_with('#') || sign == std::string::npos) continue;
    options[without_blanks(line.substr(0, sign))] = without_blanks(line.substr(sign + 1));
  }
  return options;
}

std::string consent_file(const std::string& identity) {
  constexpr std::string_view ending = ".key";
  const bool usual = identity.ends_with(ending);
  return (usual ? identity.substr(0, identity.size() - ending.size()) : identity) + ".consent";
}

Consent::Limit Consent::limit_of(const std::string& key, const std::string& value) {
  for (const auto& [word, kind] : {std::pair(never_word, Limit::Kind::none_of), std::pair(most_word, Limit::Kind::most),
                                   std::pair(least_word, Limit::Kind::least)}) {
    if (key.starts_with(word)) return {kind, key.substr(word.size()), value, 0, ""};
  }
  return {Limit::Kind::one_of, key, value, 0, ""};
}

Consent Consent::parse(const std::string& text, const std::string& place) {
  Consent consent;
  consent.place_ = place;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string whole; std::getline(lines, whole);) {
    ++number;
    const std::string line = without_blanks(whole.substr(0, whole.find('#')));
    if (line.empty()) continue;
    const std::size_t sign = line.find('=');
    const std::string key = sign == std::string::npos ? "" : without_blanks(line.substr(0, sign));
    const std::string value = sign == std::string::npos ? "" : without_blanks(line.substr(sign + 1));
    check(!key.empty() && !value.empty(), "{}, line {}: '{}' is no limit: a line is OPTION = VALUES. Correct it.",
          place, number, line);
    Limit limit = limit_of(key, value);
    const bool is_bound = limit.kind == Limit::Kind::most || limit.kind == Limit::Kind::least;
    check(!limit.option.empty() && (!is_bound || number_in(value)),
          "{}, line {}: '{}' has no number as its bound. Correct it.", place, number, line);
    limit.line = number;
    limit.text = line;
    consent.limits_.push_back(std::move(limit));
  }
  check(!consent.limits_.empty(), "{}: it limits nothing. Write it again: starling keys consent NAME.", place);
  return consent;
}

bool Consent::holds(const Limit& limit, const std::string& found) {
  switch (limit.kind) {
    case Limit::Kind::one_of:
      return is_listed(limit.value, found);
    case Limit::Kind::none_of:
      return !is_listed(limit.value, found);
    case Limit::Kind::most:
    case Limit::Kind::least:
      break;
  }
  const std::optional<double> number = number_in(found);
  if (!number) return false;
  const double bound = number_in(limit.value).value();
  return limit.kind == Limit::Kind::most ? *number <= bound : *number >= bound;
}

void Consent::require(const RunTerms& run) const {
  for (const Limit& limit : limits_) {
    std::optional<std::string> found;
    if (limit.option == "clients") {
      found = fmt::format("{}", run.clients);
    } else if (limit.option == "members") {
      found = run.members;
    } else if (limit.option == "code") {
      found = sha256(read_whole_file("/proc/self/exe").value_or(""));
    } else if (const auto option = run.options.find(limit.option); option != run.options.end()) {
      found = option->second;
    }
    const bool never = limit.kind == Limit::Kind::none_of;
    check(found ? holds(limit, *found) : never,
          "{}, line {}: the owner agrees to '{}', and the run has {}. Change the run, or ask the owner.", place_,
          limit.line, limit.text,
          found ? fmt::format("{} = {}", limit.option, *found) : fmt::format("no {}", limit.option));
  }
}

}  // namespace starling
