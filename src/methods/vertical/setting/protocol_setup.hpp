/// A protocol of `starling vertical`, embeddings or shares, in one run before its rounds.
#pragma once

#include <memory>

#include "core/links.hpp"

namespace starling {

class Method;
class Play;
class Protection;
class RunContext;
struct BegunRun;
struct ReleaseSettings;
struct RunFacts;
struct ServedRounds;
struct VerticalSetting;

class ProtocolSetup {
 public:
  virtual ~ProtocolSetup() = default;

  /// Settles the networks, their settings and the number of rounds, once records have been agreed on. Rank-local.
  /// Throws UsageError and DataError.
  virtual void settle() = 0;
  [[nodiscard]] virtual std::unique_ptr<Protection> protection(const ReleaseSettings& settings) const = 0;
  /// Completes the facts on which the run's privacy depends.
  virtual void complete(RunFacts& facts) const = 0;
  /// The rounds of client u; none of a client without secrets.
  [[nodiscard]] virtual ServedRounds served(Client u) const = 0;
  /// The rounds and results, once. **Collective.**
  [[nodiscard]] virtual std::unique_ptr<Play> make(const BegunRun& begun, const Method& method) = 0;
};

/// Both keep references.
[[nodiscard]] std::unique_ptr<ProtocolSetup> embeddings_setup(RunContext& run, VerticalSetting& setting);
[[nodiscard]] std::unique_ptr<ProtocolSetup> shares_setup(RunContext& run, VerticalSetting& setting);

}  // namespace starling
