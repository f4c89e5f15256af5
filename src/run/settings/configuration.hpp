/// The configuration of a run: values, and where each comes from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "options/options.hpp"
#include "report/tuning.hpp"

namespace starling {

struct LearningConfig;

/// The command line of a run, and config.ini of the run that --resume names.
struct RunStart {
  std::string command_line;
  std::string of_run;
};

/// Options and the values that they are bound to. A value comes from the command line, a file, a default, the run that
/// goes on, or a rule that chose it.
class Configuration {
 public:
  virtual ~Configuration() = default;
  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;

  /// Reads the words of a command line. `of_run` is config.ini of the run that --resume names, or empty
  /// (Options::parse). Throws UsageError.
  void read(const std::vector<std::string>& words, const std::string& of_run = "") {
    options_.parse(words, of_run);
    complete();
  }
  /// Takes these values in place of those that stand there. Throws UsageError, as if somebody had given them.
  void choose(const std::vector<TunedValue>& chosen) {
    for (const TunedValue& each : chosen) options_.choose(each.option, each.value);
    options_.check_relations();
    complete();
  }
  /// Takes back what was given for an option. Throws FailureError for one that does not exist.
  void withdraw(const std::string& name) { options_.withdraw(name); }
  [[nodiscard]] virtual const LearningConfig& common() const = 0;

 protected:
  Configuration() : options_("") {}
  virtual void complete() = 0;

  Options options_;
};

/// The configuration of one command.
template <class Config>
class Configured final : public Configuration {
 public:
  /// Adds options that are bound to the values.
  using Declare = Options (*)(Config&);
  /// Checks what single options do not show, and fills in what follows from them. It is called again after each choice.
  using Complete = void (*)(Config&, const Options&);

  Configured(Declare declare, Complete complete) : complete_(complete) { options_ = declare(values_); }
  [[nodiscard]] Config& values() { return values_; }
  [[nodiscard]] const LearningConfig& common() const override { return values_; }

 private:
  void complete() override { complete_(values_, options_); }

  Config values_;
  Complete complete_;
};

/// The values that a command line gives. Throws UsageError.
template <class Config>
[[nodiscard]] Config configured(typename Configured<Config>::Declare declare,
                                typename Configured<Config>::Complete complete, const std::vector<std::string>& words) {
  Configured<Config> configuration(declare, complete);
  configuration.read(words);
  return std::move(configuration.values());
}

}  // namespace starling
