/// A learning method in one run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/check.hpp"
#include "core/links.hpp"
#include "privacy/correlation.hpp"

namespace starling {

class Loss;
class Play;
class RunContext;
class RunDirectory;
class RunHome;
class RunPairs;
class RunPrivacy;
struct RunFacts;
struct TuningTerms;

/// A run that has begun: what the rounds of its method need.
struct BegunRun {
  RunContext& context;
  const RunDirectory& directory;
  RunPrivacy* privacy;  ///< null of runs that learn nothing
  std::string run_id;
};

/// A method whose graph, records, settings and model are settled for one run; nothing has left a client yet, but for
/// the histograms of a rule. Constructors of derived classes do all of that, and are **collective**.
class Method {
 public:
  virtual ~Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;

  /// d of the models on record.
  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  /// The correlation of a client's noise over the rounds, where it is not independent.
  [[nodiscard]] const std::optional<NoiseCorrelation>& correlation() const { return correlation_; }
  /// Whether a rank plays rounds. A rank that hosts clients does.
  [[nodiscard]] bool plays(int rank) const;
  /// The models on record and their ranks.
  [[nodiscard]] const Layout& record_layout() const;

  /// The facts on which the run's privacy depends. Only runs that learn are asked. Rank-local.
  [[nodiscard]] virtual RunFacts privacy_facts() = 0;
  /// Digest of public inputs that no ledger knows, given that of those which all methods have. Rank-local.
  [[nodiscard]] virtual std::string digest_of_inputs(const std::string& of_all_methods) const { return of_all_methods; }
  /// Makes the protocol, once. **Collective.**
  [[nodiscard]] virtual std::unique_ptr<Play> make(const BegunRun& begun) = 0;
  /// Plays rounds of a method's own kind in place of those of one run; none if it has no such kind. **Collective.**
  [[nodiscard]] virtual std::optional<ExitCode> study(const BegunRun& /*begun*/) { return std::nullopt; }

 protected:
  Method(RunContext& run, RunHome& home) : run_(run), home_(home) {}

  /// The parts of the run that a rule of settings works with. `loss` may be null, and `pairs` is under other trusts.
  [[nodiscard]] TuningTerms tuning_terms(const Loss* loss, std::shared_ptr<const RunPairs> pairs);
  /// Chooses the correlation, if `wanted`, for so many releases of a client, or of rank 0 over those of all clients: a
  /// record's uses are as far apart as the shortest pass of a client is long. A run that goes on keeps what it began
  /// with, for any number of releases. Throws UsageError. **Collective.**
  void correlate_noise(bool wanted, Round releases);
  /// Facts for the run's privacy that all methods have. Throws DataError if an owner's ledger is to say what was read,
  /// and it has changed since.
  [[nodiscard]] RunFacts common_facts(Round rounds) const;

  RunContext& run_;
  std::size_t dimension_ = 0;
  std::optional<NoiseCorrelation> correlation_;
  bool all_ranks_play_ = false;
  std::optional<Layout> recorded_;  ///< none: the clients' models

 private:
  RunHome& home_;
};

}  // namespace starling
