/// The life cycle of a run, which all learning methods share: docs/internals.md, "A run".
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "console/command.hpp"
#include "launch.hpp"
#include "run/settings/configuration.hpp"
#include "run/stages/method.hpp"

namespace starling {

class RunContext;
class RunHome;

/// The name of a command, and how its method is made.
struct MethodOfRun {
  std::string command;
  /// Makes the method of a run, complete. **Collective.**
  std::function<std::unique_ptr<Method>(RunContext& run, RunHome& home)> settle;
};

/// A run on one rank, from its configuration to its results. Calls `note_directory` with the run's folder, once it has
/// one. **Collective.**
[[nodiscard]] ExitCode run_method(World& world, const MethodOfRun& method, Configuration& configuration, RunStart start,
                                  const std::function<void(const std::string&)>& note_directory);

/// Reads the configuration of a run, which is the same on all ranks. **Collective.** Returns the text of config.ini of
/// the run that --resume names. Throws UsageError.
[[nodiscard]] std::string read_configuration(World& world, Configuration& configuration,
                                             const std::vector<std::string>& words);

/// The row of a learning command. `declare` declares its options, and `complete` completes what they say.
template <class Made, class Config, Options (*declare)(Config&), void (*complete)(Config&, const Options&)>
[[nodiscard]] Command learning_command(const std::string& name, std::string purpose, Manual (*manual)()) {
  using Words = std::vector<std::string>;
  return {.name = name,
          .purpose = std::move(purpose),
          .on_all_ranks = true,
          .manual = manual,
          .options = declarations_from<Config, declare>,
          .configuration = [](const Words& words) { return configured<Config>(declare, complete, words).to_tune; },
          .require_complete =
              [](const Words& words) {
                const Config config = configured<Config>(declare, complete, words);
                if (config.learns()) require_protection(config.privacy);
              },
          .run =
              [name](const Call& call) {
                const auto job = [&](World& world) {
                  Configured<Config> configuration(declare, complete);
                  RunStart start{call.command_line, read_configuration(world, configuration, call.words)};
                  const auto settle = [&](RunContext& run, RunHome& home) {
                    return std::make_unique<Made>(run, home, configuration);
                  };
                  return run_method(world, {name, settle}, configuration, std::move(start), call.note_directory);
                };
                return run_on_all_ranks(job, call.errors);
              }};
}

}  // namespace starling
