/// Settings that a command chose for its user.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/snapshot.hpp"
#include "report/summary.hpp"

namespace starling {

/// Keeps choices in checkpoints. A resumed run has its settings from config.ini, which says neither what was chosen nor
/// why.
class KeptChoices {
 public:
  explicit KeptChoices(Tuning& tuning) : tuning_(tuning) {}
  void persist(Snapshot& snapshot);

 private:
  Tuning& tuning_;
};

/// Prints each choice with its reason to stderr, and then the outlook, if there is one.
void print_tuning(const std::vector<TunedValue>& values, const std::string& outlook);

/// Keeps a number that was chosen within the range of its option: norms of records may be anything.
void keep_in_range(TunedValue& chosen);

}  // namespace starling
