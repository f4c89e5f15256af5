/// Random damage to well-formed texts, for tests that any bytes give an answer or an error of ours. The same
/// everywhere: the random numbers are addressed by the trial.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace starling::testing_support {

using Texts = std::vector<std::string>;

inline const std::string& pick(const Texts& choices, AddressedRandom& random) {
  return choices[random.below(choices.size())];
}

/// One change at a random place: a fragment put in or put over something, a few bytes (now and then many) taken out, a
/// piece of the text repeated, or one byte replaced.
inline void damage(std::string& text, const Texts& fragments, AddressedRandom& random) {
  const std::size_t at = random.below(text.size() + 1);
  const std::size_t rest = text.size() - at;
  switch (random.below(6)) {
    case 0:
      text.insert(at, pick(fragments, random));
      break;
    case 1:
      text.replace(at, random.below(std::min<std::size_t>(rest, 3) + 1), pick(fragments, random));
      break;
    case 2:
      text.erase(at, random.below(random.below(8) == 0 ? rest + 1 : 8));
      break;
    case 3:
      text.insert(at, text.substr(random.below(text.size() + 1), random.below(20)));
      break;
    case 4:
      text.insert(at, 1, static_cast<char>(random.below(256)));
      break;
    default:
      if (rest > 0) text[at] = static_cast<char>(random.below(256));
  }
}

/// Whether no whole number has more than four digits. Larger ones make sizes that are allowed and slow; how those that
/// are too large are refused needs tests of its own.
inline bool small_numbers(const std::string& text) {
  std::size_t run = 0;
  bool fraction = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) fraction = c == '.';
    run = digit && !fraction ? run + 1 : 0;
    if (run > 4) return false;
  }
  return true;
}

/// How many damaged texts a reader took, and how many it refused.
struct Outcomes {
  int read = 0;
  int refused = 0;
};

/// Gives `trials` texts, each one of `valid` with one or more changes up to `most_changes`, to `read`, which returns
/// whether it took it. `suits` says which texts are worth a trial.
inline Outcomes try_damaged(
    const Texts& valid, const Texts& fragments, std::uint64_t trials, std::uint64_t most_changes,
    const std::function<bool(const std::string&)>& read,
    const std::function<bool(const std::string&)>& suits = [](const std::string&) { return true; }) {
  Outcomes outcomes;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    AddressedRandom random(1, Purpose::experiment, trial, 0);
    std::string text = pick(valid, random);
    for (std::uint64_t k = 1 + random.below(most_changes); k > 0; --k) damage(text, fragments, random);
    if (!suits(text)) continue;
    ++(read(text) ? outcomes.read : outcomes.refused);
  }
  return outcomes;
}

}  // namespace starling::testing_support
