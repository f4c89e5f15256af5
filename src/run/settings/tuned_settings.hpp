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
  explicit KeptChoices(std::vector<TunedValue>& values) : values_(values) {}
  void persist(Snapshot& snapshot);

 private:
  std::vector<TunedValue>& values_;
};

/// Prints each choice with its reason to stderr, and then the outlook, if there is one.
void print_tuning(const std::vector<TunedValue>& values, const std::string& outlook);

/// Keeps a number that was chosen within the range of its option: norms of records may be anything.
void keep_in_range(TunedValue& chosen);

/// The words of a command line with these choices, in place of what it says of them.
[[nodiscard]] std::vector<std::string> with_choices(std::vector<std::string> words,
                                                    const std::vector<TunedValue>& choices);
/// Takes settings that were read again, and keeps what opening the data has put into the configuration.
template <class Config>
void take_settings(Config& config, Config chosen) {
  auto data = std::move(config.data);
  data.batch = chosen.data.batch;
  data.epochs = chosen.data.epochs;
  chosen.data = std::move(data);
  chosen.resume = config.resume;
  config = std::move(chosen);
}

/// The words of a command line without this option and its value.
[[nodiscard]] std::vector<std::string> without_option(const std::vector<std::string>& words, const std::string& option);

}  // namespace starling
