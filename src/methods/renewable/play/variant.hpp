/// A variant of renewable estimation in a run: its protocol, and what its estimate says of itself.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/columns.hpp"

namespace starling {

class AggregatedRounds;
class Root;
class SumsOfRun;
class Summary;
struct BegunRun;
struct RenewableParts;
struct RoundsEnd;

/// Variances of an estimate, the quantile of its intervals, and their method.
struct EstimatedVariances {
  Vector values;
  double critical = 0;
  std::string method;
};

/// Results that a variant has beside its models. Rank 0's, where nothing else is said.
class VariantResults {
 public:
  VariantResults() = default;
  virtual ~VariantResults() = default;
  VariantResults(const VariantResults&) = delete;
  VariantResults& operator=(const VariantResults&) = delete;

  /// Variances of the last model; none while batches are to come that they need, and of an estimate that is lost.
  /// Throws DataError where the curvature is singular.
  [[nodiscard]] virtual std::optional<EstimatedVariances> variances() const = 0;
  /// The packed covariance of a model of one score; none where its variances are not those of the information. Throws
  /// as variances().
  [[nodiscard]] virtual std::optional<Vector> covariance() const { return std::nullopt; }
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
  virtual void add_to(Summary& /*summary*/) const {}
  /// Whether the rounds have ended since there was no more to do. On all ranks alike.
  [[nodiscard]] virtual bool is_done_early() const { return false; }
  /// Throws DataError, on all ranks, if the model is not what the run was to find.
  virtual void require_success(const RoundsEnd& /*end*/) const {}
};

/// The protocol of a run, and the results of its variant, which refer to it.
struct MadeVariant {
  std::unique_ptr<AggregatedRounds> protocol;
  std::unique_ptr<VariantResults> results;
};

/// Notes what curvature is public. Keeps references. **Collective.**
[[nodiscard]] MadeVariant make_variant(const BegunRun& begun, const RenewableParts& parts, Root& root, SumsOfRun& sums);

}  // namespace starling
