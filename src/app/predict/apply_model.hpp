/// The one way in which `starling predict` and `starling score` apply a saved model to records.
#pragma once

#include <cstdint>
#include <string>

#include "console/command.hpp"
#include "console/pass.hpp"
#include "model_source.hpp"
#include "run/launch.hpp"

namespace starling {

/// A command's use of the scores of records. All calls but reading() are those of the rank that takes the results.
class ModelUse {
 public:
  /// The way in which records are read.
  struct Reading {
    const char* verb;  ///< of the progress
    ScoredSource::Labels labels;
    std::string key;         ///< column whose texts come with the records; empty: none
    const char* key_option;  ///< the option that names it
  };

  virtual ~ModelUse() = default;
  [[nodiscard]] virtual Reading reading() const = 0;
  /// Throws UsageError for a model that is of no use, before records are opened.
  virtual void check_model(const SavedModel& /*model*/) {}
  /// Before the first record. `model` and `loss` stay until the end.
  virtual void begin(const SavedModel& model, const Loss& loss) = 0;
  /// For some records after the others.
  virtual void take(const ScoredRecords& records) = 0;
  /// After the last of `count` records, at least one.
  virtual void finish(std::int64_t count) = 0;
};

/// The files of the records, for people.
[[nodiscard]] std::string source_of(const ModelSource& from);

/// Applies the model to a source of records: `refuted` where some could not be read. Throws UsageError and DataError.
[[nodiscard]] ExitCode apply_to_source(const ModelSource& from, ProgressChoice progress, ModelUse& use);
/// The same where parties have the columns. **Collective.**
void apply_together(World& world, const ModelSource& from, ProgressChoice progress, ModelUse& use);

/// The options of a call, which knows their text.
template <class Choice, Options (*options_into)(Choice&)>
Choice choice_of(const Call& call) {
  Choice choice;
  Options options = options_into(choice);
  options.parse(call.words);
  choice.from.configuration = options.configuration(Options::Names::as_given);
  return choice;
}

/// Runs a command with the options `choice`, of which its `Use` is made. Returns the exit code.
template <class Use, class Choice>
int apply_model(const Call& call, const Choice& choice) {
  if (!choice.from.parties.empty()) {
    const auto run = [&](World& world) {
      Use use(choice);
      apply_together(world, choice.from, choice.progress, use);
      return ExitCode::done;
    };
    return run_on_all_ranks(run, call.errors);
  }
  if (!call.speaks) return 0;
  return run_for_owner([&] {
    Use use(choice);
    return static_cast<int>(apply_to_source(choice.from, choice.progress, use));
  });
}

}  // namespace starling
